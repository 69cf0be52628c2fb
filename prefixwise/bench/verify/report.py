"""The report of a verification."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.bench.counters import counter_blocks, counter_notes
from prefixwise.bench.verify.result import Agreement, Compared, VerifyResult
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Column, Outcome, Report, Requirement, Table, Text, Unit

VERIFY = DocumentKind(
    "prefixwise/verify", 1, "predicted against reported cached tokens, request by request", VerifyResult
)

_SHOWN = 20
"""Requests that are off and shown to people; documents for programs have all requests."""


def verify_report(found: VerifyResult) -> Report:
    """Return the report: it fails where a request is off, and is inconclusive where answers say too little."""
    requirement = Requirement(
        f"|reported - predicted| <= {found.tolerance}",
        None if found.largest is None else float(found.largest),
        met=found.holds and found.compared > 0,
        undecided=not found.compared,
    )
    return Report(
        schema=VERIFY.schema,
        schema_version=VERIFY.version,
        command="verify",
        title=f"{found.equal:,} of {len(found.requests):,} requests as predicted under {found.rule}",
        blocks=tuple(_blocks(found)),
        values=found,
        notes=tuple(_notes(found)),
        requirements=(requirement,),
        outcome=Outcome.DONE if found.decided else Outcome.INCONCLUSIVE,
    )


def _blocks(found: VerifyResult) -> Iterator[Block]:
    yield Text("verdict", tuple(_lines(found)))
    columns = (
        Column("agreement", "cached tokens"),
        Column("requests", "requests", Unit.COUNT),
        Column("expected", "predicted", Unit.TOKENS),
        Column("cached", "reported", Unit.TOKENS),
    )
    yield Table("agreement", "Agreement", columns, tuple(_totals(found)))
    off = [one for one in found.requests if one.agreement in (Agreement.MORE, Agreement.LESS)]
    if off:
        yield _differences(off)
    yield from counter_blocks(found.counters)


def _lines(found: VerifyResult) -> Iterator[str]:
    yield f"{found.model} at {found.target}; tokens counted by {found.counted_by} ({found.exactness})."
    if found.first is not None:
        one = found.requests[found.first]
        yield (
            f"The first request that is off is {one.record}, number {found.first + 1:,} of those sent: "
            f"{one.cached:,} cached tokens are reported and {one.expected:,} predicted, of {one.expected_prompt:,}."
        )


def _totals(found: VerifyResult) -> Iterator[tuple[str, int, int | None, int | None]]:
    for how in Agreement:
        own = [one for one in found.requests if one.agreement is how]
        if own:
            expected = [one.expected for one in own if one.expected is not None]
            cached = [one.cached for one in own if one.cached is not None]
            yield how.value, len(own), sum(expected) if expected else None, sum(cached) if cached else None


def _differences(off: list[Compared]) -> Table:
    columns = (
        Column("record", "request"),
        Column("prompt", "prompt", Unit.TOKENS),
        Column("expected_prompt", "by our count", Unit.TOKENS),
        Column("expected", "predicted", Unit.TOKENS),
        Column("cached", "reported", Unit.TOKENS),
    )
    rows = tuple((one.record, one.prompt, one.expected_prompt, one.expected, one.cached) for one in off[:_SHOWN])
    note = f"The first {_SHOWN} of {len(off):,}." if len(off) > _SHOWN else ""
    return Table("differences", "Requests that are off", columns, rows, note)


def _notes(found: VerifyResult) -> Iterator[str]:
    for why, number in found.left_out.items():
        yield f"{number:,} requests could not be sent: {why}"
    silent = found.counts.get(Agreement.ABSENT, 0)
    if silent:
        yield f"{silent:,} answers count no cached tokens: absent is not zero, nothing is known of them"
    failed = found.counts.get(Agreement.FAILED, 0)
    if failed:
        why = next(one.error for one in found.requests if one.agreement is Agreement.FAILED)
        yield f"{failed:,} requests were not answered ({why}); whether the cache holds them nobody knows"
    uncounted = found.counts.get(Agreement.UNCOUNTED, 0)
    if uncounted:
        yield f"the tokens of {uncounted:,} requests cannot be counted"
    if found.lengths_differ:
        yield (
            f"the server counts {found.lengths_differ:,} prompts as of another length than we do: "
            "name its tokenizer and chat template"
        )
    yield from counter_notes(found.counters)
