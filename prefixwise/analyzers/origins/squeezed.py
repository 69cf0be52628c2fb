"""Text without its white space, in which prompts and their sources are compared.

Indentation that is taken off, lines that are continued, blanks that a template engine trims: what differs between a
source and what is sent of it is white space before all else.
"""

from __future__ import annotations

import bisect
import itertools
import re

_WORDS = re.compile(r"\S+")


def squeezed(text: str) -> str:
    """Return a text without white space."""
    return "".join(text.split())


class Squeezed:
    """A text without white space, and the way from places in it to places in the text that it was made of."""

    def __init__(self, text: str) -> None:
        self._starts = [match.start() for match in _WORDS.finditer(text)]
        words = _WORDS.findall(text)
        self._sizes = list(itertools.accumulate(map(len, words), initial=0))
        self.text = "".join(words)

    def index(self, offset: int) -> int:
        """Return how many characters of it stand in front of an offset of the text."""
        word = bisect.bisect_right(self._starts, offset) - 1
        if word < 0:
            return 0
        return min(self._sizes[word] + offset - self._starts[word], self._sizes[word + 1])
