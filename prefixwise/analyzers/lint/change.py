"""Where the texts of two requests part first, in cache order."""

from __future__ import annotations

from typing import Any

import msgspec

from prefixwise.analyzers.diff import inside_json
from prefixwise.analyzers.lint.documents import Document, Entry
from prefixwise.analyzers.lint.toolset import ToolChange, tool_change, tools_of
from prefixwise.analyzers.values.hunks import common_prefix
from prefixwise.core.finding import Where
from prefixwise.core.request import Part

_ORDER = (Where.TOOLS, Where.PARAMS, Where.SYSTEM, Where.MESSAGES)


class Change(msgspec.Struct, frozen=True):
    """The first difference of two documents.

    Attributes:
        a, b: The earlier and the later document.
        index: Item at which they part, in both; `left` and `right`: the items there, None at the end of a prompt.
        where: Area of the prompt.
        field: Pointer of the value that differs, in the later body where it is there, else in the earlier one.
        char_offset: Code points that the two values share from their start; None where one is no string.
        before, after: The two values: strings as they are, other values as compact JSON, empty where there is none.
        is_text: Whether both values are texts (not JSON, media or missing).
        tools: How the tools differ, where they are what differs first.
    """

    a: Document
    b: Document
    index: int
    left: Entry | None
    right: Entry | None
    where: Where
    field: str
    char_offset: int | None
    before: str
    after: str
    is_text: bool
    tools: ToolChange | None = None

    @property
    def shown(self) -> Entry:
        """The item in the later document, or the one of the earlier that has gone."""
        entry = self.right or self.left
        assert entry is not None  # noqa: S101 - two documents that part have an item where they do
        return entry


def first_change(a: Document, b: Document, index: int) -> Change | None:
    """Return where two documents part first, None where one continues or repeats the other.

    Args:
        a: The earlier document.
        b: The later one.
        index: How many leading items are known to say the same.
    """
    while (left := a.entry(index)) is not None and (right := b.entry(index)) is not None:
        if left.kind == right.kind and same_words(left, right):
            index += 1
            continue
        return _at(a, b, index, left, right)
    left, right = a.entry(index), b.entry(index)
    if left is None and (right is None or right.where is Where.MESSAGES):
        return None
    if right is None and left is not None and left.where is Where.MESSAGES:
        return None
    return _at(a, b, index, left, right)


def same_words(left: Entry, right: Entry) -> bool:
    """Say whether two items say the same to a model: markers and shapes apart."""
    one, other = left.turn, right.turn
    if one is other:
        return True
    return (one.role, one.name, [_said(part) for part in one.parts]) == (
        other.role,
        other.name,
        [_said(part) for part in other.parts],
    )


def _said(part: Part) -> Any:
    return part.text or part.media or part.ids


def _at(a: Document, b: Document, index: int, left: Entry | None, right: Entry | None) -> Change:
    if left is None or right is None or left.where is not right.where:
        entry = min((e for e in (left, right) if e is not None), key=lambda e: _ORDER.index(e.where))
        text = entry.text
        pair = (text, "") if entry is left else ("", text)
        tools = _tools(a, b, entry.where)
        return Change(a, b, index, left, right, entry.where, entry.pointer, None, *pair, is_text=False, tools=tools)
    field, offset, before, after, is_text = _inside(left, right)
    tools = _tools(a, b, right.where)
    return Change(a, b, index, left, right, right.where, field, offset, before, after, is_text, tools)


def _tools(a: Document, b: Document, where: Where) -> ToolChange | None:
    return tool_change(tools_of(a), tools_of(b)) if where is Where.TOOLS else None


def _inside(left: Entry, right: Entry) -> tuple[str, int | None, str, str, bool]:
    """Return (field, offset, before, after, whether both are texts) of the first part in which two items differ."""
    if left.role != right.role:
        return right.pointer + "/role", common_prefix(left.role, right.role), left.role, right.role, False
    count = min(len(left.parts), len(right.parts))
    at = next((i for i in range(count) if _said(left.parts[i]) != _said(right.parts[i])), count)
    one = left.parts[at] if at < len(left.parts) else None
    other = right.parts[at] if at < len(right.parts) else None
    if one is None and other is None:  # only the name differs
        return (
            right.pointer + "/name",
            common_prefix(left.turn.name, right.turn.name),
            left.turn.name,
            right.turn.name,
            False,
        )
    if one is None or other is None:
        part, entry = (one, left) if one is not None else (other, right)
        assert part is not None  # noqa: S101 - one of the two is there
        texts = (part.text, "") if entry is left else ("", part.text)
        return entry.pointer + part.pointer, None, *texts, False
    return _between(right.pointer + other.pointer, one, other)


def _between(field: str, one: Part, other: Part) -> tuple[str, int | None, str, str, bool]:
    if one.is_json and other.is_json:
        inner, first, second = inside_json(msgspec.json.decode(one.text), msgspec.json.decode(other.text))
        if isinstance(first, str) and isinstance(second, str):
            return field + inner, common_prefix(first, second), first, second, True
        shown = [v if isinstance(v, str) else msgspec.json.encode(v).decode() for v in (first, second)]
        return field + inner, None, shown[0], shown[1], False
    texts = bool(one.text) and bool(other.text) and not one.is_json and not other.is_json
    return field, common_prefix(one.text, other.text) if texts else None, one.text, other.text, texts
