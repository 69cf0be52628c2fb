"""How often the intervals of `bench ttft` hold the truth, and why it pairs: `python -m benchmarks.reproduce`.

Simulated runs, each judged by the estimators that ship. The figures stand beside those of the method's own simulation
(400 runs a cell, made with other code), which they have to meet within three Monte-Carlo standard errors of both.

Writes what it found to `docs/bench-statistics.md` unless `--no-page`. Exit codes: 0 all met, 1 a figure is off.
"""

from __future__ import annotations

import argparse
import itertools
import math
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.simulated_runs import (
    COLD,
    DRIFTS,
    SIGMA,
    STALL,
    STALLED,
    TRUTH,
    WARM,
    Drift,
    blocks,
    chain,
    heavy,
    linear,
    mixed,
    noisy,
    paired,
    steady,
    step,
    times,
)  # fmt: skip
from prefixwise.bench.ttft.estimate import Estimate, Pair, estimate
from prefixwise.bench.ttft.verdict import EFFECT
from prefixwise.stats.binomial import at_least
from prefixwise.stats.bootstrap import bootstrap, bootstrap_difference
from prefixwise.stats.medians import median_interval, sign_rank
from prefixwise.stats.quantiles import quantile

PAGE = Path(__file__).parents[1] / "docs" / "bench-statistics.md"
PUBLISHED_RUNS = 400
RESAMPLES = 400
ERRORS = 3.0


class Cell(NamedTuple):
    """What many runs of one design come to: the logarithm of speed-up over truth, and how often the interval holds it.

    Attributes:
        bias: Its mean; `deviation`: its standard deviation over runs.
        error: Its root mean square; `error_deviation`: the standard deviation of what it is made of, brought to it.
        coverage: Share of intervals that hold the truth.
    """

    bias: float
    deviation: float
    error: float
    error_deviation: float
    coverage: float

    @classmethod
    def of(cls, found: Sequence[tuple[float, bool]]) -> Cell:
        """Return the cell of (speed-up, whether the interval holds the truth) of every run."""
        off = [math.log(value / TRUTH) for value, _ in found]
        squares = [one * one for one in off]
        error = math.sqrt(statistics.fmean(squares))
        covered = sum(held for _, held in found) / len(found)
        return cls(
            statistics.fmean(off), statistics.pstdev(off), error, statistics.pstdev(squares) / (2 * error), covered
        )

    @property
    def bias_percent(self) -> float:
        """By how much the speed-up is off."""
        return 100 * math.expm1(self.bias)


def unpaired(pairs: Sequence[Pair], seed: int) -> tuple[float, bool]:
    """Return the ratio of medians of two arms, and whether its bootstrap interval holds the truth."""
    cold, warm = [pair.cold for pair in pairs], [pair.warm for pair in pairs]
    found = bootstrap_difference(
        warm, cold, lambda a, b: statistics.median(b) / statistics.median(a), seed, resamples=RESAMPLES
    )
    return statistics.median(cold) / statistics.median(warm), TRUTH in found


def judged(pairs: Sequence[Pair]) -> tuple[float, bool]:
    """Return the speed-up as reports have it, and whether its interval holds the truth."""
    found = estimate(pairs)
    return found.speedup, found.interval is not None and TRUTH in found.interval


def cell(design: str, drift: Drift, runs: int, n: int = 50) -> Cell:
    """Simulate runs of a design under a drift."""
    order = {"block": blocks, "interleaved": mixed, "paired": paired}[design]
    found = []
    for run in range(runs):
        rng = random.Random(f"{design}/{drift.__name__}/{run}")
        pairs = times(order(n, rng), rng, drift)
        found.append(judged(pairs) if design == "paired" else unpaired(pairs, run))
    return Cell.of(found)


class Published(NamedTuple):
    """A cell of the method's table: bias and error in per cent, and the coverage."""

    bias: float
    error: float
    coverage: float


PUBLISHED = {
    ("none", "block"): Published(0, 3.7, 0.97),
    ("none", "interleaved"): Published(0, 3.5, 0.97),
    ("none", "paired"): Published(0, 4.1, 0.96),
    ("linear +20 %", "block"): Published(-8.6, 9.8, 0.37),
    ("linear +20 %", "interleaved"): Published(-0.1, 3.9, 0.95),
    ("linear +20 %", "paired"): Published(-0.5, 4.1, 0.98),
    ("one step +25 %", "block"): Published(-14.9, 17.0, 0.12),
    ("one step +25 %", "interleaved"): Published(-0.2, 4.9, 0.97),
    ("one step +25 %", "paired"): Published(-0.2, 3.9, 0.99),
    ("AR(0.9)", "block"): Published(0.3, 11.3, 0.59),
    ("AR(0.9)", "interleaved"): Published(-0.1, 4.8, 0.97),
    ("AR(0.9)", "paired"): Published(-0.1, 4.0, 0.97),
}


def distances(found: Cell, published: Published, runs: int) -> tuple[float, float, float]:
    """Return how many standard errors a cell's bias, error and coverage are away from the published ones.

    Both were simulated, and the published ones rounded: half of their last digit counts as nothing.
    """
    both = math.sqrt(1 / runs + 1 / PUBLISHED_RUNS)
    share = (found.coverage * runs + published.coverage * PUBLISHED_RUNS) / (runs + PUBLISHED_RUNS)
    rounding = 0.5 if published.bias == 0 else 0.05
    return (
        _apart(found.bias_percent, published.bias, rounding, 100 * found.deviation * both),
        _apart(
            100 * found.error,
            published.error,
            0.5 if published.error == 17 else 0.05,
            100 * found.error_deviation * both,
        ),
        _apart(found.coverage, published.coverage, 0.005, math.sqrt(share * (1 - share)) * both),
    )


def _apart(ours: float, theirs: float, rounding: float, error: float) -> float:
    return max(0.0, abs(ours - theirs) - rounding) / (error or 1e-9)


def drift_part(runs: int) -> tuple[list[str], list[str]]:
    """Return the lines of the page on designs under drift, and how many figures are off."""
    lines = [
        "## Why requests are paired and mixed",
        "",
        f"50 items, a true speed-up of {TRUTH:g}, noise of {SIGMA:g}, stalls in {100 * STALLED:.0f} % of requests,",
        f"{runs:,} runs a cell. Errors are of the logarithm. Published figures in brackets; `apart` is the largest",
        "distance of the three, in Monte-Carlo standard errors of both simulations.",
        "",
        "| drift | design | bias of the speed-up | root mean square error | interval holds the truth | apart |",
        "| --- | --- | --: | --: | --: | --: |",
    ]
    off: list[str] = []
    for (name, drift), design in itertools.product(DRIFTS, ("block", "interleaved", "paired")):
        found, published = cell(design, drift, runs), PUBLISHED[name, design]
        apart = distances(found, published, runs)
        off += [f"{design} under drift: {name}"] * (max(apart) > ERRORS)
        lines.append(
            f"| {name} | {design} | {found.bias_percent:.1f} % ({published.bias:g}) | {100 * found.error:.1f} % "
            f"({published.error:g}) | {found.coverage:.3f} ({published.coverage:g}) | {max(apart):.1f} |"
        )
        print(lines[-1], flush=True)
    return lines, off


COVERAGE_KINDS = (
    ("steady", steady, noisy),
    ("heavy tails", steady, heavy),
    ("linear", linear, noisy),
    ("one step", step, noisy),
    ("AR(0.9)", chain, noisy),
)


def estimates(name: str, drift: Drift, noise: Callable[..., float], n: int, runs: int) -> Iterator[Estimate]:
    """Yield what reports would say of runs of n pairs."""
    for run in range(runs):
        rng = random.Random(f"{name}/{n}/{run}")
        yield estimate(times(paired(n, rng), rng, drift, noise))


SHORTER = "by how much the second interval is shorter, {} pairs"
EXPLAINED = {
    "false alarms, 20 pairs": "the exact distribution gives what is simulated here, not what was published.",
}
"""Figures that are off for a known reason: the page says so, and they are no failure."""


def _errors(share: float, runs: int) -> float:
    return ERRORS * math.sqrt(share * (1 - share) / runs)


def coverage_part(runs: int) -> tuple[list[str], list[str]]:
    """Return the lines of the page on both intervals, and how many cells are off."""
    head = " | ".join(name for name, *_ in COVERAGE_KINDS)
    lines = [
        "## How often the intervals hold the truth",
        "",
        f"Pairs in the order that ships, {runs:,} runs a cell; nominal is 0.95. First the interval by order",
        "statistics, behind the slash that of Hodges and Lehmann. `exact` is what theory says of the first one;",
        "published are 0.94 to 1.00 for the first, and for the second, from 20 pairs on, 0.95 to 0.97 with intervals",
        "that are 15 to 22 % shorter.",
        "",
        f"| pairs | exact | {head} | second shorter by |",
        f"| --: | --: |{' --: |' * (len(COVERAGE_KINDS) + 1)}",
    ]
    off: list[str] = []
    for n in (6, 9, 12, 20, 30, 50, 100):
        cells, shorter, slack, exact = [], 0.0, 0.0, 0.0
        for name, drift, noise in COVERAGE_KINDS:
            found = list(estimates(name, drift, noise, n, runs))
            first = [one.interval for one in found if one.interval]
            second = [one.centre_interval for one in found if one.centre_interval]
            exact = first[0].coverage or 0.0
            held, centred = (sum(TRUTH in one for one in both) / runs for both in (first, second))
            cells.append(f"{held:.3f} / {centred:.3f}")
            least, most = (exact, exact) if drift is steady else (0.94, 1.0)
            off += [f"first interval, {n} pairs, {name}"] * (
                not least - _errors(least, runs) <= held <= most + _errors(most, runs)
            )
            off += [f"second interval, {n} pairs, {name}"] * (n >= 20 and centred < 0.95 - _errors(0.95, runs))
            if name == "steady":
                ratios = [b.half_width / a.half_width for a, b in zip(first, second, strict=True)]
                shorter = 1 - statistics.median(ratios)
                slack = 0.005 + ERRORS * 1.2533 * statistics.pstdev(ratios) / math.sqrt(runs)
        off += [SHORTER.format(n)] * (n >= 20 and not 0.15 - slack <= shorter <= 0.22 + slack)
        lines.append(f"| {n} | {exact:.3f} | {' | '.join(cells)} | {shorter:.0%} |")
        print(lines[-1], flush=True)
    return lines, off


def bootstrap_part(runs: int) -> tuple[list[str], list[str]]:
    """Return the lines of the page on the bootstrap of a median, and how many cells are off."""
    lines = [
        "## Why not the bootstrap",
        "",
        f"The percentile bootstrap ({RESAMPLES} resamples) of the median of so many steady pairs, {runs:,} runs a",
        "cell; published are 0.91 to 0.95. It is used only for figures that have no interval of their own.",
        "",
        "| pairs | interval holds the truth |",
        "| --: | --: |",
    ]
    off: list[str] = []
    for n in (6, 9, 12, 20):
        held = 0
        for run in range(runs):
            rng = random.Random(f"bootstrap/{n}/{run}")
            ratios = [pair.log_ratio for pair in times(paired(n, rng), rng, steady)]
            held += math.log(TRUTH) in bootstrap(ratios, statistics.median, run, resamples=RESAMPLES)
        error = _errors(0.93, runs)
        off += [f"bootstrap, {n} pairs"] * (not 0.91 - error <= held / runs <= 0.95 + error)
        lines.append(f"| {n} | {held / runs:.3f} |")
    return lines, off


def means_part(runs: int) -> tuple[list[str], list[str]]:
    """Return the lines of the page on means, and how many figures of the median are off."""
    means, medians = [], []
    for run in range(runs):
        rng = random.Random(f"means/{run}")
        pairs = times(paired(20, rng), rng, steady)
        means.append(statistics.fmean(one.cold for one in pairs) / statistics.fmean(one.warm for one in pairs))
        medians.append(estimate(pairs).speedup)
    lines = [
        "## Why not means",
        "",
        f"20 steady pairs, {runs:,} runs: what the figure of a run is, and between what it lies in 95 % of runs.",
        f"Stalls are exponential with a mean of {STALL:g} s, where a cold request takes {COLD:g} s and a warm one",
        f"{WARM:g} s; how long they were in the published simulation is not known, so only the second row has to",
        "agree.",
        "",
        "| figure | mean of runs | 95 % of runs | published |",
        "| --- | --: | --: | --: |",
    ]
    for name, values, said in (
        ("ratio of means", means, "4.6 [2.3, 5.4]"),
        ("median ratio", medians, "5.0 [4.4, 5.6]"),
    ):
        low, high = quantile(values, 0.025), quantile(values, 0.975)
        lines.append(f"| {name} | {statistics.fmean(values):.2f} | {low:.2f} to {high:.2f} | {said} |")
    spread = statistics.pstdev(medians)
    # The standard error of a quantile, by the density that a normal distribution has there.
    at_end = math.sqrt(0.025 * 0.975 * (1 / runs + 1 / PUBLISHED_RUNS)) * spread / 0.0584
    at_mean = spread * math.sqrt(1 / runs + 1 / PUBLISHED_RUNS)
    ends = ((statistics.fmean(medians), 5.0, at_mean), (low, 4.4, at_end), (high, 5.6, at_end))
    return lines, [
        f"median ratio, {theirs}" for ours, theirs, error in ends if _apart(ours, theirs, 0.05, error) > ERRORS
    ]


def alarm_part(runs: int) -> tuple[list[str], list[str]]:
    """Return the lines of the page on false alarms, and how many cells are off."""
    lines = [
        "## False alarms",
        "",
        f"Cold and warm take equally long: how often the interval lies above {EFFECT}. {10 * runs:,} runs a row.",
        "`exact` is the binomial distribution with the chance that one pair without stalls lies above it.",
        "",
        "| pairs | above | exact | published |",
        "| --: | --: | --: | --: |",
    ]
    off: list[str] = []
    one_above = 1 - statistics.NormalDist(0, SIGMA * math.sqrt(2)).cdf(math.log(EFFECT))
    for n, said in ((6, 0.004), (10, 0.0025), (20, 0.0005)):
        above = 0
        for run in range(10 * runs):
            rng = random.Random(f"alarm/{n}/{run}")
            ratios = [math.log(noisy(rng, COLD) / noisy(rng, COLD)) for _ in range(n)]
            found = median_interval(ratios)
            above += found is not None and found.low > math.log(EFFECT)
        rate = above / (10 * runs)
        exact = at_least(n - sign_rank(n) + 1, n, one_above)
        off += [f"exact false alarms, {n} pairs"] * (abs(rate - exact) > _errors(exact, 10 * runs))
        off += [f"false alarms, {n} pairs"] * (abs(rate - said) > 0.0005 + _errors(said, 10 * runs))
        lines.append(f"| {n} | {rate:.2%} | {exact:.2%} | {said:.2%} |")
    return lines, off


HEAD = """\
# How far the statistics of `bench ttft` can be trusted

<!-- Written by `make reproduce`: run it, do not edit this page. -->

Simulated runs, judged by the code that ships (`prefixwise/stats`, `prefixwise/bench/ttft`), beside the figures that the
method was chosen by: another simulation, with other code, of 400 runs a cell. Seeded: the same command gives the same
page. What that simulation does not say is set here: the step comes somewhere between a fifth and four fifths of a run,
neighbours in the chain share their noise's deviation, and the length of stalls is that below."""

PARTS = (drift_part, coverage_part, bootstrap_part, means_part, alarm_part)


def page(runs: int) -> tuple[str, list[str]]:
    """Return the page, and which of its figures are off without a known reason."""
    made = [part(runs) for part in PARTS]
    off = [name for _, names in made for name in names]
    end = ["All figures are within three Monte-Carlo standard errors of what was published."]
    if off:
        end = ["Within three Monte-Carlo standard errors of what was published are all figures but these:", ""]
        end += [f"- {name}: {EXPLAINED.get(name, 'not explained.')}" for name in off]
    text = "\n\n".join([HEAD, "\n".join(end), *("\n".join(lines) for lines, _ in made)]) + "\n"
    return text, [name for name in off if name not in EXPLAINED]


def main() -> int:
    """Run it; return the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000, help="of each cell (default 2000)")
    parser.add_argument("--no-page", action="store_true", help="print it instead of writing the page")
    asked = parser.parse_args()
    began = time.process_time()
    text, off = page(asked.runs)
    if asked.no_page:
        print(text)
    else:
        PAGE.write_text(text, encoding="utf-8")
    print(f"off without a known reason: {', '.join(off) or 'nothing'}; {time.process_time() - began:,.0f} s of CPU")
    return 1 if off else 0


if __name__ == "__main__":
    sys.exit(main())
