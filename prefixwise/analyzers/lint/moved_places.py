"""How a value that moves is found again in other requests: by the text on both sides of it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from prefixwise.analyzers.lint.claims import Around, Said
from prefixwise.analyzers.lint.moved_values import shape_of, taken_out
from prefixwise.analyzers.lint.slots import Slot, SpanChange
from prefixwise.analyzers.values.ages import AGE
from prefixwise.analyzers.values.describe import describe
from prefixwise.analyzers.values.hunks import Hunk, hunks
from prefixwise.analyzers.values.kinds import SpanKind

_LEFT, _RIGHT = 32, 24
"""Characters on either side by which a value is found."""
_NEAR = 24
_WIDE = 240
"""Characters between two differences up to which they are one value; the second of texts that are put in whole."""
_REACH = 40
_MOST = 12
_WHOLE_TEXTS = frozenset(
    {SpanKind.PROSE, SpanKind.ENVIRONMENT, SpanKind.EXAMPLES, SpanKind.PERSON, SpanKind.ORDER, SpanKind.OTHER}
)
_OF_VALUES = re.compile(r"[\w:./+@-]")
_LABEL = re.compile(r"(?:^|[\n.;>])[^\n.;>]*$")


def moved_at(slot: Slot) -> tuple[Around, ...]:
    """Return how the values of a place are found in any request of its application."""
    kind = SpanKind.OTHER if slot.reading is None else slot.reading.kind
    told = [change for change in slot.changes if (change.before_text or change.after_text) and not _is_told(change)]
    found = dict.fromkeys(around for change in told[:_MOST] for around in _places(change, kind))
    return tuple(sorted(found, key=lambda place: place.left))


def _is_told(change: SpanChange) -> bool:
    """Say whether a text was put together from several messages, so that it stands nowhere."""
    return change.char_offset is None


def said_at(places: tuple[Around, ...], change: SpanChange) -> tuple[Said, ...]:
    """Return what stood at a place in the two requests of a change, as far as their texts are kept."""
    texts = change.before_text or change.near[0], change.after_text or change.near[1]
    ours = tuple(place for place in places if place.field == shape_of(change.field))
    found = [(turn, taken_out(text, ours)[1]) for turn, text in zip(change.turns, texts, strict=True)]
    return tuple(Said(turn, value) for turn, value in found if value)


def _places(change: SpanChange, kind: SpanKind) -> Iterator[Around]:
    before, after = change.before_text, change.after_text
    gap = _WIDE if kind in _WHOLE_TEXTS else _NEAR
    groups = _grouped(hunks(before, after), gap)
    for number, (start, end) in enumerate(groups[:_MOST]):
        if number and not _is_alike(before, after, start, kind):
            continue
        around = _around(change.field, after, *_widened(after, start.after_start, end.after_end))
        yield _of_ages(around) if kind is SpanKind.RELATIVE_TIME else around


def _of_ages(place: Around) -> Around:
    """Return the place of an age that stands in many messages: what is behind it is another text in each."""
    pattern = (_loose(place.label) if place.label else r"(?:\A|(?<=\n))") + f"({AGE})"
    return Around(place.field, place.label, pattern, len(place.label))


def _grouped(found: tuple[Hunk, ...], gap: int) -> list[tuple[Hunk, Hunk]]:
    """Return the first and last of each run of differences that are near each other."""
    groups: list[tuple[Hunk, Hunk]] = []
    for hunk in found:
        if groups and hunk.after_start - groups[-1][1].after_end <= gap:
            groups[-1] = (groups[-1][0], hunk)
        else:
            groups.append((hunk, hunk))
    return groups


def _is_alike(before: str, after: str, hunk: Hunk, kind: SpanKind) -> bool:
    """Say whether a further difference is of the same kind."""
    return describe(before, after, hunk).candidates[0].kind is kind


def _widened(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a stretch with the rest of the words and numbers that it begins and ends in."""
    lowest, highest = max(0, start - _REACH), min(len(text), end + _REACH)
    if start == end or not _OF_VALUES.match(text[start]):
        lowest = start
    if start == end or not _OF_VALUES.match(text[end - 1]):
        highest = end
    while start > lowest and _OF_VALUES.match(text[start - 1]):
        start -= 1
    while end < highest and _OF_VALUES.match(text[end]):
        end += 1
    while end > start and text[end - 1] in ".:/":
        end -= 1
    return start, end


def _around(field: str, text: str, start: int, end: int) -> Around:
    left, right = text[max(0, start - _LEFT) : start], text[end : end + _RIGHT]
    pattern = ("" if start > _LEFT else r"\A") + _loose(left) + "(.*?)" + _loose(right)
    pattern += r"\Z" if end + _RIGHT >= len(text) else ""
    label = _LABEL.search(left)
    return Around(shape_of(field), "" if label is None else label[0].lstrip("\n.;> "), pattern, len(left))


def _loose(text: str) -> str:
    """Return a pattern for a text in which numbers may be others."""
    return r"\d+".join(re.escape(piece) for piece in re.split(r"\d+", text))
