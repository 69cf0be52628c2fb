"""Which isolation to choose, by what it costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from prefixwise.analyzers.tenancy.price import Isolation

if TYPE_CHECKING:
    from prefixwise.analyzers.tenancy.audit import Audit

_WORTH = 0.01
"""Hit rate from which sharing an approved prefix is worth the list that it takes."""


class Recommendation(msgspec.Struct, frozen=True):
    """What to do: the isolation, what it costs in hit rate against sharing everything, and a sentence."""

    isolation: Isolation
    hit_rate_cost: float | None
    text: str


def recommendation(audit: Audit) -> Recommendation:
    """Return the isolation to choose: a namespace a tenant, with a shared prefix in front where that pays."""
    prices = audit.prices
    everyone, shared, tenant = (
        prices.of(isolation).hit_rate for isolation in (Isolation.GLOBAL, Isolation.SHARED, Isolation.TENANT)
    )
    if everyone is None or shared is None or tenant is None:
        return Recommendation(Isolation.TENANT, None, "There are no prompt tokens to share.")
    cost, back = everyone - tenant, shared - tenant
    said = f"A namespace a tenant costs {100 * cost:.1f} points of hit rate ({100 * everyone:.1f} % to "
    said += f"{100 * tenant:.1f} %)"
    if back < _WORTH:
        return Recommendation(Isolation.TENANT, cost, f"{said}: give each tenant a salt of its own.")
    prefix = "the approved prefix" if audit.asked.approved else "a prefix like a template, once it is approved,"
    text = f"{said}; sharing {prefix} in front of it gives {100 * back:.1f} back. Where the engine cannot share a "
    text += "prefix alone, give each tenant a salt of its own."
    return Recommendation(Isolation.SHARED, everyone - shared, text)
