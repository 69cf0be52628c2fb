"""Most recently used first."""

from __future__ import annotations

from prefixwise.caches.eviction_orders import EVICTION_ORDERS, Leaf


@EVICTION_ORDERS.decorate("mru")
def mru(leaf: Leaf) -> tuple[int, ...]:
    """Return the time of the last use, negated (SGLang 0.5.23, `mem_cache/evict_policy.py`)."""
    return (-leaf.last_access,)
