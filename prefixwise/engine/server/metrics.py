"""Figures for Prometheus, under vLLM's names where they mean the same."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.engine.engine import Engine
from prefixwise.engine.request import Account

_BOUNDS = (0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0)


class Histogram:
    """Counts of seconds up to each bound."""

    def __init__(self) -> None:
        self._counts = [0] * (len(_BOUNDS) + 1)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        """Count a value."""
        self._counts[bisect_left(_BOUNDS, seconds)] += 1
        self._sum += seconds

    def lines(self, name: str, labels: str) -> Iterator[str]:
        """Yield the lines of the histogram."""
        total = 0
        for bound, count in zip([*map(str, _BOUNDS), "+Inf"], self._counts, strict=True):
            total += count
            yield f'{name}_bucket{{{labels},le="{bound}"}} {total}'
        yield f"{name}_sum{{{labels}}} {self._sum}"
        yield f"{name}_count{{{labels}}} {total}"


class Snapshot(msgspec.Struct, frozen=True):
    """What an engine says of itself between two steps."""

    running: int
    waiting: int
    usage: float
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    preemptions: int
    finished: dict[str, int]


def snapshot(engine: Engine) -> Snapshot:
    """Return the figures of an engine; called between two of its steps."""
    totals, cache = engine.totals, engine.cache
    return Snapshot(
        running=len(engine.scheduler.running),
        waiting=len(engine.scheduler.waiting),
        usage=1 - cache.available() / cache.capacity,
        prompt_tokens=totals.prompt_tokens,
        cached_tokens=totals.cached_tokens,
        output_tokens=totals.output_tokens,
        preemptions=engine.scheduler.preemptions,
        finished=dict(totals.finished),
    )


class Metrics:
    """What the server counts itself.

    Args:
        model: Name of the model, a label of every figure.
    """

    def __init__(self, model: str) -> None:
        name = model.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        self._labels = f'model_name="{name}"'
        self._first_token = Histogram()
        self._whole = Histogram()
        self._by_tier: Counter[str] = Counter()

    def note(self, account: Account) -> None:
        """Count a request that ended."""
        if account.ttft is not None:
            self._first_token.add(account.ttft)
            self._whole.add(account.ttft + (account.decode_seconds or 0.0))
        self._by_tier.update(account.cached_by_tier)

    def text(self, engines: Sequence[Snapshot]) -> str:
        """Return the page, over all engines."""

        def total(field: str) -> float:
            values: list[float] = [getattr(engine, field) for engine in engines]
            return sum(values)

        usage = total("usage") / len(engines)
        figures: tuple[tuple[str, str, float], ...] = (
            ("vllm:num_requests_running", "gauge", total("running")),
            ("vllm:num_requests_waiting", "gauge", total("waiting")),
            ("vllm:kv_cache_usage_perc", "gauge", usage),
            ("vllm:prefix_cache_queries_total", "counter", total("prompt_tokens")),
            ("vllm:prefix_cache_hits_total", "counter", total("cached_tokens")),
            ("vllm:prompt_tokens_total", "counter", total("prompt_tokens")),
            ("vllm:prompt_tokens_cached_total", "counter", total("cached_tokens")),
            ("vllm:generation_tokens_total", "counter", total("output_tokens")),
            ("vllm:num_preemptions_total", "counter", total("preemptions")),
        )
        lines: list[str] = []
        for name, kind, value in figures:
            lines += [f"# TYPE {name} {kind}", f"{name}{{{self._labels}}} {value:.10g}"]
        finished: Counter[str] = Counter()
        for engine in engines:
            finished.update(engine.finished)
        lines.append("# TYPE vllm:request_success_total counter")
        lines += [
            f'vllm:request_success_total{{{self._labels},finished_reason="{reason}"}} {finished[reason]}'
            for reason in ("stop", "length")
        ]
        lines.append("# TYPE prefixwise:requests_ended_total counter")
        lines += [
            f'prefixwise:requests_ended_total{{{self._labels},reason="{reason}"}} {count}'
            for reason, count in sorted(finished.items())
        ]
        lines.append("# TYPE prefixwise:cached_tokens_total counter")
        lines += [
            f'prefixwise:cached_tokens_total{{{self._labels},tier="{tier}"}} {count}'
            for tier, count in sorted(self._by_tier.items())
        ]
        for name, histogram in (
            ("vllm:time_to_first_token_seconds", self._first_token),
            ("vllm:e2e_request_latency_seconds", self._whole),
        ):
            lines += [f"# TYPE {name} histogram", *histogram.lines(name, self._labels)]
        return "\n".join(lines) + "\n"
