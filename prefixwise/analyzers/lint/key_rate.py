"""How often one cache key is used: above some rate its requests no longer reach one machine."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from prefixwise.analyzers.lint.compared import Served, compare
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.stakes import common_served

A_MINUTE = 15
"""Requests a minute that OpenAI advises at most for one key (guide of 2026-09-26)."""
_PROVIDERS = frozenset({"openai", "azure"})
_FEW = 20
_MISSED = 0.2


class Crowd(msgspec.Struct, frozen=True):
    """A key whose requests come too fast.

    Attributes:
        key: The key.
        conversations: That use it.
        peak: Most requests in a minute.
        rows: Requests that came above the rate; `missed`: of those, the ones that usage says were not served.
        is_reported: Whether usage tells of any.
    """

    key: str
    conversations: int
    peak: int
    rows: tuple[int, ...]
    missed: tuple[int, ...]
    is_reported: bool

    @property
    def hurts(self) -> bool:
        """Whether usage shows that a good part of them was not served."""
        return len(self.missed) >= _MISSED * len(self.rows)


def crowds(log: Log) -> Iterator[Crowd]:
    """Yield the keys of several conversations that are used faster than one machine is meant to take."""
    rows = log.rows
    by_key: dict[tuple[int, str], list[int]] = {}
    for row in log.conversations.order:
        key = rows.namespaces[rows.namespace[row]].cache_key
        if key and rows.providers[rows.provider[row]] in _PROVIDERS and rows.start[row] == rows.start[row]:
            by_key.setdefault((rows.model[row], key), []).append(row)
    for (_, key), used in by_key.items():
        conversations = {log.conversations.conversation[row] for row in used}
        if len(used) > A_MINUTE and len(conversations) > 1:
            peak, above = _above(log, used)
            if len(above) >= _FEW:
                served = {row: _served(log, row) for row in above}
                missed = tuple(row for row in above if served[row] is Served.MISS)
                told = any(found is not Served.UNKNOWN for found in served.values())
                yield Crowd(key, len(conversations), peak, tuple(above), missed, told)


def _above(log: Log, used: list[int]) -> tuple[int, list[int]]:
    """Return the most requests within a minute, and those that came when the minute was full."""
    start = peak = 0
    above = []
    for at, row in enumerate(used):
        while log.times[row] - log.times[used[start]] > 60:
            start += 1
        peak = max(peak, at - start + 1)
        if at - start + 1 > A_MINUTE:
            above.append(row)
    return peak, above


def _served(log: Log, row: int) -> Served:
    link = log.conversations.links[row]
    if link is None:
        return Served.UNKNOWN
    pair = compare(log, link.before, row, turn=link.turn)
    return common_served(pair)
