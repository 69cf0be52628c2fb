"""Least often inserted first, then least recently used."""

from __future__ import annotations

from prefixwise.caches.eviction_orders import EVICTION_ORDERS, Leaf


@EVICTION_ORDERS.decorate("lfu")
def lfu(leaf: Leaf) -> tuple[int, ...]:
    """Return hits, then the time of the last use (SGLang 0.5.23, `mem_cache/evict_policy.py`)."""
    return (leaf.hit_count, leaf.last_access)
