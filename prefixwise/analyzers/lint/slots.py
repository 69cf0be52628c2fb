"""Places in a prompt at which a value moves, and the values that stood there over time.

One change says little: whether `118,400` is a counter or a price shows when the next value comes. Changes at one place
of one application are therefore judged together. A place is a field of the body and the text in front of the value.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import groupby, islice
from typing import Any

import msgspec

from prefixwise.analyzers.lint.change import Change
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.documents import Document
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.moved_values import turn_of_document
from prefixwise.analyzers.values.describe import describe
from prefixwise.analyzers.values.drift import white_space
from prefixwise.analyzers.values.hunks import Hunk, common_prefix, hunks, one_hunk
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.quotes import Quoted, quoted
from prefixwise.core.finding import Confidence, Where
from prefixwise.corpus.dialect import SHAPE_ERRORS, reply_turn
from prefixwise.corpus.rows import NONE

_MOST_VALUES = 64
_VOTERS = 9
_ENOUGH = 0.3
_STRAY = 0.2
"""Share of a place's changes up to which others under the same label are taken for strays of it."""
_MOST_HUNKS = 4
_NEAR, _WIDEST = 80, 600
"""Characters that are kept of a text on both sides of a difference, and of the difference itself."""
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
        more: The next few differing stretches of the same value.
        length: Code points of the value in the later request; `equal_after`: of those behind the first stretch, how
            many both values have, -1 where nobody counted.
        first_text: Whether the value opens the conversation: in the system text, or in the first message.
        newest: Whether it stands in the last message of the later request.
        lost: Tokens that the pair lost.
        fallback: What to say where no rule for moving values knows the value.
        gap: Seconds from start to start, None where the log has no times.
        before_text, after_text: The two values whole; empty but for the first few changes of a place.
        answer: Whether the earlier value is the logged answer, and the later one what was sent again for it.
        near: The two values around the first difference, once they are no longer kept whole.
        turns: What the two requests are known again by once their conversation goes on.
    """

    before: int
    after: int
    turn: bool
    where: Where
    field: str
    char_offset: int | None
    hunk: Hunk
    quote: Quoted
    more: tuple[Hunk, ...]
    length: int
    equal_after: int
    first_text: bool
    newest: bool
    lost: int
    fallback: Claim | None = None
    gap: float | None = None
    before_text: str = ""
    after_text: str = ""
    answer: bool = False
    near: tuple[str, str] = ("", "")
    turns: tuple[int, int] = (0, 0)

    def slim(self) -> SpanChange:
        """Return the change without its whole texts."""
        hunk = self.hunk
        low = max(0, hunk.before_start - _NEAR)
        near = (
            self.before_text[low : min(hunk.before_end, hunk.before_start + _WIDEST) + _NEAR],
            self.after_text[low : min(hunk.after_end, hunk.after_start + _WIDEST) + _NEAR],
        )
        return msgspec.structs.replace(self, before_text="", after_text="", near=near)

    @property
    def place(self) -> tuple[Where, str, str, str]:
        """Area, field, label, and the text in front of the value: what it is known again by."""
        if self.answer:
            return self.where, field_shape(self.field), "", "answer"
        sign = _NUMBERS.sub("#", self.quote.left.rstrip()[-_SIGN:])
        return self.where, field_shape(self.field), self.quote.label, sign


class Slot:
    """One place and its changes, by start of the later request.

    Attributes:
        family: Application.
        where: Area of the prompt; `field`: pointer with `*` for the numbers of messages.
        changes: At least one.
        values: What stood there, by start of the request, without repeats in a row: in the conversation in which it
            changed most often, or else from conversation to conversation; the first 64.
    """

    def __init__(
        self, family: int, where: Where, field: str, changes: tuple[SpanChange, ...], values: tuple[str, ...]
    ) -> None:
        self.family = family
        self.where = where
        self.field = field
        self.changes = changes
        self.values = values

    @property
    def first(self) -> SpanChange:
        """The first change."""
        return self.changes[0]

    @cached_property
    def in_turns(self) -> int:
        """How many of the changes are inside a conversation; the others are between two of them."""
        return sum(change.turn for change in self.changes)

    @cached_property
    def variants(self) -> int:
        """How many distinct values were seen."""
        return len({text for change in self.changes for text in (change.quote.from_text, change.quote.to_text)})

    @cached_property
    def counted(self) -> tuple[SpanChange, ...]:
        """The changes of which all differing stretches were looked at."""
        return tuple(change for change in self.changes if change.equal_after != NONE)

    @cached_property
    def reading(self) -> Candidate | None:
        """What the value most likely is, None where nothing speaks for anything.

        The first few changes vote; the reading that most of them have wins, if it is a good part of them.
        """
        told = islice((change for change in self.changes if change.before_text or change.after_text), _VOTERS)
        read = [
            describe(change.before_text, change.after_text, change.hunk, self.values).candidates[0] for change in told
        ]
        if not read:
            return None
        kinds = [candidate.kind for candidate in read]
        votes: Counter[SpanKind] = Counter(kind for kind in kinds if kind is not SpanKind.OTHER)
        winner = max(votes, key=lambda kind: (votes[kind], -kinds.index(kind)), default=SpanKind.OTHER)
        if votes[winner] < _ENOUGH * len(read):
            winner = kinds[0] if SpanKind.OTHER not in kinds else SpanKind.OTHER
        return next(candidate for candidate in read if candidate.kind is winner)

    @property
    def behind(self) -> tuple[SpanKind, ...]:
        """What the next few values behind it that move with the first change are, where that is clear."""
        change = next((change for change in self.changes if change.after_text and change.more), None)
        if change is None:
            return ()
        read = [describe(change.before_text, change.after_text, hunk).candidates[0] for hunk in change.more]
        return tuple(dict.fromkeys(found.kind for found in read if found.confidence is not Confidence.POSSIBLE))


def span_change(pair: Compared, fallback: Claim | None, *, whole: bool) -> SpanChange | None:
    """Return the change of a pair's text, None where what differs is not a text.

    Args:
        pair: With its change at hand.
        fallback: What to say where no rule knows the value.
        whole: Whether to look at all differing stretches; of a place that is well known by now the first is enough.
    """
    change = pair.change
    if change is None or not change.is_text:
        return None
    outer = one_hunk(change.before, change.after)
    if outer is None:
        return None
    found = hunks(change.before, change.after) if whole else (outer,)
    equal = len(change.after) - found[0].after_end - sum(len(hunk.after_text) for hunk in found[1:])
    last = len(change.b) - 1
    repeated = equal + sum(len(hunk.after_text) for hunk in found if _says_the_same(hunk))
    return SpanChange(
        before=pair.before,
        after=pair.after,
        turn=pair.turn,
        where=change.where,
        field=change.field,
        char_offset=change.char_offset,
        hunk=found[0],
        quote=quoted(change.before, change.after, found[0]),
        more=found[1:_MOST_HUNKS],
        length=len(change.after),
        equal_after=equal if whole else NONE,
        first_text=change.where is Where.SYSTEM or change.index == len(pair.log.outlines.head[pair.after]),
        newest=change.where is Where.MESSAGES and change.index == last,
        lost=pair.lost if pair.turn else min(pair.lost, _repeated(change, repeated, pair.log.prompt(pair.after))),
        fallback=fallback,
        gap=pair.gap,
        before_text=change.before,
        after_text=change.after,
        turns=(turn_of_document(change.a), turn_of_document(change.b)),
    )


def _says_the_same(hunk: Hunk) -> bool:
    """Say whether a stretch differs in line ends and white space alone, as all lines of a text may at once."""
    return white_space(hunk.before_text, hunk.after_text) is not None


def _repeated(change: Change, equal: int, tokens: int) -> int:
    """Return about how many tokens behind a difference both prompts have: what two conversations lose by it.

    Args:
        change: The first difference.
        equal: Code points behind it that the two values have in common, or would have but for white space.
        tokens: Of the later prompt in all.
    """
    a, b = change.a, change.b
    characters = equal
    for index in range(change.index + 1, min(len(a), len(b))):
        if a.raw(index) == b.raw(index):
            characters += len(b.raw(index))
            continue
        one, other = a.entry(index), b.entry(index)
        if one is not None and other is not None and one.where is other.where is Where.MESSAGES:
            characters += common_prefix(one.text, other.text)
        break
    return round(characters * tokens / max(b.size, 1))


def answer_change(pair: Compared) -> SpanChange | None:
    """Return how the answer to the earlier request differs from what the later one sends again for it.

    None where it is the same, where the log holds no answer of one text, or where the provider is known and not
    known to keep answers in its cache.
    """
    rows, a, b = pair.log.rows, pair.a, pair.b
    system = pair.log.system(pair.before)
    named = bool(rows.providers[rows.provider[pair.before]])
    if a is None or b is None or (named and not (system is not None and system.output_tokens_cached)):
        return None
    again = b.entry(pair.same_items)
    said = _answer_text(a)
    if again is None or len(again.parts) != 1 or not said or not again.parts[0].text:
        return None
    part = again.parts[0]
    found = hunks(said, part.text)
    if not found:
        return None
    return SpanChange(
        before=pair.before,
        after=pair.after,
        turn=True,
        where=Where.MESSAGES,
        field=again.pointer + part.pointer,
        char_offset=found[0].after_start,
        hunk=found[0],
        quote=quoted(said, part.text, found[0]),
        more=(),
        length=len(part.text),
        equal_after=len(part.text) - found[0].after_end,
        first_text=False,
        newest=False,
        lost=rows.answer_tokens[pair.before],
        gap=pair.gap,
        before_text=said,
        after_text=part.text,
        answer=True,
    )


def _answer_text(document: Document) -> str:
    request = document.request
    try:
        turn = reply_turn(request.api, msgspec.json.decode(request.response), request.opens_reply)
    except SHAPE_ERRORS:
        return ""
    return turn.parts[0].text if turn is not None and len(turn.parts) == 1 else ""


def slots(changes: Iterable[SpanChange], log: Log) -> list[Slot]:
    """Group changes, in any order, by place; the places are in the order of their first change."""
    grouped: dict[tuple[Any, ...], list[SpanChange]] = {}

    def in_time(change: SpanChange) -> tuple[float, int]:
        return log.times[change.after], change.after

    for change in sorted(changes, key=in_time):
        grouped.setdefault((log.applications[change.after], *change.place), []).append(change)
    _absorb(grouped)
    for found in grouped.values():
        found.sort(key=in_time)
    return [Slot(key[0], key[1], key[2], tuple(found), _values(found, log)) for key, found in grouped.items()]


def _absorb(grouped: dict[tuple[Any, ...], list[SpanChange]]) -> None:
    """Count changes that part from their like only by the text in front of them to the place that has most of them.

    Two recalled notes may begin alike: then they part a few words further on, under the same label.
    """
    largest: dict[tuple[Any, ...], tuple[Any, ...]] = {}
    for key in sorted(grouped, key=lambda key: -len(grouped[key])):
        host = largest.setdefault(key[:4], key)
        if host is not key and key[3] and len(grouped[key]) <= _STRAY * len(grouped[host]):
            grouped[host] += grouped.pop(key)


def field_shape(field: str) -> str:
    """Return a pointer with `*` for the numbers of messages, which differ from place to place of one cause."""
    return _INDEX.sub("*", field) if field.startswith(("/messages", "/input", "/contents", "/prompt")) else field


def _values(changes: Sequence[SpanChange], log: Log) -> tuple[str, ...]:
    conversation = log.conversations.conversation
    turns = Counter(conversation[change.after] for change in changes if change.turn)
    if turns:
        longest = max(turns, key=lambda number: (turns[number], -number))
        changes = [change for change in changes if change.turn and conversation[change.after] == longest]
    by_row: dict[int, str] = {}
    for change in changes:
        by_row.setdefault(change.before, change.quote.from_text)
        by_row[change.after] = change.quote.to_text
    ordered = (by_row[row] for row in sorted(by_row, key=lambda row: (log.times[row], row)))
    return tuple(islice((text for text, _ in groupby(ordered)), _MOST_VALUES))
