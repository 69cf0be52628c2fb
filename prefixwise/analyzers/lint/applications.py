"""Which requests are of one application, beyond what their heads show.

Heads that share half their text are one family. Where a system prompt is mostly retrieved text, or stands in the first
message behind somebody's document, the shared sentences are fewer, and some of them stand in that message.
"""

from __future__ import annotations

from array import array
from collections import Counter

from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.rows import NONE, Rows

_LEAST = 3
_SHARE = 0.25
"""Share, and number, of a request's first sentences that another one must have."""


class Applications:
    """Numbers applications as their requests come; `number` is by row."""

    def __init__(self, rows: Rows, outlines: Outlines) -> None:
        self.number = array("i", [NONE]) * len(rows)
        self._rows = rows
        self._outlines = outlines
        self._of_family: dict[int, int] = {}
        self._by_sign: dict[int, int] = {}
        self._count = 0

    def alike(self, row: int) -> int | None:
        """Return the latest request that begins with some of the same sentences, None where none has enough of them."""
        signs = self._signs(row)
        votes = Counter(self.number[self._by_sign[sign]] for sign in signs if sign in self._by_sign)
        if not votes:
            return None
        application, count = min(votes.items(), key=lambda vote: (-vote[1], vote[0]))
        if count < max(_LEAST, _SHARE * len(signs)):
            return None
        rows = (self._by_sign[sign] for sign in signs if sign in self._by_sign)
        return max(other for other in rows if self.number[other] == application)

    def assign(self, row: int, linked: int | None) -> None:
        """Give a row its number: that of its family, else of the request it is linked to, else a new one."""
        family = self._rows.family[row]
        number = self._of_family.get(family)
        if number is None:
            if linked is None:
                number = self._count
                self._count += 1
            else:
                number = self.number[linked]
            if family != NONE:
                self._of_family[family] = number
        self.number[row] = number

    def note(self, row: int) -> None:
        """Remember how a request begins that continues no other."""
        for sign in self._signs(row):
            self._by_sign[sign] = row

    def _signs(self, row: int) -> list[int]:
        clues, messages = self._outlines.clues, self._outlines.messages[row]
        opening = (*self._outlines.head[row], *messages[:1])
        return [clue for content in opening for clue in clues.get(content, ())]
