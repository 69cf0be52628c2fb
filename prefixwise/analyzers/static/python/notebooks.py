"""The code of a notebook, and the way back from a place in it to a place in the file."""

from __future__ import annotations

import bisect
import re
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.static.python.modules import UnparsedError, parsed
from prefixwise.analyzers.static.sources import Source

_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SPACE = re.compile(r"\s*")
_SCALAR = re.compile(r"[-+\w.]+")
_MAGIC = re.compile(r"^([ \t]*)(?:[%!?].*|[\w.]+\?+[ \t]*)$", re.MULTILINE)
_MAGIC_VALUE = re.compile(r"(?<=[\w\]]) *= *([%!].*)$", re.MULTILINE)
_PYTHON_CELLS = ("%%time", "%%capture", "%%prun")

Place = tuple[int, int]


def is_notebook(path: str) -> bool:
    """Say whether a file is a notebook by its name."""
    return path.endswith(".ipynb")


class _Line(NamedTuple):
    """A stretch of the code: where it begins, and the JSON string that it was read from."""

    start: int
    raw_start: int
    raw_end: int
    plain: bool


class Notebook:
    """A notebook.

    Attributes:
        code: Its code cells one behind the other, what is the notebook's own (`%`, `!`) left out.
        unread: Numbers of the code cells that are not Python, from 1.

    Raises:
        UnparsedError: It is not JSON.
    """

    def __init__(self, source: Source) -> None:
        self._lines: list[_Line] = []
        self.unread: list[int] = []
        text: list[str] = []
        size = 0
        for number, literals in enumerate(_code_cells(source.text), start=1):
            lines = [str(msgspec.json.decode(source.text[start:end].encode())) for start, end in literals]
            cell = _python(lines)
            if cell is None:
                self.unread.append(number)
                continue
            at = size
            for line, (start, end) in zip(lines, literals, strict=True):
                plain = "\\" not in source.text[start + 1 : end - 1].removesuffix(r"\n")
                self._lines.append(_Line(at, start, end, plain))
                at += len(line)
            text += [cell, "\n"]
            size += len(cell) + 1
        self.code = Source(source.path, "".join(text))

    def place(self, start: int, end: int) -> Place:
        """Return where a stretch of the code stands in the file.

        A stretch of one line without escapes is given exactly, any other as the whole JSON string that holds its
        beginning.
        """
        index = bisect.bisect_right([line.start for line in self._lines], start) - 1
        if index < 0:
            return 0, 0
        line = self._lines[index]
        first, last = line.raw_start + 1 + start - line.start, line.raw_start + 1 + end - line.start
        if line.plain and last < line.raw_end:
            return first, last
        return line.raw_start, line.raw_end


def _python(lines: list[str]) -> str | None:
    """Return a cell as Python of the same length, None where it is something else."""
    text = "".join(lines)
    if text.startswith("%%") and not text.startswith(_PYTHON_CELLS):
        return None
    text = _MAGIC.sub(lambda match: (match[1] + "0").ljust(len(match[0])), text)
    text = _MAGIC_VALUE.sub(lambda match: match[0][: -len(match[1])] + "0".ljust(len(match[1])), text)
    try:
        parsed(text)
    except UnparsedError:
        return None
    return text


def _code_cells(text: str) -> list[list[Place]]:
    """Return where the string literals of the source of every code cell stand."""
    try:
        msgspec.json.decode(text.removeprefix("\ufeff").encode())  # what follows need not mind broken JSON
        book, _ = _read(text, 1 if text.startswith("\ufeff") else 0)
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        raise UnparsedError(f"a notebook whose JSON is broken ({error})") from None
    sheets = [book, *_members(book, "worksheets")]
    cells = [cell for sheet in sheets for cell in _members(sheet, "cells")]
    found = []
    for cell in cells:
        kind = cell.get("cell_type") if isinstance(cell, dict) else None
        if not isinstance(kind, tuple) or text[kind[0] : kind[1]] != '"code"':
            continue
        source = cell.get("source", cell.get("input"))
        places = [source] if isinstance(source, tuple) else source if isinstance(source, list) else []
        found.append([place for place in places if isinstance(place, tuple)])
    return found


def _members(value: object, name: str) -> list[dict[str, object]]:
    inner = value.get(name) if isinstance(value, dict) else None
    return [item for item in inner if isinstance(item, dict)] if isinstance(inner, list) else []


def _read(text: str, at: int) -> tuple[object, int]:
    """Return a JSON value, with places in place of its strings, and where it ends."""
    at = _past_space(text, at)
    if text[at] == "{":
        return _read_object(text, at + 1)
    if text[at] == "[":
        return _read_list(text, at + 1)
    match = (_STRING if text[at] == '"' else _SCALAR).match(text, at)
    end = match.end() if match is not None else at + 1
    return ((at, end) if text[at] == '"' else None), end


def _read_object(text: str, at: int) -> tuple[dict[str, object], int]:
    found: dict[str, object] = {}
    at = _past_space(text, at)
    while text[at] != "}":
        key, at = _read(text, at)
        value, at = _read(text, _past_space(text, at) + 1)
        if isinstance(key, tuple):
            found[text[key[0] + 1 : key[1] - 1]] = value
        at = _past_space(text, at)
        if text[at] == ",":
            at = _past_space(text, at + 1)
    return found, at + 1


def _read_list(text: str, at: int) -> tuple[list[object], int]:
    found: list[object] = []
    at = _past_space(text, at)
    while text[at] != "]":
        value, at = _read(text, at)
        found.append(value)
        at = _past_space(text, at)
        if text[at] == ",":
            at = _past_space(text, at + 1)
    return found, at + 1


def _past_space(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match is not None else at
