"""Which prefixes of one hosted cache are there at a moment, by node of the prefix tree.

Whoever uses a prefix uses all before it, so on the way up from a prompt's end the first node that is alive is the end
of the longest prefix that the cache has, and every node above it is alive too.
"""

from __future__ import annotations

import heapq
from array import array
from typing import NamedTuple

from prefixwise.caches.lane import Lane
from prefixwise.corpus.rows import NONE
from prefixwise.corpus.tree import ROOT


class Seen(NamedTuple):
    """How much of a prompt was there, in tokens.

    Attributes:
        alive: That it can read now.
        kept: That it could read if nothing expired.
        shared: That anybody asked for before.
        node: Where `shared` ends, -1 where that is nothing.
    """

    alive: int
    kept: int
    shared: int
    node: int


class Trail:
    """The prefixes of a lane; ask for its rows cache by cache, in order of start."""

    def __init__(self, lane: Lane) -> None:
        size = len(lane.rows.tree)
        self._lane = lane
        self._space = array("i", [NONE]) * size
        self._last, self._born, self._ready = (array("d", bytes(8 * size)) for _ in range(3))
        self._answers: list[tuple[float, int, float]] = []
        self._now = NONE

    def visit(self, row: int) -> Seen:
        """Return what of a row's prompt is there, and put the rest there."""
        lane = self._lane
        if lane.spaces[row] != self._now:
            self._now = lane.spaces[row]
            self._answers.clear()
        start = lane.times[row]
        while self._answers and self._answers[0][0] <= start:
            end, earlier, ready = heapq.heappop(self._answers)
            self._pass(lane.rows.response_node[earlier], end, ready)
        seen = self._pass(lane.rows.node[row], start, lane.readable(row))
        if lane.settings.outputs and lane.rows.response_node[row] != NONE:
            end = lane.rows.end[row]
            end = max(start, end) if end == end else start
            heapq.heappush(self._answers, (end, row, end + max(0.0, lane.settings.wait)))
        return seen

    def _pass(self, node: int, now: float, ready: float) -> Seen:
        """Go up from `node`, see what is there and use it."""
        space, last, born, readable = self._space, self._last, self._born, self._ready
        parent, depth = self._lane.rows.tree.parent, self._lane.rows.tree.depth
        ttl, oldest, current = self._lane.settings.ttl, self._lane.settings.oldest, self._now
        alive = kept = shared = 0
        at = NONE
        while parent[node] != ROOT:
            if space[node] != current:
                space[node], last[node], born[node], readable[node] = current, now, now, ready
            else:
                if at == NONE:
                    at, shared = node, depth[node]
                in_time = now - last[node] <= ttl and now - born[node] <= oldest
                if readable[node] > now:
                    readable[node] = min(readable[node], ready)
                else:
                    kept = kept or depth[node]
                    if in_time:
                        alive = alive or depth[node]
                    else:
                        born[node], readable[node] = now, ready
                last[node] = max(last[node], now)
            node = parent[node]
        return Seen(alive, kept, shared, at)
