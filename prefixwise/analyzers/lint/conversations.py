"""Which earlier request each request continues, and which it merely resembles.

A request continues another where it says again what that one said. The surest sign is the whole list of messages; where
a history was rewritten, the last message of a turn stands in the history of the next, word for word or with something
around it, and so does its answer. This does not look at the head of the prompt, so a clock in the first line hides
nothing. Session ids are believed as far as they go: they keep conversations apart, and lower the proof that is asked
for. Forks, retries, sub-agents and parallel calls come out of the same comparison: what counts is the request whose end
lies deepest in the later one, not the one before.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import msgspec

from prefixwise.analyzers.lint.applications import Applications
from prefixwise.analyzers.lint.likeness import Place, Reading
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.rows import NONE, Rows

_SESSION_LOOKS_BACK = 12
_MOST_CANDIDATES = 6
_REMEMBERED = 3
"""Rows that are remembered of those that end with one and the same message."""
_COPIED = 3
"""Messages from which a whole history that comes again tells more than another session id does."""


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
        application: Number of the application.
        order: Rows by start.
    """

    links: list[Link | None]
    conversation: array[int]
    application: array[int]
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
    conversation = linker.conversation
    applications = Applications(rows, outlines)
    count = 0
    for row in order:
        before, resembled = linker.continued(row), None
        if before is not None:
            links[row] = Link(before, turn=True)
            conversation[row] = conversation[before]
        else:
            resembled = linker.resembled(row)
            if resembled is None:
                resembled = applications.alike(row)
            links[row] = None if resembled is None else Link(resembled, turn=False)
            conversation[row] = count
            count += 1
        applications.assign(row, before if before is not None else resembled)
        if before is None:
            applications.note(row)
        linker.add(row)
    return Conversations(links, conversation, applications.number, order)


_Score = tuple[bool, int, bool, int, int]
"""Finished before, where its end lies, whether its messages come again whole, how many do, and how late it came."""


class _Linker:
    """What has been seen so far, by what a later request may say again."""

    def __init__(self, rows: Rows, outlines: Outlines) -> None:
        self._rows = rows
        self._head = outlines.head
        self._messages = [outlines.turns(row) for row in range(len(outlines.messages))]
        self._answer = outlines.answer
        self._outlines = outlines
        self._is_model = outlines.is_model
        self._times = rows.start_times()
        self.conversation = array("i", [NONE]) * len(rows)
        self._rank = array("i", [NONE]) * len(rows)
        self._added = 0
        self._chain: list[int] = []
        self._whole: dict[tuple[int, int], int] = {}
        self._by_last: dict[int, list[int]] = {}
        self._by_said: dict[int, int] = {}
        self._by_clue: dict[int, int] = {}
        self._by_spelling: dict[int, int] = {}
        self._common: set[int] = set()
        self._latest: dict[int, int] = {}
        self._by_first: dict[tuple[int, int], int] = {}
        self._by_node: dict[int, int] = {}
        self._sessions: dict[int, list[int]] = {}
        self._by_head: dict[tuple[int, tuple[int, ...]], int] = {}
        self._by_family: dict[tuple[int, int], int] = {}

    def add(self, row: int) -> None:
        """Remember a row, whose conversation is known and for which `continued` was asked last, for later ones."""
        messages, rows = self._messages[row], self._rows
        self._rank[row] = self._added
        self._added += 1
        self._latest[self.conversation[row]] = row
        if messages:
            last, scope = messages[-1], self._scope(row)
            self._whole[self._chain[-1], scope] = self._whole[self._chain[-1], NONE] = row
            self._by_first[messages[0], scope] = row
            known = self._by_last.setdefault(last, [])
            known.append(row)
            del known[:-_REMEMBERED]
            self._note(row, self._outlines.clues.get(last, ()), self._by_clue)
            self._note(row, filter(self._is_model.get, messages[-3:-1]), self._by_said)
            if len(messages) == 1 and (spelling := self._outlines.spelling(row)):
                self._note(row, (spelling,), self._by_spelling)
        if self._answer[row]:
            self._by_said[self._answer[row]] = row
        if rows.sessions[rows.session[row]]:
            self._sessions.setdefault(rows.session[row], []).append(row)
        if self._outlines.is_bare(row):
            self._by_node[rows.node[row]] = row
        self._by_head[rows.model[row], self._head[row]] = row
        if rows.family[row] != NONE:
            self._by_family[rows.family[row], NONE] = self._by_family[rows.family[row], rows.model[row]] = row

    def _note(self, row: int, signs: Iterable[int], known: dict[int, int]) -> None:
        """Remember what a row may be known by; what several conversations have tells nothing by itself."""
        for sign in signs:
            other = known.get(sign)
            if other is not None and self.conversation[other] != self.conversation[row]:
                self._common.add(sign)
            known[sign] = row

    def _scope(self, row: int) -> int:
        """Return in which company a row's messages are looked for first: its session, else its application."""
        session = self._rows.session[row]
        return session if self._rows.sessions[session] else -2 - self._rows.family[row]

    def continued(self, row: int) -> int | None:
        """Return the best earlier request of the same conversation, None where there is none."""
        messages = self._messages[row]
        link = 0
        self._chain = chain = [link := hash((link, content)) for content in messages]
        if not messages:
            return None
        if self._outlines.is_bare(row) and len(messages) == 1:
            return self._extended(row)
        length, whole = self._longest(row, chain)
        if whole is not None and self._is_next(row, whole, length):
            return self._last_touched(row, whole) if length == len(messages) else whole
        reading = Reading(self._outlines, messages, self._common)
        best, best_score = None, (False, NONE, False, 0, NONE)
        placed = [(reading.place(self._messages[other]), other) for other in self._candidates(row, whole)]
        placed.sort(key=lambda found: (found[0].end, found[0].whole, self._rank[found[1]]), reverse=True)
        for place, candidate in placed:
            if best_score[0] and place.end < best_score[1]:
                break
            score = self._score(row, candidate, reading, place)
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

    def _longest(self, row: int, chain: list[int]) -> tuple[int, int | None]:
        """Return the longest whole list of messages that a row begins with, as (length, row that said it)."""
        known, scope = self._whole, self._scope(row)
        for length in range(len(chain), 0, -1):
            found = known.get((chain[length - 1], scope))
            if found is not None and self._may_follow(row, found, length):
                return length, found
        for length in range(len(chain), 1, -1):
            found = known.get((chain[length - 1], NONE))
            if found is not None and self._may_follow(row, found, length):
                return length, found
        return 0, None

    def _extended(self, row: int) -> int | None:
        """Return the request whose whole prompt a bare prompt begins with; no marks tell the turns in it apart."""
        parent, node = self._rows.tree.parent, self._rows.node[row]
        while node >= 0:
            found = self._by_node.get(node)
            if found is not None and self._may_follow(row, found, _COPIED) and self._has_ended(row, found):
                return found
            node = parent[node]
        return None

    def _may_follow(self, row: int, earlier: int, whole: int) -> bool:
        """Say whether ids and heads allow that a row continues an earlier one, `whole` messages of which it has."""
        sessions = self._rows.sessions
        one, other = self._rows.session[row], self._rows.session[earlier]
        if sessions[one] and sessions[other]:
            return one == other or whole >= _COPIED
        # The same question under another head may come from anybody.
        return not len(self._messages[row]) == whole == 1 or self._head[row] == self._head[earlier]

    def _has_ended(self, row: int, earlier: int) -> bool:
        return not self._rows.end[earlier] > self._times[row]  # an unknown end is no hindrance

    def _is_next(self, row: int, earlier: int, whole: int) -> bool:
        """Say whether a row adds one turn to an earlier one, so that nothing can lie between the two."""
        messages, is_model = self._messages[row], self._is_model
        at = whole
        while at < len(messages) and is_model.get(messages[at]):
            at += 1
        if at == whole and not self._has_ended(row, earlier):
            return False
        if not self._outlines.summaries.isdisjoint(messages[whole : whole + 2]):
            return False
        rank = self._rank[earlier]
        for content in messages[at:]:
            if is_model.get(content):
                return False
            later = (other for other in self._by_last.get(content, ()) if self._rank[other] > rank)
            if any(self._same_session(row, other) or not self._same_session(row, earlier) for other in later):
                return False
        return True

    def _same_session(self, row: int, earlier: int) -> bool:
        """Say whether two rows name one session."""
        session = self._rows.session[row]
        return session == self._rows.session[earlier] and bool(self._rows.sessions[session])

    def _last_touched(self, row: int, same: int) -> int:
        """Return the latest request of a conversation that begins as this one: the cache was used by it last."""
        latest, messages = self._latest[self.conversation[same]], self._messages[row]
        begins = self._messages[latest][: len(messages)] == messages
        return latest if begins and self._has_ended(row, latest) else same

    def _candidates(self, row: int, whole: int | None) -> list[int]:
        """Return the rows that a row may continue, each once."""
        messages, found = self._messages[row], [] if whole is None else [whole]
        begun = self._by_first.get((messages[0], self._scope(row)))
        if begun is not None:
            found.append(begun)
        hits = 0
        for content in reversed(messages):
            ending = self._by_last.get(content)
            if ending is None and self._is_model.get(content) and (said := self._by_said.get(content)) is not None:
                ending = [said]
            if ending:
                found += ending
                hits += 1
            if hits == _MOST_CANDIDATES:
                break
        found += self._sessions.get(self._rows.session[row], ())[-_SESSION_LOOKS_BACK:]
        hits = 0
        for content in reversed(messages[:-1]):
            clued = [self._by_clue.get(clue) for clue in self._outlines.clues.get(content, ())]
            found += [earlier for earlier in clued if earlier is not None]
            hits += any(earlier is not None for earlier in clued)
            if hits == _MOST_CANDIDATES:
                break
        spelt = self._spelt_otherwise(row)
        if spelt is not None:
            found.append(spelt)
        found = [earlier for earlier in dict.fromkeys(found) if self._messages[earlier]]
        if whole is not None and self._same_session(row, whole):  # then nothing of another session can be nearer
            found = [earlier for earlier in found if self._same_session(row, earlier)]
        return found

    def _score(self, row: int, earlier: int, reading: Reading, place: Place) -> _Score | None:
        """Return how well `row` continues an earlier request, None where it does not."""
        messages, before = self._messages[row], self._messages[earlier]
        comes_whole = place.whole == len(before)
        if not self._may_follow(row, earlier, place.whole if comes_whole else 0):
            return None
        if place.whole == len(messages):  # back to an earlier point of it, or the same once more
            if len(messages) == 1 and self._head[row] != self._head[earlier]:
                return None
            return self._has_ended(row, earlier), place.end, comes_whole, place.whole, self._rank[earlier]
        answered = self._answer[earlier] != 0 and self._answer[earlier] in reading.contents
        count = len(before) if comes_whole else reading.count(before)
        if not comes_whole:
            same_family = self._rows.family[row] == self._rows.family[earlier]
            if not same_family and count < 2:
                return None
            proven = answered or reading.proves(before, place, count) or self._spelt_otherwise(row) == earlier
            if not (proven or self._is_cut(row, earlier, reading, place, count)):
                return None
        goes_on = 0 <= place.end < len(messages) - 1 and bool(self._is_model.get(messages[place.end + 1]))
        finished = goes_on or answered or self._has_ended(row, earlier)
        return finished, place.end, comes_whole, count + answered, self._rank[earlier]

    def _is_cut(self, row: int, earlier: int, reading: Reading, place: Place, count: int) -> bool:
        """Say whether a request cuts, edits or sums up an earlier one, of its session unless the end stays too."""
        one, other, before = self._rows.session[row], self._rows.session[earlier], self._messages[earlier]
        same_session = one == other and bool(self._rows.sessions[one])
        if same_session and (2 * count >= max(2, len(before)) or 0 <= place.end < len(reading.messages) - 1):
            return True
        if self._rows.family[row] != self._rows.family[earlier]:
            return False
        if len(reading.messages) >= len(before):
            return same_session and len(before) == 1 < len(reading.messages)
        sums_up = not self._outlines.summaries.isdisjoint(reading.messages[:2])
        return (same_session and (sums_up or count > 0)) or (sums_up and reading.messages[-1] == before[-1])

    def _spelt_otherwise(self, row: int) -> int | None:
        """Return the request of one question with which a row begins, put right since; None for none."""
        spelling = self._outlines.spelling(row)
        if len(self._messages[row]) == 1 or not spelling or spelling in self._common:
            return None
        return self._by_spelling.get(spelling)
