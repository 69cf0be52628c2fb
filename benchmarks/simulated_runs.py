"""Simulated cold-against-warm runs for `benchmarks.reproduce`: orders of requests, what drifts meanwhile, and noise."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

from prefixwise.bench.ttft.estimate import Pair
from prefixwise.bench.ttft.schedule import Arm, Design, schedule

COLD, WARM = 0.5, 0.1
TRUTH = COLD / WARM
SIGMA, STALLED, STALL = 0.15, 0.03, 0.6
CHAIN, STEP = 0.9, 1.25

Drift = Callable[[random.Random, int], list[float]]
"""Makes what the times of so many requests in a row are multiplied by."""
Arms = Sequence[tuple[int, bool]]
"""The requests of a run in their order: of which item, and whether it is the warm one."""


def steady(_: random.Random, count: int) -> list[float]:
    """Nothing changes."""
    return [1.0] * count


def linear(_: random.Random, count: int) -> list[float]:
    """Times grow evenly by 20 %."""
    return [1 + 0.2 * at / (count - 1) for at in range(count)]


def step(rng: random.Random, count: int) -> list[float]:
    """Times grow by 25 % at once, somewhere between a fifth and four fifths of the run."""
    place = rng.uniform(0.2, 0.8) * count
    return [STEP if at > place else 1.0 for at in range(count)]


def chain(rng: random.Random, count: int) -> list[float]:
    """Neighbours in time are alike: a chain with correlation 0.9 and the deviation of the noise."""
    values = [rng.gauss(0, SIGMA)]
    fresh = SIGMA * math.sqrt(1 - CHAIN**2)
    while len(values) < count:
        values.append(CHAIN * values[-1] + rng.gauss(0, fresh))
    return [math.exp(value) for value in values]


def noisy(rng: random.Random, seconds: float) -> float:
    """Return a time with lognormal noise, and in 3 % of cases a stall."""
    taken = seconds * math.exp(rng.gauss(0, SIGMA))
    return taken + (rng.expovariate(1 / STALL) if rng.random() < STALLED else 0.0)


def heavy(rng: random.Random, seconds: float) -> float:
    """Return a time whose logarithm has the tails of Student's t with two degrees of freedom."""
    return seconds * math.exp(0.1 * rng.gauss(0, 1) / math.sqrt(rng.gammavariate(1, 1)))


DRIFTS: tuple[tuple[str, Drift], ...] = (
    ("none", steady),
    ("linear +20 %", linear),
    ("one step +25 %", step),
    ("AR(0.9)", chain),
)


def blocks(n: int, _: random.Random) -> Arms:
    """All cold requests first, then all warm ones."""
    return [(item, warm) for warm in (False, True) for item in range(n)]


def mixed(n: int, rng: random.Random) -> Arms:
    """All requests in one random order, compared arm with arm."""
    order = list(blocks(n, rng))
    rng.shuffle(order)
    return order


def paired(n: int, rng: random.Random) -> Arms:
    """The order that ships."""
    made = schedule(Design(items=n, controls=0), rng.random().hex())
    return [(slot.item, slot.arm is Arm.WARM) for slot in made]


def times(
    arms: Arms, rng: random.Random, drift: Drift, noise: Callable[[random.Random, float], float] = noisy
) -> list[Pair]:
    """Return the times of a run, by item."""
    cold, warm = {}, {}
    for (item, reads), factor in zip(arms, drift(rng, len(arms)), strict=True):
        (warm if reads else cold)[item] = noise(rng, factor * (WARM if reads else COLD))
    return [Pair(cold[item], warm[item]) for item in cold]
