"""A store of blocks without a limit in which a block lives for some seconds."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.block_caches import TimeToLive
from prefixwise.caches.bounded import BlockCachePolicy
from prefixwise.caches.policy import POLICIES, Policy, Reason, only, positive
from prefixwise.core.errors import UserError


@POLICIES.decorate("ttl")
def ttl(parameters: Mapping[str, str]) -> Policy:
    """Return the rule: `block` tokens a block, `seconds` to live, `refresh` on use (hits too) or on miss only."""
    only(parameters, "block", "seconds", "refresh")
    block = positive(parameters, "block", 16)
    if "seconds" not in parameters:
        raise UserError("needs the seconds to live", help="for example ttl:block=16,seconds=300")
    seconds = positive(parameters, "seconds", 300)
    refresh = parameters.get("refresh", "use")
    if refresh not in ("use", "miss"):
        raise UserError(f"refresh={refresh[:100]} is neither use nor miss")
    label = f"ttl:block={block},seconds={seconds},refresh={refresh}"
    return BlockCachePolicy(label, block, lambda: TimeToLive(seconds, refresh=refresh == "use"), Reason.EXPIRED)
