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
    | (?:https?://|[A-Z]:\\|[~./\\$€£#@]{0,3})
      \w[\w\u0300-\u036f]*
      (?:(?:[-./\\@+'’~%]{1,3}|(?<=\d)[,:](?=\d)|(?<=\d)[ \u00a0\u202f](?=\d{3}(?!\d)))\w[\w\u0300-\u036f]*)*
      [/%°]?
    """,
    re.VERBOSE,
)


class Side(msgspec.Struct, frozen=True):
    """One of the two lines of a difference; offsets are in the line.

    Attributes:
        line: The line in which the difference starts, at most 500 characters of it.
        start, stop: Where the value lies that differs.
        part, end: Where the differing characters lie; `end` is the end of the line where they go beyond it.
    """

    line: str
    start: int
    stop: int
    part: int
    end: int

    @property
    def value(self) -> str:
        """The value, at most 160 characters of it."""
        return self.line[self.start : self.stop][:_LONGEST]


class Quoted(msgspec.Struct, frozen=True):
    """A hunk widened to the values that it lies in.

    Attributes:
        from_text, to_text: The values at the difference, for people: each holds the first differing character, unless
            that is the end of a line or of the text. One line, at most 160 characters.
        old, new: Where the value stands in the line of the earlier and of the later text.
        swapped: Whether one value stands where another stood, on one line; not so where lines or words were added.
        scope: Key, heading and tags that speak of it, in lower-case words, nearest first.
    """

    from_text: str
    to_text: str
    old: Side
    new: Side
    swapped: bool
    scope: tuple[str, ...]

    @property
    def values(self) -> tuple[str, str]:
        """Both values, without brackets that were added to make them readable."""
        return self.old.value, self.new.value

    @property
    def line_before(self) -> str:
        """The line in which the difference starts, in the earlier text."""
        return self.old.line

    @property
    def line_after(self) -> str:
        """The line in which the difference starts, in the later text."""
        return self.new.line

    @property
    def left(self) -> str:
        """What stands before the value on its line, at most 80 characters."""
        return self.new.line[max(0, self.new.start - _CONTEXT) : self.new.start]

    @property
    def right(self) -> str:
        """What stands behind the value on its line, at most 80 characters."""
        return self.new.line[self.new.stop : self.new.stop + _CONTEXT]

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


def words_of(text: str) -> list[str]:
    """Return the words of a short text in lower case, and its percent signs."""
    return _WORDS.findall(text.lower())


def quoted(before: str, after: str, hunk: Hunk) -> Quoted:
    """Return the hunk as a person would quote it."""
    swapped = _is_swap(hunk)
    wide = not (hunk.before_text and hunk.after_text) and "\n" in hunk.before_text + hunk.after_text
    old = _side(before, hunk.before_start, hunk.before_end, wide=wide)
    new = _side(after, hunk.after_start, hunk.after_end, wide=wide)
    if swapped:
        # What follows is the same on both sides, so a value that goes on there does so on both.
        more = max(old.stop - old.end, new.stop - new.end)
        old, new = (msgspec.structs.replace(side, stop=side.end + more) for side in (old, new))
    texts = _bracketed(old, new) or (old.value, new.value)
    if not (hunk.before_text.strip() or hunk.after_text.strip()):
        texts = _white(before, hunk)
    return Quoted(texts[0], texts[1], old, new, swapped, scope(after, hunk.after_start - (new.part - new.start)))


def whole_lines(before: str, after: str, hunk: Hunk) -> Hunk:
    """Return a hunk widened to the lines in which it starts and ends, as far as they are short."""
    left = _line(before, hunk.before_start)[1]
    right = 0
    if left or not (hunk.before_text + hunk.after_text).endswith("\n"):
        found = after.find("\n", hunk.after_end, hunk.after_end + _LINE)
        right = found - hunk.after_end if found >= 0 else len(after[hunk.after_end : hunk.after_end + _LINE])
    a, b, c, d = hunk.before_start - left, hunk.before_end + right, hunk.after_start - left, hunk.after_end + right
    return Hunk(a, b, c, d, before[a:b], after[c:d])


def _is_swap(hunk: Hunk) -> bool:
    one, other = hunk.before_text, hunk.after_text
    if "\n" in one or "\n" in other:
        return False
    return bool(one and other) or not any(map(str.isspace, one + other))


def _line(text: str, start: int) -> tuple[str, int]:
    """Return the line around `start`, cut to a window, and where in it that is."""
    lowest = max(0, start - _LINE // 2)
    begin = max(text.rfind("\n", lowest, start) + 1, lowest)
    stop = text.find("\n", start, begin + _LINE)
    return text[begin : stop if stop >= 0 else begin + _LINE].rstrip("\r"), start - begin


def _side(text: str, start: int, end: int, *, wide: bool) -> Side:
    """Return the line of one text with the value that holds the characters `start` to `end`.

    There are none where the other text has some here that this one lacks; where that is whole lines, the value is
    `wide`: it goes on to the end of the line.
    """
    line, part = _line(text, start)
    part, end = min(part, len(line)), min(part + end - start, len(line))
    begin, stop = part, len(line) if wide else end
    for match in _VALUE.finditer(line, max(0, part - _REACH), min(len(line), stop + _REACH)):
        if match.start() > stop or (match.start() == stop and stop > part):
            break
        if match.end() > part or (match.end() == part and end == part):
            begin, stop = min(begin, match.start()), max(stop, match.end())
    return Side(line, begin, stop, part, end)


def _bracketed(*sides: Side) -> tuple[str, str] | None:
    """Return both values with the short bracketed group that they stand in, `[2 minutes ago]`; None where in none."""
    texts = []
    for side in sides:
        opening = side.line.rfind("[", max(0, side.start - _BRACKETED), side.start)
        closing = side.line.find("]", side.stop, opening + _BRACKETED)
        inside = side.line[opening + 1 : closing]
        if min(opening, closing) < 0 or any(mark in inside for mark in "[]\"'"):
            return None
        texts.append(side.line[opening : closing + 1])
    return texts[0], texts[1]


def _white(before: str, hunk: Hunk) -> tuple[str, str]:
    """Return differing white space with the word before it, without which nobody could see it."""
    low = max(0, hunk.before_start - 20)
    left = before[low : hunk.before_start]
    left = left[max(left.rfind(" "), left.rfind("\n"), 0) :] if left.strip() else left
    return (left + hunk.before_text)[:_LONGEST], (left + hunk.after_text)[:_LONGEST]
