"""How the times of an audit are spread: what share of each arm's probes was answered by when, and how many when."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from prefixwise.bench.audit.recording import Arm, Recording, usable
from prefixwise.bench.audit.result import AuditResult, Comparison
from prefixwise.bench.audit.timing import seconds
from prefixwise.core.report import Block, Column, Histogram, Series, Unit
from prefixwise.stats.quantiles import quantile

_POINTS = 25
_BINS = 16
_SHOWN = 6
"""Comparisons whose times are drawn."""

_END = 0.97
"""Quantile at which a drawing ends: what is slower says nothing of caches and takes all the room."""

_TITLES = {Arm.MISS: "control", Arm.SAME: "own", Arm.CROSS: "foreign"}


def distributions(recordings: Sequence[Recording], found: AuditResult) -> Iterator[Block]:
    """Yield curves and histograms of the best clock of each comparison, leaks first where there are many."""
    both = list(zip(recordings, found.comparisons, strict=True))
    both.sort(key=lambda pair: pair[1].judged.verdict != "LEAK")
    for number, (recording, comparison) in enumerate(both[:_SHOWN], 1):
        yield from _drawn(recording, comparison, number)


def _drawn(recording: Recording, comparison: Comparison, number: int) -> Iterator[Block]:
    best = comparison.timing.best if comparison.timing is not None else None
    if best is None:
        return
    clock = recording.clocks.index(best.name)
    arms = {arm: sorted(seconds([one for one in usable(recording.probes) if one.arm is arm], clock)) for arm in Arm}
    arms = {arm: times for arm, times in arms.items() if times}
    every = sorted(time for times in arms.values() for time in times)
    low, high = every[0], max(quantile(every, _END), every[0] * 1.001)
    where = f"{recording.name}, by the {best.name}'s clock"
    points = tuple(low + (high - low) * at / (_POINTS - 1) for at in range(_POINTS))
    lines = tuple(
        (Column(arm.value, _TITLES[arm], Unit.RATE), tuple(bisect_right(times, point) / len(times) for point in points))
        for arm, times in arms.items()
    )
    note = "The share of probes that were answered by then. Foreign probes belong on the line of the controls."
    yield Series(
        f"answered-{number}", f"Answered by: {where}", Column("time", "time", Unit.SECONDS), points, lines, note
    )
    for arm, times in arms.items():
        yield _histogram(arm, times, low, high, number, where)


def _histogram(arm: Arm, times: Sequence[float], low: float, high: float, number: int, where: str) -> Histogram:
    width = (high - low) / _BINS
    edges = tuple(low + width * at for at in range(_BINS + 1))
    counts = [0] * _BINS
    beyond = 0
    for time in times:
        if time > high:
            beyond += 1
        else:
            counts[min(_BINS - 1, int((time - low) / width))] += 1
    title = f"{_TITLES[arm].capitalize()} probes: {where}"
    note = f"{beyond} were slower." if beyond else ""
    return Histogram(f"{arm.value}-{number}", title, Column("time", "time", Unit.SECONDS), edges, tuple(counts), note)
