"""Prompt families: requests of one application, told by what they say in common, not by their first bytes.

The head of a prompt (its system text, or the first message where there is none) is cut into statements; a
head joins the family with which it shares at least half its characters. A clock in the first line therefore does
not make a family of its own of each request.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_LONGEST_HEAD = 6_000
_LONG_LINE = 200
_FEW_LINES = 8
_SHARE = 0.5


class Families:
    """Assigns heads to families, in the order in which they come."""

    def __init__(self) -> None:
        self._family_of: dict[int, int] = {}
        self._first: list[Counter[str]] = []
        """Of each family the statements of its first head, and how many heads have each."""

    def assign(self, texts: Iterable[str]) -> int:
        """Return the family of a head that consists of `texts`."""
        said: dict[str, None] = {}
        room = _LONGEST_HEAD
        for text in texts:
            said.update(dict.fromkeys(_statements(text[:room])))
            room -= min(room, len(text))
        statements = {hash(statement): len(statement) for statement in said}
        shared: Counter[int] = Counter()
        for key in self._family_of.keys() & statements.keys():
            shared[self._family_of[key]] += statements[key]
        family, size = min(shared.items(), key=lambda found: (-found[1], found[0])) if shared else (-1, 0)
        if size < _SHARE * sum(statements.values()) or not size:
            family = len(self._first)
            self._first.append(Counter(said.keys()))
        else:
            first = self._first[family]
            first.update(statement for statement in said if statement in first)
        for key in statements:
            self._family_of.setdefault(key, family)
        return family

    def sign(self, family: int) -> str:
        """Return the statement that a family is known by: one that most of its heads have, the longest of those.

        It is the same in another log of the application, whoever's turn it is there; '' where nobody says anything.
        """
        counts = self._first[family]
        return min(counts, key=lambda said: (-counts[said], -len(said), said), default="")


def _statements(text: str) -> list[str]:
    """Cut a text into lines; long lines, and those of a short text, into sentences."""
    lines = text.split("\n")
    if len(lines) > _FEW_LINES and len(text) <= _LONG_LINE * len(lines):
        return lines
    return [sentence for line in lines for sentence in line.split(". ")]
