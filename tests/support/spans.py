"""Texts of two calls in one: `Time: «09:14¦09:15»` is `Time: 09:14` in the earlier and `Time: 09:15` in the later."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from prefixwise.analyzers.values.describe import Description, describe
from prefixwise.analyzers.values.hunks import hunks

_PLACE = re.compile("«([^«»¦]*)¦([^«»¦]*)»")
_ROW = re.compile(r"([a-z ]+?)(?: \(([a-z-]+)\))?: (.*)")
_ESCAPE = re.compile(r"\\(?:u([0-9a-f]{4})|(.))")
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "\\": "\\"}


class Row(NamedTuple):
    """A row of a table of places: what a person would call its first difference."""

    kind: str
    precision: str | None
    text: str


def rows(table: Path) -> list[Row]:
    """Return the rows of a table of places; its first lines say how it is written."""
    lines = [line for line in table.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    matches = [_ROW.fullmatch(line) for line in lines]
    return [Row(match[1], match[2], _ESCAPE.sub(_unescaped, match[3])) for match in matches if match]


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16)) if match[1] else _NAMED[match[2]]


def sides(row: str) -> tuple[str, str]:
    """Return the earlier and the later text of a row."""
    return _PLACE.sub(lambda match: match[1], row), _PLACE.sub(lambda match: match[2], row)


def described(row: str, series: tuple[str, ...] = ()) -> Description:
    """Return what the first difference of a row is said to be."""
    before, after = sides(row)
    return describe(before, after, hunks(before, after)[0], series)
