"""Places in a prompt at which a value moves, and the values that stood there over time.

One change says little: whether `118,400` is a counter or a price shows when the next value comes. Changes at one place
of one application are therefore judged together. A place is a field of the body and the text in front of the value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.values.hunks import Hunk, hunks
from prefixwise.analyzers.values.quotes import Quoted, quoted
from prefixwise.core.finding import Where

_MOST_VALUES = 64
_MOST_HUNKS = 4
_SIGN = 16
"""Characters in front of a value by which its place is known again."""
_NUMBERS = re.compile(r"\d+")
_INDEX = re.compile(r"(?<=/)\d+(?=/|$)")


class SpanChange(msgspec.Struct, frozen=True):
    """One change of a text: what rules for moving values look at.

    Attributes:
        before, after: Rows; `turn`: whether they are of one conversation.
        where, field, char_offset: Place of the first difference, as in `Change`.
        hunk, quote: The first differing stretch, exactly and as a person would quote it.
        more: The next few differing stretches of the same value, quoted.
        length: Code points of the value in the later request; `equal_after`: of those behind the first stretch, how
            many both values have.
        first_text: Whether the value opens the conversation: in the system text, or in the first message.
        newest: Whether it stands in the last message of the later request.
        lost: Tokens that the pair lost.
        fallback: What to say where no rule for moving values knows the value.
        gap: Seconds from start to start, None where the log has no times.
        before_text, after_text: The two values whole; empty but for the first few changes of a place.
    """

    before: int
    after: int
    turn: bool
    where: Where
    field: str
    char_offset: int | None
    hunk: Hunk
    quote: Quoted
    more: tuple[Quoted, ...]
    length: int
    equal_after: int
    first_text: bool
    newest: bool
    lost: int
    fallback: Claim | None = None
    gap: float | None = None
    before_text: str = ""
    after_text: str = ""

    @property
    def place(self) -> tuple[Where, str, str, str]:
        """Area, field, label, and the text in front of the value: what it is known again by."""
        sign = _NUMBERS.sub("#", self.quote.left.rstrip()[-_SIGN:])
        return self.where, field_shape(self.field), self.quote.label, sign


class Slot(msgspec.Struct, frozen=True):
    """One place and its changes, by start of the later request.

    Attributes:
        family: Application.
        where: Area of the prompt; `field`: pointer with `*` for the numbers of messages.
        changes: At least one.
        values: What stood there, in order, without repeats in a row; the first 64.
    """

    family: int
    where: Where
    field: str
    changes: tuple[SpanChange, ...]
    values: tuple[str, ...]

    @property
    def first(self) -> SpanChange:
        """The first change."""
        return self.changes[0]

    @property
    def in_turns(self) -> int:
        """How many of the changes are inside a conversation."""
        return sum(change.turn for change in self.changes)

    @property
    def variants(self) -> int:
        """How many distinct values were seen."""
        return len({text for change in self.changes for text in (change.quote.from_text, change.quote.to_text)})


def span_change(pair: Compared, fallback: Claim | None) -> SpanChange | None:
    """Return the change of a pair's text, None where what differs is not a text."""
    change = pair.change
    if change is None or not change.is_text:
        return None
    found = hunks(change.before, change.after)
    if not found:
        return None
    last = len(change.b) - 1
    return SpanChange(
        before=pair.before,
        after=pair.after,
        turn=pair.turn,
        where=change.where,
        field=change.field,
        char_offset=change.char_offset,
        hunk=found[0],
        quote=quoted(change.before, change.after, found[0]),
        more=tuple(quoted(change.before, change.after, hunk) for hunk in found[1:_MOST_HUNKS]),
        length=len(change.after),
        equal_after=len(change.after) - found[0].after_end - sum(len(hunk.after_text) for hunk in found[1:]),
        first_text=change.where is Where.SYSTEM or change.index == len(pair.log.outlines.head[pair.after]),
        newest=change.where is Where.MESSAGES and change.index == last,
        lost=pair.lost,
        fallback=fallback,
        gap=pair.gap,
        before_text=change.before,
        after_text=change.after,
    )


def slots(changes: Iterable[SpanChange], families: Sequence[int], order: Sequence[float]) -> list[Slot]:
    """Group changes by place, in the order of their first change.

    Args:
        changes: In any order.
        families: By row.
        order: Start by row.
    """
    grouped: dict[tuple[Any, ...], list[SpanChange]] = {}
    for change in sorted(changes, key=lambda change: (order[change.after], change.after)):
        grouped.setdefault((families[change.after], *change.place), []).append(change)
    return [Slot(key[0], key[1], key[2], tuple(found), _values(found)) for key, found in grouped.items()]


def field_shape(field: str) -> str:
    """Return a pointer with `*` for the numbers of messages, which differ from place to place of one cause."""
    return _INDEX.sub("*", field) if field.startswith(("/messages", "/input", "/contents", "/prompt")) else field


def _values(changes: Sequence[SpanChange]) -> tuple[str, ...]:
    found: list[str] = []
    for change in changes:
        for text in (change.quote.from_text, change.quote.to_text):
            if not found or found[-1] != text:
                found.append(text)
        if len(found) >= _MOST_VALUES:
            break
    return tuple(found[:_MOST_VALUES])
