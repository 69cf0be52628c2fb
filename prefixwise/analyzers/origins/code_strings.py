"""String literals of Python, JavaScript, TypeScript and TOML as what they say, without parsing the code around them.

Literals that stand side by side or are added are one text. What is not understood ends a text; nothing is an error, so
code that is half written, or of a newer version of its language, is read as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from prefixwise.analyzers.origins.holes import BREAK, Gap, Piece


class Language(StrEnum):
    """Whose rules for literals hold."""

    PYTHON = "python"
    SCRIPT = "script"
    TOML = "toml"


_LONGEST_GAP = 600
_WIDEST = 300
"""Characters of code between two literals of one text."""
_DEEPEST = 12

_HASHED = re.compile(r"#[^\n]*|(?P<quote>\"\"\"|'''|\"|')")
_PREFIX = re.compile(r"(?<!\w)[rbuft]{1,3}\Z", re.IGNORECASE)
_OPENINGS = {
    Language.PYTHON: _HASHED,
    Language.SCRIPT: re.compile(
        r"//[^\n]*|/\*.*?(?:\*/|\Z)|[=(,:\[!&|?{;]\s*/(?![/*\s])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n\[])+/"
        r"|(?P<quote>[\"'`])",
        re.DOTALL,
    ),
    Language.TOML: _HASHED,
}
_ESCAPE = re.compile(
    r"\\(?:x(?P<x>[0-9a-fA-F]{2})|u(?P<u>[0-9a-fA-F]{4})|u\{(?P<p>[0-9a-fA-F]{1,6})\}|U(?P<l>[0-9a-fA-F]{8})"
    r"|N\{(?P<n>[^{}\n]{1,80})\}|(?P<o>[0-7]{1,3})|(?P<c>\r\n|.))",
    re.DOTALL,
)
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "a": "\a", "\n": "", "\r\n": ""}
_STRING_STOPS = {quote: re.compile(rf"\\.|{quote}", re.DOTALL) for quote in "\"'"}
_STRING_STOPS["`"] = re.compile(r"\\.|\$\{|`", re.DOTALL)
_INNER = re.compile(r"[\"'`{}()\[\]]")
# What is filled in later, wherever the text goes: `{{ x }}`, `{% if %}`, `${x}`, `%(x)s`, `{x}`.
_PLACEHOLDER = re.compile(
    r"\{\{\{?[^{}\n]{1,300}\}\}\}?|\{%[^%\n]{1,300}%\}|\$\{[^{}\n]{1,200}\}|"
    r"%\([^()\n]{1,80}\)[-#0 +]*\d*(?:\.\d+)?[a-zA-Z]"
    r"|\{[A-Za-z_][\w.]{0,80}(?:\[[\w'\"]{1,40}\])*(?:![rsa])?(?::[^{}\n]{0,40})?\}"
)
_POSITIONAL = re.compile(r"\{\d{0,3}(?:![rsa])?(?::[^{}\n]{0,40})?\}")
_PERCENT = re.compile(r"%[-#0 +]*\d*(?:\.\d+)?[diouxXeEfFgGrsa]")
_DOLLAR = re.compile(r"\$[A-Za-z_]\w*")

_SIDE_BY_SIDE = re.compile(r"(?:\s|\\\r?\n|#[^\n]*\n)*")
_ADDED = re.compile(r"[\s()\\]*\+[\s()\\]*")
_NAME = r"[\w.][\w.()\[\], \t]*"
_FILLED = re.compile(rf"[\s)\\]*\+\s*(?P<value>{_NAME}(?:\s*\+\s*{_NAME})*?)\s*\+[\s(\\]*")
_FILLED_BEHIND = re.compile(r"[\s)\\]*\+\s*(?P<value>\(?[A-Za-z_][\w.]*(?:\([^()\n]{0,80}\))?)")
_FILLED_BEFORE = re.compile(r"(?P<value>[A-Za-z_][\w.]*(?:\([^()\n]{0,80}\))?\)?)\s*\+[\s(\\]*$")


class _Literal(NamedTuple):
    start: int
    end: int
    pieces: tuple[str | Gap, ...]


def code_strings(text: str, language: Language) -> Iterator[Piece]:
    """Yield what the string literals of code are made of; a break stands between texts."""
    last: _Literal | None = None
    for literal in _literals(text, language):
        yield from _between(text, last, literal, language)
        yield from literal.pieces
        last = literal
    if last is not None:
        yield from _behind(text, last)


def _between(text: str, last: _Literal | None, literal: _Literal, language: Language) -> Iterator[Piece]:
    low = 0 if last is None else last.end
    if last is not None and literal.start - low <= _WIDEST and language is not Language.TOML:
        code = text[low : literal.start]
        if _ADDED.fullmatch(code) or (language is Language.PYTHON and _SIDE_BY_SIDE.fullmatch(code)):
            return
        filled = _FILLED.fullmatch(code)
        if filled is not None:
            yield _gap(text, low + filled.start("value"), low + filled.end("value"))
            return
    if last is not None:
        yield from _behind(text, last)
    yield BREAK
    start = max(low, literal.start - _WIDEST)
    code = text[start : literal.start]
    before = _FILLED_BEFORE.search(code) if code.rstrip(" \t\r\n(\\").endswith("+") else None
    if before is not None:
        yield Gap(start + before.start("value"), start + before.end("value"))


def _gap(text: str, start: int, end: int) -> Gap:
    return Gap(start, start + len(text[start:end].rstrip()))


def _behind(text: str, last: _Literal) -> Iterator[Piece]:
    found = _FILLED_BEHIND.match(text, last.end, last.end + _WIDEST)
    if found is not None:
        yield Gap(*found.span("value"))


def _literals(text: str, language: Language) -> Iterator[_Literal]:
    opening = _OPENINGS[language]
    at = 0
    while (match := opening.search(text, at)) is not None:
        at = match.end()
        quote = match["quote"]
        if quote is None:
            continue
        start = match.start()
        before = _PREFIX.search(text[max(0, start - 4) : start]) if language is Language.PYTHON else None
        prefix = before[0].lower() if before is not None else ""
        literal = _literal(text, start - len(prefix), match.end(), prefix, quote, language)
        if literal is not None:
            at = literal.end
            if "b" not in prefix:
                yield literal


def _literal(text: str, start: int, at: int, prefix: str, quote: str, language: Language) -> _Literal | None:
    """Return the literal that opens in front of `at`, None where it does not end."""
    filled = "f" in prefix or "t" in prefix or quote == "`"
    raw = "r" in prefix or (language is Language.TOML and quote[0] == "'")
    many_lines = len(quote) == 3 or quote == "`"
    stops = _stops(quote, filled=filled, many_lines=many_lines, dollar=quote == "`")
    pieces: list[str | Gap] = []
    low = at
    while (stop := stops.search(text, at)) is not None:
        said = stop[0]
        if said == quote:
            rest = [_said(text[low : stop.start()], raw=raw)]
            pieces += rest if filled else _with_placeholders(text, low, stop.start(), stop.end(), raw=raw)
            return _Literal(start, stop.end(), tuple(pieces))
        if said[0] == "\\" or said in ("{{", "}}"):
            if said in ("{{", "}}"):
                pieces.append(_said(text[low : stop.start() + 1], raw=raw))
                low = stop.end()
            at = stop.end()
            continue
        if said[0] in "\r\n":
            return None
        end = _closing(text, stop.end(), 0)
        if end is None:
            return None
        pieces += [_said(text[low : stop.start()], raw=raw), Gap(stop.start(), end)]
        low = at = end
    return None


_STOPS: dict[tuple[str, bool, bool, bool], re.Pattern[str]] = {}


def _stops(quote: str, *, filled: bool, many_lines: bool, dollar: bool) -> re.Pattern[str]:
    key = (quote, filled, many_lines, dollar)
    if key not in _STOPS:
        parts = [r"\\(?:\r\n|.)", re.escape(quote)]
        if filled:
            parts += [r"\$\{"] if dollar else [r"\{\{", r"\}\}", r"\{"]
        if not many_lines:
            parts.append(r"[\r\n]")
        _STOPS[key] = re.compile("|".join(parts), re.DOTALL)
    return _STOPS[key]


def _closing(text: str, at: int, depth: int) -> int | None:
    """Return the end of what is filled in, behind its bracket; None where that is not near."""
    limit, brackets = at + _LONGEST_GAP, 1
    while depth < _DEEPEST and (found := _INNER.search(text, at, limit)) is not None:
        at = found.end()
        if found[0] in "{([":
            brackets += 1
        elif found[0] in "})]":
            brackets -= 1
            if not brackets:
                return at
        else:
            end = _string_end(text, at, found[0], limit, depth)
            if end is None:
                return None
            at = end
    return None


def _string_end(text: str, at: int, quote: str, limit: int, depth: int) -> int | None:
    while (found := _STRING_STOPS[quote].search(text, at, limit)) is not None:
        at = found.end()
        if found[0] == quote:
            return at
        if found[0] == "${":
            end = _closing(text, at, depth + 1)
            if end is None:
                return None
            at = end
    return None


def _with_placeholders(text: str, low: int, high: int, behind: int, *, raw: bool) -> Iterator[str | Gap]:
    """Yield what a plain literal is made of: it may be a template that is filled in elsewhere."""
    patterns = [_PLACEHOLDER]
    after = text[behind : behind + 40].lstrip(" \t\r\n)")
    if after.startswith(".format("):
        patterns.append(_POSITIONAL)
    if after.startswith("%"):
        patterns.append(_PERCENT)
    if text[max(0, low - 40) : low].rstrip("\"'").endswith("Template("):
        patterns.append(_DOLLAR)
    places: list[tuple[int, int]] = []
    if "{" in text[low:high] or "%" in text[low:high] or "$" in text[low:high]:
        places = sorted(match.span() for pattern in patterns for match in pattern.finditer(text, low, high))
    at = low
    for start, end in places:
        if start >= at:
            yield _said(text[at:start], raw=raw)
            yield Gap(start, end)
            at = end
    yield _said(text[at:high], raw=raw)


def _said(written: str, *, raw: bool) -> str:
    if raw or "\\" not in written:
        return written
    said = _ESCAPE.sub(_unescaped, written)
    return _PAIR.sub(lambda pair: pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le"), said)


def _unescaped(escape: re.Match[str]) -> str:
    code = escape["x"] or escape["u"] or escape["p"] or escape["l"]
    if code is not None:
        number = int(code, 16)
        return chr(number) if number <= 0x10FFFF else ""
    if escape["n"] is not None:
        import unicodedata

        try:
            return unicodedata.lookup(escape["n"])
        except KeyError:
            return escape[0]
    if escape["o"] is not None:
        return chr(int(escape["o"], 8))
    return _SHORT.get(escape["c"], escape["c"])
