"""How requests and the time between them are named."""

from __future__ import annotations

from prefixwise.analyzers.lint.run import Linted

_UNITS = ((86_400, "d"), (3_600, "h"), (60, "min"))


def gap_words(seconds: float) -> str:
    """Return a time between two requests as people say it: `2.5 s`, `98 s`, `47 min`, `3 d`."""
    for length, unit in _UNITS:
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.0f} s" if abs(seconds) >= 10 else f"{seconds:.1f} s".replace(".0 s", " s")


def name_of(linted: Linted, row: int | None, beside: int) -> str:
    """Return what a request is called next to another one: `#N` where both stand in one file, else `FILE#N`."""
    if row is None:
        return ""
    ref, other = linted.log.rows.ref(row), linted.log.rows.ref(beside)
    return f"#{ref.record}" if ref.path == other.path else str(ref)
