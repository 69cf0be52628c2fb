"""What the rows of a run come to: per length an estimate and a verdict, over lengths what a token costs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median

import msgspec

from prefixwise.bench.counters import CounterCheck
from prefixwise.bench.ttft.estimate import Estimate, Pair, controls_agree, estimate, noise_floor
from prefixwise.bench.ttft.inside import Inside, inside, inside_by_metrics
from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.looks import LOOKS
from prefixwise.bench.ttft.pairing import cause, control_pairs, pairs_of
from prefixwise.bench.ttft.plan import Plan, Row
from prefixwise.bench.ttft.schedule import Arm
from prefixwise.bench.ttft.verdict import Evidence, Judged, Verdict, count, judge
from prefixwise.stats.interval import CONFIDENCE, Interval
from prefixwise.stats.quantiles import quantile, quantile_floor
from prefixwise.stats.theil_sen import theil_sen


class Spread(msgspec.Struct, frozen=True):
    """Times to first token of one arm, in seconds; None where there are too few for a quantile to mean anything."""

    n: int
    median: float | None
    p90: float | None
    p99: float | None


class LengthResult(msgspec.Struct, frozen=True, kw_only=True):
    """What was seen at one length.

    Attributes:
        length: Tokens that cold and warm requests share.
        cold, warm: Their times.
        estimate: Of the pairs; None where there is none.
        noise: By how much two cold requests differ, as a share.
        labels: How many requests turned out to be what, by arm and label.
        left_out: How many requests were left out, by cause.
        judged: The verdict.
        inside_cold, inside_warm: How much of their times passes inside the server; None where it does not say.
        pairs: The times that the estimate rests on, so that two runs can be compared by their result files.
    """

    length: int
    cold: Spread
    warm: Spread
    estimate: Estimate | None
    noise: float | None
    labels: dict[str, dict[str, int]]
    left_out: dict[str, int]
    judged: Judged
    inside_cold: Inside | None = None
    inside_warm: Inside | None = None
    pairs: tuple[Pair, ...] = ()


class Slope(msgspec.Struct, frozen=True):
    """Milliseconds to first token for 1,000 tokens more, and the interval of it."""

    ms_per_1000: float
    interval: Interval | None


class TtftResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run.

    Attributes:
        plan: What was run.
        counted: Whether the server counts prompt tokens; `reported`: whether it counts cached ones.
        lengths: Shortest first.
        computed: What a token costs that is computed, by the cold requests of all lengths.
        cached: What a token costs that comes from the cache, by the warm ones.
        grows: Whether more is saved where more is cached; None with one length.
        judged: The verdict on the whole run.
        counters: The server's own counters around the last sitting, where they were read.
        inside: How much of all times to first token passes inside the server; None where that is not known.
    """

    plan: Plan
    counted: bool
    reported: bool
    lengths: tuple[LengthResult, ...]
    computed: Slope | None
    cached: Slope | None
    grows: bool | None
    judged: Judged
    counters: CounterCheck | None = None
    inside: Inside | None = None


def result(plan: Plan, rows: Sequence[Row], counters: CounterCheck | None = None) -> TtftResult:
    """Return what the rows of a run, finished or not, come to."""
    reported = any(row.label not in (Label.UNKNOWN, Label.FAILED) for row in rows)
    # Where the server counts no hit at all, its counts cannot tell right pairs from wrong ones: times are all there is.
    told = reported and any(row.label in (Label.WARM_OK, Label.PARTIAL) for row in rows)
    lengths = tuple(_length(plan, rows, length, told) for length in plan.lengths)
    saved = [one.estimate.saved_s for one in lengths if one.estimate is not None]
    counted = [row for row in rows if cause(row, reported=told) is None]
    return TtftResult(
        plan=plan,
        counted=any(row.prompt is not None for row in rows),
        reported=reported,
        lengths=lengths,
        computed=_slope([row for row in counted if row.arm is not Arm.WARM]),
        cached=_slope([row for row in counted if row.arm is Arm.WARM]),
        grows=None if len(saved) < 2 else all(b > a for a, b in pairwise(saved)),
        judged=_whole(lengths),
        counters=counters,
        inside=inside(counted) or inside_by_metrics(rows, counters),
    )


def _length(plan: Plan, rows: Sequence[Row], length: int, told: bool) -> LengthResult:
    own = [row for row in rows if row.length == length]
    pairs = pairs_of(own, length, reported=told)
    controls = control_pairs(own, length, reported=told)
    # A run that may stop at several looks pays for each of them with a wider interval.
    confidence = 1 - (1 - CONFIDENCE) / len(LOOKS) if plan.adaptive else CONFIDENCE
    found = estimate(pairs, confidence) if pairs else None
    by_arm = {arm: [row.label for row in own if row.arm is arm] for arm in Arm}
    noise = noise_floor(controls)
    evidence = Evidence(
        estimate=found,
        cold_labels=count(by_arm[Arm.COLD] + by_arm[Arm.CONTROL]),
        warm_labels=count(by_arm[Arm.WARM]),
        noise=noise,
        controls_agree=controls_agree(controls),
    )
    causes = Counter(one for row in own if (one := cause(row, reported=told)) is not None)
    used = [row for row in own if cause(row, reported=told) is None]
    cold, warm = ([row for row in used if (row.arm is Arm.WARM) is reads] for reads in (False, True))
    return LengthResult(
        length=length,
        cold=_spread(cold),
        warm=_spread(warm),
        estimate=found,
        noise=noise,
        labels={arm.value: {label.value: n for label, n in sorted(count(by_arm[arm]).items())} for arm in Arm},
        left_out={one.value: n for one, n in sorted(causes.items())},
        judged=judge(evidence),
        inside_cold=inside(cold),
        inside_warm=inside(warm),
        pairs=tuple(pairs),
    )


def _spread(rows: Sequence[Row]) -> Spread:
    times = [row.ttft for row in rows if row.ttft is not None]
    n = len(times)
    quantiles = [quantile(times, q) if n >= quantile_floor(q) else None for q in (0.9, 0.99)]
    return Spread(n, median(times) if times else None, *quantiles)


def _slope(rows: Sequence[Row]) -> Slope | None:
    """Return the slope of times over tokens; None with fewer than two lengths."""
    points = [(row.length, row.ttft) for row in rows if row.ttft is not None]
    if len({length for length, _ in points}) < 2:
        return None
    line = theil_sen([length / 1000 for length, _ in points], [1000 * ttft for _, ttft in points])
    return Slope(line.slope, line.interval)


def _whole(lengths: Sequence[LengthResult]) -> Judged:
    """Return the verdict on a run: that of the longest length, unless a shorter one is not valid."""
    invalid = next((one for one in lengths if one.judged.verdict is Verdict.INVALID), None)
    decisive = invalid or lengths[-1]
    return Judged(decisive.judged.verdict, f"at {decisive.length:,} tokens, {decisive.judged.reason}")
