"""How long a prompt token takes to compute, as the log's own times tell it."""

from __future__ import annotations

import msgspec

from prefixwise.corpus.rows import NONE, Rows
from prefixwise.stats.theil_sen import theil_sen

_FEWEST = 30
"""Requests with times below which nothing is estimated."""
_MOST = 600
"""Requests that are looked at: every two of them are compared."""
_SPREAD = 4
"""How many times the shortest stretch the longest has to be, or a slope says nothing."""


class PrefillTime(msgspec.Struct, frozen=True):
    """Seconds to the first token by each uncached token: the slope of a Theil–Sen line, with its 95 % interval.

    Attributes:
        seconds: For each token.
        low, high: Ends of the interval.
        requests: How many it was told by.
    """

    seconds: float
    low: float
    high: float
    requests: int


def prefill_time(rows: Rows) -> PrefillTime | None:
    """Return the prefill time of a token, None where the log's times do not tell one that is above zero.

    Args:
        rows: The corpus: times to the first token against the reported tokens that were not cached.
    """
    known = sorted(
        (prompt - cached, ttft)
        for prompt, cached, ttft in zip(rows.reported_prompt, rows.reported_cached, rows.ttft, strict=True)
        if NONE not in (prompt, cached) and ttft == ttft and ttft > 0
    )
    if len(known) > _MOST:  # evenly from the shortest to the longest
        known = [known[place * (len(known) - 1) // (_MOST - 1)] for place in range(_MOST)]
    if len(known) < _FEWEST:
        return None
    lengths = [float(tokens) for tokens, _ in known]
    if max(lengths) < _SPREAD * max(1.0, min(lengths)):
        return None
    line = theil_sen(lengths, [ttft for _, ttft in known])
    if line.interval is None or line.interval.low <= 0:
        return None
    return PrefillTime(line.slope, line.interval.low, line.interval.high, len(known))
