"""Dates and times of day in a line of text, as people and programs write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec

from prefixwise.analyzers.values.calendar_words import ALSO_WORDS, DAYS, MONTHS
from prefixwise.analyzers.values.kinds import Precision

_REACH = 48
_DAY = 86_400.0
_NO_YEAR = 2000
"""Stands in for a year that is not written: a leap year, so that 29 February is a date."""
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


class _Part(NamedTuple):
    """A piece of a clock: a date, a time or a day of the week."""

    start: int
    end: int
    date: tuple[int, int, int] | None = None  # year (0 for none), month, day (0 for none)
    flipped: tuple[int, int, int] | None = None
    time: float | None = None
    zone: float = 0.0
    weekday: int | None = None
    precision: Precision = Precision.DAY


_ZONES = (
    "UTC|GMT|CEST|CET|EST|EDT|CST|CDT|MST|MDT|PST|PDT|BST|IST|JST|KST|WEST|WET|EEST|EET|MSK|AEST|AEDT|NZST|NZDT|SGT|HKT"
)
_HOURS = {"CET": 1, "CEST": 2, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7}

_TIME = re.compile(
    rf"""
    (?:(?<=\dT)|(?<=\d{{4}}:)|(?<![\w.:/-])|(?<=\d-)|(?<=\d_))
    (?:
      (?P<h>\d{{1,2}})(?P<colon>:)(?P<m>\d\d)(?::(?P<s>\d\d)(?P<f>[.,]\d{{1,9}})?)?
      | (?P<h2>\d{{1,2}})\.(?P<m2>\d\d)(?:\.(?P<s2>\d\d))?(?=\s?(?:Uhr|[ap]\.?m\b))
      | (?P<h3>\d{{1,2}})\s?[hH]\s?(?P<m3>\d\d)(?:\s?(?:m|min|:)?\s?(?P<s3>\d\d)s?)?(?!\w)
      | (?P<h4>\d{{1,2}})(?=\s?(?:[aApP]\.?[mM]\b|Uhr\b|o['’]clock))
      | (?P<h5>\d{{1,2}})[時时点](?:(?P<m5>\d{{1,2}})分)?(?:(?P<s5>\d{{1,2}})秒)?
      | (?<=\dT)(?P<h6>\d\d)(?:(?P<m6>\d\d)(?P<s6>\d\d)?)?
    )
    (?:\s?(?P<half>[aApP])\.?\s?[mM]\b\.?)?
    (?:\s?(?:Uhr|o['’]clock|h)\b)?
    (?:\s?(?P<zone>Z\b|\(?(?:{_ZONES})\b\)?|(?:(?:UTC|GMT)\s?)?[+-]\d\d:?\d\d\b)(?:\s\([A-Z]{{3,5}}\))?)?
    (?![\w:/]|\.\d)
    """,
    re.VERBOSE,
)

_WORD = r"[^\W\d_]{3,14}"
_ISO = re.compile(r"(?<![\w.-])(\d{4})(?:-(\d\d)-(\d\d)|/(\d\d?)/(\d\d?)|\.(\d\d)\.(\d\d))(?![\d/-])")
_ISO_IN_NAME = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?=[T_ -]\d\d[:.]?\d\d)")
_NUMERIC = re.compile(r"(?<![\w./-])(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d\d)(?![\w/-]|\.\d)")
_DAY_FIRST = re.compile(
    rf"(?<![\w.,:/])(\d{{1,2}})(?:st|nd|rd|th|er|[.ºª°])?[\s/-]{{1,2}}(?:(?:de|of|di)\s)?({_WORD})"
    r"(?:[.,]{0,2}(?:[\s/-]{1,2}(?:del?\s)?|,)(\d{4})(?!\d))?"
)
_MONTH_FIRST = re.compile(rf"(?<!\w)({_WORD})\.?\s(\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.])(?:,?\s(\d{{4}})(?!\d))?")
_MONTH_YEAR = re.compile(rf"(?<!\w)({_WORD})\.?,?\s(?:del?\s)?(\d{{4}})(?!\w)")
_CHINESE = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})日")
_WEEK = re.compile(
    r"(?<!\w)(?:(\d{4})-?W(\d\d)(?:-?([1-7]))?"
    r"|(?:(?:calendar |ISO )?week|KW|CW|Kalenderwoche|semaine|semana|settimana|vecka|uge)\s?#?(\d{1,2})"
    r"(?:[,/]?\s(?:of\s)?(\d{4}))?)(?!\w)",
    re.IGNORECASE,
)
_DAY_NAME = re.compile(rf"(?<![\w-])({_WORD}(?:-feira)?)(?!\w)\.?")
_BARE = re.compile(r"(?<![\w.,/-])(\d{8,19})(\.\d{1,9})?(?![\w/-]|[.,]\d)")
_COMPACT = re.compile(r"(?<!\d)(\d{4})(\d\d)(\d\d)(?=[T_-]\d{4,6}(?!\d))")
_COMPACT_TIME = re.compile(r"(?<=\d{8}[T_-])(\d\d)(\d\d)(\d\d)?(?!\d)(Z\b)?")
_JOIN = re.compile(
    r"(?:[\s,T|·•–—_(:-]|\)\s?){0,4}(?:(?:at|on|um|the|den|le|el|à|às|a las|alle|ore|om|kl\.?|klo|o|de)[\s,]{1,2})?"
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


def _chains(window: str) -> list[list[_Part]]:
    """Return the dates and times of a window in order of place, each as the parts that make it up."""
    chains: list[list[_Part]] = []
    for part in sorted(_parts(window), key=lambda part: (part.start, -part.end)):
        if chains and part.start < chains[-1][-1].end:
            continue
        if chains and _belongs(window, chains[-1], part):
            chains[-1].append(part)
        else:
            chains.append([part])
    return chains


def _belongs(window: str, chain: list[_Part], part: _Part) -> bool:
    """Tell whether a part goes on a clock: it adds what the clock lacks and stands close behind it."""
    if not _JOIN.fullmatch(window, chain[-1].end, part.start):
        return False
    for name in ("date", "time", "weekday"):
        if getattr(part, name) is not None and any(getattr(other, name) is not None for other in chain):
            return False
    return True


def _parts(window: str) -> Iterator[_Part]:
    """Yield every date, time and day name of a window; they may overlap."""
    if any(character.isdigit() for character in window):
        for hint, pattern, make in _MAKERS:
            if any(mark in window for mark in hint):
                for match in pattern.finditer(window):
                    if (part := make(match)) is not None:
                        yield part
    for match in _DAY_NAME.finditer(window):
        if (day := DAYS.get(match[1].lower())) is not None:
            yield _Part(match.start(), match.end(), weekday=day)


def _date(match: re.Match[str], year: int, month: int, day: int, *, flip: bool = False) -> _Part | None:
    """Return a date if there is such a one."""
    year += 2000 if 0 < year < 100 else 0
    if flip and month > 12 >= day:
        month, day, flip = day, month, False
    if not (1 <= month <= 12 and 0 <= day <= 31 and (year == 0 or 1900 <= year <= 2100)):
        return None
    precision = Precision.DAY if day else Precision.LONGER
    flipped = (year, day, month) if flip and 1 <= day <= 12 and day != month else None
    return _Part(match.start(), match.end(), date=(year, month, day), flipped=flipped, precision=precision)


def _iso(match: re.Match[str]) -> _Part | None:
    year, *rest = (int(group) for group in match.groups() if group)
    return _date(match, year, rest[0], rest[1])


def _numeric(match: re.Match[str]) -> _Part | None:
    one, separator, other, year = int(match[1]), match[2], int(match[3]), int(match[4])
    if len(match[4]) == 2 and separator != "/":
        return None if separator == "-" or other > 12 else _date(match, year, other, one)
    return _date(match, year, one, other, flip=True) if separator == "/" else _date(match, year, other, one)


def _month(name: str, year: str | None) -> int:
    """Return the number of a month by its name, 0 for another word."""
    low = name.lower()
    if low in ALSO_WORDS and not year and not name[0].isupper():
        return 0
    return MONTHS.get(low, 0)


def _day_first(match: re.Match[str]) -> _Part | None:
    month = _month(match[2], match[3])
    return _date(match, int(match[3] or 0), month, int(match[1])) if month and match[1] != "0" else None


def _month_first(match: re.Match[str]) -> _Part | None:
    month = _month(match[1], match[3])
    return _date(match, int(match[3] or 0), month, int(match[2])) if month else None


def _month_year(match: re.Match[str]) -> _Part | None:
    month = _month(match[1], match[2])
    return _date(match, int(match[2]), month, 0) if month else None


def _chinese(match: re.Match[str]) -> _Part | None:
    return _date(match, int(match[1] or 0), int(match[2]), int(match[3]))


def _week(match: re.Match[str]) -> _Part | None:
    number, year = int(match[2] or match[4]), int(match[1] or match[5] or 0)
    if not 1 <= number <= 53:
        return None
    try:
        monday = datetime.fromisocalendar(year or _NO_YEAR, number, int(match[3] or 1))
    except ValueError:
        return None
    precision = Precision.DAY if match[3] else Precision.LONGER
    return _Part(
        match.start(), match.end(), date=(monday.year if year else 0, monday.month, monday.day), precision=precision
    )


def _time(match: re.Match[str]) -> _Part | None:
    """Return a time of day if there is such a one."""
    hour, minute, second = (
        next((match[name + mark] for mark in ("", "2", "3", "5", "6") if match[name + mark]), None) for name in "hms"
    )
    hour = hour or match["h4"]
    half, fraction = (match["half"] or "").lower(), match["f"]
    hours = int(hour) % 12 + 12 * (half == "p") if half and int(hour) <= 12 else int(hour)
    if hours > 24 or int(minute or 0) > 59 or int(second or 0) > 60 or (half and not 1 <= int(hour) <= 12):
        return None
    precision = Precision.SECOND if second else Precision.MINUTE if minute else Precision.HOUR
    seconds = hours * 3600.0 + int(minute or 0) * 60 + int(second or 0) + float("0." + fraction[1:] if fraction else 0)
    return _Part(
        match.start(),
        match.end(),
        time=seconds,
        zone=_zone(match["zone"]),
        precision=Precision.SUB_SECOND if fraction else precision,
    )


def _compact_time(match: re.Match[str]) -> _Part | None:
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    precision = Precision.SECOND if match[3] else Precision.MINUTE
    return _Part(match.start(), match.end(), time=hour * 3600.0 + minute * 60 + second, precision=precision)


def _zone(text: str | None) -> float:
    """Return how many seconds a zone is ahead of UTC, 0 where it does not say."""
    if not text:
        return 0.0
    name = text.strip("()")
    sign = next((mark for mark in "+-" if mark in name), "")
    if not sign:
        return 3600.0 * _HOURS.get(name, 0)
    digits = name.partition(sign)[2].replace(":", "")
    return (1 if sign == "+" else -1) * (int(digits[:2]) * 3600.0 + int(digits[2:4]) * 60)


_MAKERS: tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str]], _Part | None]], ...] = (
    ("-/.", _ISO, _iso),
    ("-", _ISO_IN_NAME, _iso),
    ("-/.", _NUMERIC, _numeric),
    (" /-", _DAY_FIRST, _day_first),
    (" ", _MONTH_FIRST, _month_first),
    (" ", _MONTH_YEAR, _month_year),
    ("月", _CHINESE, _chinese),
    ("WwKkCSsu", _WEEK, _week),
    ("T_-", _COMPACT, _iso),
    ("T_-", _COMPACT_TIME, _compact_time),
    (":.hHTUamP時时点o", _TIME, _time),
)


def _composed(chain: list[_Part]) -> Clock | None:
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


def _moment(date: tuple[int, int, int] | None, time: _Part | None) -> float | None:
    """Return seconds since the epoch of a date with a time; None for no date."""
    if date is None:
        return None
    year, month, day = date
    try:
        midnight = datetime(year or _NO_YEAR, month, day or 1, tzinfo=UTC).timestamp()
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
