"""The finest unit that a time format prints."""

from __future__ import annotations

import re

_PERCENT = (
    ("second", "Sfs cXTrQLN+"),
    ("minute", "MR"),
    ("hour", "HIklpP"),
    ("day", "daAjexDFuwvGg"),
    ("month", "bBmhUWV"),
    ("year", "YyCG"),
)
_DIRECTIVE = re.compile(r"%[-_0^#]?\d*([A-Za-z+])")
_QUOTED_TEXT = re.compile(r"'[^']*'|\[[^\]]*\]")
_LETTERS = (
    ("second", re.compile(r"(?:mm?|i|04)\W*(?:s+|05)|LTS")),
    ("minute", re.compile(r"(?:[HhKkG]{1,2}|15)\W*(?:mm?|i|04)|L{3,4}|LT")),
    ("hour", re.compile(r"[HhKkG]|\b15\b")),
    ("day", re.compile(r"[DdEejlL]|\b02\b")),
    ("month", re.compile(r"[MmFn]|\b01\b")),
    ("year", re.compile(r"[Yyu]|2006")),
)
_WORD = re.compile(r"[A-Za-z]+")
_FORMAT_WORD = re.compile(r"([A-Za-z])\1*|(?:yyyy|YYYY|yy|YY|MM|dd|DD|HH|hh|mm|ss|SSS?|T)+|Ymd|Hi|His|[jdD][So]|LTS?")


def finest_unit(format: str) -> str:
    """Return `second`, `minute`, `hour`, `day`, `month` or `year`; '' for what is no time format.

    Formats with per cent signs are read, and those made of letters as JavaScript, Java, PHP and Go write them.
    """
    directives = set(_DIRECTIVE.findall(format))
    if directives:
        return next((unit for unit, letters in _PERCENT if directives & set(letters)), "")
    bare = _QUOTED_TEXT.sub(" ", format)
    if not all(map(_FORMAT_WORD.fullmatch, _WORD.findall(bare))):
        return ""
    return next((unit for unit, letters in _LETTERS if letters.search(bare)), "")
