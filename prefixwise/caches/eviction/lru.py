"""Least recently used first."""

from __future__ import annotations

from prefixwise.caches.eviction_orders import EVICTION_ORDERS, Leaf


@EVICTION_ORDERS.decorate("lru")
def lru(leaf: Leaf) -> tuple[int, ...]:
    """Return the time of the last use (SGLang 0.5.23, `mem_cache/evict_policy.py`)."""
    return (leaf.last_access,)
