"""Breakpoints every so many tokens from the start of what the provider puts before the prompt."""

from __future__ import annotations

from prefixwise.caches.facts import Family
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.lane import Lane
from prefixwise.caches.trail import Trail


def replay(lane: Lane) -> None:
    """Serve up to the last breakpoint that is alive; the hidden tokens are not counted, the rest is floored."""
    trail, rows, out, settings = Trail(lane), lane.rows, lane.out, lane.settings
    interval, step = settings.interval or settings.granularity, settings.granularity

    def served(depth: int, tokens: int) -> int:
        if tokens < settings.minimum:
            return 0
        breakpoint_ = (min(depth, tokens - 1) + settings.hidden) // interval * interval
        if breakpoint_ < settings.minimum:
            return 0
        return max(0, breakpoint_ - settings.hidden) // step * step

    for row in lane.by_space():
        seen, tokens = trail.visit(row), rows.prompt_tokens[row]
        out.matched[row] = served(seen.alive, tokens)
        out.expired[row] = served(seen.kept, tokens)
        out.in_flight[row] = served(seen.shared, tokens)


FAMILIES.add(Family.FIXED_INTERVAL.value, MatchingFamily(replay))
