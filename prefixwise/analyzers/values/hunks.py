"""The differing stretches of two texts, in order.

Lines are matched first, then words inside what is left: those that are unique on both sides, in the longest order that
both have ("patience"), and what is equal next to them. That never compares every line with every other, so no input
makes it slow.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

import msgspec

_PIECES = re.compile(r"\w+|\s+|[^\w\s]")
_MOST_LINES = 50_000
_MOST_WORDED = 20_000
"""Characters up to which a differing stretch is looked at word by word."""
_DEEPEST = 8
_FEW = 2
_LIKE = 0.35
"""Share of equal words from which two stretches are one text with changes, and not two texts."""

# What holds a value together: a gap made of these alone is no reason to see two differences in a uuid or a number.
_INSIDE_VALUE = re.compile(r"[\w.,:/@+-]{1,40}")
# A gap with a key in it parts two values, however short it is.
_KEY = re.compile(r"\w\W*[:=]|[\"<>|{}]")
_WIDEST_GAP = 200


class Hunk(msgspec.Struct, frozen=True):
    """One differing stretch; offsets are code points, end-exclusive.

    Attributes:
        before_start, before_end: Where it lies in the earlier text.
        after_start, after_end: Where it lies in the later text.
        before_text, after_text: The two stretches; one may be empty, not both.
    """

    before_start: int
    before_end: int
    after_start: int
    after_end: int
    before_text: str
    after_text: str


_Range = tuple[int, int, int, int]
"""Start and end in the earlier text, start and end in the later one."""


def hunks(before: str, after: str) -> tuple[Hunk, ...]:
    """Return the differing stretches of two texts; none where they are equal.

    The first one starts where the texts part, to the character, and the stretches between hunks are equal. Where the
    texts part in too many places to look at each, the rest is one hunk.
    """
    if before == after:
        return ()
    whole = _apart(before, after)
    found: list[_Range] = []
    for stretch in _lines_apart(before, after, whole):
        found.extend(_words_apart(before, after, stretch))
    return tuple(
        Hunk(a, b, c, d, before[a:b], after[c:d])
        for a, b, c, d in _joined(before, [_trimmed(before, after, r) for r in found])
    )


def one_hunk(before: str, after: str) -> Hunk | None:
    """Return the stretch from the first difference of two texts to the last, None where they are equal."""
    if before == after:
        return None
    a, b, c, d = _apart(before, after)
    return Hunk(a, b, c, d, before[a:b], after[c:d])


def _apart(before: str, after: str) -> _Range:
    kept = common_prefix(before, after)
    tail = common_suffix(before, after, min(len(before), len(after)) - kept)
    return kept, len(before) - tail, kept, len(after) - tail


def differing(first: Sequence[Hashable], second: Sequence[Hashable]) -> list[tuple[int, int, int, int]]:
    """Return the ranges in which two sequences differ, as (start, end, start, end) in the first and the second."""
    found: list[_Range] = []
    _differences(first, second, (0, len(first), 0, len(second)), 0, found)
    return found


def common_prefix(first: str, second: str) -> int:
    """Return how many code points two strings share from their start; bisects over slices."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def common_suffix(first: str, second: str, most: int) -> int:
    """Return how many code points, up to `most`, two strings share at their end; bisects over slices."""
    low, high = 0, most
    one, other = len(first), len(second)
    while low < high:
        middle = (low + high + 1) // 2
        if first[one - middle : one - low] == second[other - middle : other - low]:
            low = middle
        else:
            high = middle - 1
    return low


def _lines_apart(before: str, after: str, whole: _Range) -> list[_Range]:
    """Return the ranges of lines that differ inside `whole`."""
    a, b, c, d = whole
    first, second = before[a:b].splitlines(keepends=True), after[c:d].splitlines(keepends=True)
    if min(len(first), len(second)) < 2 or max(len(first), len(second)) > _MOST_LINES:
        return [whole]
    return list(_offsets(first, second, a, c))


def _words_apart(before: str, after: str, stretch: _Range) -> list[_Range]:
    """Return the ranges of words that differ inside a stretch; the stretch itself where it is another text."""
    a, b, c, d = stretch
    if a == b or c == d or max(b - a, d - c) > _MOST_WORDED:
        return [stretch]
    first, second = _PIECES.findall(before[a:b]), _PIECES.findall(after[c:d])
    words, others = _words_in(first), _words_in(second)
    needed = _LIKE * max(_characters(words), _characters(others))
    if _characters(words & others) < needed:  # in whatever order they stand
        return [stretch]
    parts = list(_offsets(first, second, a, c))
    unlike = sum(_word_characters(before[x:y]) for x, y, _, _ in parts)
    return parts if _characters(words) - unlike >= needed else [stretch]


def _words_in(pieces: Sequence[str]) -> Counter[str]:
    return Counter(piece for piece in pieces if piece[0].isalnum())


def _characters(words: Counter[str]) -> int:
    return sum(len(word) * count for word, count in words.items())


def _word_characters(text: str) -> int:
    return sum(character.isalnum() or character == "_" for character in text)


def _offsets(first: Sequence[str], second: Sequence[str], a: int, c: int) -> Iterator[_Range]:
    """Yield the differences of two sequences of pieces as offsets; the pieces start at `a` and `c`."""
    ranges = _in_place(first, second)
    if not ranges:
        _differences(first, second, (0, len(first), 0, len(second)), 0, ranges)
    one = other = 0
    for low, high, down, up in ranges:
        a += sum(map(len, first[one:low]))
        c += sum(map(len, second[other:down]))
        end, until = a + sum(map(len, first[low:high])), c + sum(map(len, second[down:up]))
        yield a, end, c, until
        one, other, a, c = high, up, end, until


def _in_place(first: Sequence[str], second: Sequence[str]) -> list[_Range]:
    """Return the differences of two sequences in which few pieces changed and none moved; none if that is not so."""
    if len(first) != len(second):
        return []
    other = [index for index, (one, two) in enumerate(zip(first, second, strict=True)) if one != two]
    if len(other) > max(_FEW, len(first) // 20):
        return []
    ranges: list[_Range] = []
    for index in other:
        if ranges and ranges[-1][1] == index:
            ranges[-1] = (ranges[-1][0], index + 1, ranges[-1][0], index + 1)
        else:
            ranges.append((index, index + 1, index, index + 1))
    return ranges


def _differences(
    first: Sequence[Hashable], second: Sequence[Hashable], within: _Range, depth: int, found: list[_Range]
) -> None:
    """Append the ranges in which two sequences differ."""
    low, high, down, up = within
    while low < high and down < up and first[low] == second[down]:
        low, down = low + 1, down + 1
    while low < high and down < up and first[high - 1] == second[up - 1]:
        high, up = high - 1, up - 1
    if low == high and down == up:
        return
    anchors = _anchors(first, second, (low, high, down, up)) if low < high and down < up and depth < _DEEPEST else []
    if not anchors:
        found.append((low, high, down, up))
        return
    for i, j in [*anchors, (high, up)]:
        if (low, down) != (i, j):
            _differences(first, second, (low, i, down, j), depth + 1, found)
        low, down = i + 1, j + 1


def _anchors(first: Sequence[Hashable], second: Sequence[Hashable], within: _Range) -> list[tuple[int, int]]:
    """Return where pieces stand that occur once on either side: the longest list that is in order on both."""
    low, high, down, up = within
    once = _places_of_unique(first, low, high)
    others = _places_of_unique(second, down, up)
    pairs = [(place, others[piece]) for piece, place in once.items() if piece in others]
    # The longest increasing run of places in the second: ends[n] is the least end of a run of n + 1.
    ends: list[int] = []
    last: list[int] = []
    previous = [-1] * len(pairs)
    for index, (_, place) in enumerate(pairs):
        length = bisect_left(ends, place)
        previous[index] = last[length - 1] if length else -1
        ends[length : length + 1] = [place]
        last[length : length + 1] = [index]
    chain: list[tuple[int, int]] = []
    index = last[-1] if last else -1
    while index >= 0:
        chain.append(pairs[index])
        index = previous[index]
    return chain[::-1]


def _places_of_unique(pieces: Sequence[Hashable], low: int, high: int) -> dict[Hashable, int]:
    part = pieces[low:high]
    counts = Counter(part)
    return {piece: low + index for index, piece in enumerate(part) if counts[piece] == 1}


def _trimmed(before: str, after: str, stretch: _Range) -> _Range:
    """Return a range without what the two stretches share at either end."""
    a, b, c, d = stretch
    one, other = before[a:b], after[c:d]
    kept = common_prefix(one, other)
    tail = common_suffix(one, other, min(len(one), len(other)) - kept)
    return a + kept, b - tail, c + kept, d - tail


def _joined(before: str, ranges: list[_Range]) -> list[_Range]:
    """Return the ranges, those joined that a person would see as one difference."""
    joined: list[_Range] = []
    for current in ranges:
        if joined and _one_difference(before[joined[-1][1] : current[0]], joined[-1], current):
            joined[-1] = (joined[-1][0], current[1], joined[-1][2], current[3])
        else:
            joined.append(current)
    return joined


def _one_difference(gap: str, left: _Range, right: _Range) -> bool:
    """Tell whether the equal text between two differences is too little to part them."""
    if len(gap) > _WIDEST_GAP or _KEY.search(gap):
        return False
    if _INSIDE_VALUE.fullmatch(gap):
        return True
    if "\n" in gap and _word_characters(gap) > 3:
        return False
    return len(gap) <= min(max(b - a, d - c) for a, b, c, d in (left, right))
