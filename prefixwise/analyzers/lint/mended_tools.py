"""Tool lists and output schemas as they would have been sent sorted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.lint.claimed import once
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.documents import Entry
from prefixwise.analyzers.lint.mended_settings import in_time
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


@once
def _changed_tools(claims: Sequence[Claim]) -> dict[str, Any]:
    """Return by name what the tools were at first that did not stay so."""
    first: dict[str, Any] = {}
    changed: set[str] = set()
    for claim in in_time(claims):
        for value in (value for tools in claim.tools for value in tools):
            name = tool_name(value)
            if first.setdefault(name, value) != value:
                changed.add(name)
    return {name: first[name] for name in changed}


@once
def _lists(claims: Sequence[Claim]) -> tuple[dict[str, Any], frozenset[frozenset[str]]]:
    """Return all tools that came and went, in the order in which they came, and which of them came together."""
    every: dict[str, Any] = {}
    lists = [tools for claim in in_time(claims) for tools in claim.tools]
    for value in (value for tools in lists for value in tools):
        every.setdefault(tool_name(value), value)
    return every, frozenset(frozenset(map(tool_name, tools)) for tools in lists)


def with_first_tools(request: Request, claims: Sequence[Claim]) -> Request | None:
    """Return a request each of whose tools is what the tool of that name was at first; None where that is not known."""
    wanted = _changed_tools(claims)
    if not wanted:
        return None
    return with_mended_items(request, lambda entry: _first_of(entry, wanted))


def _first_of(entry: Entry, first: Mapping[str, Any]) -> bytes:
    """Return the JSON of a tool, or of an item that declares several, with those that changed as they were at first."""
    if entry.kind != "tools":
        return entry.raw
    item, raw = msgspec.json.decode(entry.raw), entry.raw
    if not isinstance(item, dict):
        return raw
    declared = [(name, value) for name in _DECLARED for value in [item.get(name)] if isinstance(value, list)]
    for name, tools in declared:
        for at, tool in enumerate(tools):
            wanted = first.get(tool_name(tool), tool)
            raw = raw if wanted == tool else with_value(raw, (name, str(at)), msgspec.json.encode(wanted))
    bare = {key: value for key, value in item.items() if key != _MARKER}
    wanted = first.get(tool_name(item), bare)
    if declared or wanted == bare:
        return raw
    marker = {_MARKER: item[_MARKER]} if _MARKER in item else {}
    return msgspec.json.encode({**wanted, **marker})


def with_all_tools(request: Request, claims: Sequence[Claim]) -> Request | None:
    """Return a request with all the tools that came and went, in the order in which they came.

    A request with other tools than any of those that changed is another application's. None where tools are declared
    in a way that is not known here.
    """
    every, lists = _lists(claims)
    section = next((section for section in request.sections if section.kind == "tools"), None)
    if not every or (section is not None and any(_is_declaration(raw) for raw in section.raw_items())):
        return None
    if section is None:
        return request
    own = {tool_name(msgspec.json.decode(raw)): bytes(raw) for raw in section.raw_items()}
    if frozenset(own) not in lists:
        return request
    items = [own.get(name) or msgspec.json.encode(value) for name, value in every.items()]
    return with_sections(request, [with_items(one, items) if one is section else one for one in request.sections])


def _is_declaration(raw: msgspec.Raw | bytes) -> bool:
    return any(name.encode() in bytes(raw) for name in _DECLARED)
