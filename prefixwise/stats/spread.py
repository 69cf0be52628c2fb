"""How far values scatter, which of them stand apart, and how many pairs a wanted width takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

NORMAL_MAD = 1.4826
"""Standard deviation over median absolute deviation, of normal values."""

_PAIRS = 2400.0
"""(1.96 x 1.2533 / 0.05)^2: the squared relative width of a normal median's interval, for 5 %."""


def robust_deviation(values: Sequence[float]) -> float:
    """Return the median absolute deviation, scaled to the standard deviation of normal values.

    Raises ValueError (as StatisticsError) without values.
    """
    centre = median(values)
    return NORMAL_MAD * median(abs(value - centre) for value in values)


def standing_apart(values: Sequence[float], times: float = 5.0) -> list[int]:
    """Return the places of values further from the median than `times` robust deviations.

    They are to be shown, not removed: an estimate without them is a check of how much they matter. Where more than
    half of the values are equal there is no scale, and nothing stands apart.
    """
    if not values:
        return []
    centre, deviation = median(values), robust_deviation(values)
    if deviation == 0:
        return []
    return [at for at, value in enumerate(values) if abs(value - centre) > times * deviation]


def pairs_needed(log_deviation: float, relative: float = 0.05) -> int:
    """Return how many pairs an interval of about `relative` to each side of a speed-up takes.

    Args:
        log_deviation: Standard deviation of the pairs' log ratios.
        relative: Half-width of the interval as a share of the speed-up.
    """
    pairs = _PAIRS * (0.05 / relative) ** 2 * log_deviation**2
    return math.ceil(round(pairs, 9))  # what is whole but for rounding stays
