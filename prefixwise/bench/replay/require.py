"""`--require "goodput>=0.95"`: conditions on a replay."""

from __future__ import annotations

from collections.abc import Callable

from prefixwise.bench.replay.result import ReplayResult
from prefixwise.core.condition import Condition
from prefixwise.core.report import Requirement
from prefixwise.stats.interval import Interval

_Found = tuple[float | None, Interval | None]

_FIGURES: dict[str, Callable[[ReplayResult], _Found]] = {
    "hit_rate": lambda found: (found.hit_rate, None),
    "goodput": lambda found: (found.goodput[0].share, found.goodput[0].interval) if found.goodput else (None, None),
    "success": lambda found: (found.success, None),
}
FIGURES = tuple(_FIGURES)
"""What can be required. Goodput has an interval, all of which has to say so; the others are counts of this run."""


def required(condition: Condition, found: ReplayResult) -> Requirement:
    """Return how a condition came out: met or not met where the whole interval says so, else undecided."""
    value, interval = _FIGURES[condition.figure](found)
    if value is None:
        return Requirement(condition.expression, None, met=False, undecided=True)
    if interval is None:
        return Requirement(condition.expression, value, condition.test(value, condition.wanted))
    holds = {condition.test(end, condition.wanted) for end in (interval.low, interval.high)}
    return Requirement(
        condition.expression, value, holds == {True}, interval.low, interval.high, undecided=len(holds) > 1
    )
