"""SGLang: a radix tree of pages; salt, extra key and adapter have trees of their own."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.granular import GranularPolicy
from prefixwise.caches.policy import POLICIES, Policy, only, positive, yes_or_no


@POLICIES.decorate("sglang")
def sglang(parameters: Mapping[str, str]) -> Policy:
    """Return SGLang's rule: `page` tokens a page (1 by default), `outputs` cached or not."""
    only(parameters, "page", "outputs")
    outputs = yes_or_no(parameters, "outputs", default=True)
    return GranularPolicy("sglang", "page", positive(parameters, "page", 1), ("salt", "extra", "adapter"), outputs)
