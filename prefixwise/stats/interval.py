"""An interval, and what is known of how often such intervals hold the truth."""

from __future__ import annotations

import msgspec

CONFIDENCE = 0.95
"""The confidence of every interval that nobody asks otherwise for."""


class Interval(msgspec.Struct, frozen=True):
    """From `low` to `high`, both ends included.

    Attributes:
        confidence: The share of such intervals that should hold the true value.
        coverage: The share that exactly do, at least, where theory knows it; None where it does not.
        method: How it was made, as reports name it.
    """

    low: float
    high: float
    confidence: float
    coverage: float | None
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    @property
    def half_width(self) -> float:
        """Half the distance between the ends."""
        return (self.high - self.low) / 2
