"""What a run will cost, before it begins."""

from __future__ import annotations

import time

import msgspec

from prefixwise.bench.ttft.plan import Plan
from prefixwise.bench.ttft.prompts import BEHIND
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError

_BEFORE = 16
"""Requests that find out about a server, and warm it up, of the longest prompts."""

PROVIDERS = {"openai-chat": "openai", "openai-responses": "openai"}
"""Whose prices and rules hold behind a protocol that is not called after its provider."""


class Cost(msgspec.Struct, frozen=True):
    """Requests, prompt tokens, and what they cost where nothing is cached; None where the price is not known."""

    requests: int
    tokens: int
    usd: float | None

    def __str__(self) -> str:
        price = "at an unknown price" if self.usd is None else f"up to ${self.usd:,.2f} at list prices"
        return f"{self.requests:,} requests with {self.tokens:,} prompt tokens, {price}"


def cost_of(plan: Plan, book: Rulebook) -> Cost:
    """Return what a cold-against-warm run may cost at most."""
    design = plan.design
    each = design.items * (1 + design.repeats) + design.controls
    tokens = sum(each * (length + BEHIND + plan.suffix) for length in plan.lengths)
    tokens += _BEFORE * (max(plan.lengths) + BEHIND + plan.suffix)
    return priced(each * len(plan.lengths) + _BEFORE, tokens, plan.protocol, plan.model, book)


def priced(requests: int, tokens: int, protocol: str, model: str, book: Rulebook, output: int = 0) -> Cost:
    """Return what requests may cost at most.

    Args:
        requests: How many.
        tokens: Of all their prompts; none of them is taken to be cached.
        protocol: Whose prices hold.
        model: As the endpoint calls it.
        book: Prices.
        output: Tokens of all answers; at least one a request.
    """
    listed = book.price_list(model, PROVIDERS.get(protocol, protocol))
    price = listed.at(time.time()) if listed else None
    usd = None if price is None else price.cost(tokens, 0, tokens) + max(output, requests) * (price.output or 0) / 1e6
    return Cost(requests, tokens, usd)


def agree(cost: Cost, *, local: bool, yes: bool, budget: float | None) -> None:
    """See to it that the user knows the cost of an endpoint that is not their own machine.

    Raises:
        UserError: It is above the budget, or nobody has agreed to it.
    """
    if budget is not None and (cost.usd is None or cost.usd > budget) and not local:
        raise UserError(f"this run is above its budget: {cost}", "--budget", "ask for fewer or shorter prompts")
    if not local and not yes and budget is None:
        raise UserError(f"this run sends {cost}", help="add --yes to send it, or --budget USD")
