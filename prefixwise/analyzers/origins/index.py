"""All places of a repository where something is filled in, found again by the text around a place of a prompt."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from prefixwise.analyzers.origins.file_pieces import file_pieces
from prefixwise.analyzers.origins.holes import Hole, holes
from prefixwise.analyzers.origins.squeezed import Squeezed
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.values.hunks import common_prefix, common_suffix
from prefixwise.core.finding import Span

_KEY = 8
_LEAST_LEFT, _LEAST_RIGHT = 3, 12
"""Characters that a text in front of a gap has to have, or the one behind it where there is none in front."""
_WEAK, _SURE = 6, 12
"""Characters around a gap from which it is a candidate, and from which it is more than that."""
_STRONG = 24
_FAR = 20_000
"""Characters in front of what moves in which a text may end that is the one in front of the gap."""
_MOST = 3
_TRIES = 64
"""Ends of one text at which a gap is looked at: a text may repeat itself."""


class Moving(NamedTuple):
    """What moves in a prompt: two texts that are alike up to the first stretch in which they differ.

    Attributes:
        before, after: The earlier and the later text.
        before_end: Where the differing stretch ends in the earlier text.
        start, end: Where it lies in the later one.
    """

    before: str
    after: str
    before_end: int
    start: int
    end: int


class Origin(NamedTuple):
    """A place in a source; `sure`: whether no other place may be meant."""

    path: str
    span: Span
    sure: bool


class _Match(NamedTuple):
    """A gap that may be where a value comes from: where the value lies then, and how much text speaks for it."""

    path: str
    hole: Hole
    low: int
    high: int
    strength: int
    whole: bool

    def inside(self, other: _Match) -> bool:
        """Say whether the value is a part of that of the other."""
        return other.low <= self.low and self.high <= other.high and (self.low, self.high) != (other.low, other.high)


class SourceIndex:
    """The gaps of source files by the text in front of them, or behind them where there is none in front.

    Args:
        paths: The files, as they are to be named.
        read: Returns the text of one, None where it has none.
    """

    def __init__(self, paths: Iterable[str], read: Callable[[str], str | None] | None = None) -> None:
        self._left: dict[str, list[tuple[str, Hole]]] = {}
        self._right: dict[str, list[tuple[str, Hole]]] = {}
        self._read = read or _text_of
        for path in paths:
            text = self._read(path)
            if text is not None:
                for hole in holes(file_pieces(Source(path, text))):
                    self._add(path, hole)
        self._lengths = sorted({len(key) for key in self._left}, reverse=True)

    def _add(self, path: str, hole: Hole) -> None:
        if len(hole.left) >= _LEAST_LEFT:
            self._left.setdefault(hole.left[-_KEY:], []).append((path, hole))
        elif len(hole.right) >= _LEAST_RIGHT:
            self._right.setdefault(hole.right[:_KEY], []).append((path, hole))

    def origins(self, moving: Moving) -> list[Origin]:
        """Return where something is filled in between texts that stand around what moves: one place, or a few.

        Nothing where no text, or too little of it, is that of the prompt, and where more places have it than help.
        """
        best = _chosen(list(self._matches(_Place(moving))))
        if not best:
            return []
        sure = len(best) == 1 and best[0].strength >= _SURE and best[0].whole
        found = (Origin(one.path, self._span(one), sure) for one in best)
        return sorted(found, key=lambda origin: (origin.path, origin.span.start))

    def _span(self, match: _Match) -> Span:
        source = Source(match.path, self._read(match.path) or "")
        return source.span(match.hole.start, match.hole.end)

    def _matches(self, place: _Place) -> Iterator[_Match]:
        tries: Counter[tuple[str, int]] = Counter()
        text = place.text
        for at in range(place.start, max(place.start - _FAR, 0), -1):
            for length in self._lengths:
                if length > at:
                    continue
                for path, hole in self._left.get(text[at - length : at], ()):
                    tries[path, hole.start] += 1
                    if tries[path, hole.start] <= _TRIES and (match := place.behind(path, hole, at)) is not None:
                        tries[path, hole.start] = _TRIES
                        yield match
        for at in range(place.end, min(place.end + _FAR, len(text))):
            for path, hole in self._right.get(text[at : at + _KEY], ()):
                tries[path, hole.start] += 1
                if tries[path, hole.start] <= _TRIES and (match := place.in_front(path, hole, at)) is not None:
                    tries[path, hole.start] = _TRIES
                    yield match


def _text_of(path: str) -> str | None:
    try:
        return Path(path).read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None


def _chosen(found: list[_Match]) -> list[_Match]:
    """Return the gaps that most likely are meant: of nested ones the innermost, of those the one with the most text."""
    found = [match for match in found if match.strength >= _WEAK]
    inner = [match for match in found if not any(other.inside(match) for other in found)]
    most = max((match.strength for match in inner), default=0)
    best = [match for match in inner if match.strength == most]
    if most < _SURE:  # a few characters that stand elsewhere by chance: what much text speaks for may be meant as well
        best += [match for match in found if match.strength >= _STRONG and match not in best]
    return best if len(best) <= _MOST else []


class _Place:
    """What moves, in texts without white space."""

    def __init__(self, moving: Moving) -> None:
        after, before = Squeezed(moving.after), Squeezed(moving.before)
        self.text, self._other = after.text, before.text
        self.start, self.end = after.index(moving.start), after.index(moving.end)
        self._other_end = before.index(moving.before_end)
        self._line = after.index(moving.after.rfind("\n", 0, moving.start) + 1)
        line_end = moving.after.find("\n", moving.end)
        self._line_end = len(after.text) if line_end < 0 else after.index(line_end)

    def behind(self, path: str, hole: Hole, at: int) -> _Match | None:
        """Return a gap as a match if the text in front of it ends at `at`, and the one behind it follows the value."""
        left = self._left_of(hole, at)
        if not left:
            return None
        if not hole.right:
            return self._match(path, hole, at, self._line_end, left, 0) if left >= _WEAK else None
        head = hole.right[:_STRONG]
        found = self.text.find(head, at)
        if 0 <= found < self.end and len(head) < _LEAST_LEFT:  # a full stop may stand in the value
            found = self.text.find(head, self.end)
        if found < self.end or self._other.find(head, self._other_end) < 0:
            return None
        right = common_prefix(hole.right, self.text[found : found + len(hole.right)])
        return self._match(path, hole, at, found, left, right)

    def in_front(self, path: str, hole: Hole, at: int) -> _Match | None:
        """Return a gap as a match if the text behind it begins at `at`, and what is in front of it fits."""
        right = common_prefix(hole.right, self.text[at : at + len(hole.right)])
        if right < min(len(hole.right), _STRONG) or self._other.find(hole.right[:_STRONG], self._other_end) < 0:
            return None
        if hole.left:
            low = self.text.rfind(hole.left, 0, self.start)
            return None if low < 0 else self._match(path, hole, low + len(hole.left), at, len(hole.left), right)
        return self._match(path, hole, self._line, at, 0, right)

    def _left_of(self, hole: Hole, at: int) -> int:
        """Return how much of the text in front of a gap ends at `at`; 0 where that is too little of it."""
        size = min(len(hole.left), at)
        found = common_suffix(hole.left, self.text[at - size : at], size)
        return found if found >= min(len(hole.left), _STRONG) or (found == at and found >= _WEAK) else 0

    def _match(self, path: str, hole: Hole, low: int, high: int, left: int, right: int) -> _Match:
        far = 0
        if hole.before and self.text.rfind(hole.before, 0, max(0, low - left)) >= 0:
            far += len(hole.before)
        if hole.after and self.text.find(hole.after, high + right) >= 0:
            far += len(hole.after)
        whole = left in (len(hole.left), low) and right in (len(hole.right), len(self.text) - high)
        return _Match(path, hole, low, high, left + right + far, whole)
