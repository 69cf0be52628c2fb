"""As much of YAML as prompt files and front matter use, with places.

Mappings and lists in blocks, texts plain, quoted or in blocks, and short lists and mappings in brackets. Tags are
skipped, anchors and aliases are taken as what they say. What is no YAML of this kind is an error, never a guess.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from prefixwise.analyzers.static.templates.json_text import parse_json, quoted_view
from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError
from prefixwise.analyzers.static.templates.trees import NOTHING, Mapping, Scalar, Sequence, Tree
from prefixwise.analyzers.static.templates.views import View, ViewBuilder

_LINE = re.compile(r"([ \t]*)([^\r\n]*)(\r\n|\n|\r|\Z)")
_KEY = re.compile(r"""("[^"\n]*"|'[^'\n]*'|[^\s#:|>\[{"'][^#:\n]*?|<<)[ \t]*:(?=\s|$)""")
_BLOCK = re.compile(r"[|>]([+-]?[1-9]?[+-]?)[ \t]*(?:#.*)?$")
_PROPERTIES = re.compile(r"(?:[!&][^\s]*[ \t]+)+|[!&][^\s]*$")
_COMMENT = re.compile(r"(?:^|[ \t])#.*$")
_DEEPEST = 40


class _Line(NamedTuple):
    """A line: where it begins, its indentation, and where its text begins and ends."""

    start: int
    indent: int
    text: int
    end: int
    next: int


def parse_yaml(text: str, start: int = 0, end: int | None = None) -> Tree:
    """Return what the first document of a YAML text holds, or what stands from `start` to `end`.

    Raises:
        UnreadableTemplateError: It is no YAML that this can read.
    """
    reader = _Reader(text, start, len(text) if end is None else end)
    return reader.document()


class _Reader:
    def __init__(self, text: str, start: int, end: int) -> None:
        self._text = text
        self._lines = _lines(text, start, end)
        self._at = 0
        self._depth = 0

    def document(self) -> Tree:
        found = self._block(-1)
        line = self._line()
        if line is not None:
            raise UnreadableTemplateError("a line of YAML belongs to nothing", line.text)
        return found

    def _said(self, line: _Line) -> str:
        return self._text[line.text : line.end]

    def _line(self) -> _Line | None:
        """Return the next line that says something."""
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text < line.end and self._text[line.text] != "#":
                return line
            self._at += 1
        return None

    def _block(self, above: int) -> Tree:
        """Read what is indented deeper than `above`."""
        line = self._line()
        if line is None or line.indent <= above:
            return NOTHING
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableTemplateError("YAML is nested too deeply", line.text)
        said = self._said(line)
        found: Tree
        if said == "-" or said.startswith(("- ", "-\t")):
            found = self._sequence(line.indent)
        elif _KEY.match(said):
            found = self._mapping(line.indent)
        else:
            self._at += 1
            found = self._value(line, line.text, above)
        self._depth -= 1
        return found

    def _sequence(self, indent: int) -> Sequence:
        items = []
        while (line := self._line()) is not None and line.indent == indent and self._said(line)[:2].rstrip() == "-":
            text = line.text + 1
            while text < line.end and self._text[text] in " \t":
                text += 1
            if text == line.end or self._text[text] == "#":
                self._at += 1
                items.append(self._block(indent))
                continue
            inner = line._replace(indent=indent + text - line.text, text=text)
            self._lines[self._at] = inner
            items.append(self._block(indent))
        return Sequence(tuple(items))

    def _mapping(self, indent: int) -> Mapping:
        entries, places = [], []
        while (line := self._line()) is not None and line.indent == indent:
            key = _KEY.match(self._text, line.text, line.end)
            if key is None or self._said(line)[:2].rstrip() == "-":
                break
            self._at += 1
            first = self._at - 1
            entries.append((key[1].strip().strip("\"'"), self._value(line, key.end(), indent)))
            places.append((line.text, self._end_of(first)))
        return Mapping(tuple(entries), tuple(places))

    def _end_of(self, first: int) -> int:
        """Return where ends what began on a line and was read just now: blank lines behind it are not part of it."""
        numbers = range(self._at - 1, first, -1)
        last = next((n for n in numbers if self._lines[n].text < self._lines[n].end), first)
        return self._lines[last].end

    def _value(self, line: _Line, start: int, indent: int) -> Tree:
        """Read a value that begins at `start` of a line, or on the lines below."""
        while start < line.end and self._text[start] in " \t":
            start += 1
        if properties := _PROPERTIES.match(self._text, start, line.end):
            start = properties.end()
        sign = self._text[start] if start < line.end else "#"
        if sign == "#":
            below = self._line()
            listed = below is not None and below.indent == indent and self._said(below)[:2].rstrip() == "-"
            return self._block(indent - 1 if listed else indent)
        if sign in "|>" and (header := _BLOCK.match(self._text[start : line.end])):
            return self._block_text(sign == ">", header[1], indent)
        if sign in "\"'":
            return self._quoted(start, sign)
        if sign in "[{":
            return self._in_brackets(start)
        return self._plain(line, start, indent)

    def _block_text(self, folds: bool, header: str, indent: int) -> Scalar:
        digits = header.strip("+-")
        width = max(indent, 0) + int(digits) if digits else None
        lines = []
        while self._at < len(self._lines):
            line = self._lines[self._at]
            if line.text < line.end:
                if line.indent <= indent:
                    break
                width = line.indent if width is None else width
            lines.append(line)
            self._at += 1
        while lines and lines[-1].text == lines[-1].end:
            lines.pop()
        builder = ViewBuilder(self._text)
        for line, following in zip(lines, [*lines[1:], None], strict=False):
            begin = min(line.start + (width or 0), line.end)
            builder.take(begin, line.end)
            if folds and following is not None and begin < line.end and following.text < following.end:
                builder.put(" ", line.end, line.next)
            elif following is not None or "-" not in header:
                builder.take(line.end, line.next)
        return Scalar(builder.view(lines[0].start if lines else len(self._text)))

    def _quoted(self, start: int, sign: str) -> Scalar:
        end = start + 1
        while True:
            end = self._text.find(sign, end)
            if end < 0:
                raise UnreadableTemplateError("a quoted text does not end", start)
            if sign == "'" and self._text.startswith("''", end):
                end += 2
            elif sign == '"' and _escaped(self._text, end):
                end += 1
            else:
                break
        self._skip_to(end + 1)
        if sign == '"':
            return Scalar(quoted_view(self._text, start + 1, end))
        builder = ViewBuilder(self._text)
        position = start + 1
        while (at := self._text.find("''", position, end)) >= 0:
            builder.take(position, at + 1)
            position = at + 2
        builder.take(position, end)
        return Scalar(builder.view(start + 1))

    def _skip_to(self, offset: int) -> None:
        """Go on with the line behind the one that `offset` stands in."""
        while self._at < len(self._lines) and self._lines[self._at].start < offset:
            self._at += 1

    def _in_brackets(self, start: int) -> Tree:
        end = _closing(self._text, start)
        if end < 0:
            raise UnreadableTemplateError("a bracket does not close", start)
        self._skip_to(end)
        try:
            return parse_json(self._text, start)
        except UnreadableTemplateError:
            return Scalar(View(self._text[start:end], start))

    def _plain(self, line: _Line, start: int, indent: int) -> Scalar:
        builder = ViewBuilder(self._text)
        end = self._without_comment(start, line.end)
        builder.take(start, end)
        while (below := self._line()) is not None and below.indent > indent:
            builder.put(" ", end, below.text)
            end = self._without_comment(below.text, below.end)
            builder.take(below.text, end)
            self._at += 1
        return Scalar(builder.view(start))

    def _without_comment(self, start: int, end: int) -> int:
        comment = _COMMENT.search(self._text, start, end)
        end = comment.start() if comment is not None else end
        while end > start and self._text[end - 1] in " \t":
            end -= 1
        return end


def _lines(text: str, start: int, end: int) -> list[_Line]:
    lines = []
    begun = False
    position = start + text.startswith("\ufeff", start)
    while position < end:
        match = _LINE.match(text, position, end)
        if match is None or match.end() == position:
            break
        said = match[2].rstrip()
        if said in ("---", "...") and not match[1]:
            if begun:
                break
        elif not (said.startswith("%") and not begun):
            begun = begun or (said[:1] not in ("", "#"))
            lines.append(_Line(position, len(match[1]), match.start(2), match.start(2) + len(said), match.end()))
        position = match.end()
    return lines


def _escaped(text: str, offset: int) -> bool:
    """Say whether an odd number of backslashes stands in front of an offset."""
    count = 0
    while text[offset - 1 - count] == "\\":
        count += 1
    return count % 2 == 1


def _closing(text: str, start: int) -> int:
    depth = 0
    quote = ""
    for offset in range(start, len(text)):
        sign = text[offset]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "[{":
            depth += 1
        elif sign in "]}":
            depth -= 1
            if not depth:
                return offset + 1
    return -1
