"""String literals of Python as they are written: their quotes, what is filled in, and where lines break."""

from __future__ import annotations

import re
from typing import NamedTuple

from prefixwise.analyzers.fixes.passages import Body

_OPENING = re.compile(r"""([rRbBuUfF]{0,2})("{3}|'{3}|"|')""")
_BETWEEN = re.compile(r"(?:\s|\\\r?\n|#[^\r\n]*)*")
_BREAKS = re.compile(r"\r\n|\n|\r|(?:\\r)?\\n")
_RAW_BREAKS = re.compile(r"\r\n|\n|\r")


class Literal(NamedTuple):
    """One literal: its place, its prefix and quotes, the place of what it says, and of what is filled in there."""

    start: int
    end: int
    prefix: str
    quote: str
    low: int
    high: int
    values: tuple[tuple[int, int], ...]

    def body(self, text: str) -> Body:
        """Return what it says as the text of a message."""
        breaks = _RAW_BREAKS if "r" in self.prefix.lower() else _BREAKS
        return Body(text, self.low, self.high, self.values, (), breaks)


def literals(text: str, start: int, end: int) -> tuple[Literal, ...]:
    """Return the literals that make up one string: one, or several side by side. None of them where one is not read."""
    found: list[Literal] = []
    at = start
    while at < end:
        one = _literal(text, at)
        if one is None or one.end > end:
            return ()
        found.append(one)
        gap = _BETWEEN.match(text, one.end)
        at = one.end if gap is None else gap.end()
    return tuple(found)


def _literal(text: str, start: int) -> Literal | None:
    opening = _OPENING.match(text, start)
    if opening is None:
        return None
    prefix, quote = opening[1], opening[2]
    is_filled, is_raw = "f" in prefix.lower(), "r" in prefix.lower()
    values: list[tuple[int, int]] = []
    at = opening.end()
    while at < len(text):
        if text.startswith(quote, at):
            return Literal(start, at + len(quote), prefix, quote, opening.end(), at, tuple(values))
        if text[at] == "\\" and not (is_raw and text[at + 1 : at + 2] in "{}"):
            at += 2
        elif is_filled and text[at] == "{" and not text.startswith("{{", at):
            stop = _value_end(text, at + 1, quote)
            if stop is None:
                return None
            values.append((at, stop))
            at = stop
        elif is_filled and text.startswith(("{{", "}}"), at):
            at += 2
        else:
            at += 1
    return None


def _value_end(text: str, at: int, quote: str) -> int | None:
    """Return the end of what is filled in, behind its bracket; None where it is not read."""
    depth = 1
    while at < len(text):
        if text.startswith(quote, at):  # since Python 3.12 the same quotes may stand inside; older readers end here
            return None
        if text[at] in "\"'":
            close = text.find(text[at], at + 1)
            if close < 0:
                return None
            at = close
        elif text[at] in "{[(":
            depth += 1
        elif text[at] in "}])":
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return None
