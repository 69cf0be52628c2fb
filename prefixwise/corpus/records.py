"""JSON records out of a stream: one a line, the elements of one array, or one document.

Which of them a file holds is seen on its first lines. Records keep their raw bytes; what cannot be JSON at all
is handed on as it is, for the reader to count as broken.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

_LINE_OF_ITS_OWN = re.compile(r"\n[{[]")


class RawRecord(NamedTuple):
    """One record: its 0-based number in the file, its 1-based line (0 inside a document), its bytes."""

    number: int
    line: int
    data: bytes


Records = Callable[[io.BufferedReader], Iterable[RawRecord]]
"""Splits a file into records."""


def raw_records(stream: io.BufferedReader) -> Iterator[RawRecord]:
    """Yield the records of `stream`, empty lines left out."""
    first_line, first = _next_line(stream, 0)
    if not first:
        return
    second_line, second = _next_line(stream, first_line)
    is_json = _is_json(first)
    if is_json or (second and _is_json(second) and first.strip() != b"["):
        if not second:
            yield from _document(first, first_line, is_json=is_json)
            return
        number = 0
        for line, data in ((first_line, first), (second_line, second)):
            yield RawRecord(number, line, data)
            number += 1
        line = second_line
        for data in stream:
            line += 1
            if not data.isspace():
                yield RawRecord(number, line, data)
                number += 1
        return
    yield from _document(first + second + stream.read(), 0)


def _next_line(stream: io.BufferedReader, line: int) -> tuple[int, bytes]:
    """Return the number and the bytes of the next line that is not blank; empty bytes at the end."""
    for data in stream:
        line += 1
        if not data.isspace():
            return line, data
    return line, b""


def _is_json(data: bytes) -> bool:
    try:
        msgspec.json.decode(data, type=msgspec.Raw)
    except (msgspec.MsgspecError, RecursionError):
        return False
    return True


def _document(data: bytes, line: int, *, is_json: bool = False) -> Iterator[RawRecord]:
    """Yield the elements of an array of records, or the document itself; several documents one after another.

    Args:
        data: The document.
        line: Where it stands, 0 where it has no line of its own.
        is_json: Whether it is known to be JSON.
    """
    try:
        elements = msgspec.json.decode(data, type=list[msgspec.Raw])
    except (msgspec.MsgspecError, RecursionError):
        elements = None
    if elements is not None and not _is_token_list(elements):
        for number, element in enumerate(elements):
            yield RawRecord(number, 0, bytes(element))
    elif elements is not None or is_json or _is_json(data):
        yield RawRecord(0, line, data)
    else:
        yield from _concatenated(data)


def _is_token_list(elements: list[msgspec.Raw]) -> bool:
    return bool(elements) and all(bytes(element).strip().isdigit() for element in elements)


def _concatenated(data: bytes) -> Iterator[RawRecord]:
    """Yield documents that follow one another; behind a broken one, go on where a line begins anew."""
    text = data.decode("utf-8", "replace")
    decoder = json.JSONDecoder(strict=False)
    at = number = counted = 0
    line = 1
    while at < len(text):
        if text[at].isspace():
            at += 1
            continue
        try:
            _, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = _next_start(text, at)
        line += text.count("\n", counted, at)
        counted = at
        yield RawRecord(number, line, text[at:end].encode("utf-8", "replace"))
        number += 1
        at = end


def _next_start(text: str, at: int) -> int:
    """Return where the next document may begin: at the next line, behind a bracket at the next that has one."""
    if text[at] in "{[":
        found = _LINE_OF_ITS_OWN.search(text, at)
        return found.start() + 1 if found else len(text)
    return text.find("\n", at) + 1 or len(text)


def _finite(text: str) -> float | None:
    number = float(text)
    return number if math.isfinite(number) else None


def repaired(data: bytes) -> bytes | None:
    """Return `data` as strict JSON if it is JSON by looser rules, else None.

    Accepts what real logs hold beside the standard: lone surrogate escapes (become U+FFFD), NaN, infinities and
    numbers too large (become null), raw control characters, bytes that are no UTF-8 (become U+FFFD).
    """
    try:
        value: Any = json.loads(
            data.decode("utf-8", "replace"), strict=False, parse_constant=lambda _name: None, parse_float=_finite
        )
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
    except (ValueError, RecursionError):
        return None
