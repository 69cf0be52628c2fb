"""How far our answers and the vendor's own agree, as blocks of a report."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.lint.diagnoses import Diagnoses, Disagreement, diagnoses
from prefixwise.analyzers.lint.run import Linted
from prefixwise.core.report import Block, Column, Table, Text, Unit

_SHOWN = 20


def diagnoses_blocks(linted: Linted) -> Iterator[Block]:
    """Yield what the log's vendor diagnostics say against ours; nothing where it carries none."""
    found = diagnoses(linted.log, linted.claims)
    if found is None:
        return
    yield Text("diagnostics", tuple(_summary(found)), "The vendor's own diagnostics")
    if found.others:
        yield _others(found.others)


def _summary(found: Diagnoses) -> Iterator[str]:
    words = ", ".join(f"{word} {count:,}" for word, count in found.words)
    yield f"The log carries the vendor's word on {sum(count for _, count in found.words):,} calls: {words}."
    if found.compared:
        yield f"Of {found.compared:,} that name an area, we name the same one in {found.agreed:,} ({found.share:.1%})."


def _others(others: tuple[Disagreement, ...]) -> Table:
    columns = (
        Column("record", "record"),
        Column("vendor", "the vendor says"),
        Column("missed_tokens", "missed", Unit.TOKENS),
        Column("ours", "we say"),
    )
    rows = tuple(
        (str(other.record), other.said, other.missed_tokens, ", ".join(rule for rule, _ in other.ours) or "nothing")
        for other in others[:_SHOWN]
    )
    more = len(others) - len(rows)
    return Table("diagnostics_others", "The others", columns, rows, f"{more:,} more." if more else "")
