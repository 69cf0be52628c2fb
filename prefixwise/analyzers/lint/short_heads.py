"""Heads that single questions share and that are too short for a cache that works by itself."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from prefixwise.analyzers.lint.log import Log
from prefixwise.caches.facts import Kind

_FEWEST, _FEWEST_UNREPORTED = 5, 20
_WORTH = 0.5
"""Share of the minimum from which it is worth saying."""
_UNSURE = 0.1
"""Share by which the count of a head may be off: hidden framing, or an estimate set right by the reported prompt."""


class ShortHead(msgspec.Struct, frozen=True):
    """Single questions with one head, by start.

    Attributes:
        rows: All but the first of them.
        tokens: What they share, in the provider's own tokens; `least`: what would have to be shared.
    """

    rows: tuple[int, ...]
    tokens: int
    least: int


def short_heads(log: Log) -> Iterator[ShortHead]:
    """Yield the heads that would be cached if they were longer: what is below the minimum, and nothing was read."""
    by_head: dict[tuple[int, tuple[int, ...]], list[int]] = {}
    for thread in log.threads.values():
        if len(thread) == 1 and log.outlines.head[thread[0]] and not log.incomplete(thread[0]):
            by_head.setdefault((log.rows.model[thread[0]], log.outlines.head[thread[0]]), []).append(thread[0])
    for rows in by_head.values():
        if any(log.cached(row) or row in log.explained for row in rows):
            continue
        is_reported = any(log.cached(row) == 0 for row in rows)
        if len(rows) < (_FEWEST if is_reported else _FEWEST_UNREPORTED):
            continue
        system, model = log.system(rows[0]), log.model(rows[0])
        least = None if system is None or system.opt_in or system.kind is not Kind.HOSTED else system.minimum(model)
        if least is None or least.low is None:
            continue
        rows.sort(key=lambda row: (log.times[row], row))
        tokens = max(log.scaled(row, min(log.rows.system_end[row], log.sharing.shared[row])) for row in rows[1:])
        if _WORTH * least.low <= tokens < least.low * (1 - _UNSURE):
            yield ShortHead(tuple(rows[1:]), tokens, least.low)
