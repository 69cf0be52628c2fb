"""The report of a run of probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.bench.probe.finding import Finding, Verdict
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.probe.probe import PROBES
from prefixwise.bench.probe.survey import Survey
from prefixwise.core.condition import Condition
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Column, Outcome, Report, Requirement, Series, Table, Text, Unit


class ProbeResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run.

    Attributes:
        plan: What was run.
        survey: What is known of the endpoint's counts, on which the rest stands.
        findings: In the order in which they were made.
    """

    plan: Plan
    survey: Survey
    findings: tuple[Finding, ...]


BENCH_PROBE = DocumentKind("prefixwise/bench-probe", 1, "the rules of a cache, found out from outside", ProbeResult)


def figures() -> tuple[str, ...]:
    """Return what can be required."""
    return tuple(probe.figure for probe in PROBES)


def required(condition: Condition, findings: Sequence[Finding]) -> Requirement:
    """Return how a condition on a finding came out: met or not where its whole bracket says so, else undecided."""
    by_figure = {PROBES.get(one.probe).figure: one for one in findings}
    found = by_figure.get(condition.figure)
    if found is None or found.verdict in (Verdict.INCONCLUSIVE, Verdict.ABSENT) or found.value is None:
        return Requirement(condition.expression, None, met=False, undecided=True)
    low = found.value if found.low is None else found.low
    high = found.value if found.high is None else found.high
    holds = {condition.test(end, condition.wanted) for end in (low, found.value, high)}
    open_end = found.low is None or found.high is None
    undecided = len(holds) > 1 or (open_end and holds == {False})
    return Requirement(condition.expression, found.value, holds == {True}, found.low, found.high, undecided=undecided)


def probe_report(
    plan: Plan, survey: Survey, findings: Sequence[Finding], rows: Sequence[Row], required: Sequence[Requirement] = ()
) -> Report:
    """Return the report of a run; it is inconclusive where one of its probes is."""
    unsure = [one for one in findings if one.verdict is Verdict.INCONCLUSIVE]
    known = len(findings) - len(unsure)
    return Report(
        schema=BENCH_PROBE.schema,
        schema_version=BENCH_PROBE.version,
        command="bench probe",
        title=f"{known} of {len(findings)} probes conclusive: {plan.model} at {plan.target}",
        blocks=tuple(_blocks(findings, rows)),
        values=ProbeResult(plan=plan, survey=survey, findings=tuple(findings)),
        notes=tuple(_notes(findings)),
        requirements=tuple(required),
        seed=plan.seed,
        outcome=Outcome.INCONCLUSIVE if unsure else Outcome.DONE,
    )


def _blocks(findings: Sequence[Finding], rows: Sequence[Row]) -> Iterator[Block]:
    yield Text("said", tuple(f"{PROBES.get(one.probe).title}: {one.said}." for one in findings))
    columns = (
        Column("probe", "probe"),
        Column("value", "value"),
        Column("bracket", "bracket"),
        Column("documented", "documented"),
        Column("by", "by"),
        Column("requests", "requests", Unit.COUNT),
        Column("verdict", "verdict"),
    )
    cells = tuple(
        (
            one.probe,
            _value(one),
            _bracket(one),
            one.documented or None,
            one.by.value or None,
            one.requests,
            one.verdict.value,
        )
        for one in findings
    )
    yield Table("findings", "What was found", columns, cells)
    stairs = sorted(
        (row.shared, row.cached)
        for row in rows
        if row.unit.startswith("block-size/") and row.role is Role.READ and row.cached is not None
    )
    if len(stairs) > 1:
        points = tuple(float(shared) for shared, _ in stairs)
        line = (Column("cached", "cached", Unit.TOKENS), tuple(float(cached) for _, cached in stairs))
        x = Column("shared", "shared", Unit.TOKENS)
        yield Series("stairs", "Cached tokens by shared tokens", x, points, (line,))


def _value(one: Finding) -> str | None:
    if one.value is None or not one.unit:
        return None
    if one.unit == "seconds":
        return _number(one.value, one.unit)
    return f"{_number(one.value, one.unit)} {one.unit.removesuffix('s') if one.value == 1 else one.unit}"


def _number(value: float, unit: str) -> str:
    if unit == "seconds":
        return f"{value:.3g} s" if value >= 1 else f"{1000 * value:.3g} ms"
    return f"{value:,.0f}" if value == int(value) else f"{value:.3g}"


def _bracket(one: Finding) -> str | None:
    if one.low is None and one.high is None:
        return None
    low, high = ("…" if end is None else _number(end, one.unit) for end in (one.low, one.high))
    return low if low == high else f"{low} to {high}"


def _notes(findings: Sequence[Finding]) -> Iterator[str]:
    for one in findings:
        for assumed in one.assumed:
            yield f"{one.probe} takes for granted: {assumed}"
