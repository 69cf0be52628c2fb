"""A store of blocks that evicts the least recently used one."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.block_caches import LeastRecent
from prefixwise.caches.bounded import BlockCachePolicy
from prefixwise.caches.capacity import KV_SIZE, capacity_in
from prefixwise.caches.policy import POLICIES, Policy, Reason, only, positive
from prefixwise.core.errors import UserError


@POLICIES.decorate("lru")
def lru(parameters: Mapping[str, str]) -> Policy:
    """Return the rule: `block` tokens a block, `capacity`, `order` leaf (as engines) or root within a request."""
    only(parameters, "block", "capacity", "order", KV_SIZE)
    block = positive(parameters, "block", 16)
    capacity = capacity_in(parameters, block)
    if capacity is None:
        raise UserError("needs a capacity", help="for example lru:block=512,capacity=50000")
    order = parameters.get("order", "leaf")
    if order not in ("leaf", "root"):
        raise UserError(f"order={order[:100]} is neither leaf nor root")
    label = f"lru:block={block},capacity={capacity},order={order}"
    return BlockCachePolicy(label, block, lambda: LeastRecent(capacity, leaf_first=order == "leaf"), Reason.EVICTED)
