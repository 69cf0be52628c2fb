"""What the prompts of a corpus cost: as reported, under each rule, and without any cache.

Every request is priced by the list price of its model on the day of its start (UTC), a long prompt by the price of its
length. Written tokens are priced as the log reports them; a rule does not know of writes, so under it what is not
cached costs what input costs.
"""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from prefixwise.caches.prices import Price, PriceList
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import NONE, Rows

REPORTED = "reported"
_DEPENDS = -2


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
    rows: Rows, weights: Sequence[float], cached: Mapping[str, Sequence[int]], book: Rulebook
) -> PromptCost:
    """Price the prompts of `rows`.

    Args:
        rows: The corpus.
        weights: By model number, what our token counts are to be multiplied by.
        cached: By rule and row, cached tokens.
        book: Where the prices are.
    """
    tariffs = _Tariffs(rows, book)
    counted = tariffs.assign(tokens * weights[m] for tokens, m in zip(rows.prompt_tokens, rows.model, strict=True))
    if not tariffs.used:
        return PromptCost((), (), _unpriced(rows, counted))
    costs: dict[str, list[_Paid]] = {}
    if any(value != NONE for value in rows.reported_cached):
        costs[REPORTED] = _reported(rows, tariffs)
    requests = [counted.count(number) for number in range(len(tariffs.used))]
    prompt = _sums(counted, rows.prompt_tokens, len(tariffs.used))
    for rule, values in cached.items():
        hits = _sums(counted, values, len(tariffs.used))
        costs[rule] = [
            _Paid(count, tariff.rates.cost(n * weight), tariff.rates.cost(n * weight, hit * weight))
            for tariff, count, n, hit in zip(tariffs.used, requests, prompt, hits, strict=True)
            for weight in (weights[tariff.model],)
        ]
    models = [
        ModelCost(rows.models[model], tariffs.prices(model), tuple(_costs(costs, tariffs.numbers(model))))
        for model in dict.fromkeys(tariff.model for tariff in tariffs.used)
    ]
    totals = tuple(_costs(costs, range(len(tariffs.used))))
    return PromptCost(totals, tuple(models), _unpriced(rows, counted) if NONE in counted else ())


class _Tariff(msgspec.Struct, frozen=True):
    """A price as some requests pay it: `price` as listed, `rates` with the tier of the prompt's length."""

    model: int
    price: Price
    rates: Price


class _Paid(msgspec.Struct, frozen=True):
    """Requests of one tariff and what their prompts cost."""

    requests: int = 0
    without_cache: float = 0.0
    cost: float = 0.0


class _Tariffs:
    """Numbers the tariffs that occur, and finds each request's."""

    def __init__(self, rows: Rows, book: Rulebook) -> None:
        self.used: list[_Tariff] = []
        self._rows = rows
        pairs: dict[tuple[int, int], int] = {}
        both = zip(rows.model, rows.provider, strict=True)
        uniform = len(rows.models) == len(rows.providers) == 1
        self._column = bytes(len(rows)) if uniform else [pairs.setdefault(pair, len(pairs)) for pair in both]
        """By row, the number of its pair of model and provider."""
        found = [book.price_list(rows.models[m], rows.providers[p]) for m, p in pairs or {(0, 0): 0}]
        self._lists = [
            _Listed(self, model, prices) for (model, _), prices in zip(pairs or {(0, 0): 0}, found, strict=True)
        ]

    def assign(self, lengths: Iterable[float]) -> list[int]:
        """Return by row the number of its tariff for a prompt of that length, -1 where there is no price."""
        plain = [listed.plain for listed in self._lists]
        numbers = [plain[pair] for pair in self._column]
        if _DEPENDS in plain:
            rows = zip(numbers, self._column, self._rows.start, lengths, strict=True)
            numbers = [
                self._lists[pair].number(start, length) if number == _DEPENDS else number
                for number, pair, start, length in rows
            ]
        return numbers

    def add(self, model: int, price: Price, rates: Price) -> int:
        """Return the number of a new tariff."""
        self.used.append(_Tariff(model, price, rates))
        return len(self.used) - 1

    def numbers(self, model: int) -> list[int]:
        """Return the tariffs of a model."""
        return [number for number, tariff in enumerate(self.used) if tariff.model == model]

    def prices(self, model: int) -> tuple[Price, ...]:
        """Return the prices that requests of a model paid, by rising start."""
        prices = {id(tariff.price): tariff.price for tariff in self.used if tariff.model == model}
        return tuple(sorted(prices.values(), key=lambda price: (price.start is not None, price.start)))


class _Listed:
    """The tariffs of one model at one provider."""

    def __init__(self, tariffs: _Tariffs, model: int, found: PriceList | None) -> None:
        self._tariffs = tariffs
        self._model = model
        self._prices = found.prices if found else ()
        self._starts = found.starts if found else []
        self._usual = found.position(math.nan) if found else NONE
        self._bounds = [[tier.tokens for tier in price.above] for price in self._prices]
        self._numbers: dict[tuple[int, int], int] = {}
        depends = len(self._prices) > 1 or any(self._bounds) or any(start > -math.inf for start in self._starts)
        self.plain = _DEPENDS if depends else self._number(0, -1) if found else NONE
        """The tariff of every request; `_DEPENDS` where day or length matter."""

    def number(self, start: float, length: float) -> int:
        """Return the tariff of a request, -1 before the first known price."""
        position = self._usual if start != start else bisect.bisect_right(self._starts, start) - 1
        if position < 0:
            return NONE
        bounds = self._bounds[position]
        return self._number(position, bisect.bisect_left(bounds, length) - 1 if bounds else -1)

    def _number(self, position: int, tier: int) -> int:
        number = self._numbers.get((position, tier))
        if number is None:
            price = self._prices[position]
            number = self._numbers[position, tier] = self._tariffs.add(self._model, price, price.in_tier(tier))
        return number


def _reported(rows: Rows, tariffs: _Tariffs) -> list[_Paid]:
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


def _costs(paid: Mapping[str, Sequence[_Paid]], numbers: Sequence[int]) -> Iterable[Cost]:
    """Yield the cost by rule over the tariffs of those numbers."""
    for rule, by_tariff in paid.items():
        chosen = [by_tariff[number] for number in numbers]
        yield Cost(
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
