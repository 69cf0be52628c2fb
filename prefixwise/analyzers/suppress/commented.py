"""A source with its comments, and which lines each comment is about.

The rule is the same for every kind of file. A comment is about its own line, and about what begins or ends there. A
comment on a line of its own is about the next line that says something, and about what begins there. Of functions,
classes, loops and conditions only the head counts, so that a comment never silences a whole body.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

from prefixwise.analyzers.static.sources import Source

_LINE_END = re.compile(r"\r\n|\n|\r")
_SIGN = re.compile(r"[^\r\n]")

Lines = tuple[int, int]
"""First and last line, 1-based."""


class Comment(NamedTuple):
    """A comment: where it stands, where its text begins without what opens it, and whether models get to read it."""

    start: int
    end: int
    body: int
    text: str
    sent: bool = False


class Commented:
    """A source and its comments.

    Args:
        source: What the offsets count in: the file, or the code of a notebook.
        comments: In any order.
        units: First and last line of what reaches over several lines: statements, expressions, texts.
        head: Offset up to which everything is the top of the file: the end of a front matter.
        place: Where a stretch of `source` stands in the file, if that is something else.
    """

    def __init__(
        self,
        source: Source,
        comments: Sequence[Comment],
        units: Sequence[Lines] = (),
        head: int = 0,
        place: Callable[[int, int], tuple[int, int]] | None = None,
    ) -> None:
        self.source = source
        self.comments = tuple(sorted(comments))
        self.place = place or (lambda start, end: (start, end))
        self.units = units
        self._head = head

    @cached_property
    def _lines(self) -> list[str]:
        """The lines without comments."""
        text, pieces, position = self.source.text, [], 0
        for comment in self.comments:
            if comment.start >= position:
                pieces += [text[position : comment.start], _SIGN.sub(" ", text[comment.start : comment.end])]
                position = comment.end
        return _LINE_END.split("".join((*pieces, text[position:])).replace("\ufeff", " "))

    @cached_property
    def _said(self) -> list[int]:
        """Numbers of the lines that say something beside comments."""
        return [number for number, said in enumerate(self._lines, start=1) if said.strip()]

    @cached_property
    def _touching(self) -> tuple[dict[int, list[Lines]], dict[int, list[Lines]]]:
        """Units by the line in which they begin, and by the one in which they end."""
        first: dict[int, list[Lines]] = {}
        last: dict[int, list[Lines]] = {}
        for unit in self.units:
            first.setdefault(unit[0], []).append(unit)
            last.setdefault(unit[1], []).append(unit)
        return first, last

    def at_top(self, comment: Comment) -> bool:
        """Say whether nothing but comments stands in front of a comment."""
        line, column = self.source.position(comment.start)
        first = self._said[0] if self._said else line
        alone = first > line or (first == line and not self._lines[line - 1][: column - 1].strip())
        return comment.start < self._head or alone

    def about(self, comment: Comment) -> list[Lines]:
        """Return the lines that a comment is about."""
        first, last = self.source.position(comment.start)[0], self.source.position(max(comment.end - 1, 0))[0]
        begun, ended = self._touching
        following = bisect.bisect_left(self._said, first)
        line = self._said[following] if following < len(self._said) else None
        if line is None:
            return []
        if line <= last:
            return [(first, last), *begun.get(first, ()), *ended.get(last, ())]
        return [(line, line), *begun.get(line, ())]

    def lines_in_file(self, file: Source, lines: Lines) -> Lines:
        """Return lines of `source` as lines of the file."""
        if file is self.source:
            return lines
        offsets = (self.source.offset(line, 1) for line in lines)
        first, last = (file.position(self.place(offset, offset)[0])[0] for offset in offsets)
        return first, last
