"""Cold-against-warm runs out of numbers, and their result files."""

from __future__ import annotations

import random
from pathlib import Path

from prefixwise.bench.ttft.estimate import Pair, estimate
from prefixwise.bench.ttft.plan import Plan
from prefixwise.bench.ttft.report import ttft_report
from prefixwise.bench.ttft.result import LengthResult, Spread, TtftResult
from prefixwise.bench.ttft.verdict import Judged, Verdict
from prefixwise.reports.format import FORMATS


def pairs(speedup: float, n: int = 30, seed: int = 1, cold: float = 0.4, sigma: float = 0.08) -> tuple[Pair, ...]:
    rng = random.Random(seed)
    return tuple(
        Pair(cold * rng.lognormvariate(0, sigma), cold / speedup * rng.lognormvariate(0, sigma)) for _ in range(n)
    )


def run(*given: tuple[int, tuple[Pair, ...]], noise: float | None = 0.05, **plan) -> TtftResult:
    judged = Judged(plan.pop("verdict", Verdict.CONFIRMED), "as it is")
    settings = {"run": "r", "target": "t", "protocol": "vllm", "model": "m", **plan}
    lengths = tuple(
        LengthResult(
            length=length,
            cold=Spread(len(made), 0.4, None, None),
            warm=Spread(len(made), 0.1, None, None),
            estimate=estimate(made) if made else None,
            noise=noise,
            labels={},
            left_out={},
            judged=judged,
            pairs=made,
        )
        for length, made in given
    )
    return TtftResult(
        plan=Plan(lengths=tuple(length for length, _ in given), **settings),
        counted=True,
        reported=True,
        lengths=lengths,
        computed=None,
        cached=None,
        grows=None,
        judged=judged,
    )


def write(path: Path, found: TtftResult) -> Path:
    path.write_text(FORMATS.get("json").render(ttft_report(found, []), width=None, colour=False))
    return path
