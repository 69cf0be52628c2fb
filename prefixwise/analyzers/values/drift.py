"""Differences that change no word: white space, line ends, Unicode forms, escapes, ways to write the same JSON."""

from __future__ import annotations

import html
import re
import unicodedata
from typing import Any

import msgspec

_SPACES = re.compile(r"[ \t\n\r\f\v]+")
_TRAILING = re.compile(r"(?<![ \t])[ \t]++(?=\n|\Z)")
_LEADING = re.compile(r"(?m)^[ \t]+")
_CODE = re.compile(r"\\u([0-9a-fA-F]{4})")
_ESCAPE = re.compile(r"\\([\"\\/bfnrt])")
_NAMED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
_QUOTES = str.maketrans(
    {**dict.fromkeys("‘’‚′", "'"), **dict.fromkeys("“”„″«»", '"'), **dict.fromkeys("‐‑‒–—−", "-"), "…": "..."}
)
_INVISIBLE = re.compile("[\u200b-\u200f\u2060\ufe00-\ufe0f\ufeff\u00ad]")
_BLANKS = re.compile("[\u00a0\u2000-\u200a\u202f\u205f\u3000]")


def line_ends(before: str, after: str) -> str | None:
    """Return in words how two texts differ if line ends are all they differ in; None otherwise."""
    if before == after or not ("\r" in before or "\r" in after):
        return None
    if before.replace("\r\n", "\n").replace("\r", "\n") != after.replace("\r\n", "\n").replace("\r", "\n"):
        return None
    return f"line ends go from {_ends(before)} to {_ends(after)}"


def _ends(text: str) -> str:
    pairs = text.count("\r\n")
    kinds = [("CRLF", pairs), ("CR", text.count("\r") - pairs), ("LF", text.count("\n") - pairs)]
    return " and ".join(name for name, count in kinds if count) or "none"


def white_space(before: str, after: str) -> str | None:
    """Return in words which white space two texts differ in if that is all they differ in; None otherwise."""
    if before == after or _SPACES.sub("", before) != _SPACES.sub("", after):
        return None
    if before.rstrip() == after.rstrip():
        return "white space at the end"
    if before.lstrip() == after.lstrip():
        return "white space at the start"
    if before.strip() == after.strip():
        return "white space at both ends"
    if _TRAILING.sub("", before) == _TRAILING.sub("", after):
        return "white space at the ends of lines"
    if _LEADING.sub("", before) == _LEADING.sub("", after):
        return "indentation"
    if _SPACES.sub(" ", before) == _SPACES.sub(" ", after):
        return "runs of white space"
    return "white space between other characters"


def unicode_form(before: str, after: str) -> str | None:
    """Return in words in which Unicode form two texts differ if that is all they differ in; None otherwise."""
    if before == after or (before.isascii() and after.isascii()):
        return None
    if unicodedata.normalize("NFC", before) == unicodedata.normalize("NFC", after):
        return f"normal form goes from {_form(before)} to {_form(after)}"
    if _BLANKS.sub(" ", before) == _BLANKS.sub(" ", after):
        return "no-break or other special spaces in place of plain ones"
    if _INVISIBLE.sub("", before) == _INVISIBLE.sub("", after):
        return "invisible characters come or go"
    if before.translate(_QUOTES) == after.translate(_QUOTES):
        return "typographic quotes or dashes in place of plain ones"
    if plain_characters(before) == plain_characters(after):
        return "compatibility characters in place of plain ones"
    if folded(before) == folded(after):
        return "accents come or go"
    return None


def _form(text: str) -> str:
    return next((form for form in ("NFC", "NFD") if unicodedata.is_normalized(form, text)), "a mixed form")


def plain_spaces(text: str) -> str:
    """Return a text with plain spaces, without invisible characters."""
    return _INVISIBLE.sub("", _BLANKS.sub(" ", text))


def plain_characters(text: str) -> str:
    """Return a text with plain quotes, dashes and letters for those that only look otherwise."""
    return unicodedata.normalize("NFKC", _INVISIBLE.sub("", text)).translate(_QUOTES)


def folded(text: str) -> str:
    """Return a text without accents."""
    return "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c))


def unicode_escapes(before: str, after: str) -> str | None:
    r"""Return in words how two texts differ if one writes `\u00e5` for a character; None otherwise."""
    if before == after or "\\u" not in before + after:
        return None
    return r"\u escapes in place of characters" if spelled_out(before) == spelled_out(after) else None


def json_escapes(before: str, after: str) -> str | None:
    r"""Return in words how two texts differ if one writes `\"` or `\n` for a character; None otherwise."""
    if before == after or "\\" not in before + after:
        return None
    one, other = (
        spelled_out(_ESCAPE.sub(lambda match: _NAMED.get(match[1], match[1]), text)) for text in (before, after)
    )
    return "escapes in place of characters" if one == other else None


def spelled_out(text: str) -> str:
    r"""Return a text with the characters that `\u` escapes stand for."""
    joined = _CODE.sub(lambda match: chr(int(match[1], 16)), text)
    return joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def references(before: str, after: str) -> str | None:
    """Return in words how two texts differ if one writes `&amp;` for a character; None otherwise."""
    if before == after or "&" not in before + after or html.unescape(before) != html.unescape(after):
        return None
    return "character references in place of characters"


def json_equal(before: str, after: str) -> str | None:
    """Return in words how two JSON texts write the same value differently; None where they are not both JSON or differ.

    Numbers are equal by value: `2.0` is `2`.
    """
    if before == after:
        return None
    try:
        return _ways(before, after)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return None


def _ways(before: str, after: str) -> str | None:
    one, other = msgspec.json.decode(before), msgspec.json.decode(after)
    if not isinstance(one, (dict, list)) or _strict(one) != _strict(other):
        return None
    ways = []
    if msgspec.json.encode(one) != msgspec.json.encode(other):
        exact = msgspec.json.encode(one, order="deterministic") == msgspec.json.encode(other, order="deterministic")
        ways += ["number spelling"] if not exact else []
        ways += ["key order"] if list(_keys(one)) != list(_keys(other)) else []
    stripped = _SPACES.sub("", before), _SPACES.sub("", after)
    ways += ["spacing"] if len(before) - len(stripped[0]) != len(after) - len(stripped[1]) else []
    ways += ["escapes"] if before.count("\\") != after.count("\\") else []
    return "the same JSON with other " + (" and ".join(ways) or "spelling")


def _strict(value: Any) -> Any:
    """Return a value that is equal to another exactly if both are the same JSON: `true` is not `1`."""
    if isinstance(value, dict):
        return {key: _strict(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_strict(part) for part in value]
    return (str(value),) if value is None or isinstance(value, bool) else value


def _keys(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [key for name, part in value.items() for key in (name, *_keys(part))]
    return [key for part in value for key in _keys(part)] if isinstance(value, list) else []
