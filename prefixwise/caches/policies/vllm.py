"""vLLM: full blocks in a hash chain; salt and adapter are in the chain's keys."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.bounded import BoundedChainPolicy
from prefixwise.caches.capacity import KV_SIZE, capacity_in
from prefixwise.caches.granular import GranularPolicy
from prefixwise.caches.policy import POLICIES, Policy, only, positive, yes_or_no

_NAMESPACE = ("salt", "adapter")


@POLICIES.decorate("vllm")
def vllm(parameters: Mapping[str, str]) -> Policy:
    """Return vLLM's rule: `block` tokens a block (16 on most GPUs), `capacity`, `outputs` cached or not."""
    only(parameters, "block", "capacity", "outputs", KV_SIZE)
    outputs = yes_or_no(parameters, "outputs", default=True)
    block = positive(parameters, "block", 16)
    capacity = capacity_in(parameters, block)
    if capacity is None:
        return GranularPolicy("vllm", "block", block, _NAMESPACE, outputs)
    return BoundedChainPolicy(f"vllm:block={block},capacity={capacity}", block, capacity, _NAMESPACE, outputs)
