"""How much is looked at: expressions are counted, never time, so that the same sources give the same findings."""

from __future__ import annotations

from collections.abc import Iterator

MOST_OF_AN_ENTRY = 6_000
"""Expressions that are evaluated for one function that is looked at by itself, with all that it calls."""
LEAST_OF_AN_ENTRY = 1_500
"""The same where the functions before it have used up what there is for all files together."""
_OF_A_FILE = 700
_OF_ALL = 100_000


class Budget:
    """What may still be evaluated, for the entry that is looked at and for all together.

    Args:
        files: How many files are looked at.
    """

    def __init__(self, files: int) -> None:
        self._of_all = _OF_ALL + files * _OF_A_FILE
        self._entry = ("", 0)
        self._given = self._left = MOST_OF_AN_ENTRY
        self._cut: dict[tuple[str, int], int] = {}

    def begin(self, path: str, line: int) -> None:
        """Begin with another entry: the function at a place."""
        self._of_all -= self._given - self._left
        self._entry = (path, line)
        self._given = self._left = max(min(MOST_OF_AN_ENTRY, self._of_all), LEAST_OF_AN_ENTRY)

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
        self._cut[self._entry] = self._given
        return False

    def notes(self) -> Iterator[tuple[str, str]]:
        """Go through the files with entries that were not followed to the end, each with a note."""
        by_path: dict[str, list[int]] = {}
        for path, line in sorted(self._cut):
            by_path.setdefault(path, []).append(line)
        for path, lines in by_path.items():
            more = f" (and {len(lines) - 1} more functions of this file)" if len(lines) > 1 else ""
            most = self._cut[path, lines[0]]
            yield path, f"{path}:{lines[0]}: calls were followed for {most:,} expressions and no further{more}"
