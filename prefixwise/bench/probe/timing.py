"""Telling hits from misses by how long the first token took, where the server does not count."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from prefixwise.stats.interval import Interval
from prefixwise.stats.medians import median_interval

FEWEST = 5
"""Pairs of a cold and a warm time that a threshold rests on; a rival that takes one of each is wrong at every stall."""

APART = 1.3
"""Cold over warm from which single requests can be told apart."""

EFFECT = 1.05
_WRONG = 0.1


class Calibration(msgspec.Struct, frozen=True):
    """Times of prompts of one length whose state is known.

    Attributes:
        threshold: Half-way between both medians, by logarithm, in seconds; a shorter time is a hit.
        ratio: Median of cold over warm, and `interval`, of pairs.
        wrong: Share of the calibration's own requests on the wrong side.
        pairs: How many.
    """

    threshold: float
    ratio: float
    interval: Interval | None
    wrong: float
    pairs: int

    @property
    def usable(self) -> bool:
        """Whether it tells single requests apart."""
        return self.pairs >= FEWEST and self.ratio >= APART and self.wrong <= _WRONG

    @property
    def faster(self) -> bool | None:
        """Whether warm requests are faster; None where that cannot be told."""
        if self.interval is None:
            return None
        if self.interval.low > EFFECT:
            return True
        return False if self.interval.low >= 1 / EFFECT and self.interval.high <= EFFECT else None

    def hit(self, ttft: float, late: float = 0.0) -> bool | None:
        """Return whether a time is a hit's; None where the client's own lateness may have made it long."""
        if ttft <= self.threshold:
            return True
        return None if ttft - late <= self.threshold else False


def calibration(pairs: Sequence[tuple[float, float]]) -> Calibration | None:
    """Return what pairs of (cold, warm) times say; None without any."""
    if not pairs:
        return None
    cold, warm = [one for one, _ in pairs], [one for _, one in pairs]
    logs = [math.log(a / b) for a, b in pairs]
    interval = median_interval(logs)
    threshold = math.sqrt(median(cold) * median(warm))
    wrong = sum(one <= threshold for one in cold) + sum(one > threshold for one in warm)
    if interval is not None:
        interval = msgspec.structs.replace(interval, low=math.exp(interval.low), high=math.exp(interval.high))
    return Calibration(threshold, math.exp(median(logs)), interval, wrong / (2 * len(pairs)), len(pairs))
