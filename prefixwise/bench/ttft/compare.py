"""Two cold-against-warm runs held against each other: did the cache come to save more, or less?

Whether it did is asked of the ratio of their speed-ups, in which whatever makes one machine or day slower than the
other cancels. Two runs of one set-up differed by up to 21.9 % where somebody looked, so a difference has to be larger
than that by which each run's own cold requests differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from enum import StrEnum
from statistics import median

import msgspec

from prefixwise.bench.ttft.estimate import Pair
from prefixwise.bench.ttft.plan import Plan
from prefixwise.bench.ttft.result import LengthResult, TtftResult
from prefixwise.bench.ttft.verdict import FEWEST, Verdict
from prefixwise.core.condition import Condition
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.errors import UserError
from prefixwise.core.report import Block, Column, Outcome, Report, Requirement, Table, Text, Unit
from prefixwise.stats.bootstrap import bootstrap_difference
from prefixwise.stats.interval import Interval

SEED = 1


class Change(StrEnum):
    """What became of a figure."""

    UP = "up"
    DOWN = "down"
    SAME = "no difference beyond noise"
    OPEN = "undecided"


class Ratio(msgspec.Struct, frozen=True):
    """New over old, and its interval by a bootstrap over items; None with too few of them."""

    value: float
    interval: Interval | None


class LengthChange(msgspec.Struct, frozen=True, kw_only=True):
    """What changed at one length.

    Attributes:
        length: Tokens that cold and warm requests share, in both runs.
        old, new: Speed-ups; `speedup`: their ratio.
        cold, warm: Ratios of median times. Unlike the speed-up, they hold whatever else differs between the runs.
        noise: By how much cold requests of one run differ, as a share: the larger of both runs; None if unknown.
        change: What became of the speed-up.
    """

    length: int
    old: float
    new: float
    speedup: Ratio
    cold: Ratio
    warm: Ratio
    noise: float | None
    change: Change


class TtftComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two runs. `lengths` are those that both have, shortest first; `differs` names what the plans differ in."""

    old: Plan
    new: Plan
    differs: tuple[str, ...]
    lengths: tuple[LengthChange, ...]
    invalid: tuple[str, ...]


COMPARE_TTFT = DocumentKind("prefixwise/compare-ttft", 1, "two bench ttft runs, as ratios", TtftComparison)

_FIGURES: dict[str, Callable[[LengthChange], Ratio]] = {
    "speedup_ratio": lambda one: one.speedup,
    "cold_ratio": lambda one: one.cold,
    "warm_ratio": lambda one: one.warm,
}
FIGURES = tuple(_FIGURES)
"""What can be required, of the longest prefix that both runs have."""

_APART = ("target", "protocol", "model", "suffix", "cold", "mode", "block", "version")


def compared_runs(old: TtftResult, new: TtftResult) -> TtftComparison:
    """Return what changed from one run to another.

    Raises:
        UserError: They have no length in common, or no pairs to compare.
    """
    before, after = ({one.length: one for one in run.lengths if one.pairs} for run in (old, new))
    both = sorted(before.keys() & after.keys())
    if not both:
        raise UserError("the two runs have no length with pairs in common", help="measure the same --lengths")
    invalid = [name for name, run in (("old", old), ("new", new)) if run.judged.verdict is Verdict.INVALID]
    return TtftComparison(
        old=old.plan,
        new=new.plan,
        differs=tuple(name for name in _APART if getattr(old.plan, name) != getattr(new.plan, name)),
        lengths=tuple(_changed(before[length], after[length]) for length in both),
        invalid=tuple(invalid),
    )


def _changed(old: LengthResult, new: LengthResult) -> LengthChange:
    speedup = _ratio(old.pairs, new.pairs, lambda pair: pair.log_ratio)
    noise = None if old.noise is None or new.noise is None else max(old.noise, new.noise)
    return LengthChange(
        length=old.length,
        old=math.exp(median(pair.log_ratio for pair in old.pairs)),
        new=math.exp(median(pair.log_ratio for pair in new.pairs)),
        speedup=speedup,
        cold=_ratio(old.pairs, new.pairs, lambda pair: math.log(pair.cold)),
        warm=_ratio(old.pairs, new.pairs, lambda pair: math.log(pair.warm)),
        noise=noise,
        change=change(speedup, noise),
    )


def _ratio(old: Sequence[Pair], new: Sequence[Pair], log: Callable[[Pair], float]) -> Ratio:
    """Return the ratio of the medians of a figure whose logarithm is given."""
    then, now = [log(pair) for pair in old], [log(pair) for pair in new]
    value = math.exp(median(now) - median(then))
    if min(len(then), len(now)) < FEWEST:
        return Ratio(value, None)
    made = bootstrap_difference(then, now, lambda a, b: median(b) - median(a), SEED)
    return Ratio(value, msgspec.structs.replace(made, low=math.exp(made.low), high=math.exp(made.high)))


def change(ratio: Ratio, noise: float | None) -> Change:
    """Return what became of a figure: a change has to be larger than noise, over the whole interval."""
    if ratio.interval is None or noise is None:
        return Change.OPEN
    low, high = ratio.interval.low, ratio.interval.high
    if low > 1 + noise:
        return Change.UP
    if high < 1 / (1 + noise):
        return Change.DOWN
    return Change.SAME if 1 / (1 + noise) <= low and high <= 1 + noise else Change.OPEN


def required(condition: Condition, found: TtftComparison) -> Requirement:
    """Return how a condition came out.

    It is met where the whole interval says so. It is not met where none of the interval does, not even when widened by
    the noise of the runs: a gate that fails for noise is soon switched off.
    """
    last = found.lengths[-1]
    ratio = _FIGURES[condition.figure](last)
    if ratio.interval is None:
        return Requirement(condition.expression, ratio.value, met=False, undecided=True)
    low, high = ratio.interval.low, ratio.interval.high
    met = all(condition.test(end, condition.wanted) for end in (low, high))
    wide = 1 + (last.noise or 0.0)
    fails = not any(condition.test(end, condition.wanted) for end in (low / wide, high * wide))
    return Requirement(condition.expression, ratio.value, met, low, high, undecided=not met and not fails)


def comparison_report(found: TtftComparison, conditions: Sequence[Condition] = ()) -> Report:
    """Return the report of two runs."""
    last = found.lengths[-1]
    outcome = Outcome.INCONCLUSIVE if last.change is Change.OPEN else Outcome.DONE
    return Report(
        schema=COMPARE_TTFT.schema,
        schema_version=COMPARE_TTFT.version,
        command="compare",
        title=f"Speed-up at {last.length:,} tokens: {last.old:.2f} then, {last.new:.2f} now, {last.change}",
        blocks=tuple(_blocks(found)),
        values=found,
        notes=tuple(_notes(found)),
        requirements=tuple(required(one, found) for one in conditions),
        outcome=Outcome.INVALID if found.invalid else outcome,
    )


def _blocks(found: TtftComparison) -> Iterator[Block]:
    last = found.lengths[-1]
    noise = "not known" if last.noise is None else f"{100 * last.noise:.1f} %"
    yield Text(
        "verdict", (f"At {last.length:,} tokens: {last.change}. Noise of the runs' own cold requests: {noise}.",)
    )
    columns = (
        Column("length", "shared tokens", Unit.TOKENS),
        Column("old", "speed-up then"),
        Column("new", "now"),
        Column("ratio", "ratio"),
        Column("interval", "95 % interval"),
        Column("noise", "noise", Unit.RATE),
        Column("cold", "cold, now / then"),
        Column("warm", "warm, now / then"),
        Column("change", "speed-up"),
    )
    rows = tuple(
        (
            one.length,
            f"{one.old:.2f}",
            f"{one.new:.2f}",
            f"{one.speedup.value:.3f}",
            _between(one.speedup.interval),
            one.noise,
            f"{one.cold.value:.3f} {_between(one.cold.interval) or ''}".rstrip(),
            f"{one.warm.value:.3f} {_between(one.warm.interval) or ''}".rstrip(),
            one.change.value,
        )
        for one in found.lengths
    )
    note = (
        "Intervals are percentiles of 10,000 draws of whole pairs. Times hold whatever else differs between the runs."
    )
    yield Table("ratios", "Now against then", columns, rows, note)


def _between(interval: Interval | None) -> str | None:
    return None if interval is None else f"[{interval.low:.3f}, {interval.high:.3f}]"


def _notes(found: TtftComparison) -> Iterator[str]:
    if found.differs:
        yield f"the two runs differ in {', '.join(found.differs)}: what changed may be due to that"
    for name in found.invalid:
        yield f"the {name} run is invalid itself"
    if any(one.noise is None for one in found.lengths):
        yield "the noise of a run is not known: measure with --controls 10"
