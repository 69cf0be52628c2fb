"""The hit rate over time: in windows of equal length, as reported, under the first rule, and at most."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.core.report import Column, Series, Unit
from prefixwise.corpus.rows import NONE, Rows

_LEAST_REQUESTS = 20
_A_WINDOW = 5
"""Requests that a window should hold at least on average: the rate of a single one says nothing."""
_MOST_WINDOWS = 24


class OverTime(msgspec.Struct, frozen=True):
    """Hit rates by window of start times.

    Attributes:
        rule: Whose `modelled` rates are.
        starts: When each window begins; `window_s`: how long each is.
        requests: How many began in it.
        reported: None where no request of the window reports; `modelled` and `ceiling`: None where there is none.
    """

    rule: str
    starts: tuple[float, ...]
    window_s: float
    requests: tuple[int, ...]
    reported: tuple[float | None, ...]
    modelled: tuple[float | None, ...]
    ceiling: tuple[float | None, ...]


def over_time(
    rows: Rows, weights: Sequence[float], rule: str, modelled: Sequence[int], ceiling: Sequence[int]
) -> OverTime | None:
    """Return the rates by window, None where too few requests have a start time or all have the same.

    Args:
        rows: The requests.
        weights: By model number, what our token counts are to be multiplied by.
        rule: The first rule's label.
        modelled: Cached tokens by row under that rule.
        ceiling: Cached tokens by row at most.
    """
    timed = [row for row, start in enumerate(rows.start) if start == start]
    if len(timed) < _LEAST_REQUESTS:
        return None
    first, last = min(rows.start[row] for row in timed), max(rows.start[row] for row in timed)
    count = min(_MOST_WINDOWS, len(timed) // _A_WINDOW)
    length = (last - first) / count
    if not length > 0:
        return None
    requests = [0] * count
    prompts, served, most, said, hits = ([0.0] * count for _ in range(5))
    for row in timed:
        window = min(count - 1, int((rows.start[row] - first) / length))
        weight = weights[rows.model[row]]
        requests[window] += 1
        prompts[window] += weight * rows.prompt_tokens[row]
        served[window] += weight * modelled[row]
        most[window] += weight * ceiling[row]
        if rows.reported_prompt[row] != NONE and rows.reported_cached[row] != NONE:
            said[window] += rows.reported_prompt[row]
            hits[window] += rows.reported_cached[row]
    return OverTime(
        rule,
        tuple(first + number * length for number in range(count)),
        length,
        tuple(requests),
        _rates(hits, said),
        _rates(served, prompts),
        _rates(most, prompts),
    )


def _rates(cached: Sequence[float], prompts: Sequence[float]) -> tuple[float | None, ...]:
    return tuple(hit / all_ if all_ else None for hit, all_ in zip(cached, prompts, strict=True))


def over_time_block(found: OverTime) -> Series:
    """Return the rates as lines over the start of each window."""
    lines = [
        (Column("reported", "reported", Unit.RATE), found.reported),
        (Column("modelled", found.rule, Unit.RATE), found.modelled),
        (Column("ceiling", "ceiling", Unit.RATE), found.ceiling),
    ]
    return Series(
        "over_time",
        "Hit rate over time",
        Column("start", "from (UTC)", Unit.MOMENT),
        found.starts,
        tuple((column, values) for column, values in lines if any(value is not None for value in values)),
        f"Windows of {_length(found.window_s)} by the start of each request, {sum(found.requests):,} requests in all; "
        "a gap is a window without any.",
        brief=True,
    )


def _length(seconds: float) -> str:
    for unit, name in ((86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.3g} {name}"
    return f"{seconds:.3g} seconds"
