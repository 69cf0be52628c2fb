"""Which lines or sentence of a text go with a value that moves, where they go, and the edits that take them there."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

LINE_BREAKS = re.compile(r"\r\n|\n|\r")
ESCAPED_BREAKS = re.compile(r"(?:\\r)?\\n")
"""Line breaks as they are written in a string of a program, or of JSON."""

_LITTLE = 120
"""Characters of constant text that may stand behind what moved: the lead-in of a question, say."""
_LONGEST = 600
_NUMBERED = re.compile(r"\s*\d+[.)]\s")
_BULLET = re.compile(r"\s*[-*•+]\s")
_MARKUP = re.compile(r"[<>\[\]#`|=]")
_HEADING = re.compile(r"\s*#{1,6}\s")
_OPENING = re.compile(r"\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>\s*$")
_CLOSING = re.compile(r"\s*</([A-Za-z][\w-]*)>\s*$")
_SENTENCE_END = re.compile(r"[.!?](?=[ \t])")
_WORD = re.compile(r"[^\W\d_]{2,}")
_FILLED = "\0"

Change = tuple[int, int, str]
"""What stands from one offset to another becomes a text."""


class Body(NamedTuple):
    """A text that becomes one message, and where in it nothing may be cut.

    Attributes:
        text: The file.
        start, end: The stretch that is the message.
        values: What is filled in, by place and in order; it is never cut.
        closed: Stretches that are not sent every time, or not as they stand.
        breaks: How line breaks are written.
    """

    text: str
    start: int
    end: int
    values: tuple[tuple[int, int], ...]
    closed: tuple[tuple[int, int], ...] = ()
    breaks: re.Pattern[str] = LINE_BREAKS


class _Line(NamedTuple):
    start: int
    end: int
    """Without its break."""
    blank: bool


class Passage(NamedTuple):
    """What moves: its text, what is taken away with it, and what parts it from the text in front of its new place."""

    text: str
    start: int
    end: int
    gap: str


def moved_behind(body: Body, value: tuple[int, int]) -> tuple[Change, ...] | None:
    """Return how the line or sentence that a value stands in goes behind the constant text of its message.

    None where it is not plain what goes with the value, where it may go, or where it is there already.
    """
    found = passage_of(body, value)
    if found is None:
        return None
    target = _target(body, found)
    if target is None or not body.text[found.end : target].strip():
        return None
    return (found.start, found.end, ""), (target, target, found.gap + found.text)


def moved_to(body: Body, value: tuple[int, int], start: int) -> tuple[Change, ...] | None:
    """Return how the line or sentence that a value stands in goes to the start of another message."""
    found = passage_of(body, value)
    if found is None:
        return None
    return (found.start, found.end, ""), (start, start, found.text.lstrip(" \t") + found.gap)


def passage_of(body: Body, value: tuple[int, int]) -> Passage | None:
    """Return what goes with a value; None where that is not plain, or nothing stands behind it."""
    lines = list(_lines(body))
    at = next((n for n, line in enumerate(lines) if line.start <= value[0] and value[1] <= line.end), None)
    if at is None or _NUMBERED.match(body.text, lines[at].start, lines[at].end):
        return None
    said = _masked(body, lines[at].start, lines[at].end)
    if not _WORD.search(said) and _MARKUP.search(said):
        return None  # a tag, a heading: it names what stands behind it
    sentence = _sentence(body, lines[at], value)
    if sentence is None:
        return None
    whole = sentence == (lines[at].start, lines[at].end)
    found = _of_lines(body, lines, at) if whole else _of_sentence(body, lines[at], sentence)
    if found is None or len(found.text) > _LONGEST or any(_meet(found, stretch) for stretch in body.closed):
        return None
    return found


def _lines(body: Body) -> Iterator[_Line]:
    """Yield the lines of a body; indentation in front of its first line belongs to it."""
    start = body.start
    margin = max(body.text.rfind("\n", 0, start), body.text.rfind("\r", 0, start)) + 1
    if not body.text[margin:start].strip(" \t"):
        start = margin
    values, number, reached = sorted(body.values), 0, 0
    for found in body.breaks.finditer(body.text, body.start, body.end):
        while number < len(values) and values[number][0] < found.end():
            reached = max(reached, values[number][1])
            number += 1
        if reached > found.start():
            continue  # a line end inside a value
        yield _line(body, start, found.start())
        start = found.end()
    yield _line(body, start, max(start, body.end))


def _line(body: Body, start: int, end: int) -> _Line:
    return _Line(start, end, not body.text[start:end].strip())


def _masked(body: Body, start: int, end: int) -> str:
    """Return a stretch in which each value is as many filling characters."""
    text = body.text[start:end]
    for low, high in body.values:
        low, high = max(low, start), min(high, end)
        if low < high:
            text = text[: low - start] + _FILLED * (high - low) + text[high - start :]
    return text


def _sentence(body: Body, line: _Line, value: tuple[int, int]) -> tuple[int, int] | None:
    """Return the sentence in which a value stands: the line where no other is constant; None where that is unsure."""
    said = _masked(body, line.start, line.end)
    ends = [line.start + match.end() for match in _SENTENCE_END.finditer(said)]
    low = max((end for end in ends if end <= value[0]), default=line.start)
    high = min((end for end in ends if end >= value[1]), default=line.end)
    bounds = [line.start, *ends, line.end]
    says_more = any(
        _is_constant(said[one - line.start : other - line.start]) for one, other in itertools.pairwise(bounds)
    )
    if not says_more:
        return line.start, line.end
    start = low + len(body.text[low:high]) - len(body.text[low:high].lstrip(" \t"))
    is_sentence = body.text[start : start + 1].isupper() and len(_WORD.findall(_masked(body, start, high))) > 1
    rest = body.text[high : line.end].lstrip()
    if not is_sentence or not body.text[:high].rstrip().endswith((".", "!", "?")) or rest[:1].islower():
        return None
    return start, high


def _is_constant(masked: str) -> bool:
    return _FILLED not in masked and bool(masked.strip())


def _of_sentence(body: Body, line: _Line, sentence: tuple[int, int]) -> Passage:
    start, end = sentence
    rest = body.text[end : line.end]
    behind = end + len(rest) - len(rest.lstrip(" \t"))
    cut = (start, behind) if behind < line.end else (len(body.text[:start].rstrip(" \t")), end)
    return Passage(body.text[start:end], *cut, _gap(body))


def _of_lines(body: Body, lines: Sequence[_Line], at: int) -> Passage | None:
    items = _list_around(body, lines, at)
    if items is None:
        return None
    first, last = _with_company(body, lines, *items)
    above = next((line for line in reversed(lines[:first]) if not line.blank), None)
    below = next((line for line in lines[last + 1 :] if not line.blank), None)
    if below is None:
        return None
    start, end = lines[first].start, lines[last].end
    behind = body.text[end : below.start]
    before = "" if above is None else body.text[above.end : start]
    text = body.text[start:end]
    if above is None or len(_all(body, behind)) <= len(_all(body, before)):
        return Passage(text, start, below.start, _gap(body))
    return Passage(text, above.end, end, _gap(body))


def _list_around(body: Body, lines: Sequence[_Line], at: int) -> tuple[int, int] | None:
    """Return the first and last line of the list that a line is an item of; None where others of its items stay."""
    if not _BULLET.match(body.text, lines[at].start, lines[at].end):
        return at, at
    first = last = at
    while first and _BULLET.match(body.text, lines[first - 1].start, lines[first - 1].end):
        first -= 1
    while last + 1 < len(lines) and _BULLET.match(body.text, lines[last + 1].start, lines[last + 1].end):
        last += 1
    items = (_masked(body, line.start, line.end) for line in lines[first : last + 1])
    return (first, last) if all(_FILLED in item for item in items) else None


def _with_company(body: Body, lines: Sequence[_Line], first: int, last: int) -> tuple[int, int]:
    """Return the first and last of the lines that move with some: their lead-in, their tags or fence, their heading."""
    at = first
    while first:
        above = body.text[lines[first - 1].start : lines[first - 1].end]
        below = body.text[lines[last + 1].start : lines[last + 1].end] if last + 1 < len(lines) else ""
        opened, closed = _OPENING.match(above), _CLOSING.match(below)
        is_fenced = above.strip().startswith("```") and below.strip() == "```"
        if is_fenced or (opened and closed and opened[1] == closed[1]):
            first, last = first - 1, last + 1
        elif above.rstrip().endswith(":") and first == at:
            first -= 1
        else:
            break
    heading = next((n for n in range(first - 1, -1, -1) if not lines[n].blank), None)
    behind = next((line for line in lines[last + 1 :] if not line.blank), None)
    if heading is not None and behind is not None and _is_heading(body, lines[heading]) and _is_heading(body, behind):
        first = heading
    return first, last


def _is_heading(body: Body, line: _Line) -> bool:
    return _HEADING.match(body.text, line.start, line.end) is not None


def _target(body: Body, passage: Passage) -> int | None:
    """Return where a passage goes: behind the last paragraph that is more than a lead-in of what is asked."""
    lines = [line for line in _lines(body) if line.start >= passage.end or line.end > passage.end]
    if not _breaks(body, passage.end, body.end) and not passage.gap.strip(" "):
        return len(body.text[: body.end].rstrip(" \t"))
    kept = _without_closing_tags(body, [line for line in lines if not line.blank], passage)
    ends = [line.end for n, line in enumerate(kept) if n + 1 == len(kept) or _ends_paragraph(body, line, kept[n + 1])]
    open_ends = [end for end in ends if not any(low <= end <= high for low, high in body.closed)]
    for end in open_ends:
        rest = _masked(body, end, body.end)
        constant = len(rest.replace(_FILLED, "").strip())
        if _FILLED in rest and constant <= _LITTLE and end > passage.end:
            return end
    return open_ends[-1] if open_ends and open_ends[-1] == ends[-1] else None


def _without_closing_tags(body: Body, lines: list[_Line], passage: Passage) -> list[_Line]:
    """Return lines without the closing tags at their end of what was opened in front of a passage."""
    while lines and (closed := _CLOSING.match(body.text[lines[-1].start : lines[-1].end])):
        inside = body.text[passage.end : lines[-1].start]
        if f"<{closed[1]}" in inside:
            break
        lines = lines[:-1]
    return lines


def _ends_paragraph(body: Body, line: _Line, following: _Line) -> bool:
    return len(_all(body, body.text[line.end : following.start])) > 1


def _gap(body: Body) -> str:
    """Return what parts paragraphs of a body: a blank line where it has any, else a line break, or a blank."""
    breaks = list(body.breaks.finditer(body.text, body.start, body.end))
    if not breaks:
        return " "
    has_blank_lines = any(not body.text[one.end() : other.start()].strip() for one, other in itertools.pairwise(breaks))
    return breaks[0][0] * (2 if has_blank_lines else 1)


def _all(body: Body, text: str) -> list[str]:
    return body.breaks.findall(text)


def _breaks(body: Body, start: int, end: int) -> bool:
    return body.breaks.search(body.text, start, end) is not None


def _meet(passage: Passage, stretch: tuple[int, int]) -> bool:
    return passage.start < stretch[1] and stretch[0] < passage.end
