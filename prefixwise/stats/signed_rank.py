"""Wilcoxon's signed ranks: the Hodges-Lehmann estimate, its exact interval, and the test."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from itertools import accumulate, combinations_with_replacement
from statistics import NormalDist, median

from prefixwise.stats.interval import CONFIDENCE, Interval

EXACT_UP_TO = 150
"""So many values have their ranks counted; for more, the normal approximation is off by less than a rank or two."""


def hodges_lehmann(values: Sequence[float]) -> float:
    """Return the median of all averages of two values, each with itself too. Raises ValueError without values."""
    if not values:
        raise ValueError("no value has no centre")
    return median(_walsh(values))


def hodges_lehmann_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the interval of the centre by inverting the signed-rank test; None where there are too few values.

    It is exact for values that are spread symmetrically about their centre, the only thing it assumes.
    """
    n = len(values)
    k = signed_rank(n, confidence)
    if k == 0:
        return None
    averages = _walsh(values)
    coverage = 1 - 2 * _cumulated(n)[k - 1] / (1 << n) if n <= EXACT_UP_TO else None
    return Interval(averages[k - 1], averages[-k], confidence, coverage, "Hodges-Lehmann (signed rank)")


def signed_rank(n: int, confidence: float = CONFIDENCE) -> int:
    """Return the largest k with P(T <= k - 1) <= (1 - confidence) / 2 for the rank sum T of `n` values; 0 for none."""
    tail = (1 - confidence) / 2
    if n > EXACT_UP_TO:
        mean, deviation = _moments(n)
        return max(0, math.floor(mean + NormalDist().inv_cdf(tail) * deviation + 0.5))
    limit = tail * (1 << n)
    return sum(1 for below in _cumulated(n) if below <= limit)


def wilcoxon(values: Sequence[float]) -> float:
    """Return the two-sided p value of "the values are symmetric about zero"; zeros are left out, ties share ranks.

    Exact up to `EXACT_UP_TO` values (ties too: ranks are doubled, so that halves are whole), normal beyond, with the
    correction for ties.
    """
    moved = [value for value in values if value]
    n = len(moved)
    if n == 0:
        return 1.0
    doubled = _doubled_ranks([abs(value) for value in moved])
    total = sum(doubled)
    rising = sum(rank for rank, value in zip(doubled, moved, strict=True) if value > 0)
    smaller = min(rising, total - rising)
    if n <= EXACT_UP_TO:
        return min(1.0, 2 * sum(_sums(tuple(sorted(doubled)))[: smaller + 1]) / (1 << n))
    deviation = math.sqrt(sum(rank * rank for rank in doubled)) / 2
    return min(1.0, 2 * NormalDist().cdf((smaller - total / 2 + 1) / deviation))


def _walsh(values: Sequence[float]) -> list[float]:
    return sorted((a + b) / 2 for a, b in combinations_with_replacement(values, 2))


def _moments(n: int) -> tuple[float, float]:
    return n * (n + 1) / 4, math.sqrt(n * (n + 1) * (2 * n + 1) / 24)


@functools.lru_cache(maxsize=64)
def _cumulated(n: int) -> tuple[int, ...]:
    """Return how many of the 2^n sets of signs have a rank sum of at most 0, 1, 2 and so on."""
    return tuple(accumulate(_sums(tuple(range(1, n + 1)))))


@functools.lru_cache(maxsize=64)
def _sums(ranks: tuple[int, ...]) -> tuple[int, ...]:
    """Return how many subsets of `ranks` have the sum 0, 1, 2 and so on."""
    counts = [1]
    for rank in ranks:
        longer = counts + [0] * rank
        for at, count in enumerate(counts):
            longer[at + rank] += count
        counts = longer
    return tuple(counts)


def _doubled_ranks(sizes: Sequence[float]) -> list[int]:
    """Return twice the rank of each value, equal ones sharing their mean rank."""
    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    ranks = [0] * len(sizes)
    start = 0
    while start < len(order):
        end = start
        while end < len(order) and sizes[order[end]] == sizes[order[start]]:
            end += 1
        for at in order[start:end]:
            ranks[at] = start + 1 + end
        start = end
    return ranks
