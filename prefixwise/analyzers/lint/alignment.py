"""Where the messages of a request stand in a later one: kept, replaced, dropped; and what was put between them.

Only the part from the first differing message on is looked at. Messages that say the same are found by their contents;
what lies between two of those is paired by likeness, in order.
"""

from __future__ import annotations

from array import array
from functools import cached_property
from itertools import product
from typing import NamedTuple

from prefixwise.analyzers.lint.alike import alike
from prefixwise.analyzers.lint.blocks import Block, blocks_of
from prefixwise.analyzers.lint.documents import Document, Entry
from prefixwise.analyzers.values.hunks import differing

_MOST_PAIRED = 40
"""Messages on one side up to which all likenesses are computed; more are paired by place."""


class Message(NamedTuple):
    """One message of a history: its number behind the head, its entry, and its blocks."""

    number: int
    entry: Entry
    blocks: tuple[Block, ...]

    @property
    def field(self) -> str:
        """Pointer of its first words."""
        return self.entry.pointer + (self.blocks[0].place if self.blocks else "")


class Step(NamedTuple):
    """One step through two histories: the numbers of a message before and after, None where there is none."""

    left: int | None
    right: int | None


class Alignment:
    """How the messages of one request lie in a later one, from the first that differs on.

    Args:
        a: The earlier document; `contents_a`: contents of its messages behind `head` leading items.
        b: The later one, with `contents_b`.
        head: Items in front of the messages, the same in both.
        start: Number of the first message that differs.
    """

    def __init__(
        self, a: Document, b: Document, contents_a: array[int], contents_b: array[int], head: int, start: int
    ) -> None:
        self.a, self.b = a, b
        self.contents_a, self.contents_b = contents_a, contents_b
        self.head = head
        self.start = start
        self._known: dict[tuple[bool, int], Message] = {}

    def before(self, number: int) -> Message:
        """Return a message of the earlier request."""
        return self._message(number, earlier=True)

    def after(self, number: int) -> Message:
        """Return a message of the later request."""
        return self._message(number, earlier=False)

    @property
    def newest(self) -> int:
        """Number of the later request's last message."""
        return len(self.contents_b) - 1

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """The way through both histories from `start` to the end of both."""
        found: list[Step] = []
        first, second = self.contents_a[self.start :].tolist(), self.contents_b[self.start :].tolist()
        i = j = 0
        for low, high, down, up in [*differing(first, second), (len(first), len(first), len(second), len(second))]:
            found += [Step(self.start + i + k, self.start + j + k) for k in range(low - i)]
            between = high < len(first) and high - low == up - down
            found += self._paired(self.start + low, self.start + high, self.start + down, self.start + up, between)
            i, j = high, up
        return tuple(found)

    @cached_property
    def partner(self) -> dict[int, int]:
        """By number of an earlier message: that of the later one that it became."""
        return {step.left: step.right for step in self.steps if step.left is not None and step.right is not None}

    @cached_property
    def dropped(self) -> tuple[int, ...]:
        """Numbers of the earlier messages of which nothing is left."""
        return tuple(step.left for step in self.steps if step.left is not None and step.right is None)

    @cached_property
    def inserted(self) -> tuple[int, ...]:
        """Numbers of the later messages that are new and stand before an earlier one."""
        last = max(self.partner.values(), default=-1)
        new = (step.right for step in self.steps if step.left is None)
        return tuple(right for right in new if right is not None and right < last)

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Numbers of the earlier messages, from `start` on, that come again word for word."""
        return tuple(left for left, right in self.partner.items() if self.contents_a[left] == self.contents_b[right])

    @cached_property
    def tail(self) -> tuple[int, int] | None:
        """From which (earlier, later) numbers on all that is left of the earlier history comes again in a row.

        The later number is at most three messages behind the first difference: what stands between is new.
        """
        first, second = self.contents_a, self.contents_b
        for right in range(self.start, min(self.start + 4, len(second))):
            for left in range(self.start + 1, len(first)):
                length = len(first) - left
                if first[left] == second[right] and first[left:] == second[right : right + length]:
                    return left, right
        return None

    def _message(self, number: int, *, earlier: bool) -> Message:
        found = self._known.get((earlier, number))
        if found is None:
            entry = (self.a if earlier else self.b).entry(self.head + number)
            assert entry is not None  # noqa: S101 - contents and documents are of one request
            found = self._known[earlier, number] = Message(number, entry, blocks_of(entry))
        return found

    def _paired(self, low: int, high: int, down: int, up: int, between: bool) -> list[Step]:
        """Return the steps through a stretch in which no message is the same, those that are alike side by side.

        Where it lies `between` messages that are kept, and is as long on both sides, roles are enough.
        """
        if low == high or down == up:
            return [Step(left, None) for left in range(low, high)] + [Step(None, right) for right in range(down, up)]
        best = self._best_pairs(low, high, down, up)
        roles = zip(map(self.before, range(low, high)), map(self.after, range(down, up)), strict=False)
        if between and not best and all(one.entry.role == other.entry.role for one, other in roles):
            best = {left: left - low + down for left in range(low, high)}
        steps, right = [], down
        for left in range(low, high):
            mate = best.get(left)
            if mate is not None:
                steps += [Step(None, between) for between in range(right, mate)]
                right = mate + 1
            steps.append(Step(left, mate))
        return steps + [Step(None, between) for between in range(right, up)]

    def _best_pairs(self, low: int, high: int, down: int, up: int) -> dict[int, int]:
        """Return the pairs, in order on both sides, that are alike and together as like as can be."""
        if max(high - low, up - down) > _MOST_PAIRED:
            return self._by_place(low, high, down, up)
        best: dict[tuple[int, int], float] = {}
        likeness: dict[tuple[int, int], float] = {}
        for left, right in product(range(high - 1, low - 1, -1), range(up - 1, down - 1, -1)):
            here = likeness[left, right] = alike(self.before(left), self.after(right))
            with_pair = here + best.get((left + 1, right + 1), 0.0) if here else 0.0
            best[left, right] = max(with_pair, best.get((left + 1, right), 0.0), best.get((left, right + 1), 0.0))
        pairs, left, right = {}, low, down
        while left < high and right < up and best[left, right]:
            here = likeness[left, right]
            if here and best[left, right] == here + best.get((left + 1, right + 1), 0.0):  # the earliest of equals
                pairs[left] = right
                left, right = left + 1, right + 1
            elif best[left, right] == best.get((left + 1, right), 0.0):
                left += 1
            else:
                right += 1
        return pairs

    def _by_place(self, low: int, high: int, down: int, up: int) -> dict[int, int]:
        pairs = zip(range(low, high), range(down, up), strict=False)
        return {left: right for left, right in pairs if alike(self.before(left), self.after(right))}
