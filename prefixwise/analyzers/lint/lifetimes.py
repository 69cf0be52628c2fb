"""How long what a call leaves in a cache lives when nobody uses it, and how long it lay idle."""

from __future__ import annotations

import math

import msgspec

from prefixwise.analyzers.lint.log import Log
from prefixwise.caches.facts import Band, System
from prefixwise.caches.facts import Lifetime as Option
from prefixwise.core.request import Mark
from prefixwise.corpus.rows import NONE

_NO_END = math.inf


class Lifetime(msgspec.Struct, frozen=True):
    """How long an unused entry stays.

    Attributes:
        low: Seconds up to which it is there.
        high: Seconds after which it is gone by all that is known; infinite where nothing says so.
        is_known: Whether the log tells which lifetime was asked for, or there is only one.
    """

    low: float
    high: float
    is_known: bool = False

    @property
    def is_fixed(self) -> bool:
        """Whether one number is documented and no doubt is left."""
        return self.is_known and self.low == self.high


FOR_EVER = Lifetime(_NO_END, _NO_END)


def lifetime(log: Log, row: int) -> Lifetime:
    """Return how long the longest-lived entry lives that a call read or wrote; for ever where nobody says."""
    system, seen = log.marker_system(row) or log.system(row), log.of(row)
    if system is None:
        return FOR_EVER
    if seen.markers:
        asked = [float(system.ttl_s.stated) if ttl is None and system.ttl_s and system.ttl_s.stated else ttl
                 for ttl in (place.ttl for place in seen.markers)]  # fmt: skip
        named = [ttl for ttl in asked if ttl is not None]
        return Lifetime(max(named), max(named), is_known=True) if named else FOR_EVER
    option = next((one for one in system.ttl_options if one.name == seen.retention), None)
    if option is not None:
        return _of(option, is_known=True)
    if log.written(row) and system.ttl_options and log.rows.reported_written_long[row] != NONE:
        is_long = log.rows.reported_written_long[row] > 0
        return _of(_by_length(system)[-1 if is_long else 0], is_known=True)
    return _usual(system, is_asked=log.holds_bodies(row) and not log.rows.marks[row] & Mark.PARTIAL)


def idle_seconds(log: Log, before: int, row: int) -> float | None:
    """Return how long the entries of an earlier call lay idle: from the last call that used them, start to start.

    Calls that were given up do not count, as they may never have been computed. None where the log has no times.
    """
    marks, times = log.rows.marks, log.times
    used = before
    if log.conversations.conversation[before] == log.conversations.conversation[row]:
        thread = log.threads[log.conversations.conversation[row]]
        earlier = [one for one in thread if times[one] < times[row] and one != row and not marks[one] & Mark.ABORTED]
        used = earlier[-1] if earlier else before
    elif marks[before] & Mark.ABORTED:
        return None
    gap = times[row] - times[used]
    return gap if 0 <= gap < math.inf else None


def _usual(system: System, *, is_asked: bool) -> Lifetime:
    """Return the lifetime of what asks for none; where the log may not show what was asked, of any that could be."""
    ttl, options = system.ttl_s, _by_length(system)
    if ttl is not None and ttl.stated is not None and (is_asked or not options):
        return Lifetime(ttl.low or ttl.stated, ttl.high or ttl.stated, is_known=True)
    if options:
        return Lifetime(_of(options[0]).low, max(_of(option).high for option in options))
    return FOR_EVER if ttl is None else _of_band(ttl)


def _by_length(system: System) -> list[Option]:
    return sorted(system.ttl_options, key=lambda option: (_of_band(option.idle_s).high, option.name))


def _of(option: Option, *, is_known: bool = False) -> Lifetime:
    band = _of_band(option.idle_s)
    return Lifetime(band.low, band.high, is_known)


def _of_band(band: Band) -> Lifetime:
    ends = [float(end) for end in (band.low, band.stated, band.high) if end is not None]
    return Lifetime(min(ends), max(ends) if band.high is not None or band.stated is not None else _NO_END)
