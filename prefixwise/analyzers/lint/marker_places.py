"""Where the cache markers of a request stand, and how many blocks it has, item by item, each item read once.

Providers count blocks, not messages: a message's content is a list of blocks, a bare text is one, and a run of tool
calls, or of their results, is one position of the look-back, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from prefixwise.core.request import Request, Section

MARKER_KEYS = ("cache_control", "cachePoint", "prompt_cache_breakpoint")
CALL, RESULT, THINKING, EMPTY = "call", "result", "thinking", "empty"
"""What a block is, where that matters; anything else is called as its API calls it."""

_MOST_KNOWN = 200_000
_KINDS = {
    **dict.fromkeys(("tool_use", "toolUse", "tool-call", "function_call", "function", "custom_tool_call"), CALL),
    **dict.fromkeys(("tool_result", "toolResult", "tool-result", "function_call_output", "tool"), RESULT),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoningContent", "reasoning"), THINKING),
}
_RUNS = (CALL, RESULT)
_BEDROCK = ("text", "toolUse", "toolResult", "image", "document", "reasoningContent")
_SPAN = re.compile(r"(\d{1,6})([smhd])")
_UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


class MarkerPlace(msgspec.Struct, frozen=True):
    """A cache marker of a request.

    Attributes:
        pointer: Of the marker itself (`/system/0/cache_control`).
        kind: Section that it stands in: `tools`, `system` (also system messages among the messages) or `messages`.
        ttl: Seconds that it asks for, None where it leaves that to the provider.
        position: 0-based number of the block position it stands at, counted over the whole prompt as the provider's
            look-back counts: a run of tool calls, or of results, is one.
        block: The same with every block counted.
        on: What is marked: `text`, `tool`, `call`, `result`, `thinking`, `empty`, `image`, …
    """

    pointer: str
    kind: str
    ttl: float | None
    position: int
    block: int
    on: str


class _Item(NamedTuple):
    """What one item, or one tool list, adds: its blocks, the kinds of its first and last, and its markers.

    `marks` are (pointer in the item, TTL, block, position, what is marked), numbers counted inside the item.
    """

    blocks: int
    positions: int
    first: str
    last: str
    is_head: bool
    marks: tuple[tuple[str, float | None, int, int, str], ...]


class MarkerReader:
    """Finds the markers of requests; what a conversation repeats is not read again."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], _Item] = {}

    def places(self, request: Request) -> tuple[tuple[MarkerPlace, ...], int]:
        """Return (markers in cache order, how many positions the prompt has); an automatic marker comes last."""
        found: list[MarkerPlace] = []
        blocks = positions = 0
        last = ""
        for section in request.sections:
            is_whole = section.whole is not msgspec.UNSET
            items = [self._list(section)] if is_whole else [self._item(section.kind, raw) for raw in section.items]
            for index, item in enumerate(items):
                if item.first == last and last in _RUNS and item.blocks:
                    positions -= 1
                for inner, ttl, block, position, on in item.marks:
                    pointer = (section.pointer if is_whole else section.item_pointer(index)) + inner
                    kind = "system" if item.is_head and section.kind == "messages" else section.kind
                    at = max(0, positions + position), max(0, blocks + block)
                    found.append(MarkerPlace(pointer, kind, ttl, *at, on))
                positions += item.positions
                blocks += item.blocks
                last = item.last if item.blocks else last
        if request.automatic is not None and not _is_marked_at(found, blocks - 1):
            place = max(0, positions - 1), max(0, blocks - 1)
            found.append(MarkerPlace("/cache_control", "messages", request.automatic, *place, "automatic"))
        return tuple(found), positions

    def _item(self, kind: str, raw: msgspec.Raw | bytes) -> _Item:
        key = (kind, hash(bytes(raw)))
        item = self._known.get(key)
        if item is None:
            item = self._keep(key, _read(kind, [("", msgspec.json.decode(raw))]))
        return item

    def _list(self, section: Section) -> _Item:
        key = ("list of " + section.kind, hash(bytes(section.whole)))  # type: ignore[arg-type]
        item = self._known.get(key)
        if item is None:
            values = [(f"/{at}", msgspec.json.decode(raw)) for at, raw in enumerate(section.raw_items())]
            item = self._keep(key, _read(section.kind, values))
        return item

    def _keep(self, key: tuple[str, int], item: _Item) -> _Item:
        if len(self._known) >= _MOST_KNOWN:
            self._known.clear()
        self._known[key] = item
        return item


def seconds_of(ttl: Any) -> float | None:
    """Return a lifetime as requests write it (`5m`, `1h`, `24h`) in seconds, None for anything else."""
    found = _SPAN.fullmatch(ttl) if isinstance(ttl, str) else None
    return None if found is None else int(found[1]) * _UNITS[found[2]]


def _is_marked_at(places: Iterable[MarkerPlace], block: int) -> bool:
    return any(place.block == block for place in places)


def _read(kind: str, values: Iterable[tuple[str, Any]]) -> _Item:
    blocks = positions = 0
    first = last = ""
    is_head = False
    marks: list[tuple[str, float | None, int, int, str]] = []
    for at, value in values:
        is_head = is_head or (isinstance(value, dict) and value.get("role") in ("system", "developer"))
        for pointer, block, on in _blocks(kind, value):
            marked = list(_marked(block))
            if not _is_point(block):
                if not (on == last and on in _RUNS):
                    positions += 1
                blocks += 1
                first, last = first or on, on
            marks += [(at + pointer + inner, ttl, blocks - 1, positions - 1, last or on) for inner, ttl in marked]
        if kind == "messages" and _is_message(value):
            own = [*_own(value), *_optional(value)]
            marks += [(at + inner, ttl, blocks - 1, positions - 1, last) for inner, ttl in own]
    return _Item(blocks, positions, first, last, is_head, tuple(marks))


def _blocks(kind: str, value: Any) -> Iterator[tuple[str, Any, str]]:
    """Yield (pointer, block, what it is) of an item, in order."""
    if kind in ("tools", "format"):
        yield "", value, "tool"
        return
    if kind != "messages" or not isinstance(value, dict):
        yield "", value, _what(value, "")
        return
    for holder in ("kwargs", "data"):  # LangChain's constructors
        if isinstance(inner := value.get(holder), dict) and "content" in inner:
            yield from ((f"/{holder}{pointer}", block, on) for pointer, block, on in _blocks(kind, inner))
            return
    if not _is_message(value):
        yield "", value, _what(value, "")
        return
    role = "tool" if value.get("role") == "tool" else ""
    content = value.get("content")
    if isinstance(content, list):
        for index, block in enumerate(content):
            yield f"/content/{index}", block, _what(block, role)
    elif content is not None and content != "":
        yield "/content", content, _what(content, role)
    for name in ("tool_calls", "toolCalls"):
        calls = value.get(name)
        for index, call in enumerate(calls if isinstance(calls, list) else ()):
            yield f"/{name}/{index}", call, CALL


def _is_message(value: Any) -> bool:
    return isinstance(value, dict) and ("content" in value or "role" in value)


def _what(block: Any, role: str) -> str:
    if isinstance(block, str):
        return _KINDS.get(role, "text" if block else EMPTY)
    if not isinstance(block, dict):
        return "text"
    name = str(block.get("type") or next((key for key in _BEDROCK if key in block), "text"))
    if isinstance(block.get("text"), str) and name.endswith("text"):
        return _KINDS.get(role, "text" if block["text"] else EMPTY)
    return _KINDS.get(role) or _KINDS.get(name, name)


def _is_point(block: Any) -> bool:
    """Say whether a block is nothing but a marker, which ends the block before it."""
    return isinstance(block, dict) and isinstance(block.get("cachePoint"), dict)


def _marked(block: Any) -> Iterator[tuple[str, float | None]]:
    """Yield (pointer in the block, TTL) of each marker in a block: its own, and those of what a result contains."""
    if not isinstance(block, dict):
        return
    yield from _own(block)
    inner = block.get("content")
    if isinstance(inner, list):
        for index, part in enumerate(inner):
            for pointer, ttl in _own(part):
                yield f"/content/{index}{pointer}", ttl
    for pointer, ttl in _own(block.get("function")):  # a tool of Chat Completions
        yield "/function" + pointer, ttl
    yield from _optional(block)


def _own(holder: Any) -> Iterator[tuple[str, float | None]]:
    if isinstance(holder, dict):
        for key in MARKER_KEYS:
            if isinstance(marker := holder.get(key), dict):
                yield "/" + key, seconds_of(marker.get("ttl"))


def _optional(holder: dict[str, Any]) -> Iterator[tuple[str, float | None]]:
    """Yield the marker that the Vercel SDK takes as a provider's option."""
    for name in ("providerOptions", "providerMetadata"):
        options = holder.get(name)
        anthropic = options.get("anthropic") if isinstance(options, dict) else None
        for key in ("cacheControl", "cache_control"):
            if isinstance(anthropic, dict) and isinstance(marker := anthropic.get(key), dict):
                yield f"/{name}/anthropic/{key}", seconds_of(marker.get("ttl"))
