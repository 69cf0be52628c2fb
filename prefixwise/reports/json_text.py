"""JSON as this program writes it: exact strings that deceive neither a terminal nor a CI runner."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from prefixwise.core.excerpt import UNSAFE, escaped

_SURROGATE = re.compile(r"[\ud800-\udfff]")
# Outside strings JSON has no number sign, so this is always inside one.
_COMMAND = re.compile(r"##(?=[\w]*\[)")
_PIECE = 4096
"""Characters that are looked at together."""


def json_text(value: Any) -> str:
    r"""Return `value` as JSON, indented, keys in the order given, with a line break at the end.

    Strings keep their exact value, and what would deceive a terminal or be a command to a CI runner is written as a
    `\u` escape; only a lone surrogate, which is no text and which strict parsers refuse, becomes its escape spelled
    out. Infinity and not-a-number become null.
    """
    try:
        encoded = msgspec.json.encode(value)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_spelled_out(msgspec.to_builtins(value, str_keys=True)))
    safe = _escaped(encoded.decode())
    return msgspec.json.format(_COMMAND.sub(r"#\\u0023", safe), indent=2) + "\n"


def _escaped(encoded: str) -> str:
    """Return JSON with an escape for each character that deceives.

    Inside of JSON only one ASCII character can: most of a long text need not be searched for the others.
    """
    pieces = [encoded[at : at + _PIECE] for at in range(0, len(encoded), _PIECE)]
    for number, piece in enumerate(pieces):
        if not piece.isascii() or "\x7f" in piece:
            pieces[number] = UNSAFE.sub(lambda match: _u_escape(match[0]), piece)
    return "".join(pieces)


def _spelled_out(value: Any) -> Any:
    if isinstance(value, str):
        return _SURROGATE.sub(lambda match: escaped(match[0]), value)
    if isinstance(value, dict):
        return {_spelled_out(key): _spelled_out(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled_out(item) for item in value]
    return value


def _u_escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{high:02x}{low:02x}" for high, low in zip(units[::2], units[1::2], strict=True))
