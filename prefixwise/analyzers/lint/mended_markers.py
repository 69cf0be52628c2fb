"""Requests with cache markers where they serve: behind the system text and the newest message, no more than allowed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.lint.marker_places import MARKER_KEYS, MarkerPlace, MarkerReader
from prefixwise.analyzers.lint.mended_history import as_blocks
from prefixwise.analyzers.lint.mending import with_items, with_sections
from prefixwise.analyzers.lint.raw_values import with_value
from prefixwise.core.pointer import parse_pointer
from prefixwise.core.request import Request, Section

_MARKER = {"type": "ephemeral"}
_MOST = 4
"""Markers that Anthropic and Bedrock allow."""
_MARKED = frozenset({"anthropic-messages"})
_POINT = {"cachePoint": {"type": "default"}}


def with_markers(request: Request) -> Request | None:
    """Return a request with a marker behind its system text and one behind its newest message.

    One that has any is returned as it is; None where its API is none whose markers are known here.
    """
    if request.api not in (*_MARKED, "bedrock-converse", "openai-chat"):
        return None
    if MarkerReader().places(request)[0]:
        return request
    sections = list(request.sections)
    for kind in ("system", "messages"):
        at = next((number for number, section in enumerate(sections) if section.kind == kind), None)
        if at is not None:
            sections[at] = _marked(request.api, sections[at])
    return with_sections(request, sections)


def _marked(api: str, section: Section) -> Section:
    items = [bytes(raw) for raw in section.raw_items()]
    if api == "bedrock-converse":
        if section.kind == "system":
            return with_items(section, [*items, msgspec.json.encode(_POINT)])
        message = msgspec.json.decode(items[-1])
        message["content"] = [*message["content"], _POINT]
        return with_items(section, [*items[:-1], msgspec.json.encode(message)])
    if not section.listed:  # a bare text has no place for a marker
        block = {"type": "text", "text": msgspec.json.decode(items[0]), "cache_control": _MARKER}
        return msgspec.structs.replace(section, items=[msgspec.json.encode(block)], listed=True)
    wanted = {len(items) - 1}
    if api == "openai-chat":
        heads = [
            at for at, raw in enumerate(items) if b'"system"' in raw and msgspec.json.decode(raw)["role"] == "system"
        ]
        wanted.update(heads[-1:])
    return with_items(section, [_with_marker(raw) if at in wanted else raw for at, raw in enumerate(items)])


def _with_marker(raw: bytes) -> bytes:
    """Return a block, or a message with its last block, with a marker on it."""
    raw = as_blocks(raw)
    item = msgspec.json.decode(raw)
    content = item.get("content")
    if isinstance(content, list) and "role" in item:
        if not content or not isinstance(content[-1], dict):
            return raw
        last = {**content[-1], "cache_control": _MARKER}
        return with_value(raw, ("content", str(len(content) - 1)), msgspec.json.encode(last))
    return msgspec.json.encode({**item, "cache_control": _MARKER})


def with_fewer_markers(request: Request) -> Request:
    """Return a request that carries no more markers than allowed: the oldest of its messages are the first to go."""
    places = [place for place in MarkerReader().places(request)[0] if place.on != "automatic"]
    surplus = len(places) + (request.automatic is not None) - _MOST
    if surplus <= 0:
        return request
    in_messages = [place for place in places if place.kind == "messages"]
    return _without(request, [*in_messages, *places][:surplus])


def _without(request: Request, places: Sequence[MarkerPlace]) -> Request:
    sections = []
    for section in request.sections:
        items = [bytes(raw) for raw in section.raw_items()]
        for number, raw in enumerate(items):
            at = section.item_pointer(number)
            inside = [place.pointer[len(at) :] for place in places if place.pointer.startswith(at + "/")]
            for pointer in sorted(inside, reverse=True):
                raw = _without_key(raw, pointer)
            items[number] = raw
        sections.append(with_items(section, items))
    return with_sections(request, sections)


def _without_key(raw: bytes, pointer: str) -> bytes:
    """Return JSON without the member of an object at a pointer."""
    keys = parse_pointer(pointer)
    holder: Any = msgspec.json.decode(raw)
    for key in keys[:-1]:
        holder = holder[int(key)] if isinstance(holder, list) else holder[key]
    left = {name: value for name, value in holder.items() if name != keys[-1]}
    return with_value(raw, keys[:-1], msgspec.json.encode(left))


def with_markers_of(now: bytes, was: bytes) -> bytes:
    """Return a message as it was, marked as it is now: on its last block, or not at all."""
    if not any(key.encode() in was or key.encode() in now for key in MARKER_KEYS):
        return was
    bare = msgspec.json.encode(_unmarked(msgspec.json.decode(was)))
    return _with_marker(bare) if b"cache_control" in now else bare


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        points = [item for item in value if not (isinstance(item, dict) and item.keys() == {"cachePoint"})]
        return [_unmarked(item) for item in points]
    if not isinstance(value, dict):
        return value
    return {
        key: _unmarked(item) for key, item in value.items() if key not in ("cache_control", "prompt_cache_breakpoint")
    }
