"""What a differing stretch of text can be, and what is said of it."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.core.finding import Confidence


class SpanKind(StrEnum):
    """What a stretch of text holds that differs from call to call."""

    CLOCK = "clock"
    RELATIVE_TIME = "relative time"
    IDENTIFIER = "identifier"
    COUNTER = "counter"
    ENVIRONMENT = "environment"
    PROSE = "prose"
    PERSON = "person"
    ORDER = "order"
    EXAMPLES = "examples"
    LOCALE = "locale"
    WHITE_SPACE = "white space"
    LINE_ENDS = "line ends"
    UNICODE = "unicode"
    JSON_FORM = "json form"
    VERSION = "version"
    OTHER = "other"


class Precision(StrEnum):
    """The finest unit that a date or time names."""

    SUB_SECOND = "sub-second"
    SECOND = "second"
    MINUTE = "minute"
    HOUR = "hour"
    DAY = "day"
    LONGER = "longer"


class Candidate(msgspec.Struct, frozen=True):
    """One reading of a differing stretch.

    Attributes:
        kind: What it would be.
        confidence: `certain` where the two texts prove it, `likely` where shape and context agree, `possible` where
            only one of them speaks for it: then nobody should be accused.
        evidence: Short clauses that say why.
        precision: Of a clock.
        seconds: Of a clock: how far it moved on, where both readings can be compared.
    """

    kind: SpanKind
    confidence: Confidence
    evidence: tuple[str, ...]
    precision: Precision | None = None
    seconds: float | None = None
