"""What each prompt costs under the rule of a provider: input, written and read tokens, storage, service tier."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

import msgspec

from prefixwise.analyzers.tariffs import Tariffs
from prefixwise.caches.policy import Replay, Tariff
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import NONE, Rows

_MILLION, _HOUR = 1e6, 3600.0


class RequestCosts(msgspec.Struct, frozen=True):
    """USD by row; NaN where no price is known.

    Attributes:
        usd: With what the rule caches; `without_cache`: all of the prompt as input.
        numbers: By row, which of the `tariffs` it pays, -1 for none; their prices name their sources.
    """

    usd: array[float]
    without_cache: array[float]
    numbers: Sequence[int]
    tariffs: Tariffs


def request_costs(rows: Rows, weights: Sequence[float], replay: Replay, tariff: Tariff, book: Rulebook) -> RequestCosts:
    """Price each prompt as a rule serves it.

    Args:
        rows: The corpus.
        weights: By model number, what our token counts are to be multiplied by.
        replay: What the rule did.
        tariff: Whose prices it charges.
        book: Where the prices are.
    """
    tariffs = Tariffs(rows, book, tariff.model, tariff.provider)
    numbers = tariffs.assign(tokens * weights[m] for tokens, m in zip(rows.prompt_tokens, rows.model, strict=True))
    factors = _tier_factors(rows, tariff)
    none = array("i", bytes(4 * len(rows)))
    written, long = replay.written or none, replay.written_long or none
    usd, without = (array("d", [float("nan")]) * len(rows) for _ in range(2))
    for row, number in enumerate(numbers):
        if number == NONE:
            continue
        rates = tariffs.used[number].rates
        weight, factor = weights[rows.model[row]], factors[rows.param_set[row]]
        prompt = rows.prompt_tokens[row] * weight
        without[row] = rates.cost(prompt) * factor
        usd[row] = factor * rates.cost(prompt, replay.matched[row] * weight, written[row] * weight, long[row] * weight)
        if replay.stored is not None and rates.storage_hour:
            usd[row] += replay.stored[row] * weight / _HOUR / _MILLION * rates.storage_hour
    return RequestCosts(usd, without, numbers, tariffs)


def _tier_factors(rows: Rows, tariff: Tariff) -> list[float]:
    """Return by set of parameters what all prices are to be multiplied by."""
    tiers = dict(tariff.tiers)
    if tariff.tier:
        return [tiers.get(tariff.tier, 1.0)] * len(rows.param_sets)
    named = (dict(params).get("service_tier", b'""').decode().strip('"') for params in rows.param_sets)
    return [tiers.get(name, 1.0) for name in named]
