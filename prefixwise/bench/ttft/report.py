"""The report of a cold-against-warm run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.bench.counters import counter_blocks, counter_notes
from prefixwise.bench.spread_of_times import ttft_histogram
from prefixwise.bench.ttft.inside import Inside
from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.pairing import cause
from prefixwise.bench.ttft.plan import Row
from prefixwise.bench.ttft.result import LengthResult, Slope, TtftResult
from prefixwise.bench.ttft.schedule import Arm
from prefixwise.bench.ttft.verdict import Verdict
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Column, Outcome, Report, Requirement, Series, Table, Text, Unit
from prefixwise.stats.interval import Interval

BENCH_TTFT = DocumentKind("prefixwise/bench-ttft", 1, "cold against warm time to first token, with verdict", TtftResult)

_UNDECIDED = (Verdict.INCONCLUSIVE, Verdict.CONTRADICTORY)


def ttft_report(found: TtftResult, rows: Sequence[Row], requirements: Sequence[Requirement] = ()) -> Report:
    """Return the report of a run.

    Args:
        found: What the rows come to.
        rows: The requests, for their spread.
        requirements: What was required of the run, and how that came out.
    """
    verdict = found.judged.verdict
    outcome = Outcome.INVALID if verdict is Verdict.INVALID else Outcome.DONE
    if verdict in _UNDECIDED:
        outcome = Outcome.INCONCLUSIVE
    return Report(
        schema=BENCH_TTFT.schema,
        schema_version=BENCH_TTFT.version,
        command="bench ttft",
        title=f"{verdict}{' (quick run)' if found.plan.quick else ''}: {found.plan.model} at {found.plan.target}",
        blocks=tuple(_blocks(found, rows)),
        values=found,
        notes=tuple(_notes(found)),
        requirements=tuple(requirements),
        seed=found.plan.seed,
        outcome=outcome,
    )


def _blocks(found: TtftResult, rows: Sequence[Row]) -> Iterator[Block]:
    yield Text(
        "verdict",
        (f"{found.judged.reason[0].upper()}{found.judged.reason[1:]}.", *_costs(found), *_inside(found.inside)),
    )
    yield _speedups(found.lengths)
    yield _beside(found.lengths)
    if len(found.lengths) > 1:
        yield _growth(found.lengths)
    told = found.reported and any(row.label in (Label.WARM_OK, Label.PARTIAL) for row in rows)
    longest = found.lengths[-1].length
    for arms, name in (((Arm.COLD, Arm.CONTROL), "cold"), ((Arm.WARM,), "warm")):
        times = [
            row.ttft
            for row in rows
            if row.length == longest and row.arm in arms and row.ttft and cause(row, reported=told) is None
        ]
        if len(times) > 1:
            yield ttft_histogram(name, f"{name.capitalize()} requests at {longest:,} tokens", times)
    if any(one.inside_cold or one.inside_warm for one in found.lengths):
        yield _places(found.lengths)
    yield _requests(found.lengths)
    yield from counter_blocks(found.counters)


def _costs(found: TtftResult) -> Iterator[str]:
    if found.computed is not None:
        line = f"A thousand tokens more take {_ms(found.computed)} where they are computed"
        yield f"{line}, and {_ms(found.cached)} where they come from the cache." if found.cached else f"{line}."
    if found.grows is not None:
        yield (
            "More is saved where more is cached." if found.grows else "What is saved does not grow with what is cached."
        )


def _ms(slope: Slope) -> str:
    between = f" [{_plain(slope.interval.low)}, {_plain(slope.interval.high)}]" if slope.interval else ""
    return f"{_plain(slope.ms_per_1000)} ms{between}"


def _plain(value: float) -> str:
    """Return a number with three digits that say something, and never with an exponent."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}" if abs(value) >= 0.01 else f"{value:.2f}"


def _inside(found: Inside | None) -> Iterator[str]:
    if found is None:
        return
    by = "its own clock" if found.source == "answers" else "the mean of its histogram"
    line = f"{found.share:.1%} of the time to first token passes inside the server, by {by}"
    means = f"{_plain(1000 * found.server_s)} of {_plain(1000 * found.ttft_s)} ms on average"
    rest = "" if found.outside_s is None else f", {_plain(1000 * found.outside_s)} ms of most requests,"
    yield f"{line} ({means}); the rest{rest} is HTTP, network and client."


def _places(lengths: Sequence[LengthResult]) -> Table:
    columns = (
        Column("length", "shared tokens", Unit.TOKENS),
        Column("arm", "sent as"),
        Column("requests", "requests", Unit.COUNT),
        Column("ttft", "mean TTFT", Unit.SECONDS),
        Column("server", "in the server", Unit.SECONDS),
        Column("share", "share", Unit.RATE),
        Column("outside", "outside (median)", Unit.SECONDS),
    )
    rows = tuple(
        (one.length, arm, found.requests, found.ttft_s, found.server_s, found.share, found.outside_s)
        for one in lengths
        for arm, found in (("cold", one.inside_cold), ("warm", one.inside_warm))
        if found is not None
    )
    return Table("inside", "How much of it is the server", columns, rows, "By the server's own clock, in its answers.")


def _speedups(lengths: Sequence[LengthResult]) -> Table:
    columns = (
        Column("length", "shared tokens", Unit.TOKENS),
        Column("pairs", "pairs", Unit.COUNT),
        Column("cold", "cold", Unit.SECONDS),
        Column("warm", "warm", Unit.SECONDS),
        Column("speedup", "speed-up"),
        Column("interval", "95 % interval"),
        Column("saved", "saved", Unit.SECONDS),
    )
    rows = []
    for one in lengths:
        made = one.estimate
        rows.append(
            (
                one.length,
                made.n if made else 0,
                one.cold.median,
                one.warm.median,
                f"{made.speedup:.2f}" if made else None,
                _between(made.interval) if made else None,
                made.saved_s if made else None,
            )
        )
    note = "Times are medians from the first byte sent to the first token; speed-ups are medians over pairs."
    return Table("speedups", "Cold against warm", columns, tuple(rows), note)


def _beside(lengths: Sequence[LengthResult]) -> Table:
    columns = (
        Column("length", "shared tokens", Unit.TOKENS),
        Column("share", "saved of cold", Unit.RATE),
        Column("centre", "by Hodges-Lehmann"),
        Column("noise", "noise", Unit.RATE),
        Column("verdict", "verdict"),
    )
    rows = tuple(
        (
            one.length,
            one.estimate.saved_percent / 100 if one.estimate else None,
            f"{one.estimate.centre:.2f} {_between(one.estimate.centre_interval) or ''}".rstrip()
            if one.estimate
            else None,
            one.noise,
            one.judged.verdict.value,
        )
        for one in lengths
    )
    return Table(
        "beside", "What stands beside it", columns, rows, "Noise is by how much cold requests differ from each other."
    )


def _between(interval: Interval | None) -> str | None:
    return None if interval is None else f"[{interval.low:.2f}, {interval.high:.2f}]"


def _growth(lengths: Sequence[LengthResult]) -> Series:
    lines = (
        (Column("cold", "cold", Unit.SECONDS), tuple(one.cold.median for one in lengths)),
        (Column("warm", "warm", Unit.SECONDS), tuple(one.warm.median for one in lengths)),
    )
    points = tuple(float(one.length) for one in lengths)
    return Series(
        "growth", "Time to first token by shared tokens", Column("length", "tokens", Unit.TOKENS), points, lines
    )


def _requests(lengths: Sequence[LengthResult]) -> Table:
    columns = (
        Column("length", "shared tokens", Unit.TOKENS),
        Column("arm", "sent as"),
        Column("label", "turned out"),
        Column("requests", "requests", Unit.COUNT),
    )
    rows = tuple(
        (one.length, arm, label, number)
        for one in lengths
        for arm, labels in one.labels.items()
        for label, number in labels.items()
    )
    return Table("requests", "What the requests were", columns, rows, "By the cached tokens that the server counts.")


def _notes(found: TtftResult) -> Iterator[str]:
    yield from counter_notes(found.counters)
    if not found.reported:
        yield "the server does not count cached tokens: that cold was cold and warm was warm is not verified"
    if not found.counted:
        yield "the server does not count prompt tokens: lengths are words, and what is around them is not known"
    if found.plan.adaptive:
        yield "the run could stop at several looks: intervals are wider, so that all looks together err in 5 % of runs"
    if len(found.lengths) == 1 and not found.plan.request:
        yield "one length is a demonstration: run three to see whether more is saved where more is cached"
    left = {
        why: sum(one.left_out.get(why, 0) for one in found.lengths) for one in found.lengths for why in one.left_out
    }
    if left:
        said = "; ".join(f"{number} ({why})" for why, number in sorted(left.items()))
        yield f"requests left out: {said}"
    for one in found.lengths:
        if one.estimate is not None and one.estimate.apart:
            stand = "1 pair stands" if one.estimate.apart == 1 else f"{one.estimate.apart} pairs stand"
            without = f"left in; without, the speed-up would be {one.estimate.without:.2f}"
            yield f"at {one.length:,} tokens {stand} apart from the rest: {without}"
