"""Dates, times and ages: how they are read, and which of them only look like the time of a call."""

from __future__ import annotations

import pytest
from support.spans import described

from prefixwise.analyzers.values.ages import relative_time
from prefixwise.analyzers.values.clocks import moves_with
from prefixwise.analyzers.values.dates import elapsed, read
from prefixwise.analyzers.values.kinds import Precision, SpanKind

NO_CLOCKS = [
    "Departure: «09:14¦11:40» from Torsay",
    "Appointment on «17¦24» March 2026",
    "Meeting on «Monday¦Thursday»",
    "Date of birth: «1984-05-02¦1991-11-30»",
    "Valid until «31 December 2026¦30 June 2027»",
    "Policy version of «2025-11-01¦2026-02-01»",
    "deadline: «2026-03-20¦2026-04-02»",
    "Opening hours start at «08:00¦09:30»",
    "aspect ratio «16:9¦4:3»",
    "The score was «3:1¦2:1».",
    "see src/main.c:«12:30¦14:02»",
    "endpoint 10.0.3.«17¦18»",
    "See John «3:16¦4:02»",
    "Current date: «2026-03-18¦2026-03-02»",
    "Wake me at «23:10¦06:45»",
    "ETA «10:14¦10:20»",
    "Ticket number 17737388«47¦92»",
]


@pytest.mark.parametrize("row", NO_CLOCKS)
def test_a_date_that_is_part_of_the_matter_is_no_clock(row: str) -> None:
    assert described(row).kind is not SpanKind.CLOCK


SERIES = [
    (
        "Opening shift «2026-03-17T09:14:07¦2026-03-17T09:15:30»",
        ("2026-03-17T09:14:07", "2026-03-17T09:15:30", "2026-03-17T09:16:02"),
    ),
    ("Log head «2026-03-16¦2026-03-17»", ("2026-03-16", "2026-03-17", "2026-03-18", "2026-03-20")),
    ("Desk «08:10¦16:40»", ("08:10", "16:40", "17:02", "17:40")),
]


@pytest.mark.parametrize(("row", "series"), SERIES)
def test_a_series_that_moves_on_is_a_clock_where_one_step_would_not_show_it(row: str, series: tuple[str, ...]) -> None:
    assert described(row, series).kind is SpanKind.CLOCK


def test_a_series_that_jumps_about_is_none() -> None:
    values = ("2026-03-17 09:14", "2026-03-18 11:00", "2026-02-02 08:00", "2026-01-09 10:30", "2026-03-30 07:00")
    assert described("Next slot 2026-03-1«7 09:14¦8 11:00»", values).kind is SpanKind.OTHER


AGES = [
    ("[just now] Ms Aldana is away", "just now"),
    ("12m ago: build failed", "12m ago"),
    ("updated 2 hours and 9 minutes ago", "2 hours and 9 minutes ago"),
    ("next run in 5 min", "in 5 min"),
    ("vor 3 Stunden", "vor 3 Stunden"),
    ("vor einer Minute", "vor einer Minute"),
    ("il y a 3 minutes", "il y a 3 minutes"),
    ("hace 9 horas", "hace 9 horas"),
    ("há 2 minutos", "há 2 minutos"),
    ("8 minuti fa", "8 minuti fa"),
    ("3 minuten geleden", "3 minuten geleden"),
    ("för 3 minuter sedan", "för 3 minuter sedan"),
    ("3分钟前", "3分钟前"),
]


@pytest.mark.parametrize(("text", "phrase"), AGES)
def test_a_time_relative_to_now_is_found(text: str, phrase: str) -> None:
    assert relative_time(text) == phrase


@pytest.mark.parametrize(
    "text", ["in 5 steps", "2 minutes of silence", "a long ago-lost key", "vor Ort", "imago 5", "hace calor"]
)
def test_other_phrases_are_no_relative_time(text: str) -> None:
    assert relative_time(text) is None


READINGS = [
    ("2026-03-17T09:14:07Z", 1773738847.0),
    ("2026-03-17T10:14:07+01:00", 1773738847.0),
    ("Tue, 17 Mar 2026 09:14:07 GMT", 1773738847.0),
    ("17 March 2026, 9:14:07 AM", 1773738847.0),
    ("17. März 2026 um 10:14:07 CET", 1773738847.0),
    ("20260317T091407Z", 1773738847.0),
    ("2026年3月17日 9時14分", 1773738840.0),
    ("1773738847", 1773738847.0),
    ("1773738847123", 1773738847.123),
    ("17.03.2026", 1773705600.0),
    ("5 de mayo de 2026", 1777939200.0),
    ("2026-W12", 1773619200.0),
    ("March 2026", 1772323200.0),
]


@pytest.mark.parametrize(("text", "moment"), READINGS)
def test_a_date_is_read_as_seconds_since_the_epoch(text: str, moment: float) -> None:
    clock = read(text)
    assert clock is not None
    assert clock.moment == pytest.approx(moment)


NO_DATES = [
    *("gpt-4o-2024-08-06", "3.2.1", "10.0.3.17", "2026-02-30", "3 out of 5", "v1.2.2026", "31.02.2026", "25:10"),
    *("", "clause 9", "12345678", "99999999999999", "16:9", "a2026-03-17b", "1/2", "may 5 people"),
]


@pytest.mark.parametrize("text", NO_DATES)
def test_what_is_no_date_is_not_read_as_one(text: str) -> None:
    assert read(text) is None


STEPS = [
    ("23:59", "00:01", 120),
    ("09:14:07", "09:14:52", 45),
    ("31 December 2026", "1 January 2027", 86_400),
    ("03/04/2026", "03/05/2026", 86_400),
    ("04/03/2026", "05/03/2026", 86_400),
    ("Sunday", "Monday", 86_400),
    ("2026-03-17 09:14", "2026-03-17 08:14", -3_600),
]


@pytest.mark.parametrize(("one", "other", "seconds"), STEPS)
def test_steps_are_in_seconds(one: str, other: str, seconds: float) -> None:
    first, second = read(one), read(other)
    assert first is not None
    assert second is not None
    assert elapsed(first, second) == pytest.approx(seconds)


def test_a_clock_is_held_to_the_times_of_the_calls() -> None:
    assert moves_with(45.0, 46.2, Precision.SECOND)
    assert moves_with(120.0, 95.0, Precision.MINUTE)
    assert not moves_with(86_400.0, 40.0, Precision.SECOND)
    assert not moves_with(-300.0, 40.0, Precision.MINUTE)
