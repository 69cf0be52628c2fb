"""Why a finding is not among those that count: somebody said that it is known, and where."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class SuppressionKind(StrEnum):
    """Where it was said that a finding is known."""

    INLINE = "inline"
    """In a comment of the source."""
    BASELINE = "baseline"
    """In a file that holds the findings of an earlier day."""


class Suppression(msgspec.Struct, frozen=True):
    """What hides a finding.

    Attributes:
        kind: Where it is said.
        justification: The reason that is given there, masked and cut as excerpts are; '' where none is given.
        path: The file in which it is said: the source, or the baseline.
        line: Its 1-based line there, None of a baseline.
    """

    kind: SuppressionKind
    justification: str
    path: str
    line: int | None
