"""Where the cache markers of a request stand, and how many blocks it has, item by item, each item read once.

Providers count blocks, not messages: a message's content is a list of blocks, a bare text is one, and a run of tool
calls, or of their results, is one position of the look-back, however long it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, cast

import msgspec
from msgspec import Raw

from prefixwise.core.request import Request, Section

MARKER_KEYS = ("cache_control", "cachePoint", "prompt_cache_breakpoint")
CALL, RESULT, THINKING, EMPTY = "call", "result", "thinking", "empty"
"""What a block is, where that matters; anything else is called as its API calls it."""
FRONT = "front"
"""What a marker marks that stands in front of everything."""
UNMARKABLE = frozenset({EMPTY, THINKING, FRONT})
"""What cannot carry a marker."""

_SIGN = b"cache"
"""Part of the name of every kind of marker."""
_MOST_KNOWN = 200_000
_KINDS = {
    **dict.fromkeys(("tool_use", "toolUse", "tool-call", "function_call", "function", "custom_tool_call"), CALL),
    **dict.fromkeys(("tool_result", "toolResult", "tool-result", "function_call_output", "tool"), RESULT),
    **dict.fromkeys(("thinking", "redacted_thinking", "reasoningContent", "reasoning"), THINKING),
}
_RUNS = (CALL, RESULT)
_BEDROCK = ("text", "toolUse", "toolResult", "image", "document", "reasoningContent")
_DATA = (("input_schema",), ("function", "parameters"), ("parameters",), ("source",), ("image_url",))
_LONGEST_TTL = 20
_Asked = tuple[str, float | None, str]
"""A marker: pointer in what holds it, lifetime in seconds, and as it is written."""
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
        asked: The lifetime as it is written, empty where none is.
    """

    pointer: str
    kind: str
    ttl: float | None
    position: int
    block: int
    on: str
    asked: str = ""


class _Mark(NamedTuple):
    """A marker of an item: pointer in the item, lifetime, and what is marked, with numbers counted inside the item."""

    pointer: str
    ttl: float | None
    asked: str
    block: int
    position: int
    on: str


class _Item(NamedTuple):
    """What one item, or one tool list, adds: its blocks, the kinds of its first and last, and its markers.

    `strays` are pointers of markers where the API has no place for one.
    """

    blocks: int
    positions: int
    first: str
    last: str
    is_head: bool
    marks: tuple[_Mark, ...]
    strays: tuple[str, ...] = ()


class _PlainBlock(msgspec.Struct):
    type: str = ""


class _PlainMessage(msgspec.Struct):
    """What of a message without markers has to be looked at."""

    role: str = ""
    content: list[_PlainBlock] | str | None = None
    tool_calls: list[Raw] | None = None


_plain = msgspec.json.Decoder(_PlainMessage).decode
_ONE_TEXT = _Item(1, 1, "text", "text", False, ())


class MarkerReader:
    """Finds the markers of requests; what a conversation repeats is not read again."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, _Item]] = {}
        self._strayed = False

    def places(self, request: Request) -> tuple[tuple[MarkerPlace, ...], int]:
        """Return (markers in cache order, how many positions the prompt has); an automatic marker comes last."""
        found: list[MarkerPlace] = []
        blocks = positions = 0
        last = ""
        for section in request.sections:
            is_whole = section.whole is not msgspec.UNSET
            for index, item in enumerate([self._list(section)] if is_whole else self._items(section)):
                if item is _ONE_TEXT:
                    positions, blocks, last = positions + 1, blocks + 1, "text"
                    continue
                if item.first == last and last in _RUNS and item.blocks:
                    positions -= 1
                for mark in item.marks:
                    pointer = (section.pointer if is_whole else section.item_pointer(index)) + mark.pointer
                    kind = "system" if item.is_head and section.kind == "messages" else section.kind
                    at = max(0, positions + mark.position), max(0, blocks + mark.block)
                    on = FRONT if blocks + mark.block < 0 else mark.on
                    found.append(MarkerPlace(pointer, kind, mark.ttl, *at, on, mark.asked))
                positions += item.positions
                blocks += item.blocks
                last = item.last if item.blocks else last
        if request.automatic is not None and not any(place.block == blocks - 1 for place in found):
            place = max(0, positions - 1), max(0, blocks - 1)
            found.append(MarkerPlace("/cache_control", "messages", request.automatic, *place, "automatic"))
        return tuple(found), positions

    def strays(self, request: Request) -> tuple[str, ...]:
        """Return pointers of what looks like markers where the API has no place for them; asked after `places`."""
        if not self._strayed:
            return ()
        found: list[str] = []
        for section in request.sections:
            is_whole = section.whole is not msgspec.UNSET
            for index, item in enumerate([self._list(section)] if is_whole else self._items(section)):
                at = section.pointer if is_whole else section.item_pointer(index)
                found += [at + pointer for pointer in item.strays]
        return tuple(found)

    def _items(self, section: Section) -> list[_Item]:
        known = self._known.setdefault(section.kind, {})
        raws = list(map(bytes, section.items))
        items = list(map(known.get, map(hash, raws)))
        if None not in items:
            return cast("list[_Item]", items)
        if len(known) >= _MOST_KNOWN:
            known.clear()
        for raw in raws:
            if (key := hash(raw)) not in known:
                known[key] = item = _read_item(section.kind, raw)
                self._strayed = self._strayed or bool(item.strays)
        return [known[hash(raw)] for raw in raws]

    def _list(self, section: Section) -> _Item:
        known = self._known.setdefault("list of " + section.kind, {})
        key = hash(bytes(section.whole))  # type: ignore[arg-type]
        if key not in known:
            values = [(f"/{at}", msgspec.json.decode(raw)) for at, raw in enumerate(section.raw_items())]
            known[key] = item = _read(section.kind, values)
            self._strayed = self._strayed or bool(item.strays)
        return known[key]


def _read_item(kind: str, raw: bytes) -> _Item:
    if kind == "messages" and _SIGN not in raw and (item := _read_plain(raw)) is not None:
        return item
    return _read(kind, [("", msgspec.json.decode(raw))])


def _read_plain(raw: bytes) -> _Item | None:
    """Count the blocks of a message that has no markers; None where its shape asks for a closer look."""
    try:
        message = _plain(raw)
    except msgspec.MsgspecError:
        return None
    role, content = message.role, message.content
    if not role or (isinstance(content, list) and not all(block.type for block in content)):
        return None
    kinds = [block.type for block in content] if isinstance(content, list) else ["text"] if content else []
    kinds = [RESULT] * len(kinds) if role == "tool" else [_KINDS.get(name, name) for name in kinds]
    kinds += [CALL] * len(message.tool_calls or ())
    is_head = role in ("system", "developer")
    if kinds == ["text"] and not is_head:
        return _ONE_TEXT
    runs = sum(1 for at, kind in enumerate(kinds) if not (at and kind == kinds[at - 1] and kind in _RUNS))
    return _Item(len(kinds), runs, kinds[0] if kinds else "", kinds[-1] if kinds else "", is_head, ())


def seconds_of(ttl: Any) -> float | None:
    """Return a lifetime as requests write it (`5m`, `1h`, `24h`) in seconds, None for anything else."""
    found = _SPAN.fullmatch(ttl) if isinstance(ttl, str) else None
    return None if found is None else int(found[1]) * _UNITS[found[2]]


def _read(kind: str, values: Iterable[tuple[str, Any]]) -> _Item:
    blocks = positions = 0
    first = last = ""
    is_head = False
    marks: list[_Mark] = []
    strays: list[str] = []
    for at, value in values:
        is_head = is_head or (isinstance(value, dict) and value.get("role") in ("system", "developer"))
        for pointer, block, on in _blocks(kind, value):
            marked = _marked(block)
            if not _is_point(block):
                if not (on == last and on in _RUNS):
                    positions += 1
                blocks += 1
                first, last = first or on, on
            place = blocks - 1, positions - 1
            marks += [_Mark(at + pointer + inner, ttl, asked, *place, last or on) for inner, ttl, asked in marked]
            strays += [at + pointer + inner for inner in _strays(block)]
        if kind == "messages" and _is_message(value):
            marks += [
                _Mark(at + inner, ttl, asked, blocks - 1, positions - 1, last) for inner, ttl, asked in _own(value)
            ]
    return _Item(blocks, positions, first, last, is_head, tuple(marks), tuple(strays))


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


def _strays(block: Any) -> Iterator[str]:
    """Yield where a block holds a marker inside data of its own, which nobody reads as one.

    Those are results of tools in Bedrock's API, schemas of tools, and sources of media. What a model wrote as the
    arguments of a call is left alone: there it may be meant.
    """
    if not isinstance(block, dict):
        return
    result = block.get("toolResult")
    parts = result.get("content") if isinstance(result, dict) else None
    for index, part in enumerate(parts if isinstance(parts, list) else ()):
        if _is_point(part):
            yield f"/toolResult/content/{index}/cachePoint"
    for path in _DATA:
        holder: Any = block
        for key in path:
            holder = holder.get(key) if isinstance(holder, dict) else None
        marker = holder.get("cache_control") if isinstance(holder, dict) else None
        if isinstance(marker, dict) and marker.get("type") == "ephemeral":
            yield "/" + "/".join(path) + "/cache_control"


def _marked(block: Any) -> list[_Asked]:
    """Return each marker in a block: its own, and those of what a result contains."""
    if not isinstance(block, dict):
        return []
    found = _own(block)
    inner = block.get("content")
    if isinstance(inner, list):
        for index, part in enumerate(inner):
            found += [(f"/content/{index}{pointer}", ttl, asked) for pointer, ttl, asked in _own(part)]
    if "function" in block:  # a tool of Chat Completions
        found += [("/function" + pointer, ttl, asked) for pointer, ttl, asked in _own(block["function"])]
    return found


def _own(holder: Any) -> list[_Asked]:
    """Return the markers that an object has itself, also as the Vercel SDK takes them: as a provider's option."""
    if not isinstance(holder, dict):
        return []
    found = [("/" + key, holder[key]) for key in MARKER_KEYS if key in holder]
    for name in ("providerOptions", "providerMetadata"):
        options = holder.get(name) if name in holder else None
        anthropic = options.get("anthropic") if isinstance(options, dict) else None
        if isinstance(anthropic, dict):
            names = ("cacheControl", "cache_control")
            found += [(f"/{name}/anthropic/{key}", anthropic[key]) for key in names if key in anthropic]
    markers = [(pointer, marker) for pointer, marker in found if isinstance(marker, dict)]
    return [(pointer, seconds_of(marker.get("ttl")), _written(marker.get("ttl"))) for pointer, marker in markers]


def _written(ttl: Any) -> str:
    """Return a lifetime as the request writes it, cut to what is worth showing; empty for none."""
    return "" if ttl is None else str(ttl)[:_LONGEST_TTL]
