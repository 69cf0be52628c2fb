"""By what an export format is told: the places of values in the first records of a file."""

from __future__ import annotations

import functools
import re
from typing import Any

import msgspec

_LISTS = "*"
_DEEPEST = 5
_RECORDS = 12
_ELEMENTS = 3
_PIECE = re.compile(rb'\s*(?:("(?:[^"\\]|\\.)*")|([\[\]{}:,])|([^\s\[\]{}:,"]+))')


@functools.lru_cache(maxsize=4)
def key_paths(head: bytes) -> frozenset[str]:
    """Return the places of values in the first records, keys joined by `/`, `*` for the elements of a list.

    Records may be lines, the elements of one list, or one document; the last may be cut off anywhere.
    """
    found: set[str] = set()
    for line in head.split(b"\n", _RECORDS)[:_RECORDS]:
        try:
            _collect(msgspec.json.decode(line), "", found, 0)
        except (msgspec.MsgspecError, RecursionError):
            if not found:
                return _scanned(head)
            break
    return frozenset(path.removeprefix("*/") for path in found)


def _collect(value: Any, at: str, found: set[str], depth: int) -> None:
    depth += 1
    prefix = f"{at}/" if at else ""
    if isinstance(value, dict):
        for key, inner in value.items():
            found.add(prefix + key)
            if depth < _DEEPEST and isinstance(inner, (dict, list)):
                _collect(inner, prefix + key, found, depth)
    elif isinstance(value, list):
        for inner in value[:_ELEMENTS]:
            if isinstance(inner, (dict, list)):
                _collect(inner, prefix + _LISTS, found, depth)


def _scanned(head: bytes) -> frozenset[str]:
    """Do the same without decoding, for a document that is cut off or spread over lines."""
    found: set[str] = set()
    way: list[str] = []
    last = b""
    key_is_next = False
    for match in _PIECE.finditer(head):
        text, mark, _ = match.groups()
        if text is not None and key_is_next:
            last = text
            continue
        if mark in (b"{", b"["):
            way.append(_LISTS if mark == b"[" else "")
            key_is_next = mark == b"{"
        elif mark in (b"}", b"]"):
            if way:
                way.pop()
            key_is_next = False
        elif mark == b":":
            if way and way[-1] != _LISTS:
                way[-1] = last[1:-1].decode("utf-8", "replace")
                if len(way) <= _DEEPEST:
                    found.add("/".join(way))
            key_is_next = False
        elif mark == b",":
            key_is_next = bool(way) and way[-1] != _LISTS
    return frozenset(path.removeprefix("*/") for path in found)


def missing(signs: tuple[frozenset[str], ...], paths: frozenset[str]) -> frozenset[str]:
    """Return the fewest places that a format wants and `paths` lack; empty where one set of signs is all there."""
    return min((sign - paths for sign in signs), key=len, default=frozenset())
