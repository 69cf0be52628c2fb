"""The report of a replay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median

from prefixwise.bench.counters import counter_blocks, counter_notes
from prefixwise.bench.replay.plan import ReplayRow
from prefixwise.bench.replay.result import ReplayResult
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Column, Outcome, Report, Requirement, Series, Table, Text, Unit

BENCH_REPLAY = DocumentKind("prefixwise/bench-replay", 1, "a log sent again: hit rate, times, goodput", ReplayResult)

_FIGURES = {
    "ttft": "TTFT from sending",
    "ttft_from_schedule": "TTFT from when it was due",
    "tpot": "seconds a token",
    "total": "whole answer",
}
_BINS = 40


def replay_report(found: ReplayResult, rows: Sequence[ReplayRow], requirements: Sequence[Requirement] = ()) -> Report:
    """Return the report of a replay.

    Args:
        found: What the rows come to.
        rows: The requests, for how they went over time.
        requirements: What was required of it, and how that came out.
    """
    rate = "hit rate not counted" if found.hit_rate is None else f"hit rate {100 * found.hit_rate:.1f} %"
    return Report(
        schema=BENCH_REPLAY.schema,
        schema_version=BENCH_REPLAY.version,
        command="bench replay",
        title=f"{rate}: {found.complete:,} of {found.sent:,} requests answered by {found.plan.target}",
        blocks=tuple(_blocks(found, rows)),
        values=found,
        notes=tuple(_notes(found)),
        requirements=tuple(requirements),
        seed=found.plan.seed,
        outcome=Outcome.DONE if found.complete else Outcome.INVALID,
    )


def _blocks(found: ReplayResult, rows: Sequence[ReplayRow]) -> Iterator[Block]:
    yield Text("load", tuple(_lines(found)))
    yield _rates(found)
    yield _times(found)
    if found.goodput:
        yield _goodput(found)
    if found.failed:
        columns = (Column("why", "why"), Column("requests", "requests", Unit.COUNT))
        yield Table("failed", "Without a complete answer", columns, tuple(found.failed.items()))
    yield from counter_blocks(found.counters)
    if len(rows) > 1:
        yield _timeline(rows)


def _lines(found: ReplayResult) -> Iterator[str]:
    yield f"Load: {found.load}."
    if found.intended is not None and found.achieved is not None and not found.plan.concurrency:
        yield f"{found.achieved:.3g} requests a second were sent, {found.intended:.3g} were due."
    if found.late_median is not None and not found.plan.concurrency:
        slow = "" if found.late_p99 is None else f", the slowest hundredth by {1000 * found.late_p99:.3g} ms or more"
        yield f"Requests went out {1000 * found.late_median:.3g} ms late in the median{slow}."
    if found.steady is not None:
        steady = found.steady
        time = "" if steady.ttft is None else f", with a median TTFT of {1000 * steady.ttft:.3g} ms"
        yield f"At full load from {steady.start:.3g} to {steady.end:.3g} s: {steady.requests:,} requests{time}."


def _rates(found: ReplayResult) -> Table:
    columns = (Column("rule", "hit rate"), Column("hit_rate", "cached / prompt tokens", Unit.RATE))
    rows = (
        ("counted by the server", found.hit_rate),
        *((f"expected under {one.rule}", one.hit_rate) for one in found.expected),
    )
    note = "Expected of the same requests in the order of the input, answers left aside."
    return Table("hit_rates", "Hit rates", columns, rows, note if found.expected else "")


def _times(found: ReplayResult) -> Table:
    columns = (
        Column("figure", "time"),
        Column("n", "requests", Unit.COUNT),
        Column("median", "median", Unit.SECONDS),
        Column("p90", "p90", Unit.SECONDS),
        Column("p95", "p95", Unit.SECONDS),
        Column("p99", "p99", Unit.SECONDS),
        Column("p99_failing", "p99, failed as endless", Unit.SECONDS),
    )
    rows = tuple(
        (_FIGURES[one.name], one.n, *(quantile.value for quantile in one.quantiles), one.at(0.99).with_failures)
        for one in found.times
    )
    note = "A p90 takes 29 requests, a p99 299. Quantiles are Hyndman and Fan's seventh, endless ones by nearest rank."
    return Table("times", "Times", columns, rows, note)


def _goodput(found: ReplayResult) -> Table:
    columns = (
        Column("slo", "service levels"),
        Column("share", "met by", Unit.RATE),
        Column("low", "from", Unit.RATE),
        Column("high", "to", Unit.RATE),
        Column("per_second", "good requests a second"),
    )
    rows = tuple(
        (
            " and ".join(f"{figure} <= {seconds:g} s" for figure, seconds in one.slo),
            one.share,
            one.interval.low,
            one.interval.high,
            None if one.per_second is None else round(one.per_second, 3),
        )
        for one in found.goodput
    )
    note = "Of all requests sent, timed from when they were due; the interval is Clopper and Pearson's, 95 %."
    return Table("goodput", "Goodput", columns, rows, note)


def _timeline(rows: Sequence[ReplayRow]) -> Series:
    """Return TTFT and hit rate over the time of the run, sittings one behind the other."""
    order = sorted(rows, key=lambda row: (row.part, row.at))
    size = max(1, -(-len(order) // _BINS))
    bins = [order[at : at + size] for at in range(0, len(order), size)]
    times: list[float | None] = []
    rates: list[float | None] = []
    for one in bins:
        known = [row.ttft for row in one if row.ok and row.ttft is not None]
        times.append(median(known) if known else None)
        counted = [row for row in one if row.ok and row.prompt and row.cached is not None]
        prompt = sum(row.prompt or 0 for row in counted)
        rates.append(sum(row.cached or 0 for row in counted) / prompt if prompt else None)
    lines = (
        (Column("ttft", "median TTFT", Unit.SECONDS), tuple(times)),
        (Column("hit_rate", "hit rate", Unit.RATE), tuple(rates)),
    )
    points = tuple(float(size * at) for at in range(len(bins)))
    return Series("timeline", "As the run went on", Column("request", "request", Unit.COUNT), points, lines)


def _notes(found: ReplayResult) -> Iterator[str]:
    for why, number in found.left_out.items():
        yield f"{number:,} requests could not be sent: {why}"
    if found.complete and found.counted < found.complete:
        missing = found.complete - found.counted
        yield f"{missing:,} answers count no cached tokens; they are left out of the hit rate: absent is not zero"
    if found.bound:
        yield "client-bound: this machine was too busy to send and to measure, so times and load are not the server's"
    if found.parts > 1:
        yield f"the run was interrupted and went on, {found.parts} sittings: rates and times behind a break may differ"
    yield from counter_notes(found.counters)
    if found.plan.cold is None:
        yield "nothing kept this run apart from what the cache held before"
