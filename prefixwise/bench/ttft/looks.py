"""When an adaptive run may stop: fixed looks that share the chance of error among them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.bench.ttft.estimate import Estimate, Pair, estimate
from prefixwise.stats.interval import CONFIDENCE

LOOKS = (10, 20, 30, 50, 80, 120)
"""Numbers of pairs after which a run is looked at."""

WIDTH = 0.05
"""Half-width of the interval, as a share of the speed-up, that is narrow enough."""


class Look(msgspec.Struct, frozen=True):
    """What a look saw: the estimate at the look's own confidence, and whether the run may stop."""

    estimate: Estimate
    enough: bool


def look(pairs: Sequence[Pair], looks: int = len(LOOKS), width: float = WIDTH) -> Look:
    """Look at the pairs so far; every one of `looks` looks gets an equal part of the chance to err (Bonferroni)."""
    found = estimate(pairs, 1 - (1 - CONFIDENCE) / looks)
    return Look(found, found.relative_width is not None and found.relative_width <= width)


def next_look(done: int) -> int | None:
    """Return the number of pairs of the next look, None behind the last."""
    return next((n for n in LOOKS if n > done), None)
