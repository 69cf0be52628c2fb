"""Pages in Markdown on a terminal: paragraphs, headings, lists and examples; what else there is stays as written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from prefixwise.core.excerpt import visible
from prefixwise.reports.layout import prose

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

_FENCE = re.compile(r" *(```+|~~~+) *(.*)")
_HEADING = re.compile(r"#{1,6} +(.*)")
_ITEM = re.compile(r"( *)([-*]|\d{1,3}\.) +(.*)")
_INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
_EXAMPLES = {"bad": "red", "good": "green"}
_INDENT = 2


class _Piece(NamedTuple):
    """A heading, a paragraph, an item with its sign, or an example with the words behind its fence."""

    kind: str
    text: str
    sign: str = ""


def page_lines(markdown: str, width: int | None) -> list[RenderableType]:
    """Return the page with an empty line between its parts; its first line is its title."""
    from rich.text import Text

    shown: list[RenderableType] = []
    before = ""
    for piece in _pieces(markdown.split("\n")):
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


def _pieces(lines: list[str]) -> Iterator[_Piece]:
    position = 0
    while position < len(lines):
        line = lines[position]
        if fence := _FENCE.fullmatch(line):
            end = next((n for n in range(position + 1, len(lines)) if lines[n].strip() == fence[1]), len(lines))
            yield _Piece("example", "\n".join(lines[position + 1 : end]), fence[2].strip())
            position = end + 1
        elif heading := _HEADING.fullmatch(line):
            yield _Piece("heading", heading[1])
            position += 1
        elif not line.strip():
            position += 1
        else:
            end = _paragraph_end(lines, position)
            item = _ITEM.fullmatch(line)
            first = item[3] if item else line.strip()
            text = " ".join((first, *(more.strip() for more in lines[position + 1 : end])))
            yield _Piece("item", text, f"{item[1]}{item[2]} ") if item else _Piece("paragraph", text)
            position = end


def _paragraph_end(lines: list[str], start: int) -> int:
    """Return the first line behind `start` that does not go on with its paragraph."""
    for position in range(start + 1, len(lines)):
        line = lines[position]
        if not line.strip() or any(other.fullmatch(line) for other in (_FENCE, _HEADING, _ITEM)):
            return position
    return len(lines)


def _example(piece: _Piece, width: int | None) -> Iterator[RenderableType]:
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
    for match in _INLINE.finditer(shown):
        line.append(shown[position : match.start()])
        line.append(match[0] if match[1] else match[2], style="cyan" if match[1] else "bold")
        position = match.end()
    return line.append(shown[position:])
