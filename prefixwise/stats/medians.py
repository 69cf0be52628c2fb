"""The median of independent differences, without a word on their distribution: interval and sign test."""

from __future__ import annotations

import math
from collections.abc import Sequence

from prefixwise.stats.interval import CONFIDENCE, Interval


def sign_rank(n: int, confidence: float = CONFIDENCE) -> int:
    """Return the largest k with P(Bin(n, 1/2) <= k - 1) <= (1 - confidence) / 2; 0 where `n` is too small.

    The k-th smallest and k-th largest of `n` values are then the ends of the interval for their median. At 95 %: 6
    values give 1, 9 give 2, 12 give 3, 20 give 6, 30 give 10, 50 give 18.
    """
    tail = (1 - confidence) / 2
    below, k = 0, 0
    while k < n and (below + math.comb(n, k)) / (1 << n) <= tail:
        below += math.comb(n, k)
        k += 1
    return k


def median_interval(values: Sequence[float], confidence: float = CONFIDENCE) -> Interval | None:
    """Return the interval of the median by inverting the sign test: two order statistics.

    `coverage` is exact for continuous values and a lower bound for others. None where there are too few values: fewer
    than 6 at 95 %.
    """
    n, k = len(values), sign_rank(len(values), confidence)
    if k == 0:
        return None
    ordered = sorted(values)
    coverage = 1 - 2 * sum(math.comb(n, i) for i in range(k)) / (1 << n)
    return Interval(ordered[k - 1], ordered[n - k], confidence, coverage, "order statistics (sign test)")


def sign_test(values: Sequence[float]) -> float:
    """Return the two-sided p value of "the median is zero"; zeros say nothing and are left out. 1 without values."""
    rising = sum(value > 0 for value in values)
    n = rising + sum(value < 0 for value in values)
    fewer = min(rising, n - rising)
    return min(1.0, 2 * sum(math.comb(n, i) for i in range(fewer + 1)) / (1 << n))
