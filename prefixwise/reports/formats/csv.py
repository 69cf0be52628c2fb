"""`csv`: the tables of a report for spreadsheets and data frames (RFC 4180)."""

from __future__ import annotations

import csv
import io

from prefixwise.core.excerpt import visible
from prefixwise.core.report import Cell, Report
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.tables import as_table

# A spreadsheet takes a cell that starts with one of these for a formula; the wide ones too, in some locales.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def render(report: Report, **_layout: object) -> str:
    """Return every block that holds data as a header line and its rows, an empty line between blocks.

    The first column, `table`, names the block. Numbers are raw (a rate is 0.934, times are seconds), an
    absent value is an empty cell, and text that a spreadsheet would compute starts with an apostrophe.
    Prose, notes and requirements are not part of it.
    """
    tables = [table for table in map(as_table, report.blocks) if table is not None]
    return "\r\n".join(_section(table.name, [c.name for c in table.columns], table.rows) for table in tables)


def _section(name: str, columns: list[str], rows: tuple[tuple[Cell, ...], ...]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    writer.writerow(["table", *map(_cell, columns)])
    writer.writerows([_cell(name), *map(_cell, row)] for row in rows)
    return buffer.getvalue()


def _cell(value: Cell) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return repr(value)
    return ("'" if value.startswith(_FORMULA) else "") + visible(value)


FORMATS.add("csv", Format("csv", "text/csv", ".csv", render, carries_notes=False))
