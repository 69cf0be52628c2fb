"""Whether a differing value is a clock: the date or time at which a prompt was built."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from prefixwise.analyzers.values.calendar_words import DAYS, MONTHS
from prefixwise.analyzers.values.dates import Clock, clock_at, elapsed, read
from prefixwise.analyzers.values.environment import is_listing
from prefixwise.analyzers.values.kinds import Candidate, Precision, SpanKind
from prefixwise.analyzers.values.labels import word_set
from prefixwise.analyzers.values.quotes import Quoted, words_of
from prefixwise.core.finding import Confidence

_HOUR, _DAY = 3_600.0, 86_400.0
_LONGEST_STEP = 400 * _DAY
_NEAR = 40
_SKEW = 300.0
"""Seconds by which the clocks of two gateways may disagree."""

_NOW = word_set(
    """
    now today current currently date time datetime timestamp timestamps ts clock day weekday week month year
    tonight hour minute epoch unix generated rendered received sent updated refreshed fetched captured started
    iat nbf asof local utc gmt heute jetzt aktuell aktuelle aktuelles datum uhrzeit zeit zeitstempel stand
    wochentag aujourd'hui aujourd maintenant heure jour hoy ahora fecha hora actual oggi ora data adesso hoje
    agora vandaag nu tijd huidige idag dato klockan tid dzisiaj dziś godzina сегодня сейчас дата время
    сьогодні зараз dnes nyní ma most tänään nyt kello päivämäärä σήμερα τώρα bugün şimdi saat tarih sekarang
    waktu tanggal الآن اليوم التاريخ الوقت الساعة היום עכשיו תאריך שעה
    """
)
_NOW_PHRASE = re.compile(
    r"(?i)\b(?:as of|as at|it is|it's|il est|son las|sono le)\s"
    r"|今日|今天|現在|现在|当前|當前|目前|日時|日期|时间|時間|時刻|本日|오늘|현재|지금|날짜|시각|시간"
)
_PLANNED = word_set(
    """
    departure departs arrival arrives deadline due appointment birth birthday dob born effective valid expires
    expiry expiration exp until since opening opens closes closing slot booking booked meeting schedule
    scheduled event delivery deliver release published version invoice checkin checkout check-in check-out
    founded start end begin ends starts flight train pickup reservation renewal cutoff elapsed duration uptime
    took timer countdown runtime remaining eta abfahrt ankunft termin frist geburtsdatum départ arrivée échéance
    salida llegada vencimiento partenza arrivo scadenza
    """
)
_DURATION = word_set(
    """
    elapsed duration uptime took timer countdown runtime remaining eta length lasted
    """
)
_NUMBERED = word_set("id ids number no nonce uid account phone order ticket reference ref isbn serial sku ean invoice")
_NAMES = frozenset((*DAYS, *MONTHS))
_UNITS = {
    "year": (Precision.LONGER, range(2015, 2100)),
    "month": (Precision.LONGER, range(1, 13)),
    "hour": (Precision.HOUR, range(24)),
}
_PARTS_OF_DAY = word_set(
    """
    morning afternoon evening night noon midday midnight morgen abend nacht matin soir
    """
)


def clock(place: Quoted, series: Sequence[str] = ()) -> Candidate | None:
    """Return the reading of a difference as a clock, None where the two values are no dates or times.

    One time in two notations is a reading as `locale`.

    Args:
        place: The values in their context.
        series: The values of this place in order of time, where more than the two are known.
    """
    if not place.swapped or is_listing(place.new.line):
        return None
    if not (_may_be_time(place.old.value) and _may_be_time(place.new.value)):
        return _part_of_day(place)
    first = clock_at(place.old.line, place.old.part, place.old.end)
    second = clock_at(place.new.line, place.new.part, place.new.end)
    if first is None or second is None:
        return _named_unit(place)
    if first.bare != second.bare:
        return None
    step = elapsed(first, second)
    if step == 0:
        return Candidate(SpanKind.LOCALE, Confidence.LIKELY, ("the same date or time in another notation",))
    confidence, evidence = _judged(place, second, step, series)
    return Candidate(SpanKind.CLOCK, confidence, evidence, precision=second.precision, seconds=step)


def _may_be_time(value: str) -> bool:
    return any(map(str.isdigit, value)) or not _NAMES.isdisjoint(words_of(value))


def _judged(
    place: Quoted, value: Clock, step: float | None, series: Sequence[str]
) -> tuple[Confidence, tuple[str, ...]]:
    """Return how sure it is that a date or time is a clock, and why."""
    evidence = [
        f"a {'run of digits that counts time' if value.bare else 'date or time'} that names the {value.precision}"
    ]
    left = place.new.line[max(0, value.start - _NEAR) : value.start]
    before = place.label_words | frozenset(words_of(left)[-3:])
    planned = bool(before & _PLANNED)
    if value.bare and before & _NUMBERED:
        return Confidence.POSSIBLE, (*evidence, "but its label speaks of an identifier")
    if (place.near_words | before) & _DURATION:
        return Confidence.POSSIBLE, (*evidence, "may be a duration")
    told = bool((place.scope_words | place.near_words | before) & _NOW or _NOW_PHRASE.search(left)) and not planned
    if told:
        evidence.append("what stands before it speaks of a time")
    steps = _steps(series)
    if len(steps) > 1:
        forward = sum(one > 0 for one in steps) / len(steps)
        evidence.append("moves on from call to call" if forward >= 0.8 else "does not move on steadily")
        sure = forward >= 0.8 and (told or not planned or _fine(value))
    elif step is None:
        sure = told
    else:
        evidence.append("later in the later call" if step > 0 else "earlier in the later call")
        sure = _moves_like_now(value, step, told=told, planned=planned)
    return Confidence.LIKELY if sure else Confidence.POSSIBLE, tuple(evidence)


def _moves_like_now(value: Clock, step: float, *, told: bool, planned: bool) -> bool:
    """Tell whether one step is what the clock of a running system would make."""
    if planned:
        return _fine(value) and 0 < step <= 2 * _DAY
    if told:
        return -_SKEW <= step <= _LONGEST_STEP
    if value.bare:
        return value.precision in (Precision.SECOND, Precision.SUB_SECOND) and 0 < step <= 7 * _DAY
    if value.moment is None:
        # `3:16` may be a verse or a score, `09:14` is a time.
        written_out = value.end - value.start >= len("09:14")
        return value.time_of_day is not None and written_out and 0 < step <= 6 * _HOUR
    return value.time_of_day is not None and 0 < step <= _LONGEST_STEP


def _fine(value: Clock) -> bool:
    return value.precision in (Precision.SECOND, Precision.SUB_SECOND)


def _steps(series: Sequence[str]) -> list[float]:
    """Return how far each value of a series is from the one before it, where it moved."""
    clocks = [read(value) for value in series]
    steps = [elapsed(one, other) for one, other in pairwise(clocks) if one is not None and other is not None]
    return [step for step in steps if step]


def _part_of_day(place: Quoted) -> Candidate | None:
    """Return the reading of `Good morning` against `Good evening`."""
    values = {place.old.value.lower(), place.new.value.lower()}
    if not values <= _PARTS_OF_DAY:
        return None
    told = bool(place.label_words & _NOW) or place.left.lower().endswith(("good ", "guten ", "bon "))
    confidence = Confidence.LIKELY if told else Confidence.POSSIBLE
    return Candidate(SpanKind.CLOCK, confidence, ("names a part of the day",), precision=Precision.HOUR)


def _named_unit(place: Quoted) -> Candidate | None:
    """Return the reading of a plain number whose label is a unit of time: `hour: 9`, `Current year: 2026`."""
    unit = _UNITS.get(place.label.removeprefix("current "))
    values = place.values
    if unit is None or not all(value.isdecimal() and len(value) <= 4 and int(value) in unit[1] for value in values):
        return None
    return Candidate(SpanKind.CLOCK, Confidence.LIKELY, (f"its label names the {unit[0]}",), precision=unit[0])


def moves_with(step: float, calls: float, precision: Precision) -> bool:
    """Tell whether a clock went on by as much as passed between the two calls, within what it can show.

    Args:
        step: Seconds by which the clock moved on.
        calls: Seconds between the starts of the calls.
        precision: Of the clock.
    """
    units = {Precision.MINUTE: 60.0, Precision.HOUR: _HOUR, Precision.DAY: _DAY, Precision.LONGER: 31 * _DAY}
    return abs(step - calls) <= units.get(precision, 1.0) + 5 + 0.05 * abs(calls)
