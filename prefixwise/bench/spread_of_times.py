"""Times as a histogram, for reports."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.core.report import Column, Histogram, Unit

_BINS = 12


def ttft_histogram(name: str, title: str, times: Sequence[float]) -> Histogram:
    """Return the histogram of times to first token, in bins of one width from the shortest to the longest."""
    low, high = min(times), max(times)
    width = (high - low) / _BINS or 1.0
    counts = [0] * _BINS
    for time in times:
        counts[min(_BINS - 1, int((time - low) / width))] += 1
    edges = tuple(low + width * at for at in range(_BINS + 1))
    return Histogram(name, title, Column("ttft", "TTFT", Unit.SECONDS), edges, tuple(counts))
