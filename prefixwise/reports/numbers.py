"""How a cell reads: the same in every format for people."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

from prefixwise.core.excerpt import visible
from prefixwise.core.report import Cell, Unit

ABSENT = "–"
_YEAR_3 = 1e8
"""Seconds below which a moment counts from the start of a trace, not from 1970."""
_YEAR_9999 = 253_402_300_800


def show(value: Cell, unit: Unit = Unit.TEXT) -> str:
    """Return a cell as people read it: `1,234`, `93.4 %`, `120 ms`, `1.5 GiB`, `$0.04`, `–` for absent."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ABSENT
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return visible(value)
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return _SHOWN[unit](value)


def signed(value: Cell, unit: Unit = Unit.TEXT) -> str:
    """Return a change as `show` does, with a plus sign where it is above zero."""
    shown = show(value, unit)
    positive = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return f"+{shown}" if positive else shown


def _plain(value: float) -> str:
    return f"{value:.0f}" if isinstance(value, float) and value.is_integer() and abs(value) < 1e15 else str(value)


def _count(value: float) -> str:
    if float(value).is_integer():
        return f"{value:,.0f}" if isinstance(value, float) else f"{value:,}"
    if abs(value) >= 1:
        return f"{value:,.1f}"
    return f"{value:.2g}"


def _rate(value: float) -> str:
    """A rate just off an end must not read as the end: a cache that missed once has no 100.0 %."""
    if 0 < value < 0.0005:
        return "<0.1 %"
    if 0.9995 <= value < 1:
        return ">99.9 %"
    return f"{_unsigned_zero(value * 100, 1):,.1f} %"


def _seconds(value: float) -> str:
    if abs(value) >= 10:
        return f"{value:,.1f} s"
    milliseconds = value * 1000
    if milliseconds == 0 or abs(milliseconds) >= 100:
        return f"{_unsigned_zero(milliseconds, 0):,.0f} ms"
    return f"{milliseconds:.1f} ms" if abs(milliseconds) >= 1 else f"{milliseconds:.2g} ms"


def _moment(value: float) -> str:
    """A moment to the second, in UTC; one that lies near zero, as those of traces do, is the time since then."""
    if not -_YEAR_3 < value < _YEAR_9999:
        return _count(value)
    if value < _YEAR_3:
        return f"{'-' if value < 0 else ''}{timedelta(seconds=round(abs(value)))}"
    return datetime.fromtimestamp(round(value), UTC).strftime("%Y-%m-%d %H:%M:%S")


def _bytes(value: float) -> str:
    if abs(value) < 1024:
        return f"{value:,.0f} B"
    power = next((power for power in (1, 2, 3) if abs(value) < 1024 ** (power + 1)), 4)
    return f"{value / 1024**power:,.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"


def _usd(value: float) -> str:
    sign, amount = ("-" if value < 0 else ""), abs(value)
    if amount == 0 or amount >= 1:
        return f"{sign}${amount:,.2f}"
    if amount >= 0.0001:
        return f"{sign}${amount:.4f}"
    places = 1 - math.floor(math.log10(amount))
    return f"{sign}${amount:.{min(places, 20)}f}"


def _unsigned_zero(value: float, places: int) -> float:
    """Avoid `-0.0`."""
    return value if round(value, places) else 0.0


_SHOWN = {
    Unit.TEXT: _plain,
    Unit.COUNT: _count,
    Unit.TOKENS: _count,
    Unit.RATE: _rate,
    Unit.SECONDS: _seconds,
    Unit.MOMENT: _moment,
    Unit.BYTES: _bytes,
    Unit.USD: _usd,
}
