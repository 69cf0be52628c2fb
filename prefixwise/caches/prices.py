"""What tokens cost: prices by provider, model and date, in USD per million tokens."""

from __future__ import annotations

import bisect
import functools
from datetime import UTC, date, datetime

import msgspec

from prefixwise.caches.sources import Confidence, Source

_MILLION = 1e6


class Tier(msgspec.Struct, frozen=True):
    """Prices of prompts longer than `tokens`; None is the price without the tier."""

    tokens: int
    input: float
    cached_read: float | None = None
    write: float | None = None
    write_1h: float | None = None
    write_12h: float | None = None
    output: float | None = None


class Price(msgspec.Struct, frozen=True, kw_only=True):
    """List prices of one model from one day on, in USD per million tokens, standard service tier.

    Attributes:
        provider, model: Whose API, and what its price list calls the model.
        rule: Id of the system whose rule the model follows.
        start: First day (UTC); None where no earlier price is known.
        cached_read: None where nothing says that cached tokens are cheaper.
        write: Of tokens written for the provider's usual time; `write_1h`, `write_12h`: for longer. None where
            writing costs what input costs.
        storage_hour: Of a million stored tokens an hour, where storage is charged.
        above: Prices of long prompts, by rising length.
        note: What the figures leave out.
    """

    provider: str
    model: str
    input: float
    rule: str = ""
    start: date | None = None
    cached_read: float | None = None
    write: float | None = None
    write_1h: float | None = None
    write_12h: float | None = None
    output: float | None = None
    storage_hour: float | None = None
    above: tuple[Tier, ...] = ()
    note: str = ""
    sources: tuple[Source, ...] = ()
    as_of: date | None = None
    as_of_approximate: bool = False
    confidence: Confidence = Confidence.USER

    def in_tier(self, number: int) -> Price:
        """Return the prices of that tier as a price of its own; -1 is the price without one."""
        if number < 0:
            return self
        tier = self.above[number]
        given = {name: getattr(tier, name) for name in tier.__struct_fields__[1:] if getattr(tier, name) is not None}
        return msgspec.structs.replace(self, above=(), **given)

    @property
    def read(self) -> float:
        """USD per million cached tokens; the input price where there is no other."""
        return self.input if self.cached_read is None else self.cached_read

    @property
    def written(self) -> float:
        """USD per million tokens written for the usual time; the input price where writing has none of its own."""
        return self.input if self.write is None else self.write

    @property
    def written_long(self) -> float:
        """USD per million tokens written for longer."""
        long = self.write_1h if self.write_12h is None else self.write_12h
        return self.written if long is None else long

    def cost(self, prompt: float, cached: float = 0, written: float = 0, written_long: float = 0) -> float:
        """Return the USD of prompts of `prompt` tokens in all.

        Args:
            prompt: Tokens, all of the following included.
            cached: Of them read from the cache.
            written: Of them written to it, `written_long` included.
            written_long: Of those written for longer than the usual time.
        """
        rest = max(0.0, prompt - cached - written)
        usual = written - written_long
        total = rest * self.input + cached * self.read + usual * self.written + written_long * self.written_long
        return total / _MILLION


class PriceList(msgspec.Struct, frozen=True):
    """All known prices of one model at one provider, by rising start; at least one."""

    provider: str
    model: str
    prices: tuple[Price, ...]

    def at(self, seconds: float) -> Price | None:
        """Return the price at a moment (seconds since the epoch), None before the first one that is known.

        Without a moment (NaN), it is the price that held when the list was last read: one that was announced for
        later does not count.
        """
        position = self.position(seconds)
        return self.prices[position] if position >= 0 else None

    def position(self, seconds: float) -> int:
        """Return the index in `prices` of what `at` returns, -1 for none."""
        if seconds != seconds:
            read = max((price.as_of for price in self.prices if price.as_of is not None), default=None)
            seconds = _seconds(read) if read is not None else float("inf")
        return bisect.bisect_right(self.starts, seconds) - 1

    @property
    def starts(self) -> list[float]:
        """The first moment of each price, in seconds since the epoch; minus infinity where none is known."""
        return [_seconds(price.start) for price in self.prices]


@functools.cache
def _seconds(day: date | None) -> float:
    return float("-inf") if day is None else datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
