"""The longest prefix seen before, in whole units: what most automatic caches promise, and no more."""

from __future__ import annotations

from prefixwise.caches.facts import Family
from prefixwise.caches.family import FAMILIES, MatchingFamily
from prefixwise.caches.lane import Lane
from prefixwise.caches.trail import Trail


def replay(lane: Lane) -> None:
    """Serve what is alive, floored to units; at least one token is always computed."""
    trail, rows, out, settings = Trail(lane), lane.rows, lane.out, lane.settings

    def served(depth: int, tokens: int) -> int:
        hit = min(depth, tokens - 1) // settings.granularity * settings.granularity
        return hit if hit >= max(1, settings.minimum) else 0

    for row in lane.by_space():
        seen, tokens = trail.visit(row), rows.prompt_tokens[row]
        out.matched[row] = served(seen.alive, tokens)
        out.expired[row] = served(seen.kept, tokens)
        out.in_flight[row] = served(seen.shared, tokens)


FAMILIES.add(Family.RADIX_TREE.value, MatchingFamily(replay))
FAMILIES.add(Family.BLOCK_HASH_CHAIN.value, MatchingFamily(replay))
