"""Time stamps as logs write them, turned into seconds since the epoch."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

ABSENT = math.nan
# A number of this size or more cannot be seconds (that would be the year 5138): it is ms, then us, then ns.
_LARGEST_SECONDS = 1e11


def epoch_seconds(value: Any) -> float:
    """Return seconds since the epoch, or NaN where `value` holds no time.

    Numbers are seconds, milliseconds, microseconds or nanoseconds by their size; strings are ISO 8601
    (a missing zone is read as UTC) or such a number.
    """
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value).timestamp() if value[-1:] == "Z" else _from_text(value)
        except (ValueError, OverflowError):
            return _from_text(value)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            seconds = float(value)
        except OverflowError:
            return ABSENT
        while abs(seconds) >= _LARGEST_SECONDS and math.isfinite(seconds):
            seconds /= 1000.0
        return seconds if math.isfinite(seconds) else ABSENT
    return ABSENT


def _from_text(text: str) -> float:
    try:
        return epoch_seconds(float(text))
    except ValueError:
        pass
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return ABSENT
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    try:
        return moment.timestamp()
    except (OverflowError, ValueError):
        return ABSENT
