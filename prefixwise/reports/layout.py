"""Tables and paragraphs for a terminal: columns that fit, one record a paragraph where they cannot, hanging labels."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from prefixwise.core.excerpt import visible

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

GAP = 2
_PROSE = 100
"""Cells to which prose is wrapped on a wide terminal."""
_NARROWEST = 14
"""Cells a column of text may be squeezed to before the table becomes records."""

# Nothing but a thin rule under the headings.
_BOX = "    \n    \n ── \n    \n    \n    \n    \n    \n"


@dataclass(frozen=True, slots=True)
class Head:
    """One column: its heading, and whether it is aligned right or fixed, either of which never wraps."""

    title: str
    right: bool = False
    fixed: bool = False

    @property
    def rigid(self) -> bool:
        """Whether the column keeps its natural width."""
        return self.right or self.fixed


class Hanging(NamedTuple):
    """A cell whose text hangs under itself, to the right of `lead`, when it wraps."""

    lead: str
    text: str


Cell: TypeAlias = str | Hanging


def grid(heads: Sequence[Head], rows: Sequence[Sequence[Cell]], width: int | None) -> RenderableType:
    """Return a table that fits `width` cells without losing a character.

    Text wraps, numbers do not; when the numbers alone are too wide, each row becomes a paragraph of
    `heading  value` lines.
    """
    lead = max((len(cell.lead) for row in rows for cell in row if isinstance(cell, Hanging)), default=0)
    narrowest = _NARROWEST + lead
    widths = _fitted(heads, rows, width, narrowest, whole_words=True) or _fitted(heads, rows, width, narrowest)
    if widths is None:
        return _records(heads, rows)

    from rich.box import Box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        box=Box(_BOX),
        show_edge=False,
        pad_edge=False,
        padding=(0, 1, 0, 0),
        show_header=any(head.title for head in heads),
        header_style="",
        border_style="dim",
    )
    for head, cells in zip(heads, widths, strict=True):
        table.add_column(
            Text(head.title, style="dim"),
            justify="right" if head.right else "left",
            width=cells,
            overflow="fold",
            vertical="top",
        )
    for row in rows:
        table.add_row(*map(_cell, row))
    return table


def prose(
    line: str | Text, width: int | None, *, label: str = "", label_style: str = "bold", style: str = "", indent: int = 0
) -> RenderableType:
    """Return a paragraph that hangs under its label; a `Text` must be visible already."""
    from rich.table import Table
    from rich.text import Text

    shown = Text(visible(line), style=style) if isinstance(line, str) else line
    if width is None:
        return Text(" " * indent).append(label, style=label_style).append_text(shown)
    lead = [Text(" " * indent + label)] if indent or label else []
    layout = Table.grid(padding=0)
    for part in lead:
        layout.add_column(no_wrap=True, width=len(part), style=label_style)
    layout.add_column(overflow="fold", max_width=min(width, _PROSE) - indent - len(label))
    layout.add_row(*lead, shown)
    return layout


def nothing(text: str) -> RenderableType:
    """Return the line that stands where there is no data."""
    from rich.text import Text

    return Text(text, style="dim")


def _cell(cell: Cell) -> RenderableType:
    from rich.table import Table
    from rich.text import Text

    if isinstance(cell, str):
        return Text(cell)
    if not cell.lead:
        return Text(cell.text)
    layout = Table.grid(padding=0)
    layout.add_column(width=len(cell.lead), no_wrap=True)
    layout.add_column(overflow="fold")
    layout.add_row(Text(cell.lead), Text(cell.text))
    return layout


def _fitted(
    heads: Sequence[Head],
    rows: Sequence[Sequence[Cell]],
    width: int | None,
    narrowest: int,
    *,
    whole_words: bool = False,
) -> list[int] | None:
    """Cap the text columns at one common width, the largest with which the table fits; None where it never does.

    With `whole_words` no column gets narrower than its longest word.
    """
    natural = _widths(heads, rows, lambda text: (text,))
    least = _widths(heads, rows, str.split) if whole_words else [0] * len(heads)
    room = width - GAP * (len(heads) - 1) if width is not None else sum(natural)
    if sum(natural) <= room:
        return natural
    for cap in range(room, narrowest - 1, -1):
        widths = [
            cells if head.rigid else min(cells, max(cap, word))
            for head, cells, word in zip(heads, natural, least, strict=True)
        ]
        if sum(widths) <= room:
            return widths
    return None


def _widths(heads: Sequence[Head], rows: Sequence[Sequence[Cell]], parts: Callable[[str], Iterable[str]]) -> list[int]:
    """Return for each column the cells of the widest of its parts, heading included."""
    from rich.cells import cell_len

    texts = [[cell if isinstance(cell, str) else "".join(cell) for cell in row] for row in rows]
    columns = zip(*texts, strict=True) if texts else [()] * len(heads)
    return [
        max(1, *(cell_len(part) for text in (head.title, *cells) for part in parts(text)), 0)
        for head, cells in zip(heads, columns, strict=True)
    ]


def _records(heads: Sequence[Head], rows: Sequence[Sequence[Cell]]) -> RenderableType:
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    paragraphs: list[RenderableType] = []
    for number, row in enumerate(rows):
        if number:
            paragraphs.append(Text())
        table = Table.grid(padding=(0, GAP, 0, 0))
        table.add_column(overflow="fold", style="dim")
        table.add_column(overflow="fold")
        for head, cell in zip(heads, row, strict=True):
            table.add_row(Text(head.title), _cell(cell))
        paragraphs.append(table)
    return Group(*paragraphs)
