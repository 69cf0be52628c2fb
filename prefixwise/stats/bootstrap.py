"""The bootstrap over whole items, for figures that have no interval of their own."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

from prefixwise.stats.interval import CONFIDENCE, Interval
from prefixwise.stats.quantiles import quantile

Item = TypeVar("Item")
RESAMPLES = 10_000


def bootstrap(
    items: Sequence[Item],
    statistic: Callable[[Sequence[Item]], float],
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the percentile interval of `statistic` over items drawn with replacement.

    An item is what was sampled independently (all measurements of one prompt), never a single measurement: repeats of
    one item say little about others. The interval is approximate and tends to be short below some twenty items. The
    numbers come from the Mersenne Twister of the standard library: the same seed gives the same interval.

    Raises:
        ValueError: There is no item.
    """
    return bootstrap_difference((), items, lambda _, drawn: statistic(drawn), seed, resamples, confidence)


def bootstrap_difference(
    old: Sequence[Item],
    new: Sequence[Item],
    statistic: Callable[[Sequence[Item], Sequence[Item]], float],
    seed: int,
    resamples: int = RESAMPLES,
    confidence: float = CONFIDENCE,
) -> Interval:
    """Return the percentile interval of a figure of two samples, each drawn for itself. Raises as `bootstrap`."""
    if not new:
        raise ValueError("no item to draw from")
    rng = random.Random(seed)  # noqa: S311 - not for secrets
    values = [
        statistic(rng.choices(old, k=len(old)) if old else old, rng.choices(new, k=len(new))) for _ in range(resamples)
    ]
    tail = (1 - confidence) / 2
    return Interval(quantile(values, tail), quantile(values, 1 - tail), confidence, None, "cluster bootstrap")
