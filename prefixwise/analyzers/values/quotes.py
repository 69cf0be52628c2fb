"""A differing stretch as a person would quote it, with what stands around it."""

from __future__ import annotations

import re

import msgspec

from prefixwise.analyzers.values.hunks import Hunk
from prefixwise.analyzers.values.labels import scope

_CONTEXT = 80
_LINE = 500
_LONGEST = 160
_REACH = 200
"""Characters on either side of a difference in which the value that it is part of is looked for."""
_BRACKETED = 48
_NEAR = 40
_WORDS = re.compile(r"[^\W\d_]+|%")

# What a person takes for one value: a date with its time, a clock time, an address, a number, a path, an id, a word.
_VALUE = re.compile(
    r"""
    \d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:[ ]?(?:Z\b|UTC\b|[+-]\d\d:?\d\d))?
    | \d{1,2}:\d\d(?::\d\d)?[ ]?[AaPp]\.?[Mm]\b\.?
    | (?:[~./\\$€£#@]{0,3}|[A-Z]:\\|https?://)
      \w[\w\u0300-\u036f]*
      (?:(?:[-./\\@+'’~%]{1,3}|(?<=\d)[,:](?=\d)|(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d)))\w[\w\u0300-\u036f]*)*
      [/%°]?
    """,
    re.VERBOSE,
)


class Quoted(msgspec.Struct, frozen=True):
    """A hunk widened to the values that it lies in.

    Attributes:
        from_text, to_text: The values at the difference, for people: each holds the first differing character, unless
            that is the end of a line or of the text. One line, at most 160 characters.
        from_value, to_value: The same without brackets that were added to make it readable.
        left, right: What stands before and after it on its line (in the later text), at most 80 characters.
        line_before, line_after: The line in which the difference starts, at most 500 characters of it.
        start: Where the value starts in both lines.
        part: Where the differing characters start in both lines.
        before_end, after_end: Where they end in each line; at the end of the line where they go beyond it.
        swapped: Whether one value stands where another stood, on one line; not so where lines or words were added.
        scope: Key, heading and tags that speak of it, in lower-case words, nearest first.
    """

    from_text: str
    to_text: str
    from_value: str
    to_value: str
    left: str
    right: str
    line_before: str
    line_after: str
    start: int
    part: int
    before_end: int
    after_end: int
    swapped: bool
    scope: tuple[str, ...]

    @property
    def label(self) -> str:
        """What speaks of it from nearest by, '' for none."""
        return self.scope[0] if self.scope else ""

    @property
    def label_words(self) -> frozenset[str]:
        """The words of the label."""
        return frozenset(self.label.split())

    @property
    def scope_words(self) -> frozenset[str]:
        """The words of everything that speaks of it."""
        return frozenset(word for name in self.scope for word in name.split())

    @property
    def near_words(self) -> frozenset[str]:
        """The lower-case words that stand beside it on its line."""
        return frozenset(words_of(f"{self.left[-_NEAR:]} {self.right[:_NEAR]}"))

    @property
    def words_before(self) -> frozenset[str]:
        """The three lower-case words before it on its line."""
        return frozenset(words_of(self.left[-_NEAR:])[-3:])

    @property
    def words_behind(self) -> frozenset[str]:
        """The three lower-case words behind it on its line."""
        return frozenset(words_of(self.right[:_NEAR])[:3])

    @property
    def part_before(self) -> str:
        """The differing characters of the earlier line."""
        return self.line_before[self.part : self.before_end]

    @property
    def part_after(self) -> str:
        """The differing characters of the later line."""
        return self.line_after[self.part : self.after_end]


def words_of(text: str) -> list[str]:
    """Return the words of a short text in lower case, and its percent signs."""
    return _WORDS.findall(text.lower())


def quoted(before: str, after: str, hunk: Hunk) -> Quoted:
    """Return the hunk as a person would quote it."""
    line, part, ends = _line(before, hunk.before_start, hunk.before_end)
    other, same_part, until = _line(after, hunk.after_start, hunk.after_end)
    wide = not (hunk.before_text and hunk.after_text) and "\n" in hunk.before_text + hunk.after_text
    spans = [_value_span(line, part, ends, wide=wide), _value_span(other, same_part, until, wide=wide)]
    start = min(spans[0][0], spans[1][0])
    stop, close = spans[0][1], spans[1][1]
    if swapped := _is_swap(hunk):
        # What follows is the same on both sides, so a value that goes on there does so on both.
        more = max(stop - ends, close - until)
        stop, close = ends + more, until + more
    values = line[start:stop][:_LONGEST], other[start:close][:_LONGEST]
    texts = _bracketed(line, other, start, stop, close) or values
    if not (hunk.before_text.strip() or hunk.after_text.strip()):
        texts = _white(before, hunk)
    first = hunk.after_start - (same_part - start)
    return Quoted(
        from_text=texts[0],
        to_text=texts[1],
        from_value=values[0],
        to_value=values[1],
        left=other[max(0, start - _CONTEXT) : start],
        right=other[close : close + _CONTEXT],
        line_before=line,
        line_after=other,
        start=start,
        part=part,
        before_end=ends,
        after_end=until,
        swapped=swapped,
        scope=scope(after, first),
    )


def whole_lines(before: str, after: str, hunk: Hunk) -> Hunk:
    """Return a hunk widened to the lines in which it starts and ends, as far as they are short."""
    start = _line(before, hunk.before_start, hunk.before_start)[1]
    ends = [
        min(at if (at := text.find("\n", max(begin, end - 1), end + _LINE)) >= 0 else end, len(text))
        for text, begin, end in (
            (before, hunk.before_start, hunk.before_end),
            (after, hunk.after_start, hunk.after_end),
        )
    ]
    low, down = hunk.before_start - start, hunk.after_start - start
    return Hunk(low, ends[0], down, ends[1], before[low : ends[0]], after[down : ends[1]])


def _is_swap(hunk: Hunk) -> bool:
    one, other = hunk.before_text, hunk.after_text
    if "\n" in one or "\n" in other:
        return False
    return bool(one and other) or not any(map(str.isspace, one + other))


def _line(text: str, start: int, end: int) -> tuple[str, int, int]:
    """Return the line around `start`, cut to a window, with where the stretch starts and ends in it.

    The window reaches equally far left in both texts: they are the same up to the difference.
    """
    lowest = max(0, start - _LINE // 2)
    begin = max(text.rfind("\n", lowest, start) + 1, lowest)
    stop = text.find("\n", start, begin + _LINE)
    line = text[begin : stop if stop >= 0 else begin + _LINE].rstrip("\r")
    return line, start - begin, min(max(end, start) - begin, len(line))


def _value_span(line: str, part: int, end: int, *, wide: bool) -> tuple[int, int]:
    """Return where the value (or run of values) starts and ends that holds characters `part` to `end` of a line.

    There are none where the other text has some here that this one lacks; where that is whole lines, the quote is
    `wide`: it goes on to the end of the line.
    """
    start, stop = part, len(line) if wide else end
    low = max(0, part - _REACH)
    for match in _VALUE.finditer(line, low, min(len(line), stop + _REACH)):
        if match.start() > stop or (match.start() == stop and stop > part):
            break
        if match.end() > part or (match.end() == part and end == part):
            start, stop = min(start, match.start()), max(stop, match.end())
    return start, stop


def _bracketed(line: str, other: str, start: int, stop: int, until: int) -> tuple[str, str] | None:
    """Return both values with the short bracketed group that they stand in, `[2 minutes ago]`; None where in none."""
    opening = line.rfind("[", max(0, start - _BRACKETED), start)
    if opening < 0:
        return None
    texts = []
    for text, end in ((line, stop), (other, until)):
        closing = text.find("]", end, opening + _BRACKETED)
        inside = text[opening + 1 : closing]
        if closing < 0 or any(mark in inside for mark in "[]\"'"):
            return None
        texts.append(text[opening : closing + 1])
    return texts[0], texts[1]


def _white(before: str, hunk: Hunk) -> tuple[str, str]:
    """Return differing white space with the word before it, without which nobody could see it."""
    low = max(0, hunk.before_start - 20)
    left = before[low : hunk.before_start]
    left = left[max(left.rfind(" "), left.rfind("\n"), 0) :] if left.strip() else left
    return (left + hunk.before_text)[:_LONGEST], (left + hunk.after_text)[:_LONGEST]
