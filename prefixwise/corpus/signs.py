"""By what an export format is told: the places of values in the first records of a file."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Any

import msgspec

_LISTS = "*"
_DEEPEST = 5
_ELEMENTS = 3
# A string that is cut off matches up to its end, and nothing is tried twice: cut records hold many quotes.
_PIECE = re.compile(rb'\s*+(?:("[^"\\]*+(?:\\.[^"\\]*+)*+"?)|([\[\]{}:,])|([^\s\[\]{}:,"]++))', re.DOTALL)


@functools.lru_cache(maxsize=4)
def key_paths(head: bytes, within: frozenset[str] | None = None, records: int = 64) -> frozenset[str]:
    """Return the places of values in the first records, keys joined by `/`, `*` for the elements of a list.

    Args:
        head: Records as lines, as the elements of one list, or one document; the last may be cut off anywhere.
        within: Look only inside values at these places; everywhere where it is not given.
        records: How many lines to look at.
    """
    found: set[str] = set()
    lines = head.split(b"\n", records)[:records]
    for number, line in enumerate(lines):
        try:
            value = msgspec.json.decode(line)
        except (msgspec.MsgspecError, RecursionError):
            if number == 0 and not _goes_on(lines):
                return _scanned(head)
            found |= _scanned(line) if number == len(lines) - 1 else frozenset()
            continue
        for record in value[:_ELEMENTS] if isinstance(value, list) else (value,):
            _collect(record, "", found, within)
    return frozenset(found)


def _goes_on(lines: list[bytes]) -> bool:
    """Say whether a first line that is no JSON is the rest of a record, and whole ones follow."""
    try:
        return len(lines) > 1 and isinstance(msgspec.json.decode(lines[1]), dict)
    except (msgspec.MsgspecError, RecursionError):
        return False


def places_within(signs: Iterable[frozenset[str]]) -> frozenset[str]:
    """Return the places inside which some of `signs` stand."""
    steps = (path.split("/") for sign in signs for path in sign)
    return frozenset("/".join(keys[:count]) for keys in steps for count in range(1, len(keys)))


def _collect(value: Any, prefix: str, found: set[str], within: frozenset[str] | None) -> None:
    if isinstance(value, dict):
        for key, inner in value.items():
            path = prefix + key
            found.add(path)
            if isinstance(inner, (dict, list)) and (path in within if within is not None else _is_shallow(path)):
                _collect(inner, f"{path}/", found, within)
    elif isinstance(value, list):
        for inner in value[:_ELEMENTS]:
            _collect(inner, f"{prefix}{_LISTS}/", found, within)


def _is_shallow(path: str) -> bool:
    return path.count("/") < _DEEPEST


def _scanned(head: bytes) -> frozenset[str]:
    """Do the same without decoding, for a document that is cut off or spread over lines."""
    found: set[str] = set()
    way: list[str] = []
    last = b""
    key_is_next = False
    for match in _PIECE.finditer(head):
        text, mark, _ = match.groups()
        if text is not None and key_is_next:
            last = text
            continue
        if mark in (b"{", b"["):
            way.append(_LISTS if mark == b"[" else "")
            key_is_next = mark == b"{"
        elif mark in (b"}", b"]"):
            if way:
                way.pop()
            key_is_next = False
        elif mark == b":":
            if way and way[-1] != _LISTS:
                way[-1] = last[1:-1].decode("utf-8", "replace")
                if len(way) <= _DEEPEST:
                    found.add("/".join(way))
            key_is_next = False
        elif mark == b",":
            key_is_next = bool(way) and way[-1] != _LISTS
    return frozenset(path.removeprefix("*/") for path in found)
