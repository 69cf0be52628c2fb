"""The steps in which an engine reuses prompts: as its facts say, or as its own reports show."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

import msgspec

from prefixwise.analyzers.lint.log import Log
from prefixwise.caches.facts import Kind

_FEWEST = 3
_LEAST = 64
"""Tokens of a step below which what is lost to it is not worth a word."""


class Step(msgspec.Struct, frozen=True):
    """The calls of one model to an engine, and the tokens that it reuses as a whole.

    Attributes:
        rows: By start.
        is_seen: Whether the reported counts show the step, not what is known of the engine.
    """

    rows: tuple[int, ...]
    tokens: int
    is_seen: bool


def steps(log: Log) -> Iterator[Step]:
    """Yield the models that engines serve in steps large enough to matter, by what the reported cached tokens show.

    Every reported count is a multiple of the step, and several calls report it; providers behind an API are no engines.
    """
    by_model: dict[int, list[int]] = defaultdict(list)
    for row in log.conversations.order:
        by_model[log.rows.model[row]].append(row)
    for rows in by_model.values():
        system = log.system(rows[0])
        if system is not None and system.kind is Kind.HOSTED:
            continue
        counts = [cached for row in rows if (cached := log.cached(row))]
        step = math.gcd(*counts) if len(counts) >= _FEWEST else 0
        if step >= _LEAST and min(counts) == step:
            yield Step(tuple(rows), step, is_seen=True)
        elif system is not None and system.granularity_tokens is not None:
            known = system.granularity_tokens.stated or 0
            if known >= _LEAST:
                yield Step(tuple(rows), known, is_seen=False)
