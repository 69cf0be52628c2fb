"""Leaves of one request first; those of several are protected."""

from __future__ import annotations

from prefixwise.caches.eviction_orders import EVICTION_ORDERS, Leaf

PROTECTED_HITS = 2


@EVICTION_ORDERS.decorate("slru")
def slru(leaf: Leaf) -> tuple[int, ...]:
    """Return whether it is protected, then the time of the last use (SGLang 0.5.23, `mem_cache/evict_policy.py`)."""
    return (int(leaf.hit_count >= PROTECTED_HITS), leaf.last_access)
