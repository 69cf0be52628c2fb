"""How much of one list of messages another one says again: by content, and by the sentences of what was reworded."""

from __future__ import annotations

from array import array
from collections.abc import Set
from functools import cached_property
from typing import NamedTuple

from prefixwise.corpus.outlines import Outlines

NOWHERE = 1 << 30
_FAR = 2
"""Messages that must come again for an end that stands elsewhere, or says what others say too."""


class Place(NamedTuple):
    """Where an earlier list of messages lies in a later one.

    Attributes:
        whole: Leading messages that are the same in both.
        end: Where the earlier one's last message stands in the later one, -1 where it does not.
    """

    whole: int
    end: int


class Reading:
    """A list of messages against which earlier ones are held.

    Args:
        outlines: Sentences of all messages.
        messages: Contents of the later request's messages.
        common: Sentences, and messages of the model, that several conversations have: they prove nothing.
    """

    def __init__(self, outlines: Outlines, messages: array[int], common: Set[int]) -> None:
        self.messages = messages
        self._outlines = outlines
        self._common = common

    @cached_property
    def contents(self) -> frozenset[int]:
        """The contents of the messages."""
        return frozenset(self.messages)

    @cached_property
    def _places(self) -> dict[int, int]:
        """Last place of each telling sentence, the newest message apart."""
        clues = self._outlines.clues
        return {clue: at for at, content in enumerate(self.messages[:-1]) for clue in clues.get(content, ())}

    @cached_property
    def _last_places(self) -> dict[int, int]:
        """Last place of each message, the newest one apart."""
        return {content: at for at, content in enumerate(self.messages[:-1])}

    def place(self, before: array[int]) -> Place:
        """Return where an earlier list of messages lies in this one."""
        whole = common_start(self.messages, before)
        if whole in (len(before), len(self.messages)):
            return Place(whole, whole - 1)
        last = before[-1]
        end = self._last_places.get(last, -1)
        if end < 0 and len(before) == len(self.messages) and self.messages[-1] == last:
            end = len(before) - 1
        if end < 0:
            end = self._reworded(last)
        if end < 0 and whole == len(before) - 1 < len(self.messages) - 1:
            moved = self.messages[-1] == last  # it rides on the end of the later one too
            if moved or self._holds(self.messages[whole], last):
                end = whole
        return Place(whole, end if end >= 0 else self._behind_answer(before))

    def _behind_answer(self, before: array[int]) -> int:
        """Return where a last message stands that nothing of is left: behind the model's messages that it followed.

        All that the model said must stand in the same places; what several conversations have proves nothing.
        """
        is_model = self._outlines.is_model
        said = [(at, content) for at, content in enumerate(before) if is_model.get(content)]
        if not said or said[-1][1] in self._common:
            return -1
        shifts = {self._last_places.get(content, NOWHERE) - at for at, content in said}
        end = len(before) - 1 + min(shifts)
        if len(shifts) > 1 or not 0 <= end < len(self.messages) - 1:
            return -1
        return -1 if is_model.get(self.messages[end]) else end

    def count(self, before: array[int]) -> int:
        """Return how many messages of an earlier list are said again, reworded ones only as far as it matters."""
        found = len(self.contents.intersection(before))
        if found < _FAR:
            found += sum(self._reworded(content) >= 0 for content in before if content not in self.contents)
        return found

    def _reworded(self, content: int) -> int:
        """Return where a message that was reworded stands, -1 where it cannot be seen."""
        clues = [clue for clue in self._outlines.clues.get(content, ()) if clue not in self._common]
        return max((self._places.get(clue, -1) for clue in clues), default=-1)

    def _holds(self, one: int, other: int) -> bool:
        """Say whether all that one short message says is said by the other too."""
        sentences = [self._sentences(content) for content in (one, other)]
        return all(sentences) and (sentences[0] <= sentences[1] or sentences[1] <= sentences[0])

    def _sentences(self, content: int) -> set[int]:
        clues, short = self._outlines.clues, self._outlines.short_clues
        return {*clues.get(content, ()), *short.get(content, ())}

    def proves(self, before: array[int], place: Place, count: int) -> bool:
        """Say whether what comes again of an earlier list is enough: its end, and what that stands among."""
        if place.end < 0:
            return False
        if place.end == len(self.messages) - 1:  # nothing was added: a retry of what was rewritten
            return count >= max(_FAR, len(before) / 2)
        if count >= _FAR or place.end == place.whole == len(before) - 1 > 0:
            return True
        return (place.end == 0 or len(before) == 1) and self._is_telling(before[-1])

    def _is_telling(self, content: int) -> bool:
        clues = self._outlines.clues.get(content, ())
        return any(clue not in self._common for clue in clues)


def common_start(one: array[int], other: array[int]) -> int:
    """Return how many leading messages two lists have in common."""
    least = min(len(one), len(other))
    if one[:least] == other[:least]:
        return least
    return next(at for at in range(least) if one[at] != other[at])
