"""`text`: for people at a terminal, in a pipe, in a CI log. Calm: thin rules, aligned numbers, few colours."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from prefixwise.core.excerpt import visible
from prefixwise.core.report import (
    Block,
    Column,
    Findings,
    Histogram,
    InputFile,
    Matrix,
    Page,
    Report,
    Requirement,
    Series,
    Table,
    Text,
    Tree,
    Unit,
    Waterfall,
)
from prefixwise.core.report import Cell as Value
from prefixwise.reports import charts
from prefixwise.reports.brief import briefly, drawn_values
from prefixwise.reports.finding_layout import finding_lines
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.layout import GAP, Cell, Hanging, Head, grid, nothing, prose
from prefixwise.reports.numbers import show, signed
from prefixwise.reports.page_layout import page_lines
from prefixwise.reports.tables import as_table

if TYPE_CHECKING:
    from rich.console import RenderableType

_UNLIMITED = 1_000_000
_NARROWEST = 40
_BAR = 40
_TREE_BAR = 8
_POINTS = 12
_INPUTS = 6
"""Inputs that are listed one by one."""

_COMMAND = re.compile(r"^((?:\x1b\[[0-9;]*m| )*):(?=(?:\x1b\[[0-9;]*m)*:)", re.MULTILINE)


def render(report: Report, *, width: int | None = None, colour: bool = False) -> str:
    """Return the report as lines of text no wider than `width` cells, where numbers alone allow it."""
    from rich.console import Console

    width = None if width is None else max(width, _NARROWEST)
    buffer = io.StringIO()
    console = Console(
        file=buffer,
        width=_UNLIMITED if width is None else width,
        height=100,
        force_terminal=colour,
        force_jupyter=False,
        color_system="standard" if colour else None,
        no_color=not colour,
        legacy_windows=False,
        markup=False,
        highlight=False,
        emoji=False,
        _environ={},
    )
    for number, section in enumerate(_sections(report, width)):
        if number:
            console.print()
        for part in section:
            console.print(part)
    lines = (line.rstrip() for line in buffer.getvalue().split("\n"))
    return _COMMAND.sub(r"\1\\x3a", "\n".join(lines))


def _sections(report: Report, width: int | None) -> Iterator[list[RenderableType]]:
    """Yield groups of lines between which a line stays empty."""
    from rich.text import Text as Line

    yield [Line(visible(report.title), style="bold"), *_inputs(report.inputs)]
    for block in report.blocks:
        title = [Line(visible(block.title), style="bold")] if block.title else []
        note = [prose(text, width, style="dim")] if (text := getattr(block, "note", "")) else []
        yield [*title, *_block(block, width), *note]
    if report.requirements:
        yield [*_requirements(report.requirements)]
    if report.notes:
        yield [prose(note, width, label="note: ") for note in report.notes]


def _block(block: Block, width: int | None) -> list[RenderableType]:
    match block:
        case Text():
            return [prose(line, width) for line in block.lines]
        case Table() | Matrix():
            return _table(block, width)
        case Tree():
            return _tree(block, width)
        case Waterfall():
            return _waterfall(block, width)
        case Series():
            return _series(block, width)
        case Histogram():
            return _histogram(block, width)
        case Findings():
            return finding_lines(block.findings, width, brief=block.brief)
        case Page():
            return page_lines(block.markdown, width)
        case _:
            assert_never(block)


def _table(block: Table | Matrix, width: int | None) -> list[RenderableType]:
    table = as_table(block)
    if table is None or not table.rows:
        return [nothing("no rows")]
    few, left_out = briefly(table)
    rows = [_shown(row, table.columns) for row in few.rows]
    more = [nothing(left_out)] if left_out else []
    return [grid([_head(column) for column in table.columns], rows, width), *more]


def _tree(block: Tree, width: int | None) -> list[RenderableType]:
    if not block.rows:
        return [nothing("no rows")]
    few, left_out = briefly(block)
    depths = [depth if isinstance(depth, int) else 0 for depth, *_ in few.rows]
    values = drawn_values(few)
    bars = [[charts.bar(value, max(values), _TREE_BAR)] for value in values] or [[] for _ in depths]
    numbers = [at for at, column in enumerate(block.columns) if not block.brief or column.name not in block.drawn]
    rows: list[list[Cell]] = []
    for guide, bar, (_, label, *cells) in zip(charts.guides(depths), bars, few.rows, strict=True):
        shown = [show(cells[at], block.columns[at].unit) for at in numbers]
        rows.append([Hanging(guide, show(label)), *bar, *shown])
    heads = [Head(""), *([Head("", fixed=True)] if values else []), *(_head(block.columns[at]) for at in numbers)]
    return [grid(heads, rows, width), *([nothing(left_out)] if left_out else [])]


def _waterfall(block: Waterfall, width: int | None) -> list[RenderableType]:
    labels = [visible(label) for label, _ in (block.start, *block.steps, block.end)]
    shown = [
        show(block.start[1], block.unit),
        *(signed(value, block.unit) for _, value in block.steps),
        show(block.end[1], block.unit),
    ]
    room = _bar_width(width, max(map(len, labels)) + max(map(len, shown)))
    bars = charts.floating_bars(block.start[1], [value for _, value in block.steps], block.end[1], room)
    heads = [Head(""), Head(block.unit.value, right=True), Head("", fixed=True)]
    return [grid(heads, list(zip(labels, shown, bars, strict=True)), width)]


def _histogram(block: Histogram, width: int | None) -> list[RenderableType]:
    if not block.counts:
        return [nothing("no values")]
    edges = [show(edge, block.x.unit) for edge in block.edges]
    counts = [show(count, Unit.COUNT) for count in block.counts]
    room = _bar_width(width, 2 * max(map(len, edges)) + max(map(len, counts)) + 2 * GAP)
    bars = [charts.bar(count, max(block.counts), room) for count in block.counts]
    heads = [
        Head(visible(block.x.title), right=True),
        Head("to", right=True),
        Head("count", right=True),
        Head("", fixed=True),
    ]
    return [grid(heads, list(zip(edges[:-1], edges[1:], counts, bars, strict=True)), width)]


def _series(block: Series, width: int | None) -> list[RenderableType]:
    from rich.text import Text as Line

    if not block.points or not block.lines:
        return [nothing("no points")]
    sparks = []
    for column, values in block.lines:
        known = [value for value in values if value is not None]
        ends = [show(edge(known), column.unit) if known else show(None) for edge in (min, max)]
        sparks.append([visible(column.title), charts.sparkline(values, _BAR), *ends])
    heads = [Head(""), Head("", fixed=True), Head("least", right=True), Head("most", right=True)]
    if block.brief:
        return [grid(heads, sparks, width)]
    indexes = charts.sample(len(block.points), _POINTS)
    table = as_table(block)
    if table is None:
        raise TypeError(f"no way to write {type(block).__name__}")
    rows = [_shown(table.rows[index], table.columns) for index in indexes]
    numbers = grid([Head(visible(column.title), right=True) for column in table.columns], rows, width)
    left_out = len(block.points) - len(indexes)
    more = [nothing(f"{len(indexes)} of {len(block.points):,} points")] if left_out else []
    return [grid(heads, sparks, width), Line(), numbers, *more]


def _inputs(inputs: tuple[InputFile, ...]) -> list[RenderableType]:
    """Name the files read: all of a few, of many only those with something wrong, and of many such some."""
    if len(inputs) <= _INPUTS:
        return [*map(_input, inputs)]
    records = sum(file.records for file in inputs)
    wrong = [file for file in inputs if file.broken or file.reason_skipped]
    lines = [nothing(f"{len(inputs):,} files, {records:,} records"), *map(_input, wrong[:_INPUTS])]
    if len(wrong) > _INPUTS:
        lines.append(nothing(f"and {len(wrong) - _INPUTS:,} more that were skipped or have broken records"))
    return lines


def _input(file: InputFile) -> RenderableType:
    from rich.text import Text as Line

    line = Line(visible(file.path) + "  ", style="dim", overflow="fold")
    if file.reason_skipped:
        return line.append(f"skipped: {visible(file.reason_skipped)}", style="yellow not dim")
    place = f" at {visible(file.record_path)}" if file.record_path else ""
    form = f"{visible(file.format)}{place}, " if file.format else ""
    first = " (#0 is the first)" if file.mode == "log" and file.records > 1 else ""
    line.append(f"{form}{file.records:,} record{'' if file.records == 1 else 's'}{first}")
    return line.append(f", {file.broken:,} broken", style="yellow not dim") if file.broken else line


def _requirements(requirements: tuple[Requirement, ...]) -> Iterator[RenderableType]:
    from rich.text import Text as Line

    longest = max(len(visible(requirement.expression)) for requirement in requirements)
    widest = max(len(requirement.state) for requirement in requirements)
    for requirement in requirements:
        line = Line("require  ", overflow="fold")
        state = requirement.state if requirement.met else requirement.state.upper()
        line.append(f"{state:{widest}}", style="green" if requirement.met else "bold red")
        line.append(f"  {visible(requirement.expression):{longest}}")
        yield line.append(f"  {requirement.found}", style="dim")


def _head(column: Column) -> Head:
    return Head(visible(column.title), right=column.unit is not Unit.TEXT)


def _shown(cells: Sequence[Value], columns: Sequence[Column]) -> list[str]:
    return [show(cell, column.unit) for cell, column in zip(cells, columns, strict=True)]


def _bar_width(width: int | None, taken: int) -> int:
    return _BAR if width is None else max(10, min(_BAR, width - taken - 2 * GAP))


FORMATS.add("text", Format("text", "text/plain", ".txt", render))
FORMATS.alias("full", "text")
