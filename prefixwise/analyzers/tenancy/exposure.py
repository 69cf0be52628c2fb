"""Exposure: what a request could be served of that another tenant put into the cache.

Requests pass in order of start, and each is, for its whole prompt, the last writer of the nodes on its path; an answer
is written when it ends. What a request meets of other tenants' lies at the deepest node that another tenant wrote last,
in the same namespace of the same model, not longer ago than entries live.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterable, Sequence

import msgspec

from prefixwise.corpus.rows import NONE, Rows
from prefixwise.corpus.tree import ROOT


class Exposure(msgspec.Struct, frozen=True):
    """The events, in order of their namespaces and of time; columns of one length.

    Attributes:
        row: The request that could be served; `owner`: the request of another tenant that wrote it last.
        node: Where what both have in common ends, for this event.
        tokens: How much of it is served under the rule, less what is approved for all.
        approved: How much of it is approved for all.
    """

    row: array[int]
    owner: array[int]
    node: array[int]
    tokens: array[int]
    approved: array[int]

    def __len__(self) -> int:
        return len(self.row)


class Pair(msgspec.Struct, frozen=True):
    """An ordered pair of tenants: what `reader` could be served of what `writer` wrote. Times are NaN where unknown."""

    reader: int
    writer: int
    events: int
    tokens: int
    first: float
    last: float


class Served(msgspec.Struct, frozen=True):
    """How the cache in force serves: whole units of so many tokens; whether answers are cached."""

    unit: int = 16
    outputs: bool = True

    def tokens(self, shared: int, prompt: int) -> int:
        """Return the tokens that are served of so many shared ones: whole units, and never the last token."""
        return max(0, min(shared, prompt - 1)) // self.unit * self.unit


def exposure(
    rows: Rows, spaces: Sequence[int], lifetimes: Sequence[float], served: Served, approved: Sequence[int]
) -> Exposure:
    """Return every event in which a request meets a prefix that another tenant wrote last.

    Args:
        rows: The corpus; requests of no tenant are passed over.
        spaces: By row, the number of its namespace; another model is another namespace.
        lifetimes: By row, how long entries of its cache live unused, in seconds.
        served: How the cache serves.
        approved: By row, leading tokens that are approved for all tenants.
    """
    return _Replay(rows, lifetimes, served, approved).over(spaces)


class _Replay:
    def __init__(self, rows: Rows, lifetimes: Sequence[float], served: Served, approved: Sequence[int]) -> None:
        self._rows, self._served = rows, served
        self._lifetimes, self._approved = lifetimes, approved
        self._space = array("i", [NONE]) * len(rows.tree)
        self._writer = array("i", [NONE]) * len(rows.tree)
        self._when = array("d", [0.0]) * len(rows.tree)
        self._found = Exposure(*(array("i") for _ in range(5)))

    def over(self, spaces: Sequence[int]) -> Exposure:
        rows, times = self._rows, self._rows.start_times()
        unknown = {number for number, name in enumerate(rows.tenants.names) if not name}
        ending: list[tuple[float, int]] = []
        current = NONE
        for row in sorted(rows.by_start(), key=spaces.__getitem__):
            if rows.tenant[row] in unknown:
                continue
            if spaces[row] != current:
                current = spaces[row]
                ending.clear()
            while ending and ending[0][0] <= times[row]:
                end, earlier = heapq.heappop(ending)
                self._pass(rows.response_node[earlier], earlier, end, current)
            self._meet(row, self._pass(rows.node[row], row, times[row], current))
            if self._served.outputs and rows.response_node[row] != NONE:
                end = rows.end[row]
                heapq.heappush(ending, (max(end, times[row]) if end == end else times[row], row))
        return self._found

    def _pass(self, node: int, row: int, now: float, space: int) -> tuple[int, int]:
        """Write the way up from a node; return the deepest node that another tenant wrote last, and its writer."""
        parent, tenant = self._rows.tree.parent, self._rows.tenant
        spaces, writers, whens = self._space, self._writer, self._when
        least, own = now - self._lifetimes[row], tenant[row]
        found = (NONE, NONE)
        while parent[node] != ROOT:
            if spaces[node] == space and found[0] == NONE and whens[node] >= least and tenant[writers[node]] != own:
                found = (node, writers[node])
            spaces[node], writers[node], whens[node] = space, row, now
            node = parent[node]
        return found

    def _meet(self, row: int, met: tuple[int, int]) -> None:
        node, owner = met
        if node == NONE:
            return
        served = self._served.tokens(self._rows.tree.depth[node], self._rows.prompt_tokens[row])
        approved = min(self._approved[row], served)
        if served > approved:
            found = self._found
            for column, value in zip(
                (found.row, found.owner, found.node, found.tokens, found.approved),
                (row, owner, node, served - approved, approved),
                strict=True,
            ):
                column.append(value)


def pairs(rows: Rows, found: Exposure) -> tuple[Pair, ...]:
    """Return the events by ordered pair of tenants, those of most tokens first."""
    times = rows.start_times()
    by_pair: dict[tuple[int, int], list[int]] = {}
    for event, (row, owner) in enumerate(zip(found.row, found.owner, strict=True)):
        by_pair.setdefault((rows.tenant[row], rows.tenant[owner]), []).append(event)
    made = [
        Pair(reader, writer, len(events), sum(found.tokens[event] for event in events), *_span(times, found, events))
        for (reader, writer), events in by_pair.items()
    ]
    names = rows.tenants
    return tuple(sorted(made, key=lambda pair: (-pair.tokens, names[pair.reader], names[pair.writer])))


def _span(times: Sequence[float], found: Exposure, events: Sequence[int]) -> tuple[float, float]:
    return span_of(times, (found.row[event] for event in events))


def span_of(times: Sequence[float], chosen: Iterable[int]) -> tuple[float, float]:
    """Return the first and the last known time of some rows, NaN without one."""
    known = [time for time in (times[row] for row in chosen) if -1e300 < time < 1e300]
    return (min(known), max(known)) if known else (float("nan"), float("nan"))
