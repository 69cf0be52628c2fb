"""Blocks of a report as the page's template takes them: tables with charts in them, cards, paragraphs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isfinite
from string import ascii_lowercase
from typing import Any, NamedTuple

from markupsafe import Markup

from prefixwise.core.report import (
    Block,
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
from prefixwise.reports import charts as drawn_in_text
from prefixwise.reports.brief import drawn_values
from prefixwise.reports.html import charts
from prefixwise.reports.html.icicle import Bar, icicle
from prefixwise.reports.numbers import show, signed
from prefixwise.reports.pages import INLINE, page_pieces
from prefixwise.reports.tables import as_table


class Head(NamedTuple):
    """The head of a column: its title, and whether numbers stand under it."""

    title: str
    number: bool = False


def block_view(block: Block) -> dict[str, Any]:
    """Return a block's kind, title and note, and what the template shows of that kind."""
    return {"title": block.title, "note": getattr(block, "note", "")} | _shown(block)


def _shown(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"kind": "text", "lines": [line for line in block.lines if line.strip()]}
    if isinstance(block, Page):
        return {"kind": "page", "pieces": list(page_view(block.markdown))}
    if isinstance(block, Findings):
        return {"kind": "findings", "findings": block.findings}
    if isinstance(block, Waterfall):
        return _table(_waterfall(block))
    if isinstance(block, Histogram):
        return _table(_histogram(block))
    if isinstance(block, Series):
        return _series(block)
    if isinstance(block, Tree):
        return _tree(block)
    return _drawn_table(block) if isinstance(block, Table) else _table(_plain(block))


def page_view(markdown: str) -> Iterator[dict[str, Any]]:
    """Yield the parts of a page: kind, sign, and text in pieces of which each is plain, code or strong."""
    for piece in page_pieces(markdown):
        language, _, mark = piece.sign.partition(" ")
        parts = [(piece.text, "")] if piece.kind == "example" else _inline(piece.text)
        yield {"kind": piece.kind, "parts": parts, "language": language, "mark": mark}


def _inline(text: str) -> list[tuple[str, str]]:
    parts, position = [], 0
    for match in INLINE.finditer(text):
        parts.append((text[position : match.start()], ""))
        parts.append((match[1], "code") if match[1] else (match[2], "strong"))
        position = match.end()
    return [part for part in (*parts, (text[position:], "")) if part[0]]


def _table(content: tuple[Sequence[Head], Sequence[Sequence[Any]]]) -> dict[str, Any]:
    heads, rows = content
    return {"kind": "table", "heads": heads, "rows": rows, "details": (), "legend": (), "opened": False}


def _plain(block: Table | Matrix) -> tuple[list[Head], list[list[str]]]:
    table = as_table(block)
    if table is None:
        raise TypeError(f"no way to write {type(block).__name__}")
    rows = [[show(cell, column.unit) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    return [*map(_head, table.columns)], rows


def _drawn_table(block: Table) -> dict[str, Any]:
    """Return a table; where it says what is to be drawn, with a bar in each row: a value's, or of several parts."""
    heads, rows = _plain(block)
    at = [number for number, column in enumerate(block.columns) if column.name in block.drawn]
    if not at:
        return _table((heads, rows)) | {"details": block.details, "opened": True}
    values = [[_number(row[number]) for number in at] for row in block.rows]
    legend = []
    if len(at) == 1:
        top = max((value for (value,) in values), default=0.0)
        bars = [charts.bar(value, top) for (value,) in values]
    else:
        letters = [ascii_lowercase[number % len(ascii_lowercase)] for number in range(len(at))]
        bars = [charts.parts(shares, letters) for shares in values]
        legend = [(letter, block.columns[number].title) for letter, number in zip(letters, at, strict=True)]
    behind = at[0] + 1 if len(at) == 1 else 1
    for row, bar in zip(rows, bars, strict=True):
        row.insert(behind, bar)
    heads.insert(behind, Head(""))
    return _table((heads, rows)) | {"details": block.details, "legend": legend, "opened": True}


def _tree(block: Tree) -> dict[str, Any]:
    """Return a tree as a table; where it says what is to be drawn of it, with a picture in which rows have numbers."""
    depths = [depth if isinstance(depth, int) else 0 for depth, *_ in block.rows]
    values = drawn_values(block)
    rows = []
    for number, (guide, (_, label, *cells)) in enumerate(
        zip(drawn_in_text.guides(depths), block.rows, strict=True), start=1
    ):
        shown = [show(cell, column.unit) for cell, column in zip(cells, block.columns, strict=True)]
        first = [str(number)] if values else []
        rows.append([*first, Markup('<span class="guide">{}</span>{}').format(guide, show(label)), *shown])
    heads = [*([Head("no.", number=True)] if values else []), Head(""), *map(_head, block.columns)]
    if not values:
        return _table((heads, rows)) | {"details": block.details}
    at = next((number for number, column in enumerate(block.columns, 2) if column.name == block.marked), None)
    own = drawn_values(block, 1) or [0.0] * len(values)
    bars = []
    for number, (depth, row, value, part) in enumerate(zip(depths, block.rows, values, own, strict=True), start=1):
        mark = show(row[at]) if at is not None and row[at] else ""
        label = f"{number} ✗ {mark}: {show(row[1])}" if mark else f"{number}  {show(row[1])}"
        bars.append(Bar(depth, label, value, part, bool(mark)))
    return {
        "kind": "picture",
        "chart": icicle(bars),
        "heads": heads,
        "rows": rows,
        "details": block.details,
        "marked": any(bar.marked for bar in bars),
    }


def _number(cell: Any) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0


def _waterfall(block: Waterfall) -> tuple[list[Head], list[list[Any]]]:
    labels = [label for label, _ in (block.start, *block.steps, block.end)]
    changes = [signed(value, block.unit) for _, value in block.steps]
    shown = [show(block.start[1], block.unit), *changes, show(block.end[1], block.unit)]
    bars = charts.floating_bars(block.start[1], [value for _, value in block.steps], block.end[1])
    rows = [list(row) for row in zip(labels, shown, bars, strict=True)]
    return [Head(""), Head(block.unit.value, number=True), Head("")], rows


def _histogram(block: Histogram) -> tuple[list[Head], list[list[Any]]]:
    top = max(block.counts, default=0)
    rows = [
        [show(low, block.x.unit), show(high, block.x.unit), show(count, Unit.COUNT), charts.bar(count, top)]
        for low, high, count in zip(block.edges[:-1], block.edges[1:], block.counts, strict=True)
    ]
    return [Head(block.x.title, number=True), Head("to", number=True), Head("count", number=True), Head("")], rows


def _series(block: Series) -> dict[str, Any]:
    table = as_table(block)
    if table is None:
        raise TypeError(f"no way to write {type(block).__name__}")
    heads = [Head(column.title, number=True) for column in table.columns]
    rows = [[show(cell, column.unit) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    names = [column.title for column, _ in block.lines]
    chart = charts.lines(block.points, [values for _, values in block.lines])
    return {
        "kind": "series",
        "chart": chart,
        "names": names,
        "heads": heads,
        "rows": rows,
        "scale": _scale(block),
        "folded": block.brief,
    }


def _scale(block: Series) -> tuple[str, str, str, str] | None:
    """Return what the ends of the axes stand for, y before x; None where the lines are of several units."""
    units = {column.unit for column, _ in block.lines}
    known = [value for _, values in block.lines for value in values if value is not None and isfinite(value)]
    if len(units) != 1 or not known or not block.points:
        return None
    unit = units.pop()
    return (
        show(min(0.0, *known), unit),
        show(max(known), unit),
        show(min(block.points), block.x.unit),
        show(max(block.points), block.x.unit),
    )


def _head(column: Column) -> Head:
    return Head(column.title, number=column.unit is not Unit.TEXT)
