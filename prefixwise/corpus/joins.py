"""Records of one call, joined: duplicates of a record, and answers that were logged later than the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from prefixwise.corpus.call import Answer
from prefixwise.corpus.items import Vocabulary
from prefixwise.corpus.rows import NONE, Row, Rows
from prefixwise.corpus.taken import Taken

_FILLED = (
    "reported_prompt",
    "reported_cached",
    "reported_written",
    "reported_written_long",
    "reported_output",
    "start",
    "end",
    "ttft",
)
_IDENTITY = ("node", "model", "tenant", "namespace")
_NAMED = ("tenant", "session", "replica")


class KnownCall(msgspec.Struct, frozen=True, gc=False):
    """A call that has an id: where its row is, and what reading its answer takes."""

    row: int
    vocabulary: Vocabulary
    api: str
    opened: bool


class Joins:
    """The calls of a corpus that have ids, by id. `joined` counts the records that were joined to another.

    Two records are one call where their ids are the same and nothing that both say differs: batches and clients use
    ids again.
    """

    def __init__(self, rows: Rows) -> None:
        self.joined = 0
        self.answers: list[Answer] = []
        """What waits for its call."""
        self.unjoined = 0
        """Answers to ids that several calls have: nobody can say whose they are."""
        self._rows = rows
        self._calls: dict[int, KnownCall] = {}
        self._ambiguous: set[int] = set()

    def is_known(self, number: int, row: Row, taken: Taken, made: list[Row]) -> bool:
        """Say whether `row` is a second record of a call, and fill in what the first did not have.

        Args:
            number: Of the row, if it is new.
            row: Made from the record.
            taken: The record.
            made: New rows that are not in the columns yet, the last of them number `number` - 1.
        """
        key = hash(taken.id)
        call = self._calls.get(key)
        first = len(self._rows)
        if call is not None:
            known: Any = made[call.row - first] if call.row >= first else _Columns(self._rows, call.row)
            if _same(known, row):
                _fill(known, row)
                self.joined += 1
                return True
            self._ambiguous.add(key)
        self._calls[key] = KnownCall(number, taken.vocabulary, taken.api, taken.opened)
        return False

    def fill_in(self, read: Callable[[KnownCall, bytes], int]) -> None:
        """Give the answers that wait to their calls; those whose call has not come yet go on waiting.

        Args:
            read: Returns the node at which an answer (JSON) to a call ends, -1 where it cannot be read.
        """
        waiting = []
        for answer in self.answers:
            key = hash(answer.id)
            call = self._calls.get(key)
            if call is None:
                waiting.append(answer)
                continue
            if key in self._ambiguous:
                self.unjoined += 1
                continue
            usage = answer.usage
            said = Row(start=answer.start, end=answer.end, ttft=answer.ttft, marks=answer.marks)
            for name, column in _USAGE.items() if usage else ():
                if (count := getattr(usage, name)) is not None:
                    setattr(said, column, count)
            if usage and usage.written_by_ttl:
                said.reported_written_long = usage.written_long
            if answer.response and self._rows.response_node[call.row] == NONE:
                said.response_node = read(call, answer.response)
            if said.response_node != NONE:
                depth = self._rows.tree.depth
                said.answer_tokens = depth[said.response_node] - depth[self._rows.node[call.row]]
            _fill(_Columns(self._rows, call.row), said)
            self._name(call.row, answer)
            self.joined += 1
        self.answers = waiting

    def _name(self, row: int, answer: Answer) -> None:
        """Name the tenant, session and replica of a row that has none."""
        for field in _NAMED:
            column, names = self._rows.group(field)
            if names[column[row]] == "" and getattr(answer, field):
                column[row] = names.number(getattr(answer, field))


_USAGE = {
    "prompt_tokens": "reported_prompt",
    "cached_tokens": "reported_cached",
    "cache_write_tokens": "reported_written",
    "output_tokens": "reported_output",
}


class _Columns:
    """One row of the columns, as if it were a `Row`."""

    def __init__(self, rows: Rows, number: int) -> None:
        object.__setattr__(self, "_at", (rows, number))

    def __getattr__(self, name: str) -> Any:
        rows, number = self._at
        return getattr(rows, name)[number]

    def __setattr__(self, name: str, value: Any) -> None:
        rows, number = self._at
        getattr(rows, name)[number] = value


def _same(known: Any, said: Row) -> bool:
    """Say whether two records with one id are of one call: whatever both say of it agrees."""
    if any(getattr(known, name) != getattr(said, name) for name in _IDENTITY):
        return False
    for name in (*_FILLED, "response_node"):
        one, other = getattr(known, name), getattr(said, name)
        if one != other and one != NONE and other != NONE and one == one and other == other:
            return False
    return True


def _fill(known: Any, said: Row) -> None:
    """Put what `said` says and `known` does not into `known`."""
    for name in _FILLED:
        value = getattr(known, name)
        if value == NONE or value != value:
            setattr(known, name, getattr(said, name))
    if known.response_node == NONE:
        known.response_node, known.answer_tokens = said.response_node, said.answer_tokens
    known.marks |= said.marks
