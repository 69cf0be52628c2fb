"""A test that may be looked at after every pair: the capped e-process.

Where swapping the two times of a pair changes nothing (no reuse), the process is a fair game: the chance that it ever
reaches x is at most 1/x, whenever one stops (Ville's inequality). Means of e-values are e-values.
"""

from __future__ import annotations

import math
from bisect import insort

from prefixwise.stats.quantiles import quantile

STAKES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""How strongly each of the gamblers bets on the first time being shorter; the e-value is their mean wealth."""

FIRST_PAIRS = 4
"""Pairs that only set the scale."""

_LOW = 0.15
_LEAST_SCALE = 0.01
_CLIP = 6.0


class CappedProcess:
    """Evidence that the probe of a pair is answered sooner than its control.

    All logs so far, this pair's too, give the cap c (their median) and the scale s (down to their 15th percentile, at
    least 0.01); d = (min(log control, c) - min(log probe, c)) / s, clipped to 6; a stake k multiplies its wealth by
    2 / (1 + exp(-k d)). Neither c nor s tells probe from control, so the factor's mean under fair swaps is 1.
    """

    def __init__(self) -> None:
        self._logs: list[float] = []
        self._wealth = [0.0] * len(STAKES)  # logarithms
        self.pairs = 0

    def add(self, probe: float, control: float) -> float:
        """Take a pair of positive times and return the e-value so far. Raises ValueError for other times."""
        if probe <= 0 or control <= 0:
            raise ValueError("a time is not positive")
        a, b = math.log(probe), math.log(control)
        insort(self._logs, a)
        insort(self._logs, b)
        self.pairs += 1
        if self.pairs > FIRST_PAIRS:
            cap = quantile(self._logs, 0.5)
            scale = max(cap - quantile(self._logs, _LOW), _LEAST_SCALE)
            d = max(-_CLIP, min(_CLIP, (min(b, cap) - min(a, cap)) / scale))
            for at, stake in enumerate(STAKES):
                self._wealth[at] += math.log(2) - math.log1p(math.exp(-stake * d))
        return self.value

    @property
    def value(self) -> float:
        """The e-value: 1 means nothing is known, 1000 is evidence at one in a thousand."""
        return math.fsum(math.exp(min(700.0, wealth)) for wealth in self._wealth) / len(STAKES)
