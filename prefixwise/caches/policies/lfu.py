"""A store of blocks that evicts the least frequently used one."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.block_caches import LeastFrequent
from prefixwise.caches.bounded import BlockCachePolicy
from prefixwise.caches.capacity import KV_SIZE, capacity_in
from prefixwise.caches.policy import POLICIES, Policy, Reason, only, positive
from prefixwise.core.errors import UserError


@POLICIES.decorate("lfu")
def lfu(parameters: Mapping[str, str]) -> Policy:
    """Return the rule: `block` tokens a block and `capacity`; uses count while a block is there."""
    only(parameters, "block", "capacity", KV_SIZE)
    block = positive(parameters, "block", 16)
    capacity = capacity_in(parameters, block)
    if capacity is None:
        raise UserError("needs a capacity", help="for example lfu:block=512,capacity=50000")
    return BlockCachePolicy(
        f"lfu:block={block},capacity={capacity}", block, lambda: LeastFrequent(capacity), Reason.EVICTED
    )
