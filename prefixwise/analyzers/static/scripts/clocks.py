"""What is left of a clock when it is printed, and when it is cut."""

from __future__ import annotations

import re
from collections.abc import Mapping

from prefixwise.analyzers.static.precision import finest_unit
from prefixwise.analyzers.static.scripts.values import BLANK, Items, Moving, Value
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

_UNITS = ("second", "minute", "hour", "day", "month", "year")
_PRINTED = {
    "second": (
        "toISOString toJSON toString toUTCString toGMTString getTime valueOf toLocaleString toLocaleTimeString "
        "toTimeString getSeconds toISOTime toISO toSQL toMillis toSeconds unix getMilliseconds toRFC2822 toHTTP second "
        "epochMilliseconds"
    ),
    "minute": "getMinutes getUTCMinutes minute minutes",
    "hour": "getHours getUTCHours hour hours",
    "day": (
        "toDateString toLocaleDateString getDate getUTCDate getDay getUTCDay toISODate toSQLDate toPlainDate day "
        "weekday weekdayLong weekdayShort dayOfWeek date isoWeekday dayOfYear"
    ),
    "month": "getMonth getUTCMonth month monthLong monthShort toPlainYearMonth quarter weekNumber isoWeek week",
    "year": "getFullYear getUTCFullYear year weekYear",
}
_BY_METHOD = {name: unit for unit, names in _PRINTED.items() for name in names.split()}
_PATTERNED = frozenset({"format", "toFormat", "formatInTimeZone", "lightFormat", "formatDate", "strftime"})
_OPTIONS = (
    ("second", ("second", "fractionalSecondDigits")),
    ("minute", ("minute",)),
    ("hour", ("hour", "dayPeriod")),
    ("day", ("day", "weekday", "dateStyle")),
    ("month", ("month",)),
    ("year", ("year",)),
)
_LENGTHS = ((4, "year"), (7, "month"), (10, "day"), (13, "hour"), (16, "minute"))
_CUTS = frozenset({"slice", "substring", "substr"})
AGES = frozenset({"fromNow", "toRelative", "toRelativeCalendar", "toNow", "formatDistanceToNow"})
"""Methods that print how long ago something was."""
SETTERS = {
    "setHours": "day",
    "setUTCHours": "day",
    "setMinutes": "hour",
    "setUTCMinutes": "hour",
    "setSeconds": "minute",
}
"""Methods that set a date's finer parts, and what is left of it where they set them to a constant."""


def to_unit(clock: Moving, unit: str) -> Value:
    """Return a clock of which nothing finer than `unit` is left; a month or a year is taken for fixed."""
    have = clock.precision or "second"
    if unit not in _UNITS or _UNITS.index(unit) <= _UNITS.index(have):
        return clock
    if unit in ("month", "year"):
        return BLANK
    return clock.but(precision=unit, frequency=Frequency.DAY if unit == "day" else clock.frequency)


def printed(clock: Moving, method: str, arguments: list[str | None], options: Mapping[str, str | None]) -> Value:
    """Return what a method makes of a clock.

    Args:
        clock: The clock.
        method: Name of the method or property.
        arguments: Its arguments where they are constants.
        options: Fields of an object among them, such as `timeStyle`.
    """
    if clock.kind is not VolatileKind.CLOCK:
        return clock
    if method == "format" and not arguments and not options:
        return clock
    if method in _PATTERNED:
        unit = next((unit for unit in (finest_unit(text) for text in arguments if text) if unit), "")
        return to_unit(clock, unit or _of_options(options))
    if method == "startOf" and arguments:
        return to_unit(clock, arguments[0] or "")
    if method in _CUTS:
        return to_unit(clock, _of_length(arguments))
    if method == "split":
        return _split(clock, arguments)
    if method == "replace" and arguments and re.match(r"/\[?T|/\\?[.:]?T", arguments[0] or ""):
        return to_unit(clock, "day") if re.search(r"T[^/]*[.*+]", arguments[0] or "") else clock
    unit = _BY_METHOD.get(method, "")
    if method.startswith("toLocale"):
        unit = _of_options(options) or unit
        return _with_locale(to_unit(clock, unit))
    return to_unit(clock, unit)


def divided(clock: Moving, divisor: str) -> Value:
    """Return what is left of a number of milliseconds or seconds that is divided by a constant."""
    try:
        by = float(divisor.replace("_", ""))
    except ValueError:
        return clock
    coarse = ((86_400_000, "day"), (86_400, "day"), (3_600_000, "hour"), (60_000, "minute"))
    return to_unit(clock, next((unit for size, unit in coarse if by == size), "second"))


def _of_options(options: Mapping[str, str | None]) -> str:
    style = options.get("timeStyle", "")
    if style or "timeStyle" in options:
        return "minute" if style == "short" else "second"
    return next((unit for unit, names in _OPTIONS if any(name in options for name in names)), "")


def _of_length(arguments: list[str | None]) -> str:
    if len(arguments) != 2 or arguments[0] != "0" or not (arguments[1] or "").lstrip("-").isdecimal():
        return ""
    length = int(arguments[1] or "")
    if length < 0:
        return "minute" if length in (-8, -5) else "second"
    return next((unit for most, unit in _LENGTHS if length <= most), "second")


def _split(clock: Moving, arguments: list[str | None]) -> Value:
    """`2026-01-31T12:00:00` at its T, `1/31/2026, 12:00` at its comma: a date and a time."""
    if arguments[:1] in (["T"], [","], [", "], [" "]):
        return Items((to_unit(clock, "day"), clock, clock))
    return clock


def _with_locale(clock: Value) -> Value:
    if isinstance(clock, Moving):
        return clock.but(clause="it is printed as the locale has it")
    return clock
