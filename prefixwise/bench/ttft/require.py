"""`--require "speedup>=2"`: a condition on a figure that has an interval."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from prefixwise.bench.ttft.estimate import Estimate
from prefixwise.bench.ttft.result import TtftResult
from prefixwise.core.condition import Condition
from prefixwise.core.report import Requirement
from prefixwise.stats.interval import Interval


class _Figure(NamedTuple):
    value: Callable[[Estimate], float]
    interval: Callable[[Estimate], Interval | None]


_FIGURES = {
    "speedup": _Figure(lambda made: made.speedup, lambda made: made.interval),
    "saved_ms": _Figure(lambda made: 1000 * made.saved_s, lambda made: _in_ms(made.saved_interval)),
}
FIGURES = tuple(_FIGURES)
"""What can be required; both are those of the longest prefix."""


def required(condition: Condition, found: TtftResult) -> Requirement:
    """Return how a condition came out: met or not met where the whole interval says so, else undecided."""
    made = found.lengths[-1].estimate
    if made is None:
        return Requirement(condition.expression, None, met=False, undecided=True)
    figure = _FIGURES[condition.figure]
    value, interval = figure.value(made), figure.interval(made)
    if interval is None:
        return Requirement(condition.expression, value, met=False, undecided=True)
    holds = {condition.test(end, condition.wanted) for end in (interval.low, interval.high)}
    met = holds == {True}
    low, high = interval.low, interval.high
    return Requirement(condition.expression, value, met, low, high, undecided=len(holds) > 1)


def _in_ms(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return Interval(1000 * interval.low, 1000 * interval.high, interval.confidence, interval.coverage, interval.method)
