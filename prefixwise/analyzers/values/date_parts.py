"""The dates, times of day and days of the week in a short piece of text, each as people and programs write them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import NamedTuple

from prefixwise.analyzers.values.calendar_words import ALSO_WORDS, DAYS, MONTHS
from prefixwise.analyzers.values.kinds import Precision

NO_YEAR = 2000
"""Stands in for a year that is not written: a leap year, so that 29 February is a date."""


class Part(NamedTuple):
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
      | (?<=\dT)(?P<h6>\d\d)(?:(?P<m6>\d\d)(?P<s6>\d\d)?)?
    )
    (?:\s?(?P<half>[aApP])\.?\s?[mM]\b\.?)?
    (?:\s?(?:Uhr|o['’]clock|h)\b)?
    (?:\s?(?P<zone>Z\b|\(?(?:{_ZONES})\b\)?|(?:(?:UTC|GMT)\s?)?[+-]\d\d:?\d\d\b)(?:\s\([A-Z]{{3,5}}\))?)?
    (?!\w|[:.]\d|/)
    """,
    re.VERBOSE,
)

_DIGITS = frozenset("0123456789")
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
_CALL = re.compile(r"datetime\((\d{4}), (\d\d?), (\d\d?)(?:, (\d\d?)(?:, (\d\d?)(?:, (\d\d?)(?:, (\d{1,6}))?)?)?)?")
_CHINESE = re.compile(r"(?:(\d{4})\s?[年년]\s?)?(\d{1,2})\s?[月월]\s?(\d{1,2})\s?[日号號일]")
_CHINESE_TIME = re.compile(
    r"(?:(午前|上午|早上|凌晨|오전|午後|下午|晚上|오후)\s?)?(?<!\d)(\d{1,2})\s?[時时点點시](?![間间])"
    r"(?:\s?(\d{1,2})\s?[分분])?(?:\s?(\d{1,2})\s?[秒초])?"
)
_AFTER_NOON = frozenset({"午後", "下午", "晚上", "오후"})
# Scripts that put no spaces between words; what stands beside a number there is no part of it.
_UNSPACED = re.compile(r"[\u3005-\u30ff\u3400-\u9fff]")
_PARTS_OF_DATES = frozenset("年月日号號時时点點間间分秒午前後上下早凌晨晚小")
_WEEK = re.compile(
    r"(?<!\w)(?:(\d{4})-?W(\d\d)(?:-?([1-7]))?"
    r"|(?:(?:calendar |ISO )?week|KW|CW|Kalenderwoche|semaine|semana|settimana|vecka|uge)\s?#?(\d{1,2})"
    r"(?:[,/]?\s(?:of\s)?(\d{4}))?)(?!\w)",
    re.IGNORECASE,
)
_DAY_NAME = re.compile(rf"(?<![\w-])({_WORD}(?:-feira)?)(?!\w)\.?")
_COMPACT = re.compile(r"(?<![\w-])(\d{4})(\d\d)(\d\d)(?=[T_-]\d{4,6}(?!\d))")
_COMPACT_TIME = re.compile(r"(?<=\d{8}[T_-])(\d\d)(\d\d)(\d\d)?(?!\d)(Z\b)?")


def parts(window: str) -> Iterator[Part]:
    """Yield every date, time and day name of a window; they may overlap."""
    if _UNSPACED.search(window):
        window = "".join([" " if _is_beside(character) else character for character in window])
    characters = set(window)
    if not _DIGITS.isdisjoint(characters):
        for hint, pattern, make in _MAKERS:
            if not hint.isdisjoint(characters):
                for match in pattern.finditer(window):
                    if (part := make(match)) is not None:
                        yield part
    for match in _DAY_NAME.finditer(window):
        if (day := DAYS.get(match[1].lower())) is not None:
            yield Part(match.start(), match.end(), weekday=day)


def _is_beside(character: str) -> bool:
    return _UNSPACED.match(character) is not None and character not in _PARTS_OF_DATES


def _date(match: re.Match[str], year: int, month: int, day: int, *, flip: bool = False) -> Part | None:
    """Return a date if there is such a one."""
    year += 2000 if 0 < year < 100 else 0
    if flip and month > 12 >= day:
        month, day, flip = day, month, False
    if not (1 <= month <= 12 and 0 <= day <= 31 and (year == 0 or 1900 <= year <= 2100)):
        return None
    precision = Precision.DAY if day else Precision.LONGER
    flipped = (year, day, month) if flip and 1 <= day <= 12 and day != month else None
    return Part(match.start(), match.end(), date=(year, month, day), flipped=flipped, precision=precision)


def _iso(match: re.Match[str]) -> Part | None:
    year, *rest = (int(group) for group in match.groups() if group)
    return _date(match, year, rest[0], rest[1])


def _numeric(match: re.Match[str]) -> Part | None:
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


def _day_first(match: re.Match[str]) -> Part | None:
    month = _month(match[2], match[3])
    return _date(match, int(match[3] or 0), month, int(match[1])) if month and match[1] != "0" else None


def _month_first(match: re.Match[str]) -> Part | None:
    month = _month(match[1], match[3])
    return _date(match, int(match[3] or 0), month, int(match[2])) if month else None


def _month_year(match: re.Match[str]) -> Part | None:
    month = _month(match[1], match[2])
    return _date(match, int(match[2]), month, 0) if month else None


def _call(match: re.Match[str]) -> Part | None:
    """Return the time that Python writes as `datetime.datetime(2026, 3, 17, 9, 14, 7)`."""
    part = _date(match, int(match[1]), int(match[2]), int(match[3]))
    if part is None or match[4] is None:
        return part
    hour, minute, second, fraction = (int(match[group] or 0) for group in (4, 5, 6, 7))
    finest = Precision.SUB_SECOND if match[7] else Precision.SECOND if match[6] else Precision.MINUTE
    return part._replace(time=hour * 3600.0 + minute * 60 + second + fraction / 1e6, precision=finest)


def _chinese(match: re.Match[str]) -> Part | None:
    return _date(match, int(match[1] or 0), int(match[2]), int(match[3]))


def _chinese_time(match: re.Match[str]) -> Part | None:
    hour, minute, second = int(match[2]), int(match[3] or 0), int(match[4] or 0)
    hour += 12 if match[1] in _AFTER_NOON and hour < 12 else 0
    if hour > 24 or minute > 59 or second > 59:
        return None
    precision = Precision.SECOND if match[4] else Precision.MINUTE if match[3] else Precision.HOUR
    return Part(match.start(), match.end(), time=hour * 3600.0 + minute * 60 + second, precision=precision)


def _week(match: re.Match[str]) -> Part | None:
    number, year = int(match[2] or match[4]), int(match[1] or match[5] or 0)
    if not 1 <= number <= 53:
        return None
    try:
        monday = datetime.fromisocalendar(year or NO_YEAR, number, int(match[3] or 1))
    except ValueError:
        return None
    precision = Precision.DAY if match[3] else Precision.LONGER
    return Part(
        match.start(), match.end(), date=(monday.year if year else 0, monday.month, monday.day), precision=precision
    )


def _time(match: re.Match[str]) -> Part | None:
    """Return a time of day if there is such a one."""
    hour, minute, second = (
        next((match[name + mark] for mark in ("", "2", "3", "6") if match[name + mark]), None) for name in "hms"
    )
    hour = hour or match["h4"]
    half, fraction = (match["half"] or "").lower(), match["f"]
    hours = int(hour) % 12 + 12 * (half == "p") if half and int(hour) <= 12 else int(hour)
    if hours > 24 or int(minute or 0) > 59 or int(second or 0) > 60 or (half and not 1 <= int(hour) <= 12):
        return None
    precision = Precision.SECOND if second else Precision.MINUTE if minute else Precision.HOUR
    seconds = hours * 3600.0 + int(minute or 0) * 60 + int(second or 0) + float("0." + fraction[1:] if fraction else 0)
    return Part(
        match.start(),
        match.end(),
        time=seconds,
        zone=_zone(match["zone"]),
        precision=Precision.SUB_SECOND if fraction else precision,
    )


def _compact_time(match: re.Match[str]) -> Part | None:
    hour, minute, second = int(match[1]), int(match[2]), int(match[3] or 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    precision = Precision.SECOND if match[3] else Precision.MINUTE
    return Part(match.start(), match.end(), time=hour * 3600.0 + minute * 60 + second, precision=precision)


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


_MAKERS: tuple[tuple[frozenset[str], re.Pattern[str], Callable[[re.Match[str]], Part | None]], ...] = (
    (frozenset("-/."), _ISO, _iso),
    (frozenset("-"), _ISO_IN_NAME, _iso),
    (frozenset("-/."), _NUMERIC, _numeric),
    (frozenset(" /-"), _DAY_FIRST, _day_first),
    (frozenset(" "), _MONTH_FIRST, _month_first),
    (frozenset(" "), _MONTH_YEAR, _month_year),
    (frozenset("月월"), _CHINESE, _chinese),
    (frozenset("時时点點시"), _CHINESE_TIME, _chinese_time),
    (frozenset("WwKkCSsu"), _WEEK, _week),
    (frozenset("("), _CALL, _call),
    (frozenset("T_-"), _COMPACT, _iso),
    (frozenset("T_-"), _COMPACT_TIME, _compact_time),
    (frozenset(":.hHTUamPo"), _TIME, _time),
)
