"""GitHub's fingerprint of a line: the rolling hash by which code scanning knows an alert again when lines move.

Facts: `src/fingerprints.ts` of github/codeql-action. A line is known by the first 100 UTF-16 units from its start that
are neither space nor tab, line ends counted as one line feed; behind the last unit of the file stands 0xFFFF, then
zeros. Their hash is a polynomial in 37 modulo 2**64, in hexadecimal; `:n` tells the n-th line of one hash.
"""

from __future__ import annotations

import re
from collections.abc import Collection

_UNITS = 100
_BASE = 37
_WORD = 1 << 64
_LINE_END = re.compile(r"\r\n?")
_BLANK = str.maketrans("", "", " \t")
_END = 0xFFFF


def line_hashes(text: str, lines: Collection[int]) -> dict[int, str]:
    """Return the hashes of the wanted lines of a file, which are counted from 1; lines that it lacks are left out."""
    units = _LINE_END.sub("\n", text).translate(_BLANK).encode("utf-16-le", "surrogatepass")
    last = max(lines, default=0)
    seen: dict[bytes, int] = {}
    hashes = {}
    start, number = 0, 1
    while number <= last:
        window = units[start : start + 2 * _UNITS]
        seen[window] = seen.get(window, 0) + 1
        if number in lines:
            hashes[number] = f"{_hash(window):x}:{seen[window]}"
        end = _line_end(units, start)
        if end < 0:
            break
        start, number = end, number + 1
    return hashes


def _line_end(units: bytes, start: int) -> int:
    """Return where the next line begins, -1 on the last one."""
    at = units.find(b"\n\0", start)
    while at % 2 and at >= 0:  # halves of two other units
        at = units.find(b"\n\0", at + 1)
    return at + 2 if at >= 0 else -1


def _hash(window: bytes) -> int:
    """Return the hash of the units at a line's start; a window that is not full reaches the end of the file."""
    units = [int.from_bytes(window[at : at + 2], "little") for at in range(0, len(window), 2)]
    value = 0
    for unit in [*units, _END, *[0] * _UNITS][:_UNITS]:
        value = (value * _BASE + unit) % _WORD
    return value
