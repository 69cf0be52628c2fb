"""Stored units count only when they match whole: ends of prompts and answers, and what two requests had in common.

That two requests begin alike is noticed when the second comes, so it is the third that reads it.
"""

from __future__ import annotations

import heapq

from prefixwise.caches.facts import Family
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.lane import Lane
from prefixwise.caches.trail import Trail
from prefixwise.corpus.rows import NONE
from prefixwise.corpus.tree import ROOT


class _Units:
    """The units of one cache: by node, when it was used last and when it can be read."""

    def __init__(self, lane: Lane) -> None:
        self._parent = lane.rows.tree.parent
        self._ttl = lane.settings.ttl
        self._known: dict[int, tuple[float, float]] = {}

    def store(self, node: int, now: float, ready: float) -> None:
        """Keep what ends at `node`, or use it once more."""
        last, readable = self._known.get(node, (now, ready))
        if readable > now:
            readable = min(readable, ready)
        elif now - last > self._ttl:
            readable = ready
        self._known[node] = (max(last, now), readable)

    def find(self, node: int, now: float) -> tuple[int, int, int]:
        """Return the nearest node above `node` that can be read: now, if nothing expired, at any time; -1: none."""
        alive = kept = any_ = NONE
        while self._parent[node] != ROOT and alive == NONE:
            if (unit := self._known.get(node)) is not None:
                last, ready = unit
                any_ = node if any_ == NONE else any_
                if ready <= now:
                    kept = node if kept == NONE else kept
                    if now - last <= self._ttl:
                        alive = node
                        self._known[node] = (now, ready)
            node = self._parent[node]
        return alive, kept, any_


def replay(lane: Lane) -> None:
    """Serve the longest unit that begins the prompt, as far as counts show it."""
    rows, out, settings, times = lane.rows, lane.out, lane.settings, lane.times
    trail, units, current = Trail(lane), _Units(lane), NONE
    answers: list[tuple[float, int, float]] = []

    def served(node: int, depth: int, tokens: int) -> int:
        reach = rows.tree.depth[node] if node != NONE else 0
        if settings.units:
            reach = max(reach, depth // settings.granularity * settings.granularity)
        hit = min(reach, tokens - 1) // settings.granularity * settings.granularity
        return hit if hit >= max(1, settings.minimum) else 0

    for row in lane.by_space():
        if lane.spaces[row] != current:
            current, units = lane.spaces[row], _Units(lane)
            answers.clear()
        now, tokens, ready = times[row], rows.prompt_tokens[row], lane.readable(row)
        while answers and answers[0][0] <= now:
            end, earlier, readable = heapq.heappop(answers)
            units.store(rows.response_node[earlier], end, readable)
        alive, kept, any_ = units.find(rows.node[row], now)
        seen = trail.visit(row)
        out.matched[row] = served(alive, seen.alive, tokens)
        out.expired[row] = served(kept, seen.kept, tokens)
        out.in_flight[row] = served(any_, seen.shared, tokens)
        units.store(rows.node[row], now, ready)
        if seen.node != NONE:
            units.store(seen.node, now, ready)
        if settings.outputs and rows.response_node[row] != NONE:
            end = rows.end[row]
            end = max(now, end) if end == end else now
            heapq.heappush(answers, (end, row, end + max(0.0, settings.wait)))


FAMILIES.add(Family.PREFIX_UNITS.value, MatchingFamily(replay))
