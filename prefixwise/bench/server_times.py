"""What a server's own histograms say of how long requests took inside it, over a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from prefixwise.clients.prometheus import Page
from prefixwise.core.report import Column, Table, Unit


class _Kind(NamedTuple):
    what: str
    names: tuple[str, ...]


_KINDS = (
    _Kind("first token", ("vllm:time_to_first_token_seconds", "sglang:time_to_first_token_seconds")),
    _Kind("queue", ("vllm:request_queue_time_seconds", "sglang:queue_time_seconds")),
    _Kind("prefill", ("vllm:request_prefill_time_seconds",)),
)


class ServerTime(msgspec.Struct, frozen=True):
    """How long requests took inside the server between two readings of its page.

    Attributes:
        what: Until the `first token`, in the `queue`, or in `prefill`.
        name: The histogram's.
        requests: How many it counted.
        mean_s: Their mean, in seconds.
    """

    what: str
    name: str
    requests: int
    mean_s: float


def server_times(before: Sequence[Page], after: Sequence[Page]) -> tuple[ServerTime, ...]:
    """Return the means of what histograms counted in between, over all pages; those that counted nothing are left out.

    Args:
        before: The pages at the beginning.
        after: The same pages at the end, of servers that did not begin anew.
    """
    return tuple(_grown(before, after))


def _grown(before: Sequence[Page], after: Sequence[Page]) -> Iterator[ServerTime]:
    for kind in _KINDS:
        name = next((one for one in kind.names if any(page.series(f"{one}_count") for page in after)), None)
        if name is None:
            continue
        taken, requests = (_difference(before, after, f"{name}_{part}") for part in ("sum", "count"))
        if requests > 0 and taken >= 0:
            yield ServerTime(kind.what, name, round(requests), taken / requests)


def _difference(before: Sequence[Page], after: Sequence[Page], name: str) -> float:
    return sum((b.total(name) or 0.0) - (a.total(name) or 0.0) for a, b in zip(before, after, strict=True))


def server_time_table(times: Sequence[ServerTime]) -> Table:
    """Return the table of them."""
    columns = (
        Column("what", "time"),
        Column("name", "histogram"),
        Column("requests", "requests", Unit.COUNT),
        Column("mean", "mean", Unit.SECONDS),
    )
    rows = tuple((one.what, one.name, one.requests, one.mean_s) for one in times)
    return Table("server_times", "Times by the server's own clock", columns, rows)
