"""The report of a load run."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from prefixwise.bench.load.plan import Plan, Row
from prefixwise.bench.load.result import LoadResult, Quantile, Share
from prefixwise.bench.spread_of_times import ttft_histogram
from prefixwise.core.condition import Condition
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Cell, Column, Outcome, Report, Requirement, Table, Text, Unit

BENCH_LOAD = DocumentKind("prefixwise/bench-load", 1, "times, rates and hit rate of a load", LoadResult)

_TIMES = {
    "ttft": "TTFT from sending",
    "ttft_from_schedule": "TTFT from schedule",
    "ttft_first_of_group": "TTFT, first of a prefix",
    "ttft_later_of_group": "TTFT, later of a prefix",
    "tpot": "TPOT",
    "total": "whole answer",
}
_PLAIN = ("hit_rate", "answered_per_s", "output_per_s")
_SHARES = ("success", "goodput")
_QUANTILES = {
    f"{name}_p{round(100 * q)}_ms": (name, q)
    for name in ("ttft", "ttft_from_schedule", "tpot", "total")
    for q in (0.5, 0.9, 0.95, 0.99)
}
FIGURES = (*_SHARES, *_PLAIN, *_QUANTILES)
"""What can be required."""


def required(condition: Condition, found: LoadResult) -> Requirement:
    """Return how a condition came out; a figure with an interval decides only where all of that says the same."""
    name = condition.figure
    if name in _PLAIN:
        return condition.check({name: getattr(found, name)})
    if name in _SHARES:
        share = found.success if name == "success" else found.good
        if share is None:
            return Requirement(condition.expression, None, met=False, undecided=True)
        return _decided(condition, share.share, share.interval.low, share.interval.high)
    times, q = _QUANTILES[name]
    own = next((one.at(q) for one in found.times if one.name == times), None)
    if own is None or own.value is None or own.interval is None:
        value = None if own is None or own.value is None else 1000 * own.value
        return Requirement(condition.expression, value, met=False, undecided=True)
    return _decided(condition, 1000 * own.value, 1000 * own.interval.low, 1000 * own.interval.high)


def _decided(condition: Condition, value: float, low: float, high: float) -> Requirement:
    holds = {condition.test(end, condition.wanted) for end in (low, high)}
    return Requirement(condition.expression, value, holds == {True}, low, high, undecided=len(holds) > 1)


def load_report(found: LoadResult, rows: Sequence[Row], requirements: Sequence[Requirement] = ()) -> Report:
    """Return the report of a run; it is inconclusive where the client was the limit, invalid without an answer."""
    answered = found.success.number
    outcome = Outcome.INCONCLUSIVE if found.bound else Outcome.DONE
    return Report(
        schema=BENCH_LOAD.schema,
        schema_version=BENCH_LOAD.version,
        command="bench load",
        title=f"{'client-bound: ' * found.bound}{_shape(found.plan)}: {found.plan.model} at {found.plan.target}",
        blocks=tuple(_blocks(found, rows)),
        values=found,
        notes=tuple(_notes(found)),
        requirements=tuple(requirements),
        seed=found.plan.seed,
        outcome=outcome if answered else Outcome.INVALID,
    )


def _shape(plan: Plan) -> str:
    if plan.concurrency:
        return f"{plan.concurrency} at a time"
    return f"{plan.rate:g} a second, Poisson"


def _blocks(found: LoadResult, rows: Sequence[Row]) -> Iterator[Block]:
    plan = found.plan
    design = f"{plan.groups} prefixes of {plan.prefix:,} tokens, {plan.each} requests each"
    yield Text("load", (f"{design}, {plan.suffix:,} tokens behind it, {plan.output:,} of answer; {_shape(plan)}.",))
    yield Table("rates", "What was served", (Column("figure", "figure"), Column("value", "value")), _rates(found))
    columns = (
        Column("time", "time"),
        Column("n", "requests", Unit.COUNT),
        *(Column(f"p{round(100 * one.q)}", f"p{round(100 * one.q)}") for one in found.times[0].quantiles),
    )
    cells: tuple[tuple[Cell, ...], ...] = tuple(
        (_TIMES[one.name], one.n, *(_cell(quantile) for quantile in one.quantiles)) for one in found.times
    )
    note = "In ms, with 95 % intervals by order statistics. Failed requests have no times: look at the success rate."
    yield Table("times", "Times", columns, cells, note)
    for first, name in ((True, "first"), (False, "later")):
        seen = [row.ttft for row in rows if row.ok and row.ttft is not None and row.first is first]
        if len(seen) > 1:
            yield ttft_histogram(name, f"{name.capitalize()} requests of a prefix", seen)


def _rates(found: LoadResult) -> tuple[tuple[Cell, ...], ...]:
    rows: list[tuple[str, str | None]] = [
        ("answered", f"{found.success.number} of {found.success.of}, {_percent(found.success)}"),
        ("requests a second", f"{found.answered_per_s:.3g}"),
        ("output tokens a second", _number(found.output_per_s)),
        ("prompt tokens a second", _number(found.prompt_per_s)),
        ("hit rate, as counted", _rate(found.hit_rate)),
        ("hit rate, at most", _rate(found.possible)),
    ]
    if found.due_per_s is not None:
        rows.append(("sent a second", f"{found.sent_per_s:.3g} of {found.due_per_s:.3g} that were due"))
    if found.good is not None:
        limits = ", ".join(f"{name} {1000 * limit:g} ms" for name, limit in found.plan.slo)
        per_second = f"{found.good.number / found.seconds:.3g} a second"
        rows.append((f"goodput ({limits})", f"{_percent(found.good)} of all sent, {per_second}"))
    if (steady := found.steady) is not None:
        ttft = "" if steady.ttft is None else f", median TTFT {1000 * steady.ttft:.3g} ms"
        said = f"{steady.per_second:.3g} requests a second over {steady.seconds:.3g} s{ttft}"
        rows.append(("steady state", said))
    return tuple((name, value) for name, value in rows)


def _number(value: float | None) -> str | None:
    return None if value is None else f"{value:,.0f}"


def _rate(value: float | None) -> str | None:
    return None if value is None else f"{value:.1%}"


def _percent(share: Share) -> str:
    return f"{share.share:.1%} [{share.interval.low:.1%}, {share.interval.high:.1%}]"


def _cell(one: Quantile) -> str:
    if one.value is None:
        return f"n/a, needs {one.needs}"
    between = ""
    if one.interval is not None:
        between = f" [{1000 * one.interval.low:.3g}, {1000 * one.interval.high:.3g}]"
    return f"{1000 * one.value:.3g}{between}"


def _notes(found: LoadResult) -> Iterator[str]:
    if found.plan.concurrency:
        yield (
            "closed loop: a slow answer puts off the requests behind it, so that times from sending leave out what "
            "users would have waited; --rate measures that"
        )
    late = f"in the slowest hundredth its loop was {1000 * found.late_p99:.2g} ms late"
    if not found.plan.concurrency:
        late += f", and requests were sent {1000 * found.waited_p99:.2g} ms after they were due"
    yield f"the client took {found.cpu:.0%} of a core; {late}"
    if found.bound:
        yield "the client itself was the limit: times are too long, and rates too low"
    if found.hit_rate is None:
        yield "the server does not count cached tokens in every answer: there is no hit rate"
    if found.held_back:
        yield "answers arrive all at once: something on the way holds them back, and TTFT is that of a whole answer"
    if found.parts > 1:
        yield f"the run was interrupted and went on {found.parts - 1} times: what was cached may have been gone"
    for error, number in found.errors.items():
        yield f"{number} failed: {error[:200]}"
    if found.success.of and found.success.number and not math.isclose(found.success.share, 1.0):
        yield "a server that refuses looks fast: compare runs of the same success rate only"
