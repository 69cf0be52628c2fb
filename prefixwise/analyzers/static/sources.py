"""Text of a source file and places in it."""

from __future__ import annotations

import bisect
import itertools
import re
from functools import cached_property
from typing import NamedTuple

from prefixwise.core.finding import Span

_LINE_ENDS = re.compile(r"\r\n|\n|\r")


class Quote(NamedTuple):
    """A stretch of a source: where it is and what it says; `source.text[span.start:span.end] == text`."""

    span: Span
    text: str


class Source:
    """A file as text: offsets are code points of `text`, which is the file decoded and otherwise unchanged.

    A byte-order mark and carriage returns are part of it, so that an edit at an offset is an edit of the file.
    """

    def __init__(self, path: str, text: str) -> None:
        self.path = path
        self.text = text

    @cached_property
    def _line_starts(self) -> list[int]:
        if "\r" not in self.text:
            lengths = (len(line) + 1 for line in self.text.split("\n"))
            return list(itertools.accumulate(lengths, initial=0))[:-1]
        return [0, *(match.end() for match in _LINE_ENDS.finditer(self.text))]

    def position(self, offset: int) -> tuple[int, int]:
        """Return (line, column) of an offset, both 1-based; columns count code points."""
        line = bisect.bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a 1-based line and column."""
        return self._line_starts[line - 1] + column - 1

    def span(self, start: int, end: int) -> Span:
        """Return the span of offsets `start` to `end`, end-exclusive."""
        return Span(*self.position(start), *self.position(end), start, end)

    def quote(self, start: int, end: int) -> Quote:
        """Return a stretch with its place."""
        return Quote(self.span(start, end), self.text[start:end])
