"""What a place that differs from call to call is: real-looking ones, and others that only look like them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from support.spans import Row, described, rows

from prefixwise.analyzers.values.kinds import SpanKind
from prefixwise.core.finding import Confidence

TABLE = rows(Path(__file__).with_name("places.txt"))


@pytest.mark.parametrize("row", TABLE, ids=[f"{row.kind}-{number}" for number, row in enumerate(TABLE)])
def test_a_place_is_what_a_person_says(row: Row) -> None:
    likeliest = described(row.text).candidates[0]
    assert (likeliest.kind, likeliest.precision) == (row.kind, row.precision)
    assert (likeliest.confidence is Confidence.POSSIBLE) == (row.kind == SpanKind.OTHER)


def test_every_kind_is_in_the_table() -> None:
    assert set(Counter(row.kind for row in TABLE)) == set(SpanKind)
    assert len(TABLE) > 400


STEADY = [
    ("Pool «900¦850» units", ("900", "850", "790", "700")),
    ("level «3¦4»", ("3", "4", "5")),
    ("Reserve 1«18,400¦12,950»", ("118,400", "112,950", "104,205", "99,870")),
    ("[«12/40¦19/40»]", ("[12/40]", "[19/40]", "[33/40]")),
    ("Tokens left: «120¦80»", ("120", "80", "40", "20", "118", "90")),
]


@pytest.mark.parametrize(("row", "series"), STEADY)
def test_numbers_that_move_steadily_are_a_counter(row: str, series: tuple[str, ...]) -> None:
    assert described(row, series).kind is SpanKind.COUNTER


@pytest.mark.parametrize("series", [("3", "9", "4"), ("12", "15"), ("5", "5", "6")])
def test_numbers_that_jump_about_are_none(series: tuple[str, ...]) -> None:
    assert described(f"lot «{series[0]}¦{series[-1]}»", series).kind is SpanKind.OTHER


def test_a_number_with_another_meaning_is_none_however_it_moves() -> None:
    assert described("Room «3¦4»", ("3", "4", "5", "6")).kind is SpanKind.OTHER


def test_what_proves_itself_is_certain_and_what_is_read_is_not() -> None:
    assert described("Topics: «a, b¦b, a»").confidence is Confidence.CERTAIN
    assert described("Current round: «3¦4»").confidence is Confidence.LIKELY
    assert described("lot «3¦4»").confidence is Confidence.POSSIBLE


def test_other_readings_are_kept_behind_the_likeliest() -> None:
    kinds = [candidate.kind for candidate in described("Room «12¦14» is quiet").candidates]
    assert kinds == [SpanKind.OTHER, SpanKind.COUNTER]


def test_every_reading_says_why() -> None:
    for row in TABLE:
        for candidate in described(row.text).candidates:
            assert candidate.evidence
            assert not any(clause[0].isupper() for clause in candidate.evidence)
