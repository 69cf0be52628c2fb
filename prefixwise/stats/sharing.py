"""How much of one's own caching a foreign tenant gets: the ratio of two savings, and its limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, median, variance

import msgspec

from prefixwise.stats.binomial import clopper_pearson
from prefixwise.stats.interval import CONFIDENCE

_CERTAIN = 1e6
"""Stands for infinitely many standard errors, which documents cannot hold."""

LEAST_CONTROL = 4.0
"""Standard errors by which one's own reuse has to show before anything is said of others'."""


class Sharing(msgspec.Struct, frozen=True):
    """The share of foreign probes served from the cache.

    Attributes:
        ratio: Saving of the foreign tenant over one's own, about 0 where nothing is shared; None where one's own is 0.
        low, high: Its limits; None where one's own reuse does not show.
        control: Standard errors by which one's own reuse shows.
    """

    ratio: float | None
    low: float | None
    high: float | None
    control: float

    @property
    def shows(self) -> bool:
        """Whether one's own reuse shows, without which the ratio says nothing."""
        return self.control >= LEAST_CONTROL


def sharing(
    miss: Sequence[float], same: Sequence[float], cross: Sequence[float], confidence: float = CONFIDENCE
) -> Sharing:
    """Return the ratio (miss - cross) / (miss - same) of mean log times, cut off above at the median of `miss`.

    The limits are Fieller's; the upper one is at least Clopper and Pearson's for as many hits among the foreign probes
    as the ratio makes, since Fieller's alone is too low where hits are few. It needs two times or more of each kind.

    Args:
        miss: Times that no cache could shorten.
        same: Times of one's own prompt sent again: the positive control.
        cross: Times of a prompt that another tenant had sent before.
        confidence: Of the two limits together.

    Raises:
        ValueError: A kind has fewer than two times, or a time is not positive.
    """
    if min(len(miss), len(same), len(cross)) < 2:
        raise ValueError("each kind needs two times or more")
    if any(value <= 0 for value in (*miss, *same, *cross)):
        raise ValueError("a time is not positive")
    cap = math.log(median(miss))
    kinds = [[min(math.log(value), cap) for value in times] for times in (miss, same, cross)]
    base, own, other = (fmean(values) for values in kinds)
    error_base, error_own, error_other = (variance(values) / len(values) for values in kinds)
    saved, foreign = base - own, base - other
    own_error = math.sqrt(error_base + error_own)
    control = saved / own_error if own_error else math.copysign(_CERTAIN, saved) if saved else 0.0
    if control < LEAST_CONTROL:
        return Sharing(foreign / saved if saved else None, None, None, control)
    ratio = foreign / saved
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    low, high = _fieller(foreign, saved, error_base + error_other, error_base + error_own, error_base, z)
    hits = min(len(cross), math.ceil(len(cross) * max(ratio, 0.0)))
    return Sharing(ratio, low, max(high, clopper_pearson(hits, len(cross), confidence).high), control)


def _fieller(
    above: float, below: float, var_above: float, var_below: float, shared: float, z: float
) -> tuple[float, float]:
    """Return the limits of above / below: the ratios r for which above - r below is within z standard errors of 0.

    `shared` is the covariance of both; `below` has to be well away from zero.
    """
    a = below * below - z * z * var_below
    b = above * below - z * z * shared
    c = above * above - z * z * var_above
    root = math.sqrt(max(0.0, b * b - a * c))
    return (b - root) / a, (b + root) / a
