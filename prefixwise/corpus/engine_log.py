"""What the text logs of engines have in common: lines, their times, and Python literals in them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator

from prefixwise.core.times import ABSENT, epoch_seconds
from prefixwise.corpus.raw_json import encoded
from prefixwise.corpus.records import RawRecord
from prefixwise.corpus.sources import PROMPT_SUFFIXES

_ISO = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?")
_SHORT = re.compile(r"(?:DEBUG|INFO|WARNING|ERROR|CRITICAL) (\d\d-\d\d) (\d\d:\d\d:\d\d)(?:[.,](\d+))?")
_COLOURS = re.compile(rb"\x1b\[[0-9;]*m")
_PREFIX = 120
NO_LOGS = (*PROMPT_SUFFIXES, ".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
"""Names of files that are no engine's log, whatever their texts speak of."""
_HALF_YEAR = 6
_FIRST_YEAR = 1972  # a leap year: 29 February may come
_STRING = r"""'[^'\\]*+(?:\\.[^'\\]*+)*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+\""""
_CUT_STRING = _STRING.replace("+'|", "+'?|") + "?"
_NUMBERS = r"\[[\d,\s]*\]"
_LITERAL = re.compile(rf"{_STRING}|{_NUMBERS}|None", re.DOTALL)
# One plain field of a printed object, which most are; nested ones are read piece by piece.
_FIELD = re.compile(rf"""(\w+)=({_STRING}|{_NUMBERS}|[^'"\[\](){{}},=]*)(?:, |(\)))""", re.DOTALL)
_NAME = re.compile(r"(\w+)=")
_PIECE = re.compile(rf"""({_CUT_STRING}|{_NUMBERS}|[^'"\[\](){{}},=]+|.)""", re.DOTALL)


def log_lines(stream: io.BufferedReader) -> Iterator[RawRecord]:
    """Yield the lines of a text log, colours taken off."""
    number = 0
    for line, data in enumerate(stream, 1):
        if data.isspace():
            continue
        if b"\x1b" in data:
            data = _COLOURS.sub(b"", data)
        yield RawRecord(number, line, data)
        number += 1


class Clock:
    """Reads the times of lines; where they hold no year, the first is 1972 and a month that goes back is the next."""

    def __init__(self) -> None:
        self._year = _FIRST_YEAR
        self._month = 0

    def time(self, line: str) -> float:
        """Return seconds since the epoch, NaN where the line begins with no time."""
        head = line[:_PREFIX]
        if found := _ISO.search(head):
            return epoch_seconds(found.group().replace(",", "."))
        short = _SHORT.search(head)
        if short is None:
            return ABSENT
        day, hour, fraction = short.groups()
        month = int(day[:2])
        if self._month - month > _HALF_YEAR:  # from December to January, and not a line out of order
            self._year += 1
        elif month - self._month > _HALF_YEAR and self._month:
            self._year -= 1
        self._month = month
        return epoch_seconds(f"{self._year}-{day}T{hour}.{fraction or 0}+00:00")


def literal_at(text: str, at: int) -> tuple[bytes, int]:
    """Return (JSON, end) of the Python string or list of numbers that begins at `at`; b'' for None and the rest."""
    found = _LITERAL.match(text, at)
    return (b"", at) if found is None else (as_json(found.group()), found.end())


def as_json(source: str) -> bytes:
    """Return a Python string or a flat list of numbers as JSON; b'' for anything else."""
    if source[:1] == "[":
        return source.encode() if source[-1:] == "]" and len(source) > 2 else b""
    if source[:1] not in ("'", '"') or source[-1:] != source[:1] or len(source) < 2:
        return b""
    text = source[1:-1]
    if "\\" in text:  # the escapes that `repr` writes are those of the codec, which knows no letters beyond Latin-1
        text = text.encode("latin-1", "backslashreplace").decode("unicode_escape", "replace")
    return encoded(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


def fields_at(text: str, at: int) -> tuple[dict[str, str], int]:
    """Return (source of each field, where it ends) of a Python object or mapping that is printed at `at`.

    Args:
        text: Holds `Name(field=value, …)` or `{'field': value, …}`.
        at: Where its bracket stands.
    """
    fields: dict[str, str] = {}
    at += 1
    while True:
        if quick := _FIELD.match(text, at):
            fields[quick[1]] = quick[2]
            at = quick.end()
            if quick[3]:
                return fields, at
            continue
        source, mark, at = _member(text, at)
        if named := _NAME.match(source):
            fields[named[1]] = source[named.end() :]
        elif (pair := _pair(source)) is not None:
            fields[pair[0]] = pair[1]
        if mark != ",":
            return fields, at
        at += text[at : at + 1] == " "


def _member(text: str, at: int) -> tuple[str, str, int]:
    """Return (source, mark, end) of what stands from `at` to the comma or bracket that ends it."""
    depth = 0
    for match in _PIECE.finditer(text, at):
        piece = match.group()
        if piece in ("(", "[", "{"):
            depth += 1
        elif depth == 0 and piece in (")", "]", "}", ","):
            return text[at : match.start()].strip(), piece, match.end()
        elif piece in (")", "]", "}"):
            depth -= 1
    return text[at:].strip(), "", len(text)


def _pair(source: str) -> tuple[str, str] | None:
    """Return (key, source of the value) of one member of a printed mapping."""
    key = _LITERAL.match(source)
    if key is None:
        return None
    rest = source[key.end() :].lstrip()
    return (key.group()[1:-1], rest[1:].strip()) if rest[:1] == ":" else None
