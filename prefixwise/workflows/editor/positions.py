"""Places in a text as editors count them: lines from 0, and in a line units of the encoding that was agreed on."""

from __future__ import annotations

import bisect
import re
from enum import StrEnum
from typing import NamedTuple

_LINE_ENDS = re.compile(r"\r\n|\n|\r")


class Unit(StrEnum):
    """What a character of a line is counted in."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"

    def size(self, text: str) -> int:
        """Return how many units a text has."""
        if self is Unit.UTF_8:
            return len(text.encode("utf-8", "surrogatepass"))
        if self is Unit.UTF_16 and not text.isascii():
            return len(text) + sum(character > "\uffff" for character in text)
        return len(text)


class Position(NamedTuple):
    """A place between two characters."""

    line: int
    character: int


class Positions:
    """A text whose offsets are code points, and the same places as an editor has them."""

    def __init__(self, text: str, unit: Unit) -> None:
        self.text = text
        self._unit = unit
        self._starts = [0, *(match.end() for match in _LINE_ENDS.finditer(text))]
        self._ends = [*(match.start() for match in _LINE_ENDS.finditer(text)), len(text)]

    def position(self, offset: int) -> Position:
        """Return the place of an offset; one behind the text is its end, one inside a line end stands before that."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect.bisect_right(self._starts, offset) - 1
        return Position(line, self._unit.size(self.text[self._starts[line] : min(offset, self._ends[line])]))

    def offset(self, position: Position) -> int:
        """Return the offset of a place; what stands behind a line is its end, what stands behind the text its end."""
        if position.line >= len(self._starts):
            return len(self.text)
        at, end = self._starts[position.line], self._ends[position.line]
        left = position.character
        while at < end and left > 0:
            left -= self._unit.size(self.text[at])
            at += left >= 0
        return at

    def line_start(self, offset: int) -> int:
        """Return where the line of an offset begins."""
        return self._starts[bisect.bisect_right(self._starts, offset) - 1]

    def line_end(self, offset: int) -> int:
        """Return where the line of an offset ends, its line end not counted."""
        return self._ends[bisect.bisect_right(self._starts, offset) - 1]

    @property
    def line_break(self) -> str:
        """How lines end in the text."""
        found = _LINE_ENDS.search(self.text)
        return "\n" if found is None else found[0]

    def offset_of_line(self, line: int) -> int:
        """Return where a line begins; lines are counted from 1 here."""
        return self._starts[min(line, len(self._starts)) - 1]
