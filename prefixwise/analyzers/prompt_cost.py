"""What the prompts of a corpus cost: as reported, under each rule, and without any cache.

Every request is priced by the list price of its model on the day of its start (UTC), a long prompt by the price of its
length. Written tokens are priced as the log reports them, and under the rules of providers as those charge them; the
rules of engines know of no writes, so under them what is not cached costs what input costs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import msgspec

from prefixwise.analyzers.request_cost import request_costs
from prefixwise.analyzers.tariffs import Tariffs
from prefixwise.caches.policy import Replay, Tariff
from prefixwise.caches.prices import Price
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import NONE, Rows

REPORTED = "reported"


class Cost(msgspec.Struct, frozen=True):
    """USD of prompts under one rule.

    Attributes:
        rule: Label of the rule; `reported` or `ceiling`.
        requests: How many have a known price (for `reported`: and usage that says prompt and cached tokens).
        without_cache_usd: Their prompts at the input price.
        cost_usd: Their prompts with what the rule caches.
    """

    rule: str
    requests: int
    without_cache_usd: float
    cost_usd: float

    @property
    def saved_usd(self) -> float:
        """What the cache saves; negative where writing costs more than reading saves."""
        return self.without_cache_usd - self.cost_usd


class ModelCost(msgspec.Struct, frozen=True):
    """The same for one model, and the prices that were used, by rising start."""

    model: str
    prices: tuple[Price, ...]
    costs: tuple[Cost, ...]


class PromptCost(msgspec.Struct, frozen=True):
    """All of it, totals by rule; `unpriced` are (model, requests) without a known price, most requests first."""

    totals: tuple[Cost, ...]
    models: tuple[ModelCost, ...]
    unpriced: tuple[tuple[str, int], ...]


def prompt_cost(
    rows: Rows,
    weights: Sequence[float],
    cached: Mapping[str, Sequence[int]],
    book: Rulebook,
    bills: Mapping[str, tuple[Replay, Tariff]] = MappingProxyType({}),
) -> PromptCost:
    """Price the prompts of `rows`.

    Args:
        rows: The corpus.
        weights: By model number, what our token counts are to be multiplied by.
        cached: By rule and row, cached tokens.
        book: Where the prices are.
        bills: Of rules that charge by a price list of their own: what they did, and whose list that is.
    """
    tariffs = Tariffs(rows, book)
    counted = tariffs.assign(tokens * weights[m] for tokens, m in zip(rows.prompt_tokens, rows.model, strict=True))
    paid: dict[str, tuple[Tariffs, list[_Paid]]] = {}
    if tariffs.used and any(value != NONE for value in rows.reported_cached):
        paid[REPORTED] = (tariffs, _reported(rows, tariffs))
    requests = [counted.count(number) for number in range(len(tariffs.used))]
    prompt = _sums(counted, rows.prompt_tokens, len(tariffs.used))
    for rule, values in cached.items():
        if rule in bills:
            paid[rule] = _billed(rows, weights, *bills[rule], book)
        elif tariffs.used:
            hits = _sums(counted, values, len(tariffs.used))
            paid[rule] = (
                tariffs,
                [
                    _Paid(count, tariff.rates.cost(n * weight), tariff.rates.cost(n * weight, hit * weight))
                    for tariff, count, n, hit in zip(tariffs.used, requests, prompt, hits, strict=True)
                    for weight in (weights[tariff.model],)
                ],
            )
    paid = {rule: (own, costs) for rule, (own, costs) in paid.items() if own.used}
    models = dict.fromkeys(tariff.model for own, _ in paid.values() for tariff in own.used)
    return PromptCost(
        tuple(_cost(rule, costs, range(len(costs))) for rule, (_, costs) in paid.items()),
        tuple(_model_cost(rows, model, paid) for model in models),
        _unpriced(rows, counted) if NONE in counted and len(bills) < len(cached) - 1 else (),
    )


def _billed(
    rows: Rows, weights: Sequence[float], replay: Replay, tariff: Tariff, book: Rulebook
) -> tuple[Tariffs, list[_Paid]]:
    """Return the tariffs of a rule with a price list of its own, and what was paid by each."""
    costs = request_costs(rows, weights, replay, tariff, book)
    paid = [_Paid() for _ in costs.tariffs.used]
    for number, plain, usd in zip(costs.numbers, costs.without_cache, costs.usd, strict=True):
        if number != NONE:
            one = paid[number]
            paid[number] = _Paid(one.requests + 1, one.without_cache + plain, one.cost + usd)
    return costs.tariffs, paid


def _model_cost(rows: Rows, model: int, paid: Mapping[str, tuple[Tariffs, list[_Paid]]]) -> ModelCost:
    """Return what the prompts of one model cost under each rule that has a price for it."""
    prices = {id(price): price for own, _ in paid.values() for price in own.prices(model)}
    chosen = ((rule, costs, own.numbers(model)) for rule, (own, costs) in paid.items())
    return ModelCost(
        rows.models[model],
        tuple(sorted(prices.values(), key=lambda price: (price.start is not None, price.start))),
        tuple(_cost(rule, costs, numbers) for rule, costs, numbers in chosen if numbers),
    )


class _Paid(msgspec.Struct, frozen=True):
    """Requests of one tariff and what their prompts cost."""

    requests: int = 0
    without_cache: float = 0.0
    cost: float = 0.0


def _reported(rows: Rows, tariffs: Tariffs) -> list[_Paid]:
    """Return by tariff what the prompts cost whose usage says prompt and cached tokens."""
    numbers = [
        NONE if prompt == NONE or cached == NONE else number
        for number, prompt, cached in zip(
            tariffs.assign(rows.reported_prompt), rows.reported_prompt, rows.reported_cached, strict=True
        )
    ]
    size = len(tariffs.used)
    written: Sequence[int] = rows.reported_written
    long: Sequence[int] = rows.reported_written_long
    if any(tokens > 0 for tokens in written):  # an odd log may report more than the rest of the prompt
        rest = zip(written, rows.reported_prompt, rows.reported_cached, strict=True)
        written = [max(0, min(tokens, prompt - cached)) for tokens, prompt, cached in rest]
        long = [max(0, min(tokens, most)) for tokens, most in zip(long, written, strict=True)]
    else:
        written = long = [0] * len(rows)
    columns = (rows.reported_prompt, rows.reported_cached, written, long)
    sums = zip(*(_sums(numbers, column, size) for column in columns), strict=True)
    return [
        _Paid(numbers.count(number), tariff.rates.cost(tokens[0]), tariff.rates.cost(*tokens))
        for number, (tariff, tokens) in enumerate(zip(tariffs.used, sums, strict=True))
    ]


def _cost(rule: str, paid: Sequence[_Paid], numbers: Sequence[int]) -> Cost:
    """Return the cost under a rule over the tariffs of those numbers."""
    chosen = [paid[number] for number in numbers]
    return Cost(
        rule,
        sum(one.requests for one in chosen),
        sum(one.without_cache for one in chosen),
        sum(one.cost for one in chosen),
    )


def _sums(numbers: Sequence[int], values: Sequence[int], size: int) -> list[int]:
    """Return the sum of `values` by tariff."""
    if size == 1 and NONE not in numbers:
        return [sum(values)]
    sums = [0] * (size + 1)  # the last one takes what has no price
    for number, value in zip(numbers, values, strict=True):
        sums[number] += value
    return sums[:size]


def _unpriced(rows: Rows, numbers: Sequence[int]) -> tuple[tuple[str, int], ...]:
    """Return (model, requests) that have no tariff, most requests first."""
    missing: dict[int, int] = {}
    for number, model in zip(numbers, rows.model, strict=True):
        if number == NONE:
            missing[model] = missing.get(model, 0) + 1
    named = ((rows.models[model], requests) for model, requests in missing.items())
    return tuple(sorted(named, key=lambda pair: (-pair[1], pair[0])))
