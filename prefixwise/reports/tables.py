"""Every block that holds data as one plain table, for formats that have nothing better."""

from __future__ import annotations

from typing import assert_never

from prefixwise.core.finding import Finding
from prefixwise.core.report import (
    Block,
    Cell,
    Column,
    Findings,
    Histogram,
    Matrix,
    Page,
    Series,
    Table,
    Text,
    Tree,
    Unit,
    Waterfall,
)

KIND = Column("kind", "kind")
LABEL = Column("label", "")
_FINDING = (
    Column("rule", "rule"),
    Column("code", "code"),
    Column("severity", "severity"),
    Column("level", "level"),
    Column("confidence", "confidence"),
    Column("mode", "mode"),
    Column("where", "where"),
    Column("path", "path"),
    Column("line", "line", Unit.COUNT),
    Column("record", "record"),
    Column("from", "from"),
    Column("to", "to"),
    Column("field", "field"),
    Column("char_offset", "character", Unit.COUNT),
    Column("from_text", "from text"),
    Column("to_text", "to text"),
    Column("tokens_lost", "tokens lost", Unit.TOKENS),
    Column("tokens_exact", "exact"),
    Column("per", "per"),
    Column("usd_lost", "lost", Unit.USD),
    Column("occurrences", "places", Unit.COUNT),
    Column("message", "message"),
    Column("fix", "fix"),
    Column("safety", "safety"),
    Column("fingerprint", "fingerprint"),
    Column("also_rules", "also"),
)


def as_table(block: Block) -> Table | None:
    """Return the data of `block` as a table with typed columns, or None where it is prose."""
    match block:
        case Text() | Page():
            return None
        case Table():
            return block
        case Tree():
            return Table(
                block.name,
                block.title,
                (Column("depth", "depth", Unit.COUNT), LABEL, *block.columns),
                block.rows,
                block.note,
                block.drawn,
                block.details,
                block.brief,
            )
        case Waterfall():
            return _waterfall(block)
        case Series():
            return _series(block)
        case Histogram():
            return _histogram(block)
        case Matrix():
            columns = (LABEL, *(Column(name, name, block.unit) for name in block.columns))
            rows = tuple((label, *cells) for label, cells in zip(block.rows, block.cells, strict=True))
            return Table(block.name, block.title, columns, rows, block.note)
        case Findings():
            return _findings(block)
        case _:
            assert_never(block)


def _waterfall(block: Waterfall) -> Table:
    rows: tuple[tuple[Cell, ...], ...] = (
        ("start", *block.start),
        *(("step", *step) for step in block.steps),
        ("end", *block.end),
    )
    return Table(
        block.name, block.title, (KIND, LABEL, Column(block.unit.value, block.unit.value, block.unit)), rows, block.note
    )


def _series(block: Series) -> Table:
    columns = (block.x, *(column for column, _ in block.lines))
    rows = tuple(zip(block.points, *(values for _, values in block.lines), strict=True))
    return Table(block.name, block.title, columns, rows, block.note)


def _histogram(block: Histogram) -> Table:
    columns = (
        Column("from", "from", block.x.unit),
        Column("to", "to", block.x.unit),
        Column("count", "count", Unit.COUNT),
    )
    rows = tuple(zip(block.edges[:-1], block.edges[1:], block.counts, strict=True))
    return Table(block.name, block.title, columns, rows, block.note)


def _findings(block: Findings) -> Table:
    return Table(block.name, block.title, _FINDING, tuple(map(_finding_row, block.findings)))


def _finding_row(finding: Finding) -> tuple[Cell, ...]:
    pair, lost = finding.pair, finding.tokens_lost
    return (
        finding.rule,
        finding.code,
        finding.severity,
        finding.level,
        finding.confidence,
        finding.mode,
        finding.where,
        finding.path,
        finding.span.line if finding.span is not None else None,
        str(finding.record) if finding.record is not None else None,
        str(pair.before) if pair is not None else None,
        str(pair.after) if pair is not None else None,
        finding.field,
        finding.char_offset,
        finding.from_text,
        finding.to_text,
        lost.value if lost is not None else None,
        lost.exact if lost is not None else None,
        lost.per if lost is not None else None,
        finding.usd_lost,
        len(finding.occurrences),
        finding.message,
        finding.fix.summary,
        finding.fix.safety,
        finding.fingerprint,
        ", ".join(finding.also_rules),
    )
