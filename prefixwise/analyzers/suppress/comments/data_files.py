"""Comments of YAML and TOML: where `#` is no part of a text, and what reaches over several lines."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.suppress.commented import Comment, Lines

_LINE = re.compile(r"([ \t]*(?:-[ \t]+)*)([^\r\n]*)(?:\r\n|\n|\r|\Z)")
_HEADER = re.compile(r"(?:^|[:\s])[|>][+\-1-9]*[ \t]*$")
_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"\\]|\\.)*\"", re.DOTALL)
_FLOW = re.compile(r"(?:[^\s:\[{][^:\r\n]*:[ \t]+)?[\[{]")
_BEFORE_VALUE = re.compile(r"(?::[ \t]+|[!&][^\s]*[ \t]+)\Z")
_BEFORE_ITEM = re.compile(r"(?:[\[{,:]|[!&][^\s]*[ \t])[ \t]*\Z")
_NEAR = 100
"""How far in front of a quotation mark is looked for what makes it the beginning of a value."""
_KEY = re.compile(r"""(?:[^\s'"#]|"[^"\r\n]*"|'[^'\r\n]*')[^:\r\n]*:(?:\s|$)""")
_TOML = re.compile(
    r"""(?P<text>\"{3}(?:[^\\]|\\.)*?\"{3,5}|'{3}.*?'{3,5}|"(?:[^"\\\r\n]|\\.)*"|'[^'\r\n]*')|(?P<comment>\#[^\r\n]*)""",
    re.DOTALL,
)


def toml_comments(source: Source) -> tuple[list[Comment], list[Lines]]:
    """Return the comments of a TOML file, and the lines of its texts that have several."""
    comments, units = [], []
    for match in _TOML.finditer(source.text):
        if match["comment"] is not None:
            comments.append(_comment(source, match.start(), match.end()))
        else:
            units.append((source.position(match.start())[0], source.position(match.end() - 1)[0]))
    return comments, [unit for unit in units if unit[0] < unit[1]]


def yaml_comments(source: Source, start: int, end: int) -> tuple[list[Comment], list[Lines]]:
    """Return the comments of the YAML in a stretch of a file, and the lines of its texts that have several."""
    comments: list[Comment] = []
    units: list[Lines] = []
    position = start
    while position < end:
        match = _LINE.match(source.text, position, end)
        if match is None or match.end() == position:
            break
        said, following = _said(source.text, match.start(2), end)
        if following > said:
            comments.append(_comment(source, said, following))
        line = source.text[match.start(2) : said].rstrip()
        first = source.position(position)[0]
        position = _next_line(source.text, max(following, said), end)
        above = len(match[1]) if _KEY.match(line) else match[1].rfind("-")
        if _HEADER.search(line):
            position = _past_block(source.text, position, end, above)
        elif line and not line.endswith(":"):
            position = _past_deeper(source, position, end, above, comments)
        last = source.position(position - 1)[0]
        if first < last:
            units.append((first, last))
    return comments, units


def _comment(source: Source, start: int, end: int) -> Comment:
    return Comment(start, end, start + 1, source.text[start + 1 : end])


def _said(text: str, start: int, end: int) -> tuple[int, int]:
    """Return where a comment begins and ends behind what a line says; twice the line's end where it has none."""
    position = start
    before = _BEFORE_ITEM if _FLOW.match(text, start, end) else _BEFORE_VALUE
    while position < end and text[position] not in "\r\n":
        sign = text[position]
        if sign in "'\"" and (position == start or before.search(text, max(start, position - _NEAR), position)):
            quoted = _QUOTED.match(text, position, end)
            position = quoted.end() if quoted is not None else position + 1
            continue
        if sign == "#" and (position == start or text[position - 1] in " \t"):
            return position, _line_end(text, position, end)
        position += 1
    return position, position


def _line_end(text: str, position: int, end: int) -> int:
    while position < end and text[position] not in "\r\n":
        position += 1
    return position


def _next_line(text: str, position: int, end: int) -> int:
    position = _line_end(text, position, end)
    if text.startswith("\r\n", position):
        position += 1
    return min(position + 1, end)


def _rest(text: str, position: int, end: int) -> Iterator[tuple[int, str, int]]:
    """Yield (indentation, what it says, where the next one begins) of each line from `position` on."""
    while position < end:
        stop = _line_end(text, position, end)
        said = text[position:stop]
        following = _next_line(text, stop, end)
        yield len(said) - len(said.lstrip(" \t")), said.strip(), following
        position = following


def _past_block(text: str, position: int, end: int, above: int) -> int:
    """Return where a block text ends: with the first line that is indented no deeper than its key."""
    for indentation, said, following in _rest(text, position, end):
        if said and indentation <= above:
            break
        position = following
    return position


def _past_deeper(source: Source, position: int, end: int, above: int, comments: list[Comment]) -> int:
    """Return where a text that goes on over deeper lines ends, which may have comments."""
    for indentation, said, following in _rest(source.text, position, end):
        if not said or indentation <= above or said[0] == "#" or said[:2].rstrip() == "-" or _KEY.match(said):
            break
        begin, stop = _said(source.text, position + indentation, end)
        if stop > begin:
            comments.append(_comment(source, begin, stop))
        position = max(following, _next_line(source.text, max(begin, stop), end))
    return position
