"""A store of blocks that evicts the one that came first."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.block_caches import FirstIn
from prefixwise.caches.bounded import BlockCachePolicy
from prefixwise.caches.capacity import KV_SIZE, capacity_in
from prefixwise.caches.policy import POLICIES, Policy, Reason, only, positive, yes_or_no
from prefixwise.core.errors import UserError


@POLICIES.decorate("fifo")
def fifo(parameters: Mapping[str, str]) -> Policy:
    """Return the rule: `block` tokens a block, `capacity`, `anywhere=yes` to count hits behind a missing block."""
    only(parameters, "block", "capacity", "anywhere", KV_SIZE)
    block = positive(parameters, "block", 16)
    capacity = capacity_in(parameters, block)
    if capacity is None:
        raise UserError("needs a capacity", help="for example fifo:block=512,capacity=50000")
    anywhere = yes_or_no(parameters, "anywhere", default=False)
    label = f"fifo:block={block},capacity={capacity}" + (",anywhere=yes" if anywhere else "")
    return BlockCachePolicy(label, block, lambda: FirstIn(capacity, anywhere=anywhere), Reason.EVICTED)
