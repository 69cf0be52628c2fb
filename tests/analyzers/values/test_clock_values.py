"""Dates, times and ages that move from call to call, and those that only look so."""

from __future__ import annotations

import pytest
from support.spans import described

from prefixwise.analyzers.values.ages import relative_time
from prefixwise.analyzers.values.clocks import moves_with
from prefixwise.analyzers.values.dates import elapsed, read
from prefixwise.analyzers.values.kinds import Precision, SpanKind
from prefixwise.core.finding import Confidence

SUB, SECOND, MINUTE, HOUR, DAY, LONGER = Precision

CLOCKS = [
    # ISO 8601 and its neighbours
    (SECOND, "Current time: 2026-03-17T09:14:«07¦52»Z"),
    (SECOND, "now=2026-03-17T09:14:«07¦52»+01:00"),
    (SUB, "Now: 2026-03-17T09:14:07.«123456¦998001»Z"),
    (SECOND, "The current date is 2026-03-17 09:«14:07¦15:30» UTC."),
    (MINUTE, "Generated 2026-03-17 09:1«4¦6»"),
    (DAY, "Today's date: 2026-03-1«7¦8»"),
    (DAY, "Today is «2026-12-31¦2027-01-01»."),
    (DAY, "Current date: 2026/03/1«7¦8»"),
    (SECOND, "timestamp: 20260317T0914«07¦52»Z"),
    (SECOND, "run at 20260317-09«1407¦1552»"),
    (LONGER, "Current week: 2026-W1«1¦2»"),
    (LONGER, "Heute ist KW «11¦12»"),
    (HOUR, "Current time: 2026-03-17T«09¦10»"),
    (SECOND, '{"channel":"chat","received":"2026-03-17T09:14:«07¦52»Z","text":"hi"}'),
    (MINUTE, '{"schema":"desk.inbound.v2","received":"16:4«1¦3»"}'),
    (SECOND, "<time>09:14:«07¦52»</time>"),
    (SECOND, "<env>\nToday's date: 2026-03-17 09:14:«07¦52»\n</env>"),
    # how people write it
    (SECOND, "Current date and time: Tuesday 17 March 2026, 09:14:«07¦52» CET"),
    (MINUTE, "It is now 9:1«4¦5» PM."),
    (MINUTE, "Current time: «9:59 AM¦10:02 AM»"),
    (HOUR, "The local time is «9 am¦10 am»."),
    (DAY, "Today is Tuesday, March «17¦18», 2026."),
    (DAY, "Today is T«uesday, March 17¦hursday, March 19», 2026."),
    (DAY, "Date: «Mon, 16 Mar¦Tue, 17 Mar» 2026"),
    (SECOND, "Date: Tue, 17 Mar 2026 09:14:«07¦52» +0100"),
    (SECOND, "[17/Mar/2026:09:14:«07¦52» +0100] prompt rendered"),
    (DAY, "Today's date is «March 31st¦April 1st», 2026"),
    (DAY, "As of «17¦18» Mar 2026 the desk is open."),
    (DAY, "Current date: «03/17/2026¦03/18/2026»"),
    (MINUTE, "Current date and time: 03/17/2026 9:1«4¦6» PM"),
    (DAY, "Today is «Monday¦Tuesday»."),
    (DAY, "Day of the week: «Sunday¦Monday»"),
    (LONGER, "The current month is «March¦April» 2026."),
    (HOUR, "Good «morning¦afternoon»! You are the desk assistant."),
    (SECOND, "Server time 09:14:«07¦52», region north"),
    (MINUTE, "| Time | 09:1«4¦5» |"),
    (SECOND, "## Now\n2026-03-17 09:14:«07¦52»"),
    # other languages
    (MINUTE, "Heute ist Dienstag, der 17. März 2026, 09:1«4¦5» Uhr."),
    (DAY, "Aktuelles Datum: «17.¦18.» März 2026"),
    (DAY, "Datum: «17.03.2026¦18.03.2026»"),
    (DAY, "Heute ist «Montag¦Dienstag»."),
    (MINUTE, "Nous sommes le mardi 17 mars 2026, il est 9h1«4¦5»."),
    (DAY, "Date du jour : «17¦18» mars 2026"),
    (DAY, "Hoy es «lunes 16¦martes 17» de marzo de 2026."),
    (MINUTE, "Fecha y hora: 17 de marzo de 2026, 09:1«4¦5»"),
    (DAY, "Data de hoje: «17¦18» de março de 2026"),
    (DAY, "Oggi è «lunedì 16¦martedì 17» marzo 2026."),
    (DAY, "Vandaag is het dinsdag «17¦18» maart 2026."),
    (MINUTE, "Idag är det tisdag 17 mars 2026, klockan 09:1«4¦5»"),
    (DAY, "Dzisiaj jest «17¦18» marca 2026"),
    (MINUTE, "Сегодня 17 марта 2026, 09:1«4¦5»"),
    (MINUTE, "現在の日時: 2026年3月17日 9時1«4¦5»分"),
    (DAY, "今日は2026年3月«17¦18»日です。"),
    # numbers that count time
    (SECOND, "ts: 17737388«47¦92»"),
    (SUB, "now_ms=1773738«847123¦892001»"),
    (SECOND, "Unix time 17737388«47¦99»"),
    (SUB, "epoch: 1773738847.«12¦98»"),
    (SECOND, "build stamp 2026031709«1407¦1552»"),
    (DAY, "date: 2026031«7¦8»"),
    # nothing speaks of time, but it moves as a clock does
    (SECOND, "Session 2026-03-17 09:14:«07¦52»"),
    (MINUTE, "Norrby desk, 16:4«1¦3»"),
]


@pytest.mark.parametrize(("precision", "row"), CLOCKS, ids=[row for _, row in CLOCKS])
def test_a_moving_time_is_a_clock(precision: Precision, row: str) -> None:
    description = described(row)
    assert (description.kind, description.candidates[0].precision) == (SpanKind.CLOCK, precision)
    assert description.confidence is Confidence.LIKELY


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
    "[«just now¦2 minutes ago»] Ms Aldana is away.",
    "[«2¦7» minutes ago] Ms Aldana is away.",
    "«5m¦12m» ago: build failed",
    "Last seen «a minute¦3 hours» ago",
    "Last login: «today¦yesterday»",
    "Updated «2 hours and 5 minutes¦2 hours and 9 minutes» ago",
    "next run in «5 min¦2 min»",
    "(vor «3¦4» Stunden) Rückruf erbeten",
    "gesendet «gerade eben¦vor einer Minute»",
    "envoyé il y a «3¦5» minutes",
    "enviado hace «2¦9» horas",
    "enviado há «2¦9» minutos",
    "inviato «3¦8» minuti fa",
    "verzonden «3¦8» minuten geleden",
    "skickat för «3¦8» minuter sedan",
    "«3¦8»分钟前",
    "«gestern¦vorgestern» eingegangen",
    "The file is about «2¦3» weeks old",
]


@pytest.mark.parametrize("row", AGES)
def test_a_time_relative_to_now_is_one(row: str) -> None:
    assert described(row).kind is SpanKind.RELATIVE_TIME


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


@pytest.mark.parametrize(
    "text",
    [
        "gpt-4o-2024-08-06",
        "3.2.1",
        "10.0.3.17",
        "2026-02-30",
        "3 out of 5",
        "v1.2.2026",
        "31.02.2026",
        "25:10",
        "",
        "clause 9",
    ],
)
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
