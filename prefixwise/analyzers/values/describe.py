"""What a differing stretch of two texts is: every reading of it, the likeliest first."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import msgspec

from prefixwise.analyzers.values import drift
from prefixwise.analyzers.values.ages import age
from prefixwise.analyzers.values.clocks import clock
from prefixwise.analyzers.values.counters import counter
from prefixwise.analyzers.values.environment import environment
from prefixwise.analyzers.values.hunks import Hunk
from prefixwise.analyzers.values.identifiers import identifier
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.numbers import locale_format
from prefixwise.analyzers.values.orders import examples, order
from prefixwise.analyzers.values.person import person
from prefixwise.analyzers.values.prose import prose
from prefixwise.analyzers.values.quotes import Quoted, quoted, whole_lines
from prefixwise.analyzers.values.versions import version
from prefixwise.core.finding import Confidence

_UNSURE = Candidate(SpanKind.OTHER, Confidence.POSSIBLE, ("nothing says what it is",))
_LONGEST = 20_000
_SHORT = 4_000
_REACH = 40
# Where two texts write one JSON value differently, a difference of some length holds one of these.
_SIGNS = re.compile(r"[\"\\\s.,:]")
_SAME_WORDS: tuple[tuple[SpanKind, Callable[[str, str], str | None]], ...] = (
    (SpanKind.WHITE_SPACE, drift.white_space),
    (SpanKind.UNICODE, drift.unicode_form),
    (SpanKind.UNICODE, drift.unicode_escapes),
    (SpanKind.UNICODE, drift.references),
    (SpanKind.JSON_FORM, drift.json_escapes),
)
_RANKS = {confidence: rank for rank, confidence in enumerate(Confidence)}


class Description(msgspec.Struct, frozen=True):
    """What a hunk is.

    Attributes:
        candidates: Its readings, the likeliest first; `other` leads where none is more than possible.
        quote: The hunk as a person would quote it, with its context.
    """

    candidates: tuple[Candidate, ...]
    quote: Quoted

    @property
    def kind(self) -> SpanKind:
        """The likeliest kind."""
        return self.candidates[0].kind

    @property
    def confidence(self) -> Confidence:
        """How sure the likeliest kind is."""
        return self.candidates[0].confidence


def describe(before: str, after: str, hunk: Hunk, series: Sequence[str] = (), label: str = "") -> Description:
    """Return what a hunk of two texts is.

    Args:
        before: The whole earlier text.
        after: The whole later text.
        hunk: One of their differences.
        series: The values that stood at this place, in order of time, where more than two are known.
        label: What the texts are called, in lower-case words, where they are single values: `prompt cache key`.
    """
    quote = quoted(before, after, hunk)
    if label:
        quote = msgspec.structs.replace(quote, scope=(*quote.scope, label))
    same = _same_words(before, after, hunk) or order(before, after, hunk)
    if same is not None:
        return Description((same,), quote)
    found = sorted(_readings(before, after, hunk, quote, series), key=lambda reading: _RANKS[reading.confidence])
    if not found or found[0].confidence is Confidence.POSSIBLE:
        found.insert(0, _UNSURE)
    return Description(tuple(found), quote)


def _readings(before: str, after: str, hunk: Hunk, quote: Quoted, series: Sequence[str]) -> list[Candidate]:
    """Return every reading of a hunk; of those that are equally sure, the one that is seldom wrong first."""
    lines = hunk if quote.swapped else whole_lines(before, after, hunk)
    values = (
        locale_format(quote),
        age(quote),
        clock(quote, series),
        version(quote),
        environment(quote, lines),
        identifier(quote),
        person(quote),
        counter(quote, series),
    )
    found = [reading for reading in values if reading is not None]
    if all(reading.confidence is Confidence.POSSIBLE for reading in found):
        found += filter(None, (examples(before, after, hunk),))
    return [*found, *filter(None, (prose(quote, hunk, before, after),))]


def _same_words(before: str, after: str, hunk: Hunk) -> Candidate | None:
    """Return the reading of a difference that changes no word, None for any other."""
    one, other = _widened(before, hunk.before_start, hunk.before_end), _widened(after, hunk.after_start, hunk.after_end)
    if max(len(one), len(other)) > _LONGEST:
        return None
    if why := drift.line_ends(one, other):
        return Candidate(SpanKind.LINE_ENDS, Confidence.CERTAIN, (why,))
    if (written := _same_json(before, after, hunk)) is not None:
        return written
    for kind, same in _SAME_WORDS:
        if why := same(one, other):
            return Candidate(kind, Confidence.CERTAIN, (why,))
    return None


def _widened(text: str, start: int, end: int) -> str:
    """Return a stretch on to the next characters that can be seen: what joins it may lie outside the difference."""
    low, high = max(0, start - 1), min(len(text), end + 1)
    while low > max(0, start - _REACH) and text[low].isspace():
        low -= 1
    while high < min(len(text), end + _REACH) and text[high - 1].isspace():
        high += 1
    return text[low:high]


def _same_json(before: str, after: str, hunk: Hunk) -> Candidate | None:
    """Return the reading of a difference inside JSON whose value is the same; JSON is the text, or a part of it."""
    one, other = (
        _json_around(before, hunk.before_start, hunk.before_end),
        _json_around(after, hunk.after_start, hunk.after_end),
    )
    if not one or not other or (len(one) > _SHORT and not _SIGNS.search(hunk.before_text + hunk.after_text)):
        return None
    why = drift.json_equal(one, other)
    return Candidate(SpanKind.JSON_FORM, Confidence.CERTAIN, (why,)) if why else None


def _json_around(text: str, start: int, end: int) -> str:
    """Return the text, or the paragraph around a stretch, from its first to its last bracket; '' for none."""
    if len(text) > _LONGEST or text[:1] not in ("{", "["):
        lowest, highest = max(0, start - _LONGEST), end + _LONGEST
        begin, stop = text.rfind("\n\n", lowest, start), text.find("\n\n", end, highest)
        text = text[begin if begin >= 0 else lowest : stop if stop >= 0 else highest]
    opening = min((at for at in (text.find("{"), text.find("[")) if at >= 0), default=-1)
    closing = max(text.rfind("}"), text.rfind("]"))
    return text[opening : closing + 1] if 0 <= opening < closing and closing - opening <= _LONGEST else ""
