"""By how much one sample lies below another: Hodges and Lehmann's estimate, with an interval that assumes no shape."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

import msgspec

from prefixwise.stats.interval import CONFIDENCE, Interval

_BISECTIONS = 60


class Shift(msgspec.Struct, frozen=True):
    """The median of all differences, second minus first, and its interval; None where there are too few values."""

    value: float
    interval: Interval | None


def shift(first: Sequence[float], second: Sequence[float], confidence: float = CONFIDENCE) -> Shift:
    """Return by how much `first` lies below `second`.

    The interval lies between two of all differences in order, those at which Mann and Whitney's test changes its mind
    (Lehmann 1963); the normal approximation says which.

    Raises:
        ValueError: A sample is empty.
    """
    if not first or not second:
        raise ValueError("a sample is empty")
    below, above = sorted(first), sorted(second)
    pairs = len(below) * len(above)
    middle = (_at(below, above, (pairs + 1) // 2) + _at(below, above, pairs // 2 + 1)) / 2
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    rank = math.floor(pairs / 2 - z * math.sqrt(pairs * (len(below) + len(above) + 1) / 12))
    if rank < 1:
        return Shift(middle, None)
    ends = _at(below, above, rank), _at(below, above, pairs + 1 - rank)
    return Shift(middle, Interval(*ends, confidence, None, "Hodges-Lehmann (rank sum)"))


def _at(below: Sequence[float], above: Sequence[float], rank: int) -> float:
    """Return the difference of this rank, 1 for the smallest, without making all of them."""
    low, high = above[0] - below[-1], above[-1] - below[0]
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if _count(below, above, middle) >= rank:
            high = middle
        else:
            low = middle
    return high


def _count(below: Sequence[float], above: Sequence[float], limit: float) -> int:
    """Return how many differences are at most `limit`: both samples are in order, so one sweep is enough."""
    found, at = 0, 0
    for value in below:
        while at < len(above) and above[at] - value <= limit:
            at += 1
        found += at
    return found
