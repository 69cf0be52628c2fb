"""The report of a linted log."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.diagnoses_report import diagnoses_blocks
from prefixwise.analyzers.lint.document import LINT
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.log_notes import log_notes
from prefixwise.core.finding import Finding, Level
from prefixwise.core.report import Block, Column, Findings, Report, Table, Text, Unit


def lint_report(linted: Linted, fail_on: Level | None = Level.ERROR) -> Report:
    """Return the report: what was found, the costliest first, and what it cost in all."""
    found = linted.values.findings
    return Report(
        schema=LINT.schema,
        schema_version=LINT.version,
        command="lint",
        title=_title(linted),
        blocks=tuple(_blocks(linted)),
        values=linted.values,
        inputs=linted.log.corpus.inputs,
        notes=tuple(log_notes(linted.log.corpus)),
        flat=True,
        fail_on=fail_on if found else None,
    )


def _title(linted: Linted) -> str:
    requests = len(linted.log.rows)
    levels = linted.values.summary.by_level
    said = [f"{levels[level]} {level}{'s' if levels[level] != 1 else ''}" for level in ("error", "warning")]
    counted = " and ".join(said) if any(levels[level] for level in ("error", "warning")) else "nothing unstable"
    return f"{counted} in {requests:,} request{'s' if requests != 1 else ''}"


def _blocks(linted: Linted) -> Iterator[Block]:
    found = linted.values.findings
    if len(found) > 1:
        yield _causes(found)
    if found:
        yield Findings("findings", "Findings", found)
    else:
        yield Text("summary", (_nothing(linted),))
    yield from diagnoses_blocks(linted)


def _nothing(linted: Linted) -> str:
    pairs = len(linted.pairs)
    if not pairs:
        return "No request continues or resembles another one, so there was nothing to compare."
    return f"{pairs:,} pairs of requests were compared; nothing in them is unstable."


def _causes(found: tuple[Finding, ...]) -> Table:
    columns = (
        Column("rule", "rule"),
        Column("level", "level"),
        Column("where", "where"),
        Column("places", "places", Unit.COUNT),
        Column("tokens_lost", "tokens lost", Unit.TOKENS),
        Column("usd_lost", "cost", Unit.USD),
    )
    rows = tuple(
        (f.rule, f.level, f.where, len(f.occurrences), f.tokens_lost.value if f.tokens_lost else None, f.usd_lost)
        for f in found
    )
    return Table("causes", "Causes", columns, rows)
