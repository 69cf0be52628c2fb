"""What the rows of a replay come to."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from statistics import median

import msgspec

from prefixwise.bench.counters import CounterCheck
from prefixwise.bench.load.result import Times, times
from prefixwise.bench.replay.plan import ReplayPlan, ReplayRow
from prefixwise.bench.replay.run import Client
from prefixwise.stats.binomial import clopper_pearson
from prefixwise.stats.interval import Interval
from prefixwise.stats.quantiles import quantile, quantile_floor

BOUND_LAG_S = 0.005
BOUND_CPU = 0.8
"""Lateness of the slowest hundredth of the loop's ticks, and share of a core, from which the client is the limit."""

STEADY = 0.95
"""Share of the wanted concurrency at which a closed loop runs at full load."""


class Goodput(msgspec.Struct, frozen=True, kw_only=True):
    """Requests that met service levels, of all that were sent: a failed one met none.

    Attributes:
        slo: Which; several where all of them had to be met.
        good, sent: Requests; `share`: one over the other, with its interval.
        per_second: Good requests a second.
    """

    slo: tuple[tuple[str, float], ...]
    good: int
    sent: int
    share: float
    interval: Interval
    per_second: float | None


class Expected(msgspec.Struct, frozen=True):
    """The hit rate that a rule gives the requests as they were sent, answers left aside."""

    rule: str
    hit_rate: float | None


class Steady(msgspec.Struct, frozen=True):
    """The longest span at full load: from, to (seconds), requests that were due in it, and their median TTFT."""

    start: float
    end: float
    requests: int
    ttft: float | None


class ReplayResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole replay.

    Attributes:
        plan: What was run; `load`: its load model in words.
        sent: Requests; `complete`: those with a complete answer; `success`: their share.
        left_out: Why, and how many, could not be sent at all.
        failed: Why, and how many, have no complete answer.
        prompt_tokens, cached_tokens: As the server counted them, over requests for which it counted both (`counted`).
        hit_rate: One over the other; None where it counted nothing. Absent is not zero.
        expected: What rules give.
        times: TTFT from sending, TTFT from when the request was due, seconds a token, and the whole.
        goodput: All service levels together, then each; empty without any.
        intended, achieved: Requests a second that were due, and that were sent.
        late_median, late_p99: Seconds by which requests were sent later than due; p99 only where there are enough.
        loop_p99, cpu: How late the client's own loop was, and its share of a core; None for what was not seen.
        bound: Whether the client itself was the limit.
        parts: In how many sittings it was run.
        steady: In closed loop, the span at full load.
        counters: The server's own counters around the last sitting, where they were read.
    """

    plan: ReplayPlan
    load: str
    sent: int
    complete: int
    success: float
    left_out: dict[str, int]
    failed: dict[str, int]
    prompt_tokens: int
    cached_tokens: int
    counted: int
    hit_rate: float | None
    expected: tuple[Expected, ...]
    times: tuple[Times, ...]
    goodput: tuple[Goodput, ...]
    intended: float | None
    achieved: float | None
    late_median: float | None
    late_p99: float | None
    loop_p99: float | None
    cpu: float | None
    bound: bool
    parts: int
    steady: Steady | None
    counters: CounterCheck | None = None


def replay_result(
    plan: ReplayPlan,
    rows: Sequence[ReplayRow],
    client: Client | None = None,
    expected: Sequence[Expected] = (),
    left_out: dict[str, int] | None = None,
    counters: CounterCheck | None = None,
) -> ReplayResult:
    """Return what the rows come to, finished or not.

    Args:
        plan: What was run.
        rows: One a request.
        client: How busy the client was; None where nobody looked.
        expected: What rules give.
        left_out: Why, and how many, could not be sent.
        counters: Of the server, around the run.
    """
    good = [row for row in rows if row.ok]
    counted = [row for row in good if row.prompt is not None and row.cached is not None]
    prompt = sum(row.prompt or 0 for row in counted)
    cached = sum(row.cached or 0 for row in counted)
    lags = client.lags if client else ()
    loop = quantile(lags, 0.99) if len(lags) >= quantile_floor(0.99) else None
    late = [row.late for row in rows]
    return ReplayResult(
        plan=plan,
        load=plan.load,
        sent=len(rows),
        complete=len(good),
        success=len(good) / len(rows) if rows else 0.0,
        left_out=dict(sorted((left_out or {}).items())),
        failed=dict(sorted(Counter(_why(row) for row in rows if not row.ok).items())),
        prompt_tokens=prompt,
        cached_tokens=cached,
        counted=len(counted),
        hit_rate=cached / prompt if prompt else None,
        expected=tuple(expected),
        times=_all_times(plan, rows),
        goodput=_goodputs(plan, rows),
        intended=_rate([row.due for row in rows if row.part == 0]),
        achieved=_rate([row.at for row in rows if row.part == 0]),
        late_median=median(late) if late else None,
        late_p99=quantile(late, 0.99) if len(late) >= quantile_floor(0.99) else None,
        loop_p99=loop,
        cpu=client.cpu if client else None,
        bound=(loop is not None and loop > BOUND_LAG_S) or (client is not None and client.cpu > BOUND_CPU),
        parts=len({row.part for row in rows}),
        steady=_steady(plan, rows),
        counters=counters,
    )


def _why(row: ReplayRow) -> str:
    return str(row.failure) if row.failure is not None else f"HTTP {row.status}" if row.status != 200 else "error"


def _all_times(plan: ReplayPlan, rows: Sequence[ReplayRow]) -> tuple[Times, ...]:
    good = [row for row in rows if row.ok]
    whole: list[tuple[str, Callable[[ReplayRow], float | None]]] = [
        ("ttft", lambda row: row.ttft),
        *([] if plan.concurrency else [("ttft_from_schedule", lambda row: row.ttft_due)]),
        ("tpot", lambda row: row.tpot),
        ("total", lambda row: row.total),
    ]
    found = []
    for name, value in whole:
        values = [time for row in good if (time := value(row)) is not None]
        if values:
            found.append(times(name, values, len(rows) - len(good)))
    return tuple(found)


def _goodputs(plan: ReplayPlan, rows: Sequence[ReplayRow]) -> tuple[Goodput, ...]:
    if not plan.slo or not rows:
        return ()
    each = [(one,) for one in plan.slo] if len(plan.slo) > 1 else []
    return tuple(_goodput(slo, rows) for slo in (plan.slo, *each))


def _goodput(slo: tuple[tuple[str, float], ...], rows: Sequence[ReplayRow]) -> Goodput:
    good = sum(all(_meets(row, *limit) for limit in slo) for row in rows)
    first = [row for row in rows if row.part == 0]
    begin = min((row.at for row in first), default=0.0)
    end = max((row.at + (row.total or 0.0) for row in first), default=0.0)
    done = sum(all(_meets(row, *limit) for limit in slo) for row in first)
    return Goodput(
        slo=slo,
        good=good,
        sent=len(rows),
        share=good / len(rows),
        interval=clopper_pearson(good, len(rows)),
        per_second=done / (end - begin) if end > begin else None,
    )


def _meets(row: ReplayRow, figure: str, seconds: float) -> bool:
    """Say whether a request met a level. An answer of one token has no seconds a token: it waited for none."""
    if not row.ok:
        return False
    time = row.time(figure)
    if time is None:
        return figure == "tpot" and row.ttft is not None and row.output is not None and row.output <= 1
    return time <= seconds


def _rate(times: Sequence[float]) -> float | None:
    """Return how many a second there were between the first and the last."""
    span = max(times) - min(times) if times else 0.0
    return (len(times) - 1) / span if span > 0 else None


def _steady(plan: ReplayPlan, rows: Sequence[ReplayRow]) -> Steady | None:
    """Return the longest span in which a closed loop had 95 % of its requests under way; None without one."""
    spans = [(row.at, row.at + row.total) for row in rows if row.total is not None and row.part == 0]
    if not plan.concurrency or not spans:
        return None
    wanted = math.ceil(STEADY * plan.concurrency)
    best, since, running = (0.0, 0.0), None, 0
    # A stream that ends and begins again has a moment without a request: what begins within it is counted first.
    events = sorted([(begin, 1) for begin, _ in spans] + [(end + _GAP_S, -1) for _, end in spans])
    for at, change in events:
        running += change
        if running >= wanted and since is None:
            since = at
        elif running < wanted and since is not None:
            best, since = max(best, (since, at), key=lambda span: span[1] - span[0]), None
    start, end = best
    inside = [row for row in rows if row.part == 0 and start <= row.at < end]
    known = [row.ttft for row in inside if row.ok and row.ttft is not None]
    return Steady(start, end, len(inside), median(known) if known else None) if end > start else None


_GAP_S = 0.005
"""How long a stream may take between two requests and count as under way."""
