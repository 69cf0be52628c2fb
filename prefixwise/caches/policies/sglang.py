"""SGLang: a radix tree of pages; salt, extra key and adapter have trees of their own."""

from __future__ import annotations

from collections.abc import Mapping

from prefixwise.caches.bounded_radix import BoundedRadixPolicy
from prefixwise.caches.capacity import KV_SIZE, capacity_in
from prefixwise.caches.eviction_orders import EVICTION_ORDERS
from prefixwise.caches.granular import GranularPolicy
from prefixwise.caches.policy import POLICIES, Policy, only, positive, yes_or_no
from prefixwise.core.errors import UserError

_NAMESPACE = ("salt", "extra", "adapter")


@POLICIES.decorate("sglang")
def sglang(parameters: Mapping[str, str]) -> Policy:
    """Return SGLang's rule: `page` tokens a page (1 by default), `capacity`, `eviction`, `outputs` cached or not."""
    only(parameters, "page", "capacity", "eviction", "outputs", KV_SIZE)
    outputs = yes_or_no(parameters, "outputs", default=True)
    page = positive(parameters, "page", 1)
    capacity = capacity_in(parameters, page)
    eviction = parameters.get("eviction", "lru")
    EVICTION_ORDERS.get(eviction)
    if capacity is None and "eviction" in parameters:
        raise UserError("an eviction order needs a capacity", help="for example sglang:capacity=2Mtokens,eviction=lfu")
    if capacity is None:
        return GranularPolicy("sglang", "page", page, _NAMESPACE, outputs)
    label = f"sglang:page={page},capacity={capacity}" + ("" if eviction == "lru" else f",eviction={eviction}")
    return BoundedRadixPolicy(label, page, capacity, eviction, _NAMESPACE, outputs)
