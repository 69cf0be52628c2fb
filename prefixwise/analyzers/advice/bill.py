"""What rows cost under a rule, and what of that is the price of writing."""

from __future__ import annotations

import math
from array import array
from collections.abc import Sequence

import msgspec

from prefixwise.analyzers.request_cost import request_costs
from prefixwise.analyzers.tariffs import Tariffs
from prefixwise.caches.hosted import HostedPolicy
from prefixwise.caches.policy import Replay
from prefixwise.caches.prices import Price
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import NONE, Rows


class Bill(msgspec.Struct, frozen=True):
    """Prompts under a rule.

    Attributes:
        usd: What they cost; NaN where one of them has no price.
        without_cache_usd: What they would cost without any cache.
        premium_usd: What writing cost beyond plain input.
        read_tokens, written_tokens: Tokens read from the cache, and written to it, in the provider's count.
    """

    usd: float
    without_cache_usd: float
    premium_usd: float
    read_tokens: int
    written_tokens: int

    @property
    def saved_by_reading_usd(self) -> float:
        """What reading saved, before the price of writing."""
        return self.without_cache_usd + self.premium_usd - self.usd


class Accountant:
    """Counts and prices rows under one rule.

    Args:
        policy: The rule.
        weights: By model number, what our token counts are to be multiplied by.
        book: Where the prices are.
    """

    def __init__(self, policy: HostedPolicy, weights: Sequence[float], book: Rulebook) -> None:
        self.policy = policy
        self._weights = weights
        self._book = book

    def usd(self, rows: Rows) -> float:
        """Return what the prompts of some rows cost; NaN where one of them has no price."""
        return sum(self._usd(rows, self.policy.served(rows)))

    def bill(self, rows: Rows) -> Bill:
        """Return the same with all that belongs to it."""
        replay = self.policy.served(rows)
        costs = request_costs(rows, self._weights, replay, self.policy.tariff, self._book)
        nothing = array("i", bytes(4 * len(rows)))
        only_written = Replay(nothing, bytearray(), replay.written, replay.written_long, replay.stored)
        without = sum(costs.without_cache)
        return Bill(
            sum(costs.usd),
            without,
            sum(self._usd(rows, only_written)) - without,
            self._tokens(rows, replay.matched),
            self._tokens(rows, replay.written or nothing),
        )

    def prices(self, rows: Rows) -> tuple[Price, ...]:
        """Return the prices that rows pay; () where one of them has none."""
        tariff = self.policy.tariff
        tariffs = Tariffs(rows, self._book, tariff.model, tariff.provider)
        weights = self._weights
        numbers = tariffs.assign(n * weights[m] for n, m in zip(rows.prompt_tokens, rows.model, strict=True))
        return () if NONE in numbers else tuple(tariffs.used[number].rates for number in dict.fromkeys(numbers))

    def _usd(self, rows: Rows, replay: Replay) -> array[float]:
        return request_costs(rows, self._weights, replay, self.policy.tariff, self._book).usd

    def _tokens(self, rows: Rows, column: Sequence[int]) -> int:
        weights = self._weights
        return round(math.fsum(n * weights[model] for n, model in zip(column, rows.model, strict=True)))
