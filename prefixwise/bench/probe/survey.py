"""What is known of an endpoint before its cache is probed: whether its counts can be believed, and how it is primed."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.bench.probe.finding import By
from prefixwise.bench.probe.timing import Calibration


class Counting(StrEnum):
    """What the server's count of cached tokens is worth."""

    RIGHT = "right"
    """None in new prompts, nearly all in repeated ones, about half where half is shared."""
    ZERO = "zero"
    """It is there, and always 0."""
    MISSING = "missing"
    """It is not there. Absent is not zero."""
    SOMETIMES = "in some answers only"
    WRONG = "wrong"
    """It counts prompts as cached that nobody sent before, or the same whatever is shared."""
    UNKNOWN = "unknown"


class Survey(msgspec.Struct, frozen=True, kw_only=True):
    """What the probes rest on.

    Attributes:
        counting: What the count of cached tokens is worth.
        caching: Whether anything is cached; None where that cannot be told.
        floor: Cached tokens of a new prompt: what a template puts in front of every one.
        full: Cached tokens of a repeated prompt of `length` tokens.
        primes: How often a prompt has to be sent until every replica has it.
        wait: Seconds after which it can be read.
        timing: What tells hits from misses without counts; None where it was not measured.
        why: What is wrong with the counts, in words.
    """

    counting: Counting = Counting.UNKNOWN
    caching: bool | None = None
    floor: int = 0
    full: int = 0
    length: int = 0
    primes: int = 1
    wait: float = 0.0
    timing: Calibration | None = None
    why: str = ""

    @property
    def by(self) -> By:
        """What tells hits from misses here."""
        if self.counting is Counting.RIGHT:
            return By.USAGE
        usable = self.caching and self.timing is not None and self.timing.usable
        return By.TIMING if usable else By.NOTHING
