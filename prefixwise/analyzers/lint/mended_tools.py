"""Tool lists and output schemas as they would have been sent sorted."""

from __future__ import annotations

from typing import Any

import msgspec

from prefixwise.analyzers.lint.documents import Entry
from prefixwise.analyzers.lint.mending import with_items, with_mended_items, with_sections
from prefixwise.analyzers.lint.raw_values import with_value
from prefixwise.analyzers.lint.toolset import tool_name
from prefixwise.core.request import Request, Section

_DECLARED = ("functionDeclarations", "function_declarations")
_MARKER = "cache_control"


def with_sorted_tools(request: Request) -> Request:
    """Return a request whose tools are sorted by name; a cache marker behind the last one stays there."""
    return with_sections(
        request, [_sorted(section) if section.kind == "tools" else section for section in request.sections]
    )


def with_sorted_keys(request: Request) -> Request:
    """Return a request whose tools and output schema are written with sorted keys."""

    def mend(entry: Entry) -> bytes:
        return sorted_keys(entry.raw) if entry.kind in ("tools", "format") else entry.raw

    return with_mended_items(request, mend)


def sorted_keys(raw: bytes) -> bytes:
    """Return JSON with sorted keys; the same bytes where they are sorted."""
    value = msgspec.json.decode(raw)
    mended = msgspec.json.encode(value, order="sorted")
    return raw if mended == msgspec.json.encode(value) else mended


def _sorted(section: Section) -> Section:
    items = [_with_sorted_declarations(bytes(raw)) for raw in section.raw_items()]
    ordered = sorted(items, key=lambda raw: tool_name(msgspec.json.decode(raw)))
    if ordered != items and _MARKER.encode() in items[-1]:
        last = msgspec.json.decode(items[-1])
        if isinstance(last, dict) and _MARKER in last:
            ordered = _with_last_marker(ordered, items[-1], last)
    return with_items(section, ordered)


def _with_last_marker(ordered: list[bytes], marked: bytes, value: dict[str, Any]) -> list[bytes]:
    """Return tools of which the last one carries the marker of the one that was last."""
    marker = value.pop(_MARKER)
    ordered = [msgspec.json.encode(value) if raw == marked else raw for raw in ordered]
    new = msgspec.json.decode(ordered[-1])
    return [*ordered[:-1], msgspec.json.encode({**new, _MARKER: marker})]


def _with_sorted_declarations(raw: bytes) -> bytes:
    """Return an item that declares several functions with these sorted; others as they are."""
    if not any(name.encode() in raw for name in _DECLARED):
        return raw
    item = msgspec.json.decode(raw)
    for name in _DECLARED:
        declared = item.get(name) if isinstance(item, dict) else None
        if isinstance(declared, list):
            ordered = sorted(declared, key=tool_name)
            if ordered != declared:
                raw = with_value(raw, (name,), msgspec.json.encode(ordered))
    return raw
