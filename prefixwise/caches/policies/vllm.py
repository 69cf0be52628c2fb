"""vLLM: full blocks in a hash chain; salt and adapter are in the chain's keys."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.granular import GranularPolicy
from prefixwise.caches.policy import POLICIES, Policy, only, positive, yes_or_no


@POLICIES.decorate("vllm")
def vllm(parameters: Mapping[str, str]) -> Policy:
    """Return vLLM's rule: `block` tokens a block (16 on most GPUs), `outputs` cached or not."""
    only(parameters, "block", "outputs")
    outputs = yes_or_no(parameters, "outputs", default=True)
    return GranularPolicy("vllm", "block", positive(parameters, "block", 16), ("salt", "adapter"), outputs)
