"""What pairs of times say: the speed-up, what is saved, how sure that is, and how much noise there is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec

from prefixwise.stats.interval import CONFIDENCE, Interval
from prefixwise.stats.medians import median_interval, sign_test
from prefixwise.stats.signed_rank import hodges_lehmann, hodges_lehmann_interval, wilcoxon
from prefixwise.stats.spread import pairs_needed, robust_deviation, standing_apart


class Pair(msgspec.Struct, frozen=True):
    """The times of one item, in seconds: cold, and warm (the median of its repeats)."""

    cold: float
    warm: float

    @property
    def log_ratio(self) -> float:
        """Logarithm of cold over warm."""
        return math.log(self.cold) - math.log(self.warm)


class Estimate(msgspec.Struct, frozen=True, kw_only=True):
    """A speed-up and what comes with it; None where there are too few pairs.

    Attributes:
        n: Pairs.
        speedup: exp of the median log ratio; `interval` by exact order statistics, which assumes nothing of how the
            ratios are spread.
        centre: The same by Hodges and Lehmann, which assumes that they are spread evenly to both sides, and is then
            narrower.
        saved_s: Median of cold minus warm, in seconds.
        saved_percent: Of the cold time, by the speed-up.
        sign_p, wilcoxon_p: Two-sided, of no difference.
        deviation: Robust standard deviation of the log ratios.
        apart: Pairs that stand far from the rest; `without`: the speed-up without them. They are left in.
        needed: Pairs that an interval of 5 % to each side takes.
    """

    n: int
    speedup: float
    interval: Interval | None
    centre: float
    centre_interval: Interval | None
    saved_s: float
    saved_interval: Interval | None
    saved_percent: float
    sign_p: float
    wilcoxon_p: float
    deviation: float
    apart: int
    without: float
    needed: int

    @property
    def relative_width(self) -> float | None:
        """Half the width of the interval as a share of the speed-up."""
        return None if self.interval is None else self.interval.half_width / self.speedup


def estimate(pairs: Sequence[Pair], confidence: float = CONFIDENCE) -> Estimate:
    """Return what pairs say. Means of times are not looked at: one stalled request in thirty moves their ratio.

    Raises:
        ValueError: There is no pair.
    """
    if not pairs:
        raise ValueError("no pair says nothing")
    ratios = [pair.log_ratio for pair in pairs]
    saved = [pair.cold - pair.warm for pair in pairs]
    middle = median(ratios)
    far = set(standing_apart(ratios))
    near = [ratio for at, ratio in enumerate(ratios) if at not in far]
    deviation = robust_deviation(ratios)
    return Estimate(
        n=len(pairs),
        speedup=math.exp(middle),
        interval=_of_logs(median_interval(ratios, confidence)),
        centre=math.exp(hodges_lehmann(ratios)),
        centre_interval=_of_logs(hodges_lehmann_interval(ratios, confidence)),
        saved_s=median(saved),
        saved_interval=median_interval(saved, confidence),
        saved_percent=100 * (1 - math.exp(-middle)),
        sign_p=sign_test(ratios),
        wilcoxon_p=wilcoxon(ratios),
        deviation=deviation,
        apart=len(far),
        without=math.exp(median(near)),
        needed=pairs_needed(deviation),
    )


def noise_floor(controls: Sequence[Pair]) -> float | None:
    """Return by how much two cold requests may differ without a reason, as a share; None with too few pairs.

    It is the end of the interval of their ratio that is further from 1.
    """
    interval = median_interval([pair.log_ratio for pair in controls])
    return None if interval is None else math.exp(max(abs(interval.low), abs(interval.high))) - 1


def controls_agree(controls: Sequence[Pair]) -> bool | None:
    """Return whether cold requests take as long as cold requests: the interval of their ratio holds 1."""
    interval = median_interval([pair.log_ratio for pair in controls])
    return None if interval is None else 0.0 in interval


def _of_logs(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return msgspec.structs.replace(interval, low=math.exp(interval.low), high=math.exp(interval.high))
