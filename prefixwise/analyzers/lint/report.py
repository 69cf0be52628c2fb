"""The report of linted logs and sources."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from prefixwise.analyzers.lint.diagnoses_report import diagnoses_blocks
from prefixwise.analyzers.lint.document import LINT, LintValues, lint_summary
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.log_notes import log_notes
from prefixwise.core.finding import Finding, Level, Mode
from prefixwise.core.report import Block, Cell, Column, Findings, Report, Table, Text, Unit
from prefixwise.core.suppression import Suppression, SuppressionKind


class Written(msgspec.Struct, frozen=True, kw_only=True):
    """What was written to a baseline.

    Attributes:
        path: The file.
        findings: How many it holds now; `new`: those it did not know before, `gone`: those it knew and are not there.
        first: Whether there was no such file before.
        asked_for: Whether later runs take it without being told.
    """

    path: str
    findings: int
    new: int
    gone: int
    first: bool
    asked_for: bool


class Judged(msgspec.Struct, frozen=True):
    """What is said of the findings.

    Attributes:
        findings: Those that are told, in the order in which they are to be read.
        suppressed: Those that somebody knows of; `suppressions`: why, of each.
        notes: What else is to be said of what is not told.
        whole: Whether all is told that was found.
        written: What was written to a baseline, if that was asked for.
    """

    findings: tuple[Finding, ...]
    suppressed: tuple[Finding, ...] = ()
    suppressions: tuple[Suppression, ...] = ()
    notes: tuple[str, ...] = ()
    whole: bool = True
    written: Written | None = None


if TYPE_CHECKING:
    from prefixwise.analyzers.static.lint import LintedSources


def lint_report(
    logs: Linted | None,
    sources: LintedSources | None = None,
    judged: Judged | None = None,
    fail_on: Level | None = Level.ERROR,
    fail_on_in: Mapping[str, Level | None] | None = None,
    *,
    statistics: bool = False,
) -> Report:
    """Return the report: what was found, the costliest first, and what it cost in all.

    Args:
        logs: What came of the logs, None where none was given.
        sources: What came of prompt files and code, None where none was given.
        judged: What is said of their findings; all are told by default.
        fail_on: The mildest level of a finding that makes the command fail; None for never.
        fail_on_in: The same of files, by path, that have another one.
        statistics: Whether findings are counted by rule, too.
    """
    values = _values(logs, sources, judged)
    whole = judged is None or judged.whole
    written = None if judged is None else judged.written
    notes = (
        *(log_notes(logs.log.corpus) if logs else ()),
        *(sources.notes if sources else ()),
        *_hidden(values, written),
        *(judged.notes if judged else ()),
    )
    return Report(
        schema=LINT.schema,
        schema_version=LINT.version,
        command="lint",
        title=_title(values, _places(logs, sources), "unstable" if whole else "new", written),
        blocks=(
            *_blocks(values, logs, whole=whole),
            *((_statistics(values.findings),) if statistics and values.findings else ()),
        ),
        values=values,
        inputs=logs.log.corpus.inputs if logs else (),
        notes=notes,
        flat=True,
        fail_on=fail_on,
        fail_on_in=dict(fail_on_in or {}),
    )


def _values(logs: Linted | None, sources: LintedSources | None, judged: Judged | None) -> LintValues:
    found = (*(logs.values.findings if logs else ()), *(sources.findings if sources else ()))
    judged = judged or Judged(found)
    return LintValues(
        inputs=(*(logs.values.inputs if logs else ()), *(sources.inputs if sources else ())),
        findings=judged.findings,
        pairs=logs.values.pairs if logs else (),
        suppressed=judged.suppressed,
        summary=lint_summary(judged.findings),
        suppressions=judged.suppressions,
    )


def _title(values: LintValues, where: Sequence[str], nothing: str, written: Written | None) -> str:
    levels = values.summary.by_level
    said = [f"{levels[level]} {level}{'s' if levels[level] != 1 else ''}" for level in ("error", "warning")]
    counted = " and ".join(said) if any(levels[level] for level in ("error", "warning")) else f"nothing {nothing}"
    if not where:
        return "nothing to lint"
    if written is None:
        return f"{counted} in {' and '.join(where)}"
    change = "" if written.first else f", {written.new:,} of them new; {written.gone:,} taken out"
    head = f"{_counted(written.findings, 'finding')} written to {written.path}{change}"
    return f"{head}; {counted} beside, in {' and '.join(where)}" if values.findings else head


def _places(logs: Linted | None, sources: LintedSources | None) -> list[str]:
    found = [_counted(len(logs.log.rows), "request")] if logs else []
    return found + ([_counted(len(sources.inputs), "source file")] if sources else [])


def _hidden(values: LintValues, written: Written | None) -> Iterator[str]:
    """Yield how many findings are known, and from where; of a baseline that was just written, what that means."""
    if written is not None:
        if written.asked_for:
            yield "from now on lint tells only what is new"
        else:
            yield f"to be told only what is new, add --baseline {written.path}, or name it in the configuration"
    kinds = Counter((one.kind, "" if one.kind is SuppressionKind.INLINE else one.path) for one in values.suppressions)
    for (kind, path), count in sorted(kinds.items(), reverse=True):
        if written is not None and path == written.path:
            continue
        why = "ignored in comments" if kind is SuppressionKind.INLINE else f"known to {path}"
        yield f"left out: {_counted(count, 'finding')} {why}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'s' if number != 1 else ''}"


def _blocks(values: LintValues, logs: Linted | None, *, whole: bool) -> Iterator[Block]:
    found = values.findings
    in_logs = tuple(finding for finding in found if finding.mode is Mode.LOG)
    if len(in_logs) > 1:
        yield _causes(in_logs)
    if found:
        yield Findings("findings", "Findings", found)
    elif logs is not None:
        yield Text("summary", (_nothing(logs, whole=whole),))
    if logs is not None:
        yield from diagnoses_blocks(logs)


def _nothing(linted: Linted, *, whole: bool) -> str:
    pairs = len(linted.pairs)
    if not pairs:
        return "No request continues or resembles another one, so there was nothing to compare."
    were, them = ("was", "it") if pairs == 1 else ("were", "them")
    compared = f"{_counted(pairs, 'pair')} of requests {were} compared"
    return f"{compared}; nothing in {them} is {'unstable' if whole else 'new'}."


def _statistics(found: tuple[Finding, ...]) -> Table:
    """Return how often each rule found something, the most frequent first."""
    columns = (Column("rule", "rule"), Column("code", "code"), Column("findings", "findings", Unit.COUNT))
    levels = tuple(Column(level.value, level.value, Unit.COUNT) for level in Level)
    counts = Counter((finding.rule, finding.code) for finding in found)
    by_level = Counter((finding.rule, finding.level) for finding in found)
    rows: list[tuple[Cell, ...]] = [
        (rule, code, count, *(by_level[rule, level] for level in Level))
        for (rule, code), count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    ]
    return Table("statistics", "Findings by rule", (*columns, *levels), tuple(rows))


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
