"""A straight line through points of which some may be far off: Theil and Sen's slope."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from statistics import NormalDist, median

import msgspec

from prefixwise.stats.interval import CONFIDENCE, Interval


class Line(msgspec.Struct, frozen=True):
    """y = intercept + slope * x; `interval` is that of the slope, None where there are too few points."""

    slope: float
    intercept: float
    interval: Interval | None


def theil_sen(x: Sequence[float], y: Sequence[float], confidence: float = CONFIDENCE) -> Line:
    """Return the median of the slopes between all points of different `x`, with Sen's interval (1968).

    Raises:
        ValueError: Fewer than two different `x`, or as many `y` as there are not `x`.
    """
    points = list(zip(x, y, strict=True))
    slopes = sorted((d - b) / (c - a) for (a, b), (c, d) in combinations(points, 2) if a != c)
    if not slopes:
        raise ValueError("a line needs points at two places")
    slope = median(slopes)
    intercept = median(value - slope * place for place, value in points)
    spread = NormalDist().inv_cdf((1 + confidence) / 2) * _deviation(x)
    low, high = math.floor((len(slopes) - spread) / 2) - 1, math.ceil((len(slopes) + spread) / 2)
    if low < 0 or high >= len(slopes):
        return Line(slope, intercept, None)
    interval = Interval(slopes[low], slopes[high], confidence, None, "Theil-Sen (Kendall's tau, normal)")
    return Line(slope, intercept, interval)


def _deviation(x: Sequence[float]) -> float:
    """Return the standard deviation of Kendall's S without a trend, corrected for equal `x`."""
    n = len(x)
    ties = sum(t * (t - 1) * (2 * t + 5) for t in Counter(x).values())
    return math.sqrt((n * (n - 1) * (2 * n + 5) - ties) / 18)
