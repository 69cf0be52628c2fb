"""The requests of one model at one hosted cache, ready to be replayed, and what comes of it."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from prefixwise.caches.cache_settings import LEVELS, MEDIA, PARAMETERS, Settings
from prefixwise.corpus.rows import Rows

_COLUMNS = ("tenant", "session", "replica")
_PARTS = ("salt", "cache_key", "adapter", "extra", "cached_content")
SEPARATORS = (*_PARTS, *_COLUMNS)
"""What can separate the caches of one model."""
_DEFAULTS: tuple[Any, ...] = ({"type": "disabled"}, {"type": "auto"}, "auto", "default", None, {})


class Outcome:
    """What a cache did, by row; each family fills in what it knows.

    Attributes:
        matched: Tokens read.
        written: Tokens written; `written_long`: of them those for longer than the usual time.
        expired: How deep the request would have read had nothing expired; `in_flight`: had everything been readable.
        stored: Token seconds for which storage is charged.
    """

    def __init__(self, size: int) -> None:
        self.matched, self.written, self.written_long, self.expired, self.in_flight = (
            array("i", bytes(4 * size)) for _ in range(5)
        )
        self.stored = array("d", bytes(8 * size))


class Lane:
    """The rows of one model in order of start.

    Attributes:
        order: The rows.
        times: Start by row, of all rows.
        settings: The cache.
        spaces: By row (of all rows), the number of its cache; a parameter that loses everything has one a value.
        auto: Whether every prompt counts as marked at its end.
        out: What comes of it.
    """

    def __init__(
        self, rows: Rows, order: Sequence[int], times: list[float], settings: Settings, auto: bool, out: Outcome
    ) -> None:
        self.rows = rows
        self.order = order
        self.times = times
        self.settings = settings
        self.auto = auto
        self.out = out
        self._levels = _levels(rows, settings)
        self.spaces = _spaces(rows, order, settings.separate, [levels[0] for levels in self._levels])
        self._loses_media = "messages" in dict(settings.lost).get(MEDIA, ())

    def level_keys(self, row: int) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
        """Return what beside its tokens an entry of the row is known by: in tools, system and messages."""
        space = self.spaces[row]
        _, system, messages = self._levels[self.rows.param_set[row]]
        has_media = self._loses_media and self.has_media(row)
        return (space,), (space, system), (space, system, messages, has_media)

    def has_media(self, row: int) -> bool:
        """Say whether the prompt of a row holds an image or another medium, as far as its blocks are known."""
        layouts = self.rows.layouts
        return layouts is not None and layouts.of_row[row] > 0 and bool(layouts.has_media[layouts.of_row[row]])

    def readable(self, row: int) -> float:
        """Return when others can read what a row writes."""
        start, rows, settings = self.times[row], self.rows, self.settings
        if settings.wait == -math.inf:
            return start
        if settings.begun and (ttft := rows.ttft[row]) == ttft:
            return start + max(0.0, ttft)
        end = rows.end[row]
        return max(start, end if end == end else start) + settings.wait

    def by_space(self) -> Iterator[int]:
        """Yield the rows cache by cache, each in order of start."""
        yield from sorted(self.order, key=self.spaces.__getitem__)


def _levels(rows: Rows, settings: Settings) -> list[tuple[Any, Any, Any]]:
    """Return by set of parameters what of it counts at each level."""
    lost = dict(settings.lost)
    found = []
    for params in rows.param_sets:
        by_level: dict[str, list[tuple[str, Any]]] = {level: [] for level in LEVELS}
        for name, raw in params:
            levels = {level for change in PARAMETERS.get(name, ()) for level in lost.get(change, ())}
            value = _value(name, raw) if levels else None
            if levels and value not in _DEFAULTS:
                for level in levels:
                    by_level[level].append((name, msgspec.json.encode(value, order="sorted")))
        found.append(tuple(tuple(by_level[level]) for level in LEVELS))
    return found  # type: ignore[return-value] # three levels


def _value(name: str, raw: bytes) -> Any:
    """Return the part of a parameter that enters keys: of some, only one member."""
    value = msgspec.json.decode(raw)
    member = {"reasoning": "effort", "text": "verbosity"}.get(name)
    return value.get(member) if member and isinstance(value, dict) else value


def _spaces(rows: Rows, order: Sequence[int], separate: Sequence[str], params: Sequence[Any]) -> array[int]:
    """Number the caches that cannot see each other, by row; rows that are not in `order` have no cache here."""
    parts = [space.id([name for name in separate if name in _PARTS]) for space in rows.namespaces]
    columns = [getattr(rows, name) for name in separate if name in _COLUMNS]
    numbers: dict[Any, int] = {}
    spaces = array("i", bytes(4 * len(rows)))
    for row in order:
        key = (parts[rows.namespace[row]], params[rows.param_set[row]], *(column[row] for column in columns))
        spaces[row] = numbers.setdefault(key, len(numbers))
    return spaces
