"""A test that may be looked at after every pair: the capped e-process.

Where swapping the two times of a pair changes nothing (no reuse), the process is a fair game: the chance that it ever
reaches x is at most 1/x, whenever one stops (Ville's inequality). Means of e-values are e-values.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Sequence

from prefixwise.stats.quantiles import quantile_of_sorted

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
        return self.add_unit((probe,), (control,))

    def add_unit(self, probes: Sequence[float], controls: Sequence[float]) -> float:
        """Take as many probes as controls that only together can be exchanged; else as `add`."""
        if len(probes) != len(controls) or min((*probes, *controls), default=0.0) <= 0:
            raise ValueError("a unit is as many probes as controls, and a time that is not positive is none")
        sooner, later = [math.log(one) for one in probes], [math.log(one) for one in controls]
        for one in (*sooner, *later):
            insort(self._logs, one)
        self.pairs += len(probes)
        if self.pairs > FIRST_PAIRS:
            cap = quantile_of_sorted(self._logs, 0.5)
            scale = max(cap - quantile_of_sorted(self._logs, _LOW), _LEAST_SCALE)
            ahead = math.fsum(min(one, cap) for one in later) - math.fsum(min(one, cap) for one in sooner)
            d = max(-_CLIP, min(_CLIP, ahead / scale))
            for at, stake in enumerate(STAKES):
                self._wealth[at] += math.log(2) - math.log1p(math.exp(-stake * d))
        return self.value

    @property
    def value(self) -> float:
        """The e-value: 1 means nothing is known, 1000 is evidence at one in a thousand."""
        return math.fsum(math.exp(min(700.0, wealth)) for wealth in self._wealth) / len(STAKES)
