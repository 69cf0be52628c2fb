"""Numbers as people write them, and the same number, date or time written in two countries' ways."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import NamedTuple

from prefixwise.analyzers.values.calendar_words import DAYS
from prefixwise.analyzers.values.dates import elapsed, read
from prefixwise.analyzers.values.kinds import Candidate, SpanKind
from prefixwise.analyzers.values.quotes import Quoted
from prefixwise.core.finding import Confidence

_NUMBER = re.compile(
    r"(?<![\w.])(?P<clock>(?P<h>\d{1,4}):(?P<m>[0-5]\d)(?::(?P<s>[0-5]\d))?(?![\w:]))"
    r"|(?<![\w.])(?P<span>(?:(?P<hh>\d{1,4})\s?h\s?)?(?P<mm>\d{1,4})\s?m(?:in)?(?:\s?(?P<ss>\d{1,2})\s?s)?(?!\w))"
    r"|[$€£]?\s?(?P<n>\d+(?:[.,_'’ \u00a0\u202f]\d{3}(?!\d))*(?:[.,]\d+)?)\s?(?P<unit>[kKmM](?![^\W\d_])|bn\b)?"
)
_NO_DIGIT = re.compile(r"\D+")
_SCALE = {"k": 1_000, "m": 1_000_000, "b": 1_000_000_000}
_GROUPED = re.compile(r"\d{1,3}(?:([.,_'’ \u00a0\u202f])\d{3})(?:\1\d{3})*(?:([.,])\d+)?")


class Number(NamedTuple):
    """A number in a text: where it stands, and its value."""

    start: int
    end: int
    value: Decimal


def numbers(text: str) -> list[Number]:
    """Return the numbers of a short text; `1:02:03` is one, in seconds, and `1.2k` is 1,200.

    A single group of three after a comma is thousands, after a point too if a comma stands elsewhere.
    """
    found = []
    for match in _NUMBER.finditer(text[:400]):
        if match["n"] is None:
            units = ["h", "m", "s"] if match["clock"] else ["hh", "mm", "ss"]
            value = Decimal(0)
            for unit, scale in zip(units, (3600, 60, 1), strict=True):
                value += int(match[unit] or 0) * scale
            found.append(Number(match.start(), match.end(), value))
        elif len(match["n"]) <= 40:
            scale = _SCALE.get((match["unit"] or "").lower()[:1], 1)
            found.append(Number(match.start("n"), match.end(), readings(match["n"])[0] * scale))
    return found


def readings(digits: str) -> tuple[Decimal, ...]:
    """Return what a number with separators can mean, the reading of English-speaking countries first."""
    match = _GROUPED.fullmatch(digits)
    if match is None:
        return (Decimal(digits.replace(",", ".")),) if digits.count(",") + digits.count(".") < 2 else (Decimal(0),)
    group, decimal = match[1], match[2]
    if decimal == group:
        return (Decimal(0),)
    plain = digits.replace(group, "")
    grouped = Decimal(plain.replace(decimal, ".") if decimal else plain)
    if decimal or group not in ".," or digits.count(group) > 1:
        return (grouped,)
    fraction = Decimal(digits.replace(",", "."))
    return (grouped, fraction) if group == "," else (fraction, grouped)


def same_number_other_format(before: str, after: str) -> str | None:
    """Return in words how two short values write the same number, date or time differently; None where they do not."""
    if before == after:
        return None
    return _same_number(before, after) or _same_time(before, after)


def _same_number(before: str, after: str) -> str | None:
    first, second = before.strip(" $€£%"), after.strip(" $€£%")
    if first == second or not (_is_number(first) and _is_number(second)):
        return None
    # `3.10` and `3.1` are one number and two versions: only the signs between the same digits may differ.
    if _NO_DIGIT.sub("", first) != _NO_DIGIT.sub("", second):
        return None
    return "the same number with other separators" if set(readings(first)) & set(readings(second)) else None


def _is_number(text: str) -> bool:
    match = _NUMBER.fullmatch(text)
    return match is not None and match["n"] is not None and not match["unit"]


def _same_time(before: str, after: str) -> str | None:
    one, other = read(before), read(after)
    if one is None or other is None or one.bare or other.bare or one.precision is not other.precision:
        return None
    if elapsed(one, other) != 0:
        return None
    if one.moment is None and one.time_of_day is None:
        return "the same day of the week in another language"
    return "the same date or time in another notation"


def locale_format(place: Quoted) -> Candidate | None:
    """Return the reading of a difference as one number, or one day of the week, in two countries' notations."""
    if not place.swapped:
        return None
    values = place.values
    days = [DAYS.get(value.lower()) for value in values]
    why = "the same day of the week in another language" if days[0] == days[1] is not None else _same_number(*values)
    return Candidate(SpanKind.LOCALE, Confidence.LIKELY, (why,)) if why else None
