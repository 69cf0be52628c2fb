"""Lowest priority first, then least recently used."""

from __future__ import annotations

from prefixwise.caches.eviction_orders import EVICTION_ORDERS, Leaf


@EVICTION_ORDERS.decorate("priority")
def priority(leaf: Leaf) -> tuple[int, ...]:
    """Return the priority, then the time of the last use (SGLang 0.5.23, `mem_cache/evict_policy.py`)."""
    return (leaf.priority, leaf.last_access)
