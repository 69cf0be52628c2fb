"""Every block that holds data as one plain table, for formats that have nothing better."""

from __future__ import annotations

from typing import assert_never

from prefixwise.core.report import (
    Block,
    Cell,
    Column,
    Findings,
    Histogram,
    Matrix,
    Series,
    Table,
    Text,
    Tree,
    Unit,
    Waterfall,
)

KIND = Column("kind", "kind")
LABEL = Column("label", "")


def as_table(block: Block) -> Table | None:
    """Return the data of `block` as a table with typed columns, or None where it is prose."""
    match block:
        case Text():
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
    columns = (
        Column("level", "level"),
        Column("rule", "rule"),
        Column("path", "path"),
        Column("line", "line", Unit.COUNT),
        Column("message", "message"),
        Column("help", "help"),
    )
    rows = tuple((f.level, f.rule, f.path, f.line, f.message, f.help) for f in block.findings)
    return Table(block.name, block.title, columns, rows)
