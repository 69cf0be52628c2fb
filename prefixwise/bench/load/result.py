"""What the rows of a load run come to."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from statistics import median

import msgspec

from prefixwise.bench.load.plan import Plan, Row
from prefixwise.bench.load.run import Client
from prefixwise.stats.binomial import clopper_pearson
from prefixwise.stats.interval import Interval
from prefixwise.stats.quantiles import nearest_rank, quantile, quantile_floor, quantile_interval

QUANTILES = (0.5, 0.9, 0.95, 0.99)
LATE_S = 0.005
BUSY = 0.8
"""Lateness of the slowest hundredth of the client's ticks, and share of a core, from which the client is the limit."""

KEPT_UP = 0.95
"""Share of the rate that was due below which an open loop was not kept up."""

HANDOVER = 0.05
"""Share of the time of a request for which one more may be missing: the next one has to be sent first."""

FULL = 0.95
"""Share of the requests that should be under way from which a closed loop is in its steady state."""


class Quantile(msgspec.Struct, frozen=True):
    """One quantile; `value` is None below `needs` values, and `interval` below those for both of its ends.

    `with_failures` counts each failed request as one that never ended; None where the quantile then has no end.
    """

    q: float
    value: float | None
    interval: Interval | None
    with_failures: float | None
    needs: int


class Times(msgspec.Struct, frozen=True):
    """The quantiles of one time, in seconds, over `n` requests that had it."""

    name: str
    n: int
    quantiles: tuple[Quantile, ...]

    def at(self, q: float) -> Quantile:
        """Return one of them."""
        return next(one for one in self.quantiles if one.q == q)


class Share(msgspec.Struct, frozen=True):
    """So many `of` so many, and the exact interval of the share."""

    number: int
    of: int
    share: float
    interval: Interval


class Steady(msgspec.Struct, frozen=True):
    """The longest span in which nearly all requests that should be under way were."""

    seconds: float
    requests: int
    ttft: float | None
    per_second: float


class LoadResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run.

    Attributes:
        plan: What was run; `parts`: in how many goes.
        seconds: From the first request to the last answer, of all parts.
        success: Answered requests, of all that were sent; `errors`: how many failed, by what was said.
        good: Requests that kept to every limit, of all that were sent; None without limits.
        due_per_s: Requests of an open loop that were due, which chance makes differ from its rate; `sent_per_s`: that
            were sent; `answered_per_s`, `output_per_s`, `prompt_per_s`: requests and tokens.
        hit_rate: Cached over prompt tokens as counted; `possible`: what an unlimited cache of single tokens would
            give to the same requests in this order.
        times: TTFT from sending, from the schedule, of first and later requests of a group, TPOT, and in all.
        waited_p99: Lateness of sending in the slowest hundredth; `late_p99`: of the client's loop; `cpu`: of a core.
        bound: Whether the client itself was the limit.
        held_back: Whether something on the way held answers back until they were whole.
        steady: The steady state of a closed loop.
    """

    plan: Plan
    parts: int
    seconds: float
    success: Share
    errors: dict[str, int]
    good: Share | None
    due_per_s: float | None
    sent_per_s: float
    answered_per_s: float
    output_per_s: float | None
    prompt_per_s: float | None
    hit_rate: float | None
    possible: float | None
    times: tuple[Times, ...]
    waited_p99: float
    late_p99: float
    cpu: float
    bound: bool
    held_back: bool
    steady: Steady | None


def result(plan: Plan, rows: Sequence[Row], client: Client) -> LoadResult:
    """Return what the rows of a run, finished or not, come to. Failed requests stay in every denominator."""
    answered = [row for row in rows if row.ok]
    seconds = sum(_span(own) for own in _parts(rows).values()) or math.nan
    late = quantile(client.late, 0.99) if client.late else 0.0
    output, prompt = ([getattr(row, name) for row in answered] for name in ("output", "prompt"))
    parts = _parts(rows).values()
    sent = _rate(sum(max(row.at for row in own) - min(row.at for row in own) for own in parts), len(rows))
    due = _rate(sum(max(row.due or 0.0 for row in own) for own in parts), len(rows)) if plan.rate else None
    slow = due is not None and sent is not None and sent < KEPT_UP * due
    return LoadResult(
        plan=plan,
        parts=len(_parts(rows)),
        seconds=seconds,
        success=_share(len(answered), len(rows)),
        errors=dict(sorted(Counter(row.error or f"status {row.status}" for row in rows if not row.ok).items())),
        good=_share(sum(good(row, plan) for row in rows), len(rows)) if plan.slo else None,
        due_per_s=due,
        sent_per_s=sent or math.nan,
        answered_per_s=len(answered) / seconds,
        output_per_s=None if None in output else sum(output) / seconds,
        prompt_per_s=None if None in prompt else sum(prompt) / seconds,
        hit_rate=_hit_rate(answered),
        possible=_possible(plan, answered),
        times=tuple(_times(plan, rows)),
        waited_p99=quantile([row.waited for row in rows], 0.99) if rows else 0.0,
        late_p99=late,
        cpu=client.cpu,
        bound=late > LATE_S or client.cpu > BUSY or slow,
        held_back=_held_back(answered),
        steady=_steady(plan, answered) if plan.concurrency else None,
    )


def good(row: Row, plan: Plan) -> bool:
    """Return whether a request kept to every limit: from when it was due in an open loop, else from sending."""
    if not row.ok:
        return False
    seen = {
        "ttft": row.ttft if row.due is None else row.ttft_due,
        "tpot": row.tpot,
        "total": None if row.total is None else row.total + row.waited,
    }
    return all((time := seen[name]) is not None and time <= limit for name, limit in plan.slo)


def _times(plan: Plan, rows: Sequence[Row]) -> Iterable[Times]:
    whole: list[tuple[str, Callable[[Row], float | None], Callable[[Row], bool]]] = [
        ("ttft", lambda row: row.ttft, lambda _: True),
        ("ttft_first_of_group", lambda row: row.ttft, lambda row: row.first),
        ("ttft_later_of_group", lambda row: row.ttft, lambda row: not row.first),
        ("tpot", lambda row: row.tpot, lambda _: True),
        ("total", lambda row: row.total, lambda _: True),
    ]
    if plan.rate:
        whole.insert(1, ("ttft_from_schedule", lambda row: row.ttft_due, lambda _: True))
    for name, value, counts in whole:
        own = [row for row in rows if counts(row)]
        values = [time for row in own if row.ok and (time := value(row)) is not None]
        yield times(name, values, sum(not row.ok for row in own))


def times(name: str, values: Sequence[float], failures: int) -> Times:
    """Return the quantiles of times, each only where there are enough for it to mean anything."""
    found = []
    for q in QUANTILES:
        needs = 1 if q == 0.5 else quantile_floor(q)
        enough = len(values) >= needs
        rank = nearest_rank(values, q, failures) if enough else math.inf
        found.append(
            Quantile(
                q,
                quantile(values, q) if enough else None,
                quantile_interval(values, q) if values else None,
                rank if math.isfinite(rank) else None,
                needs,
            )
        )
    return Times(name, len(values), tuple(found))


def _share(number: int, of: int) -> Share:
    return Share(number, of, number / of if of else math.nan, clopper_pearson(number, of))


def _rate(seconds: float, number: int) -> float | None:
    return (number - 1) / seconds if seconds else None


def _parts(rows: Sequence[Row]) -> dict[int, list[Row]]:
    found: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        found[row.part].append(row)
    return found


def _span(rows: Sequence[Row]) -> float:
    return max(row.end for row in rows) - min(row.at for row in rows)


def _hit_rate(answered: Sequence[Row]) -> float | None:
    """Return the share of prompt tokens that was cached; None unless every answer counts both: absent is not zero."""
    if not answered or any(row.cached is None or row.prompt is None for row in answered):
        return None
    return sum(row.cached or 0 for row in answered) / sum(row.prompt or 0 for row in answered)


def _possible(plan: Plan, answered: Sequence[Row]) -> float | None:
    prompt = sum(row.prompt or plan.prefix + plan.suffix for row in answered)
    return sum(plan.prefix for row in answered if not row.first) / prompt if prompt else None


def _held_back(answered: Sequence[Row]) -> bool:
    long = [row.reads for row in answered if (row.output or 0) >= 4]
    return bool(long) and median(long) <= 2


def _steady(plan: Plan, answered: Sequence[Row]) -> Steady | None:
    """Return the longest span with nearly all requests under way; the first answers of a wave are in no such span."""
    last = max((row.part for row in answered), default=0)
    own = [row for row in answered if row.part == last]
    low, high = _fullest(own, FULL * plan.concurrency)
    inside = sorted((row for row in own if low <= row.at and row.end <= high), key=lambda row: row.end)
    inside = [row for row in inside if row.at > low]  # the wave that began all at once
    if not inside or high <= low:
        return None
    ttft = [row.ttft for row in inside if row.ttft is not None]
    ended = sum(low < row.end <= high for row in own)
    return Steady(high - low, len(inside), median(ttft) if ttft else None, ended / (high - low))


def _fullest(rows: Sequence[Row], enough: float) -> tuple[float, float]:
    """Return the longest span with so many under way, but for the moments in which one hands over to the next."""
    changes: Counter[float] = Counter()
    for row in rows:
        changes[row.at] += 1
        changes[row.end] -= 1
    moment = HANDOVER * median([row.end - row.at for row in rows]) if rows else 0.0
    best = (0.0, 0.0)
    since: float | None = None
    lost: float | None = None  # when there were too few last
    under = 0
    for at in sorted(changes):
        if since is not None and lost is not None and at - lost > moment:
            best, since = max(best, (since, lost), key=_length), None
        under += changes[at]
        if under < enough:
            lost = at if lost is None else lost
        else:
            since, lost = at if since is None else since, None
    return best if since is None or lost is None else max(best, (since, lost), key=_length)


def _length(span: tuple[float, float]) -> float:
    return span[1] - span[0]
