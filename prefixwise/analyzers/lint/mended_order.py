"""Texts whose parts come in one order: lines, and words of an enumeration, sorted where their order moved."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence

from prefixwise.analyzers.lint.claimed import once
from prefixwise.analyzers.lint.claims import Around, Claim
from prefixwise.analyzers.lint.documents import Entry
from prefixwise.analyzers.lint.mended_history import canonical
from prefixwise.analyzers.lint.mending import mended_texts, with_mended_items
from prefixwise.analyzers.lint.moved_values import shape_of
from prefixwise.core.request import Part, Request

_NUMBER = re.compile(
    r"[ \t]*(?:(?:item|step|no\.?|#)[ \t]?)?\d{1,3}[.):\]][ \t]*|[ \t]*[-*•][ \t]+|[ \t]*", re.IGNORECASE
)
_SEPARATORS = ("; ", ", ", "| ", ";", ",", "|", "、")
_ENUMERATION_END = re.compile(r"[.!?](?:\s|$)|\n|$")
_JSON_START = re.compile(r"[{\[]")
_ELEMENT_GAP = re.compile(r"(?<=>)[ \t]*(?=<)")


@once
def _places(claims: Sequence[Claim]) -> tuple[Around, ...]:
    return tuple(dict.fromkeys(place for claim in claims for place in claim.moved))


def with_sorted_parts(request: Request, claims: Sequence[Claim]) -> Request:
    """Return a request in which what comes in another order each time is sorted, and JSON in texts has one form."""
    places = _places(claims)

    def mend(entry: Entry) -> bytes:
        return mended_texts(entry, _sorting(entry, places))

    return with_mended_items(request, mend)


def _sorting(entry: Entry, places: Sequence[Around]) -> Callable[[Part, str], str]:
    def form(part: Part, text: str) -> str:
        shape = shape_of(entry.pointer + part.pointer)
        for place in places:
            if shape != place.field:
                continue
            match = re.compile(place.pattern, re.DOTALL).search(text)
            if match is not None:
                text = _sorted_at(text, *match.span(1))
        return text

    return form


def _sorted_at(text: str, start: int, end: int) -> str:
    """Return a text in which the parts that a stretch lies in are sorted."""
    mended = _with_json(text, start, end)
    if mended != text:
        return mended
    low = text.rfind("\n", 0, start) + 1
    high = _line_end(text, end)
    if "\n" in text[low:high]:
        low, high = _paragraph(text, low, high)
        return text[:low] + _sorted_lines(text[low:high]) + text[high:]
    colon = text.rfind(": ", low, start)
    low = low if colon < 0 else colon + 2
    stop = _ENUMERATION_END.search(text, end)
    high = len(text) if stop is None else stop.start()
    return text[:low] + _sorted_enumeration(text[low:high]) + text[high:]


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _paragraph(text: str, low: int, high: int) -> tuple[int, int]:
    """Return lines widened to those next to them that are items of the same list."""
    while low > 0:
        above = text.rfind("\n", 0, low - 1) + 1
        if not _is_like(text[above : low - 1], text[low:high]):
            break
        low = above
    while high < len(text):
        below = _line_end(text, high + 1)
        if not _is_like(text[high + 1 : below], text[low:high]):
            break
        high = below
    return low, high


def _is_like(line: str, lines: str) -> bool:
    """Say whether a line begins as the first of some lines does, with a bullet, a number or a bracket."""
    sign, other = line.lstrip()[:1], lines.lstrip()[:1]
    return bool(sign) and not sign.isalpha() and (sign == other or (sign.isdigit() and other.isdigit()))


def _sorted_lines(text: str) -> str:
    """Return lines sorted by what they say; their numbers stay where they are."""
    found = [(match[0] if (match := _NUMBER.match(line)) else "", line) for line in text.split("\n")]
    bodies = sorted(line[len(number) :].rstrip(",;") for number, line in found)
    ends = [line[len(line.rstrip(",;")) :] for _, line in found]
    return "\n".join(number + body + end for (number, _), body, end in zip(found, bodies, ends, strict=True))


def _sorted_enumeration(text: str) -> str:
    elements = _ELEMENT_GAP.split(text)
    if len(elements) > 1:
        return "".join(sorted(elements))
    separator = next((one for one in _SEPARATORS if one in text), None)
    if separator is None:
        return text
    plain = text.replace(" and ", separator).rstrip()
    return separator.join(sorted(part.strip() for part in plain.split(separator) if part.strip()))


def _with_json(text: str, start: int, end: int) -> str:
    """Return a text in which the JSON around or next to a stretch is written in its one form."""
    decoder = json.JSONDecoder()
    for match in _JSON_START.finditer(text):
        if match.start() > end:
            break
        try:
            value, stop = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        if stop >= start and isinstance(value, (dict, list)) and value:
            return text[: match.start()] + canonical(value).decode() + text[stop:]
    return text
