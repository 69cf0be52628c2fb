"""Pages in Markdown taken apart: paragraphs, headings, lists and examples; what else there is stays as written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_FENCE = re.compile(r" *(```+|~~~+) *(.*)")
_HEADING = re.compile(r"#{1,6} +(.*)")
_ITEM = re.compile(r"( *)([-*]|\d{1,3}\.) +(.*)")
INLINE = re.compile(r"`([^`]+)`|\*\*([^*]+)\*\*")
"""Code, or what is strong."""


class Piece(NamedTuple):
    """A heading, a paragraph, an item with its sign, or an example with the words behind its fence."""

    kind: str
    text: str
    sign: str = ""


def page_pieces(markdown: str) -> Iterator[Piece]:
    """Yield the parts of a page in their order."""
    lines = markdown.split("\n")
    position = 0
    while position < len(lines):
        line = lines[position]
        if fence := _FENCE.fullmatch(line):
            end = next((n for n in range(position + 1, len(lines)) if lines[n].strip() == fence[1]), len(lines))
            yield Piece("example", "\n".join(lines[position + 1 : end]), fence[2].strip())
            position = end + 1
        elif heading := _HEADING.fullmatch(line):
            yield Piece("heading", heading[1])
            position += 1
        elif not line.strip():
            position += 1
        else:
            end = _paragraph_end(lines, position)
            item = _ITEM.fullmatch(line)
            first = item[3] if item else line.strip()
            text = " ".join((first, *(more.strip() for more in lines[position + 1 : end])))
            yield Piece("item", text, f"{item[1]}{item[2]} ") if item else Piece("paragraph", text)
            position = end


def _paragraph_end(lines: list[str], start: int) -> int:
    """Return the first line behind `start` that does not go on with its paragraph."""
    for position in range(start + 1, len(lines)):
        line = lines[position]
        if not line.strip() or any(other.fullmatch(line) for other in (_FENCE, _HEADING, _ITEM)):
            return position
    return len(lines)
