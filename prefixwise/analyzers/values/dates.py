"""Dates and times of day in a line of text, as people and programs write them."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import msgspec

from prefixwise.analyzers.values.date_parts import NO_YEAR, Part, parts
from prefixwise.analyzers.values.kinds import Precision

_REACH = 48
_DAY = 86_400.0
_FIRST, _LAST = 1_420_000_000, 2_100_000_000
"""Seconds since the epoch that a number may be: 2015 to 2036."""


class Clock(msgspec.Struct, frozen=True):
    """One date, time of day or both.

    Attributes:
        start, end: Where it stands in the line.
        precision: The finest unit that it names.
        moment: Seconds since the epoch (no zone is read as UTC; no year as one fixed year); None without a date.
        other_moment: The same where `03/04/2026` is read the other way round.
        time_of_day: Seconds after midnight; None without a time.
        weekday: 0 for Monday; None where no day of the week is named.
        bare: A run of digits, which is a time only where something speaks for it.
        has_year: Whether a year is written.
    """

    start: int
    end: int
    precision: Precision
    moment: float | None = None
    other_moment: float | None = None
    time_of_day: float | None = None
    weekday: int | None = None
    bare: bool = False
    has_year: bool = False


_BARE = re.compile(r"(?<![\w.,/-])(\d{8,19})(\.\d{1,9})?(?![\w/-]|[.,]\d)")
_JOIN = re.compile(
    r"(?:[\s,T|·•–—_(:-]|\)\s?){0,4}(?:[（(]?(?:[日月火水木金土](?:曜日?)?|(?:星期|周|週)[一二三四五六日天]|[월화수목금토일]요일)[)）]?)?"
    r"(?:г\.)?[\s,、，،の]{0,2}(?:(?:at|on|um|the|den|le|el|à|às|a las|alle|ore|om|kl\.?|klo|o|de)[\s,]{1,2})?"
)


def clock_at(line: str, start: int, end: int) -> Clock | None:
    """Return the date or time that characters `start` to `end` of a line are part of, None where there is none.

    A date and a time beside it are one. Costs the same however long the line is.
    """
    low, high = max(0, start - _REACH), min(len(line), end + _REACH)
    window = line[low:high]
    begin, stop = start - low, end - low
    chain = next(
        (
            chain
            for chain in _chains(window)
            if chain[0].start <= begin < chain[-1].end or chain[-1].end == begin == stop
        ),
        None,
    )
    found = _composed(chain) if chain else _bare_at(window, begin, stop)
    if found is None or window[found.end : stop].strip(" \t.,;:)]}\"'"):
        return None
    return msgspec.structs.replace(found, start=found.start + low, end=found.end + low)


def read(value: str) -> Clock | None:
    """Return the first date or time in a short value, None where there is none."""
    window = value[: 3 * _REACH]
    chain = next(iter(_chains(window)), None)
    return _composed(chain) if chain else _bare_at(window, 0, 0, anywhere=True)


def elapsed(first: Clock, second: Clock) -> float | None:
    """Return how many seconds later the second one is, negative for earlier; None where that cannot be said.

    Times without a date are taken less than half a day apart, days of the week less than half a week.
    """
    if first.moment is not None and second.moment is not None:
        if first.has_year != second.has_year:
            return None
        steps = [second.moment - first.moment]
        if first.other_moment is not None and second.other_moment is not None:
            steps.append(second.other_moment - first.other_moment)
        return min(steps, key=abs)
    if first.time_of_day is not None and second.time_of_day is not None:
        return (second.time_of_day - first.time_of_day + _DAY / 2) % _DAY - _DAY / 2
    if first.weekday is not None and second.weekday is not None:
        return ((second.weekday - first.weekday + 3) % 7 - 3) * _DAY
    return None


def _chains(window: str) -> list[list[Part]]:
    """Return the dates and times of a window in order of place, each as the parts that make it up."""
    chains: list[list[Part]] = []
    for part in sorted(parts(window), key=lambda part: (part.start, -part.end)):
        if chains and part.start < chains[-1][-1].end:
            continue
        if chains and _belongs(window, chains[-1], part):
            chains[-1].append(part)
        else:
            chains.append([part])
    return chains


def _belongs(window: str, chain: list[Part], part: Part) -> bool:
    """Tell whether a part goes on a clock: it adds what the clock lacks and stands close behind it."""
    if not _JOIN.fullmatch(window, chain[-1].end, part.start):
        return False
    for name in ("date", "time", "weekday"):
        if getattr(part, name) is not None and any(getattr(other, name) is not None for other in chain):
            return False
    return True


def _composed(chain: list[Part]) -> Clock | None:
    """Return the clock that a chain of parts makes up."""
    date = next((part for part in chain if part.date), None)
    time = next((part for part in chain if part.time is not None), None)
    weekday = next((part.weekday for part in chain if part.weekday is not None), None)
    moment = _moment(date.date, time) if date else None
    if date and moment is None:
        return None
    finest = time or date
    return Clock(
        start=chain[0].start,
        end=chain[-1].end,
        precision=finest.precision if finest else Precision.DAY,
        moment=moment,
        other_moment=_moment(date.flipped, time) if date else None,
        time_of_day=time.time if time else None,
        weekday=weekday,
        has_year=bool(date and date.date and date.date[0]),
    )


def _moment(date: tuple[int, int, int] | None, time: Part | None) -> float | None:
    """Return seconds since the epoch of a date with a time; None for no date."""
    if date is None:
        return None
    year, month, day = date
    try:
        midnight = datetime(year or NO_YEAR, month, day or 1, tzinfo=UTC).timestamp()
    except ValueError:
        return None
    return midnight + ((time.time or 0.0) - time.zone if time else 0.0)


def _bare_at(window: str, start: int, end: int, *, anywhere: bool = False) -> Clock | None:
    """Return the time that a run of digits may be: seconds, ms, us or ns since the epoch, or 20260317091407."""
    for match in _BARE.finditer(window):
        if anywhere or (match.start() <= start < match.end() and match.end() >= end):
            return _epoch(match) or _digits(match)
    return None


def _epoch(match: re.Match[str]) -> Clock | None:
    power = {10: 0, 13: 3, 16: 6, 19: 9}.get(len(match[1]))
    if power is None:
        return None
    moment = int(match[1]) / 10**power + float("0" + match[2] if match[2] else 0)
    precision = Precision.SUB_SECOND if power or match[2] else Precision.SECOND
    if not _FIRST <= moment <= _LAST:
        return None
    return Clock(match.start(), match.end(), precision, moment, bare=True, has_year=True)


def _digits(match: re.Match[str]) -> Clock | None:
    text, units = match[1], {8: Precision.DAY, 12: Precision.MINUTE, 14: Precision.SECOND}
    if len(text) not in units or match[2]:
        return None
    try:
        moment = datetime.strptime(text, "%Y%m%d%H%M%S"[: len(text) - 2 if len(text) > 8 else 6]).replace(tzinfo=UTC)
    except ValueError:
        return None
    if not 2000 <= moment.year <= 2040:
        return None
    return Clock(match.start(), match.end(), units[len(text)], moment.timestamp(), bare=True, has_year=True)
