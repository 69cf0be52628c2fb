from __future__ import annotations

import pytest

from prefixwise.core.report import Cell, Unit
from prefixwise.reports.numbers import show, signed


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (None, Unit.TOKENS, "–"),
        (float("nan"), Unit.RATE, "–"),
        (float("inf"), Unit.SECONDS, "∞"),
        (float("-inf"), Unit.TEXT, "-∞"),
        (True, Unit.TEXT, "yes"),
        (False, Unit.COUNT, "no"),
        ("un\x1bsure", Unit.RATE, r"un\x1bsure"),
        (1234567, Unit.TOKENS, "1,234,567"),
        (1234567.0, Unit.COUNT, "1,234,567"),
        (12.34, Unit.TOKENS, "12.3"),
        (0.0123, Unit.COUNT, "0.012"),
        (0, Unit.COUNT, "0"),
        (-5, Unit.TOKENS, "-5"),
        (0.934, Unit.RATE, "93.4 %"),
        (0, Unit.RATE, "0.0 %"),
        (1, Unit.RATE, "100.0 %"),
        (0.00001, Unit.RATE, "<0.1 %"),
        (0.99999, Unit.RATE, ">99.9 %"),
        (-0.00001, Unit.RATE, "0.0 %"),
        (-0.031, Unit.RATE, "-3.1 %"),
        (0, Unit.SECONDS, "0 ms"),
        (0.00002, Unit.SECONDS, "0.02 ms"),
        (0.0421, Unit.SECONDS, "42.1 ms"),
        (0.1234, Unit.SECONDS, "123 ms"),
        (9.9, Unit.SECONDS, "9,900 ms"),
        (10, Unit.SECONDS, "10.0 s"),
        (12345.67, Unit.SECONDS, "12,345.7 s"),
        (1_772_438_400.0, Unit.MOMENT, "2026-03-02 08:00:00"),
        (0.0, Unit.MOMENT, "0:00:00"),
        (90_061.4, Unit.MOMENT, "1 day, 1:01:01"),
        (-75, Unit.MOMENT, "-0:01:15"),
        (1e12, Unit.MOMENT, "1,000,000,000,000"),
        (512, Unit.BYTES, "512 B"),
        (1536, Unit.BYTES, "1.5 KiB"),
        (3 * 2**30, Unit.BYTES, "3.0 GiB"),
        (2**50, Unit.BYTES, "1,024.0 TiB"),
        (0, Unit.USD, "$0.00"),
        (1234.5, Unit.USD, "$1,234.50"),
        (-0.25, Unit.USD, "-$0.2500"),
        (0.00000123, Unit.USD, "$0.0000012"),
        (1.0, Unit.TEXT, "1"),
        (0.5, Unit.TEXT, "0.5"),
        (2026, Unit.TEXT, "2026"),
    ],
)
def test_a_cell_as_people_read_it(value: Cell, unit: Unit, shown: str) -> None:
    assert show(value, unit) == shown


def test_a_change_has_its_sign() -> None:
    assert signed(5, Unit.TOKENS) == "+5"
    assert signed(-5, Unit.TOKENS) == "-5"
    assert signed(0, Unit.TOKENS) == "0"
    assert signed(None, Unit.TOKENS) == "–"
