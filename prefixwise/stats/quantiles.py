"""Quantiles: two definitions, an interval without assumptions, and how many values each needs."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

from prefixwise.stats.binomial import at_most
from prefixwise.stats.interval import CONFIDENCE, Interval

METHOD = "Hyndman-Fan 7"
"""What `quantile` computes, for the files that name it."""


def quantile(values: Sequence[float], q: float) -> float:
    """Return the `q`-quantile by definition 7 of Hyndman and Fan (1996): linear between order statistics.

    Raises:
        ValueError: There is no value, or `q` is not in [0, 1].
    """
    return quantile_of_sorted(sorted(values), q)


def quantile_of_sorted(ordered: Sequence[float], q: float) -> float:
    """Return what `quantile` does, of values that are in order already. Raises as `quantile`."""
    _check(ordered, q)
    place = (len(ordered) - 1) * q
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    if ordered[below] == ordered[above]:  # also where both are infinite
        return ordered[below]
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def nearest_rank(values: Sequence[float], q: float, failures: int = 0) -> float:
    """Return the `q`-quantile by nearest rank, every failure counted as a value of infinity. Raises as `quantile`."""
    _check([*values, *[math.inf] * min(failures, 1)], q)
    ordered = sorted(values)
    rank = max(1, math.ceil(q * (len(ordered) + failures)))
    return ordered[rank - 1] if rank <= len(ordered) else math.inf


def quantile_floor(q: float, confidence: float = CONFIDENCE, *, two_sided: bool = False) -> int:
    """Return how many values it takes for a bound of the `q`-quantile (q > 1/2) to exist.

    At 95 %: 29 for p90, 59 for p95, 299 for p99; for both ends 36, 72 and 368.
    """
    miss = (1 - confidence) / 2 if two_sided else 1 - confidence
    return math.ceil(math.log(miss) / math.log(max(q, 1 - q)))


def quantile_interval(values: Sequence[float], q: float, confidence: float = CONFIDENCE) -> Interval | None:
    """Return two order statistics between which the `q`-quantile lies; None where there are too few values.

    Raises as `quantile`.
    """
    _check(values, q)
    ranks = _ranks(len(values), q, confidence)
    if ranks is None:
        return None
    low, high, coverage = ranks
    ordered = sorted(values)
    return Interval(ordered[low - 1], ordered[high - 1], confidence, coverage, "order statistics")


@functools.lru_cache(maxsize=256)
def _ranks(n: int, q: float, confidence: float) -> tuple[int, int, float] | None:
    """Return the ranks of both ends and how often they hold the quantile."""
    tail = (1 - confidence) / 2
    low = max((j for j in range(1, n + 1) if at_most(j - 1, n, q) <= tail), default=None)
    high = min((k for k in range(1, n + 1) if at_most(k - 1, n, q) >= 1 - tail), default=None)
    if low is None or high is None:
        return None
    return low, high, at_most(high - 1, n, q) - at_most(low - 1, n, q)


def _check(values: Sequence[float], q: float) -> None:
    if not values:
        raise ValueError("no value has no quantile")
    if not 0 <= q <= 1:
        raise ValueError(f"{q} is no share of the values")
