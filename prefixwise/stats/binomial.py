"""The binomial distribution: tails, and Clopper and Pearson's interval for a share."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

from prefixwise.stats.interval import CONFIDENCE, Interval

_BISECTIONS = 60


def at_most(k: int, n: int, p: float) -> float:
    """Return P(X <= k) where X counts successes of `n` trials with probability `p` each.

    Raises:
        ValueError: `n` is negative or `p` no probability.
    """
    if n < 0 or not 0 <= p <= 1:
        raise ValueError(f"no binomial distribution has n = {n}, p = {p}")
    if k < 0:
        return 0.0
    if k >= n or p == 0:
        return 1.0
    if p == 1:
        return 0.0
    if k + 1 > (n + 1) * p:  # the shorter, smaller side is summed, so that neither tail is lost in rounding
        return 1.0 - math.fsum(_mass(i, n, p) for i in range(k + 1, n + 1))
    return math.fsum(_mass(i, n, p) for i in range(k + 1))


def at_least(k: int, n: int, p: float) -> float:
    """Return P(X >= k); small values keep their relative accuracy. Raises as `at_most`."""
    return at_most(n - k, n, 1 - p)


def _mass(k: int, n: int, p: float) -> float:
    log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    return math.exp(log + k * math.log(p) + (n - k) * math.log1p(-p))


@functools.lru_cache(maxsize=1024)
def clopper_pearson(hits: int, n: int, confidence: float = CONFIDENCE) -> Interval:
    """Return the exact interval for a share of which `hits` of `n` were seen (Clopper and Pearson 1934).

    It never covers less often than `confidence`. Without trials it is [0, 1].

    Raises:
        ValueError: `hits` is not between 0 and `n`.
    """
    if not 0 <= hits <= n:
        raise ValueError(f"{hits} of {n} trials cannot have succeeded")
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _root(lambda p: at_least(hits, n, p) - tail)
    high = 1.0 if hits == n else _root(lambda p: tail - at_most(hits, n, p))
    return Interval(low, high, confidence, confidence, "Clopper-Pearson")


def _root(rising: Callable[[float], float]) -> float:
    """Return where a function that rises over [0, 1] is zero."""
    low, high = 0.0, 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
    return (low + high) / 2
