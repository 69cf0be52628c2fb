"""Oldest first, used or not."""

from __future__ import annotations

from prefixwise.caches.eviction_orders import EVICTION_ORDERS, Leaf


@EVICTION_ORDERS.decorate("fifo")
def fifo(leaf: Leaf) -> tuple[int, ...]:
    """Return the time of creation (SGLang 0.5.23, `mem_cache/evict_policy.py`)."""
    return (leaf.created,)
