"""How much is looked at: expressions are counted, never time, so that the same sources give the same findings."""

from __future__ import annotations

MOST_OF_AN_ENTRY = 30_000
"""Expressions that are evaluated for one function that is looked at by itself, in all that it calls."""


class Budget:
    """What may still be evaluated for the entry that is looked at.

    Attributes:
        cut: Entries that were not followed to the end, in the order in which they were looked at.
    """

    def __init__(self) -> None:
        self.cut: dict[str, None] = {}
        self._entry = ""
        self._left = MOST_OF_AN_ENTRY

    def begin(self, entry: str) -> None:
        """Begin with another entry."""
        self._entry = entry
        self._left = MOST_OF_AN_ENTRY

    def spend(self) -> None:
        """Count an expression."""
        self._left -= 1

    @property
    def is_spent(self) -> bool:
        """Nothing is left: what is found now may be found in full for another entry."""
        return self._left <= 0

    def allows(self) -> bool:
        """Say whether one more call may be followed; take note where it may not."""
        if self._left > 0:
            return True
        if self._entry:
            self.cut[self._entry] = None
        return False
