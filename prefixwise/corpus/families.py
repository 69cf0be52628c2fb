"""Prompt families: requests of one application, told by what they say in common, not by their first bytes.

The head of a prompt (tools and system, or the first message where there is neither) is cut into statements; a
head joins the family with which it shares at least half its characters. A clock in the first line therefore does
not make a family of its own of each request.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

_STATEMENT = re.compile(r"\n|(?<=[.!?:;,}]) ")
_LONGEST_HEAD = 50_000
_SHARE = 0.5


class Families:
    """Assigns heads to families, in the order in which they come."""

    def __init__(self) -> None:
        self._count = 0
        self._family_of: dict[int, int] = {}

    def assign(self, texts: Iterable[str]) -> int:
        """Return the family of a head that consists of `texts`."""
        statements: dict[int, int] = {}
        room = _LONGEST_HEAD
        for text in texts:
            for statement in _STATEMENT.split(text[:room]):
                if statement:
                    statements[hash(statement)] = len(statement)
            room -= min(room, len(text))
        shared: Counter[int] = Counter()
        for key, size in statements.items():
            if key in self._family_of:
                shared[self._family_of[key]] += size
        family, size = shared.most_common(1)[0] if shared else (-1, 0)
        if size < _SHARE * sum(statements.values()) or not statements:
            family = self._count
            self._count += 1
        for key in statements:
            self._family_of.setdefault(key, family)
        return family
