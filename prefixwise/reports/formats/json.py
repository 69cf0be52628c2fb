"""`json`: the envelope, for programs; its keys are what a schema version promises."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from prefixwise.core.envelope import envelope
from prefixwise.core.excerpt import UNSAFE, escaped
from prefixwise.core.report import Report
from prefixwise.reports.format import FORMATS, Format

_SURROGATE = re.compile(r"[\ud800-\udfff]")


def render(report: Report, **_layout: object) -> str:
    r"""Return the report in the shared envelope, indented, keys in declared order.

    Strings keep their exact value, and what would deceive a terminal is written as a `\u` escape; only a
    lone surrogate, which is no text and which strict parsers refuse, becomes its escape spelled out.
    Infinity and not-a-number become null.
    """
    document = envelope(report)
    try:
        encoded = msgspec.json.encode(document)
    except UnicodeEncodeError:
        encoded = msgspec.json.encode(_spelled_out(msgspec.to_builtins(document, str_keys=True)))
    safe = UNSAFE.sub(lambda match: _u_escape(match[0]), encoded.decode())
    return msgspec.json.format(safe, indent=2) + "\n"


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


FORMATS.add("json", Format("json", "application/json", ".json", render))
