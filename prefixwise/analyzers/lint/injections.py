"""Stretches of text that were put into a message for one call: reminders, notes of the harness, context."""

from __future__ import annotations

import re
from typing import NamedTuple

from prefixwise.analyzers.values.hunks import common_prefix, common_suffix

_TAGGED = re.compile(r"(?s)<([A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,300})?>.*</\1>")
_BRACKETED = re.compile(r"(?s)\[[^\[\]]{8,}\]|\([^()]{12,}\)|\{\{[^{}]{8,}\}\}|-{3,}\n.*\n-{3,}")
_OPENING_TAG = re.compile(r"\s*<([A-Za-z][\w.:-]{0,60})")
_WORD = re.compile(r"[^\W\d_]{2,}")
_LEAST = 8


class Around(NamedTuple):
    """A text that holds another one: what stands before and after that."""

    before: str
    after: str


def around(longer: str, shorter: str) -> Around | None:
    """Return what stands around `shorter` in `longer`, white space at its ends apart; None where it does not hold it.

    Where it is held more than once, the last place counts.
    """
    inner = shorter.strip()
    at = longer.rfind(inner) if inner else -1
    return Around(longer[:at], longer[at + len(inner) :]) if at >= 0 and len(longer) > len(inner) else None


def removed(before: str, after: str) -> str | None:
    """Return the one stretch that the earlier text has more than the later one, None where that is not all.

    White space at the ends of the later text may have gone with it.
    """
    for less in dict.fromkeys((after, after.strip())):
        kept = common_prefix(before, less)
        tail = common_suffix(before, less, min(len(before), len(less)) - kept)
        if kept + tail == len(less) < len(before):
            return before[kept : len(before) - tail]
    return None


def stands_alone(text: str) -> bool:
    """Say whether a stretch is a unit of its own: between tags or brackets, on lines of its own."""
    inner = text.strip()
    if len(inner) < _LEAST:
        return False
    if _TAGGED.fullmatch(inner):
        return True
    return "\n" in text.rstrip(" \t") and _BRACKETED.fullmatch(inner) is not None


def has_words(text: str) -> bool:
    """Say whether a stretch holds words, and not only digits, marks and white space."""
    return _WORD.search(text) is not None


def tag_of(text: str) -> str:
    """Return the name of the tag that a stretch begins with, '' for none."""
    found = _OPENING_TAG.match(text)
    return found[1] if found else ""


def rides_on(stretch: str, text: str) -> bool:
    """Say whether a stretch, or another one that opens as it does, stands in a text."""
    inner = stretch.strip()
    if not inner:
        return False
    if inner in text:
        return True
    tag = tag_of(inner)
    return f"<{tag}" in text if tag else inner.partition("\n")[0].strip()[:40] in text
