"""How much of the time to first token passes inside the server, by its own clock."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean, median

import msgspec

from prefixwise.bench.counters import CounterCheck
from prefixwise.bench.ttft.plan import Row


class Inside(msgspec.Struct, frozen=True, kw_only=True):
    """The server's part of the time to first token; the rest is HTTP, network and client.

    Attributes:
        requests: How many are compared.
        source: Where the server says it: in its `answers`, request by request, or in the `metrics` of the run.
        server_s: Mean time inside the server, in seconds; `ttft_s`: mean time to first token of the same requests.
        share: The first over the second.
        outside_s: Median of the difference; None where only sums are known.
    """

    requests: int
    source: str
    server_s: float
    ttft_s: float
    share: float
    outside_s: float | None = None


def inside(rows: Sequence[Row]) -> Inside | None:
    """Return what answers say of requests that went well; None where one of them does not say."""
    told = [(row.server, row.ttft) for row in rows if row.server is not None and row.ttft]
    if not told or len(told) < len(rows):
        return None
    server, first = fmean(server for server, _ in told), fmean(ttft for _, ttft in told)
    outside = median(ttft - server for server, ttft in told)
    return Inside(
        requests=len(told), source="answers", server_s=server, ttft_s=first, share=server / first, outside_s=outside
    )


def inside_by_metrics(rows: Sequence[Row], counters: CounterCheck | None) -> Inside | None:
    """Return what the server's histogram says of the last rows, those of its sitting.

    None where there is none, or where it counted other requests than these.
    """
    if counters is None or not counters.exclusive:
        return None
    told = next((one for one in counters.times if one.what == "first token"), None)
    if told is None or not 0 < told.requests <= len(rows):
        return None
    times = [row.ttft for row in rows[-told.requests :]]
    known = [one for one in times if one]
    if len(known) < len(times):
        return None
    first = fmean(known)
    return Inside(
        requests=told.requests, source="metrics", server_s=told.mean_s, ttft_s=first, share=told.mean_s / first
    )
