"""What an eviction order is: a key by leaf, the smallest goes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeAlias

from prefixwise.core.registry import Registry


class Leaf(Protocol):
    """What an order may look at.

    Attributes:
        last_access: Stamp of its last use.
        created: Stamp of when it was made, by insertion or by a split.
        hit_count: Requests that inserted it, the first one too.
        priority: Highest priority of those requests.
    """

    last_access: int
    created: int
    hit_count: int
    priority: int


EvictionOrder: TypeAlias = Callable[[Leaf], tuple[int, ...]]
EVICTION_ORDERS: Registry[EvictionOrder] = Registry("eviction order", "prefixwise.caches.eviction", "eviction_orders")
