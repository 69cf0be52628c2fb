"""Which earlier request each request continues, and which it merely resembles.

A request continues another where it says again what that one said. Session ids are believed as far as they go; without
them, and within them, the messages tell: the last message of a turn stands in the history of the next, and so does its
answer. This does not look at the head of the prompt, so a clock in the first line hides nothing; and where history
was rewritten, the sentences of the rewritten messages tell. Forks, retries, sub-agents and parallel calls come out of
the same comparison: what counts is the best earlier request, not the one before.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

import msgspec

from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.rows import NONE, Rows

_SESSION_LOOKS_BACK = 12
_LIKE = 0.5
"""Share of an earlier request's messages that a later one must say again to continue it."""


class Link(msgspec.Struct, frozen=True):
    """The earlier request that a request is compared with.

    Attributes:
        before: Its row.
        turn: Whether the two are of one conversation; else they are of one application only.
    """

    before: int
    turn: bool


class Conversations(msgspec.Struct, frozen=True):
    """By row: its link, where there is an earlier request to compare with, and its conversation.

    Attributes:
        links: None for the first request of an application.
        conversation: Number of the conversation; the numbers rise with the start of the first request.
        order: Rows by start.
    """

    links: list[Link | None]
    conversation: array[int]
    order: list[int]

    def rows_of(self) -> dict[int, list[int]]:
        """Return the rows of each conversation, by start."""
        found: dict[int, list[int]] = {}
        for row in self.order:
            found.setdefault(self.conversation[row], []).append(row)
        return found


def conversations(rows: Rows, outlines: Outlines) -> Conversations:
    """Link every row of a corpus to the earlier one that it is to be compared with."""
    order = rows.by_start()
    linker = _Linker(rows, outlines)
    links: list[Link | None] = [None] * len(rows)
    conversation = array("i", [NONE]) * len(rows)
    count = 0
    for row in order:
        before = linker.continued(row)
        if before is not None:
            links[row] = Link(before, turn=True)
            conversation[row] = conversation[before]
        else:
            resembled = linker.resembled(row)
            links[row] = None if resembled is None else Link(resembled, turn=False)
            conversation[row] = count
            count += 1
        linker.add(row)
    return Conversations(links, conversation, order)


class _Linker:
    """What has been seen so far, by what a later request may say again."""

    def __init__(self, rows: Rows, outlines: Outlines) -> None:
        self._rows = rows
        self._head = outlines.head
        self._messages = outlines.messages
        self._answer = outlines.answer
        self._clues = outlines.clues
        self._is_model = outlines.is_model
        self._times = rows.start_times()
        self._by_last: dict[int, int] = {}
        self._by_said: dict[int, int] = {}
        self._by_clue: dict[int, int] = {}
        self._sessions: dict[int, list[int]] = {}
        self._by_head: dict[tuple[int, tuple[int, ...]], int] = {}
        self._by_family: dict[tuple[int, int], int] = {}

    def add(self, row: int) -> None:
        """Remember a row for those that come later."""
        messages, rows = self._messages[row], self._rows
        if messages:
            self._by_last[messages[-1]] = row
            for clue in self._clues.get(messages[-1], ()):
                self._by_clue[clue] = row
            for content in messages[-3:-1]:
                if self._is_model.get(content):
                    self._by_said[content] = row
        if self._answer[row]:
            self._by_said[self._answer[row]] = row
        if rows.sessions[rows.session[row]]:
            self._sessions.setdefault(rows.session[row], []).append(row)
        self._by_head[rows.model[row], self._head[row]] = row
        if rows.family[row] != NONE:
            self._by_family[rows.family[row], NONE] = self._by_family[rows.family[row], rows.model[row]] = row

    def continued(self, row: int) -> int | None:
        """Return the best earlier request of the same conversation, None where there is none."""
        best, best_score = None, (0, 0, 0, NONE)
        for candidate in dict.fromkeys(self._candidates(row)):
            score = self._score(row, candidate)
            if score is not None and score > best_score:
                best, best_score = candidate, score
        return best

    def resembled(self, row: int) -> int | None:
        """Return an earlier request of the same application: with the same head if there is one, else the latest."""
        rows = self._rows
        same = self._by_head.get((rows.model[row], self._head[row]))
        if same is not None and self._head[row]:
            return same
        family = rows.family[row]
        if family == NONE:
            return None
        latest = self._by_family.get((family, rows.model[row]))
        return self._by_family.get((family, NONE)) if latest is None else latest

    def _candidates(self, row: int) -> Iterator[int]:
        messages = self._messages[row]
        found = 0
        for content in reversed(messages):
            earlier = self._by_last.get(content)
            if earlier is None and self._is_model.get(content):
                earlier = self._by_said.get(content)
            if earlier is not None:
                yield earlier
                found += 1
                if found == 3:
                    break
        yield from self._sessions.get(self._rows.session[row], ())[-_SESSION_LOOKS_BACK:]
        if not found and len(messages) > 1:
            for content in reversed(messages[:-1]):
                for clue in self._clues.get(content, ()):
                    if (earlier := self._by_clue.get(clue)) is not None:
                        yield earlier

    def _score(self, row: int, earlier: int) -> tuple[int, int, int, int] | None:
        """Return how well `row` continues an earlier request, None where it does not."""
        rows, messages, before = self._rows, self._messages[row], self._messages[earlier]
        ended = rows.end[earlier]
        finished = int(not ended > self._times[row])  # an unknown end is no hindrance
        if not before or not messages:
            return None
        one, other = rows.session[row], rows.session[earlier]
        same_session = one == other and bool(rows.sessions[one])
        if not same_session and rows.sessions[one] and rows.sessions[other]:
            return None
        whole = messages[: len(before)] == before
        said = set(messages)
        again = sum(content in said for content in before)
        answered = self._answer[earlier] != 0 and self._answer[earlier] in said
        if len(messages) == 1 and not (whole and len(before) == 1):
            return None  # one message has no history: a new conversation, unless it repeats the request
        if len(messages) == len(before) == 1 and self._head[row] != self._head[earlier] and not same_session:
            return None  # the same question under another head may come from anybody
        if not (whole or answered or self._alike(row, earlier, again, same_session)):
            return None
        return finished, int(whole) * len(before), again + answered, earlier

    def _alike(self, row: int, earlier: int, again: int, same_session: bool) -> bool:
        """Say whether enough of an earlier request is said again, word for word or reworded."""
        messages, before = self._messages[row], self._messages[earlier]
        if again >= max(2, _LIKE * len(before)):
            return True
        same_family = self._rows.family[row] == self._rows.family[earlier]
        if not same_family or len(messages) == 1:
            return False
        if again and len(before) <= len(messages):
            return again >= _LIKE * len(before) or same_session
        if same_session:
            return True
        known = {clue for content in messages[:-1] for clue in self._clues.get(content, ())}
        return any(clue in known for clue in self._clues.get(before[-1], ()))
