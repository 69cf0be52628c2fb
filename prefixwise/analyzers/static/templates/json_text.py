"""JSON with places: strings as what they say, and where each of their characters stands."""

from __future__ import annotations

import re

from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError
from prefixwise.analyzers.static.templates.trees import Mapping, Scalar, Sequence, Tree
from prefixwise.analyzers.static.templates.views import View, ViewBuilder

_TOKEN = re.compile(r'\s*(?:("(?:[^"\\]|\\.)*")|([{}\[\],:])|([^\s{}\[\],:"]+))', re.DOTALL)
_BLANK = re.compile(r"\s*")
_PAIR = r"u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})"
_ESCAPE = re.compile(rf"\\(?:{_PAIR}|u([0-9a-fA-F]{{4}})|(.))", re.DOTALL)
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_DEEPEST = 60


def parse_json(text: str, start: int = 0) -> Tree:
    """Return what JSON holds that begins at `start`; what follows it is not looked at.

    Raises:
        UnreadableTemplateError: It is no JSON, or nested too deeply.
    """
    return _Reader(text, start).value(0)


def quoted_view(text: str, start: int, end: int) -> View:
    """Return a view of what stands between double quotes at `start` and `end`, with the escapes of JSON."""
    if "\\" not in text[start:end]:
        return View(text[start:end], start)
    builder = ViewBuilder(text)
    position = start
    for escape in _ESCAPE.finditer(text, start, end):
        builder.take(position, escape.start())
        builder.put(_unescaped(escape), *escape.span())
        position = escape.end()
    builder.take(position, end)
    return builder.view(start)


def _unescaped(escape: re.Match[str]) -> str:
    high, low, code, short = escape.groups()
    if high:
        return chr(0x10000 + ((int(high, 16) - 0xD800) << 10) + (int(low, 16) - 0xDC00))
    return chr(int(code, 16)) if code else _SHORT.get(short, short)


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._at = start
        if text.startswith("\ufeff", start):
            self._at += 1

    def value(self, depth: int) -> Tree:
        token = self._next()
        if depth > _DEEPEST:
            raise UnreadableTemplateError("JSON is nested too deeply", token.start())
        if token[1]:
            return Scalar(quoted_view(self._text, token.start(1) + 1, token.end(1) - 1))
        if token[3]:
            return Scalar(View(token[3], token.start(3)))
        if token[2] == "{":
            return self._mapping(depth)
        if token[2] == "[":
            return self._sequence(depth)
        raise UnreadableTemplateError(f"{token[2]!r} is unexpected in JSON", token.start(2))

    def _next(self) -> re.Match[str]:
        token = _TOKEN.match(self._text, self._at)
        if token is None:
            raise UnreadableTemplateError("JSON is not complete", min(self._at, len(self._text)))
        self._at = token.end()
        return token

    def _peek(self) -> int:
        """Return where the next token begins."""
        blank = _BLANK.match(self._text, self._at)
        return self._at if blank is None else blank.end()

    def _skip(self, sign: str) -> bool:
        token = _TOKEN.match(self._text, self._at)
        if token is None or token[2] != sign:
            return False
        self._at = token.end()
        return True

    def _mapping(self, depth: int) -> Mapping:
        entries, places = [], []
        while not self._skip("}"):
            start = self._peek()
            key = self.value(depth + 1)
            if not isinstance(key, Scalar) or not self._skip(":"):
                raise UnreadableTemplateError("a key is missing in JSON", self._at)
            entries.append((key.text, self.value(depth + 1)))
            places.append((start, self._at))
            if not self._skip(",") and not self._comes("}"):
                raise UnreadableTemplateError("a comma is missing in JSON", self._at)
        return Mapping(tuple(entries), tuple(places))

    def _sequence(self, depth: int) -> Sequence:
        items = []
        while not self._skip("]"):
            items.append(self.value(depth + 1))
            if not self._skip(",") and not self._comes("]"):
                raise UnreadableTemplateError("a comma is missing in JSON", self._at)
        return Sequence(tuple(items))

    def _comes(self, sign: str) -> bool:
        token = _TOKEN.match(self._text, self._at)
        return token is not None and token[2] == sign
