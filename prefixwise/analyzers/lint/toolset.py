"""The tools of a request by name, whatever its API calls them, and how two lists of them differ."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, NamedTuple

import msgspec

from prefixwise.analyzers.diff import inside_json
from prefixwise.analyzers.lint.documents import Document, Entry
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.pointer import format_pointer

_NESTED = ("function", "toolSpec", "custom")
_DECLARED = ("functionDeclarations", "function_declarations")
_NAMES = ("name", "server_label", "mcp_server_name", "type")
"""What a tool is called by; built-in ones have no more than a type."""


class Tool(NamedTuple):
    """One tool.

    Attributes:
        name: Its name; of a built-in tool its type.
        name_field: Pointer of that; `field`: of the tool.
        value: Its JSON, without cache markers.
        deferred: Whether it is loaded only once a search finds it, so that no prompt begins with it.
    """

    name: str
    name_field: str
    field: str
    value: Any
    deferred: bool


class Difference(StrEnum):
    """What differs between two lists of tools first."""

    SET = "set"
    """Some tools are in one of them only."""
    ORDER = "order"
    """The same names come in another order."""
    KEYS = "keys"
    """A tool is equal as JSON; its keys come in another order."""
    SCHEMA = "schema"
    """A tool of the same name says something else."""


class ToolChange(NamedTuple):
    """How two lists of tools differ.

    Attributes:
        difference: What differs.
        place: 0-based number of the first tool that differs; `left`, `right`: the tools there, None behind the last.
        removed, added: Names that are in the earlier list only, and in the later only, with their places.
        strangers: Whether both lists have tools, and none in common.
        field: Pointer of what differs first inside the tool; `before`, `after`: the values there, `is_text` whether
            both are strings.
    """

    difference: Difference
    place: int
    left: Tool | None
    right: Tool | None
    removed: tuple[tuple[str, int], ...] = ()
    added: tuple[tuple[str, int], ...] = ()
    strangers: bool = False
    field: str = ""
    before: Any = None
    after: Any = None

    @property
    def is_text(self) -> bool:
        """Whether both values are strings."""
        return isinstance(self.before, str) and isinstance(self.after, str)

    @property
    def char_offset(self) -> int | None:
        """Code points that the two values share, None where one is no string."""
        return common_prefix(self.before, self.after) if self.is_text else None


def tools_of(document: Document) -> list[Tool]:
    """Return the tools of a request in their order, deferred ones left out."""
    found = (tool for entry in document.of_kind("tools") for tool in _tools_in(entry))
    return [tool for tool in found if not tool.deferred]


def tool_change(before: list[Tool], after: list[Tool]) -> ToolChange | None:
    """Return how two lists of tools differ, None where they say the same."""
    names, others = [tool.name for tool in before], [tool.name for tool in after]
    if names != others:
        index = next((i for i, (a, b) in enumerate(zip(names, others, strict=False)) if a != b), -1)
        index = min(len(names), len(others)) if index < 0 else index
        left = before[index] if index < len(before) else None
        right = after[index] if index < len(after) else None
        if Counter(names) == Counter(others):
            return ToolChange(Difference.ORDER, index, left, right)
        apart = bool(names) and bool(others) and set(names).isdisjoint(others)
        return ToolChange(Difference.SET, index, left, right, _only(names, others), _only(others, names), apart)
    for index, (one, other) in enumerate(zip(before, after, strict=True)):
        if msgspec.json.encode(one.value) != msgspec.json.encode(other.value):
            return _inside(index, one, other)
    return None


def same_apart_from_order(one: Any, other: Any) -> bool:
    """Say whether two JSON values are equal when the order of keys is left out of account."""
    return msgspec.json.encode(one, order="sorted") == msgspec.json.encode(other, order="sorted")


def _inside(index: int, one: Tool, other: Tool) -> ToolChange:
    inner, before, after = inside_json(one.value, other.value)
    field = other.field + inner
    if same_apart_from_order(before, after):
        return ToolChange(Difference.KEYS, index, one, other, field=field, before=before, after=after)
    if isinstance(before, dict) and isinstance(after, dict):
        field, before, after = _first_key(field, before, after)
    return ToolChange(Difference.SCHEMA, index, one, other, field=field, before=before, after=after)


def _first_key(field: str, before: dict[str, Any], after: dict[str, Any]) -> tuple[str, Any, Any]:
    """Return the first value that only one of two objects has, or that differs; else the objects themselves."""
    for key in dict.fromkeys((*after, *before)):
        if key not in before or key not in after:
            return field + format_pointer(key), before.get(key), after.get(key)
        if not same_apart_from_order(before[key], after[key]):
            inner, *values = inside_json(before[key], after[key])
            return field + format_pointer(key) + inner, *values
    return field, before, after


def _only(names: list[str], others: list[str]) -> tuple[tuple[str, int], ...]:
    left = Counter(others)
    found = []
    for place, name in enumerate(names):
        if left[name] > 0:
            left[name] -= 1
        else:
            found.append((name, place))
    return tuple(found)


def _tools_in(entry: Entry) -> Iterator[Tool]:
    at = entry.pointer
    for part in entry.parts:
        for tool in _parsed(part.text) if part.is_json else ():
            yield tool._replace(name_field=at + tool.name_field, field=at + tool.field)


@functools.lru_cache(maxsize=4096)
def _parsed(text: str) -> tuple[Tool, ...]:
    """Return the tools that one item of a list holds, with pointers from the item on; Gemini's hold several."""
    value = msgspec.json.decode(text)
    if not isinstance(value, dict):
        return (_tool("", value),)
    found = []
    for key in _DECLARED:
        if isinstance(value.get(key), list):
            found += [_tool(f"/{key}/{place}", declared) for place, declared in enumerate(value[key])]
            value = {name: said for name, said in value.items() if name != key}
    return (*found, _tool("", value)) if value else tuple(found)


def tool_name(value: Any) -> str:
    """Return what a decoded tool is called by."""
    return _tool("", value).name


def _tool(field: str, value: Any) -> Tool:
    if not isinstance(value, dict):
        return Tool(str(value), field, field, value, deferred=False)
    deferred = value.get("defer_loading") is True
    for key in _NESTED:
        inner = value.get(key)
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            return Tool(inner["name"], f"{field}/{key}/name", field, value, deferred)
    for key in _NAMES:
        if isinstance(value.get(key), str):
            return Tool(value[key], f"{field}/{key}", field, value, deferred)
    name = next(iter(value), "")
    return Tool(name, field, field, value, deferred)
