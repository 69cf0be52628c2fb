"""What the declaration of a variable says of its value."""

from __future__ import annotations

import re

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

_SAID = (
    (
        re.compile(
            r"\b(?:current|today'?s|present|now'?s)\s+(?:\w+\s+)?(?:time|datetime|timestamp|clock)\b|\btime now\b"
        ),
        VolatileKind.CLOCK,
        Frequency.CALL,
        "",
    ),
    (re.compile(r"\b(?:current|today'?s|present)\s+(?:\w+\s+)?date\b"), VolatileKind.CLOCK, Frequency.DAY, "day"),
    (
        re.compile(
            r"\b(?:retrieved|search results?|looked.up|recalled|relevant (?:documents|passages|memories|chunks))\b"
        ),
        VolatileKind.RETRIEVED,
        Frequency.CALL,
        "",
    ),
    (
        re.compile(
            r"\b(?:user|customer|client|patient|student|guest)'?s?'? (?:first |last |full )?(?:name|email|profile)\b"
        ),
        VolatileKind.PERSON,
        Frequency.SESSION,
        "",
    ),
)


def judge_declaration(said: str) -> Judgement | None:
    """Return what a declaration, a type and a description, says of a value; None where it says nothing."""
    lowered = said.lower()
    for pattern, kind, frequency, precision in _SAID:
        if pattern.search(lowered):
            return Judgement(kind, frequency, precision, Confidence.LIKELY, f"it is declared as `{said[:60]}`")
    return None
