"""Which price each request pays: by model, provider, day and length of the prompt."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable

import msgspec

from prefixwise.caches.prices import Price, PriceList
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import NONE, Rows

_DEPENDS = -2


class UsedTariff(msgspec.Struct, frozen=True):
    """A price as some requests pay it: `price` as listed, `rates` with the tier of the prompt's length."""

    model: int
    price: Price
    rates: Price


class Tariffs:
    """Numbers the tariffs that occur, and finds each request's.

    Args:
        rows: The requests.
        book: Where the prices are.
        model: Taken in place of the logged ones, empty for those.
        provider: Likewise.
    """

    def __init__(self, rows: Rows, book: Rulebook, model: str = "", provider: str = "") -> None:
        self.used: list[UsedTariff] = []
        self._rows = rows
        pairs: dict[tuple[int, int], int] = {}
        both = zip(rows.model, rows.provider, strict=True)
        uniform = len(rows.models) == len(rows.providers) == 1
        self._column = bytes(len(rows)) if uniform else [pairs.setdefault(pair, len(pairs)) for pair in both]
        """By row, the number of its pair of model and provider."""
        found = [_priced(book, rows, pair, model, provider) for pair in pairs or {(0, 0): 0}]
        self._lists = [
            _Listed(self, number, prices) for (number, _), prices in zip(pairs or {(0, 0): 0}, found, strict=True)
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
        self.used.append(UsedTariff(model, price, rates))
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

    def __init__(self, tariffs: Tariffs, model: int, found: PriceList | None) -> None:
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


def _priced(book: Rulebook, rows: Rows, pair: tuple[int, int], model: str, provider: str) -> PriceList | None:
    """Return the prices of a pair of model and provider; where another provider is named, only from its own list."""
    logged = rows.providers[pair[1]]
    found = book.price_list(model or rows.models[pair[0]], provider or logged)
    is_theirs = found is None or not provider or provider in (found.provider, logged)
    return found if is_theirs else None
