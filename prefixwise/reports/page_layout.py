"""Pages in Markdown on a terminal: paragraphs, headings, lists and examples; what else there is stays as written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefixwise.core.excerpt import visible
from prefixwise.reports.layout import prose
from prefixwise.reports.pages import INLINE, Piece, page_pieces

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_EXAMPLES = {"bad": "red", "good": "green"}
_INDENT = 2


def page_lines(markdown: str, width: int | None) -> list[RenderableType]:
    """Return the page with an empty line between its parts; its first line is its title."""
    from rich.text import Text

    shown: list[RenderableType] = []
    before = ""
    for piece in page_pieces(markdown):
        kind = "heading" if not shown and piece.kind == "paragraph" else piece.kind
        if shown and not before == kind == "item":
            shown.append(Text())
        before = kind
        if kind == "example":
            shown.extend(_example(piece, width))
        elif kind == "heading":
            shown.append(prose(_inline(piece.text, "bold"), width))
        else:
            shown.append(prose(_inline(piece.text), width, label=piece.sign, label_style=""))
    return shown


def _example(piece: Piece, width: int | None) -> Iterator[RenderableType]:
    """Yield an example's lines; those of a log carry the number of their record."""
    language, _, kind = piece.sign.partition(" ")
    if kind in _EXAMPLES:
        yield prose(f"{kind}:", width, style=_EXAMPLES[kind])
    for number, line in enumerate(piece.text.split("\n")):
        yield prose(line, width, label=f"#{number} " if language == "jsonl" else "", label_style="dim", indent=_INDENT)


def _inline(text: str, style: str = "") -> Text:
    """Return a paragraph's text: code stands out by colour, what is strong is bold and loses its stars."""
    from rich.text import Text

    line, position = Text(style=style), 0
    shown = visible(text)
    for match in INLINE.finditer(shown):
        line.append(shown[position : match.start()])
        line.append(match[0] if match[1] else match[2], style="cyan" if match[1] else "bold")
        position = match.end()
    return line.append(shown[position:])
