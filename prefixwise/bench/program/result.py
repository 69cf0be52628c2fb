"""What the runs of programs come to: the speed-up of each, with its interval, and whether reuse is what made it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from enum import StrEnum
from statistics import median

import msgspec

from prefixwise.bench.program.plan import Arm, Plan, Row
from prefixwise.bench.ttft.estimate import Estimate, Pair, controls_agree, estimate, noise_floor

EFFECT = 1.05
"""A speed-up up to this is called none."""

WRONG = 0.05
"""Share of runs without reuse that were served from the cache all the same from which nothing is said."""

LATE = 0.05
"""Lateness of the client, as a share of the time of a run, from which that run is not used."""


class Verdict(StrEnum):
    """What a program shows."""

    FASTER = "faster with reuse"
    SAME = "no difference"
    SLOWER = "slower with reuse"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"


class Judged(msgspec.Struct, frozen=True):
    """A verdict and why."""

    verdict: Verdict
    reason: str


class ProgramResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one program shows.

    Attributes:
        name: Of the program; `calls`: how many it has; `prompt`: their tokens, None where they are not counted.
        on, off: Median seconds from the first call to the last answer.
        estimate: Of the pairs of a round; None where there is none.
        noise: By how much two runs without reuse differ, as a share; `agree`: whether they take as long as each other.
        hit_rate, off_rate: Cached over prompt tokens as counted, with reuse and without.
        left_out: How many runs were left out, by cause.
    """

    name: str
    calls: int
    prompt: int | None
    on: float | None
    off: float | None
    estimate: Estimate | None
    noise: float | None
    agree: bool | None
    hit_rate: float | None
    off_rate: float | None
    left_out: dict[str, int]
    judged: Judged


class ProgramsResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole run: what was run, and what each program shows."""

    plan: Plan
    programs: tuple[ProgramResult, ...]


def result(plan: Plan, rows: Sequence[Row], around: int) -> ProgramsResult:
    """Return what the rows of a run, finished or not, come to.

    Args:
        plan: What was run.
        rows: The runs.
        around: Tokens that stand around the words of a prompt: those may be cached in every call.
    """
    newest: dict[tuple[str, int], int] = {}
    for row in rows:
        newest[row.program, row.round] = max(row.attempt, newest.get((row.program, row.round), 0))
    last = [row for row in rows if row.attempt == newest[row.program, row.round]]
    found = tuple(_program(name, [row for row in last if row.program == name], around) for name in plan.programs)
    return ProgramsResult(plan=plan, programs=found)


def _program(name: str, rows: Sequence[Row], around: int) -> ProgramResult:
    causes = {row.order: _cause(row) for row in rows}
    used = [row for row in rows if causes[row.order] is None]
    by_arm = {arm: [row for row in used if row.arm is arm] for arm in Arm}
    pairs, controls = _pairs(used)
    found = estimate(pairs) if pairs else None
    noise, agree = noise_floor(controls), controls_agree(controls)
    whole = next((row for row in used if row.calls), None)
    return ProgramResult(
        name=name,
        calls=len(whole.calls) if whole else 0,
        prompt=whole.prompt if whole else None,
        on=_middle(by_arm[Arm.ON]),
        off=_middle(by_arm[Arm.OFF]),
        estimate=found,
        noise=noise,
        agree=agree,
        hit_rate=_rate(by_arm[Arm.ON]),
        off_rate=_rate(by_arm[Arm.OFF]),
        left_out=dict(sorted(Counter(one for one in causes.values() if one is not None).items())),
        judged=_judge(found, noise, agree, _contaminated(by_arm, around)),
    )


def _cause(row: Row) -> str | None:
    """Return why a run is left out; that it was slow is no cause."""
    if not row.ok or row.seconds <= 0:
        return "a call was not answered"
    if row.opened:
        return "a connection was opened for a call"
    return "the client was late" if row.late > LATE * row.seconds else None


def _pairs(rows: Sequence[Row]) -> tuple[list[Pair], list[Pair]]:
    """Return the pairs of rounds: without reuse and with; and without twice, in turns the one and the other first."""
    rounds: dict[int, dict[Arm, Row]] = defaultdict(dict)
    for row in rows:
        rounds[row.round][row.arm] = row
    pairs, controls = [], []
    for turn, arms in sorted(rounds.items()):
        if Arm.ON in arms and Arm.OFF in arms:
            pairs.append(Pair(arms[Arm.OFF].seconds, arms[Arm.ON].seconds))
        if Arm.CONTROL in arms and Arm.OFF in arms:
            two = (arms[Arm.OFF].seconds, arms[Arm.CONTROL].seconds)
            controls.append(Pair(*(two if turn % 2 else two[::-1])))
    return pairs, controls


def _contaminated(by_arm: dict[Arm, list[Row]], around: int) -> tuple[int, int]:
    """Return how many of how many runs without reuse found more in the cache than what stands around words."""
    apart = [row for arm in (Arm.OFF, Arm.CONTROL) for row in by_arm[arm]]
    return sum(any((call.cached or 0) > around for call in row.calls) for row in apart), len(apart)


def _judge(found: Estimate | None, noise: float | None, agree: bool | None, contaminated: tuple[int, int]) -> Judged:
    wrong, of = contaminated
    if of and wrong > WRONG * of:
        return Judged(Verdict.INVALID, f"{wrong} of {of} runs without reuse were served from the cache")
    if found is None or found.interval is None:
        return Judged(Verdict.INCONCLUSIVE, f"{found.n if found else 0} pairs are too few: 6 make an interval")
    if agree is False:
        return Judged(
            Verdict.INCONCLUSIVE, "runs without reuse do not take as long as each other: something else changes"
        )
    margin = 1 + max(EFFECT - 1, noise or 0.0)
    low, high = found.interval.low, found.interval.high
    if low > margin:
        return Judged(Verdict.FASTER, "the whole interval lies above what runs without reuse differ by")
    if high < 1 / margin:
        return Judged(Verdict.SLOWER, "the whole interval lies below what runs without reuse differ by")
    if low >= 1 / EFFECT and high <= EFFECT:
        return Judged(Verdict.SAME, "the whole interval lies within 5 % of 1")
    differ = "" if margin == EFFECT else f", and runs without reuse differ by up to {margin - 1:.0%}"
    return Judged(Verdict.INCONCLUSIVE, f"the speed-up lies between {low:.3g} and {high:.3g}{differ}")


def _middle(rows: Sequence[Row]) -> float | None:
    return median(row.seconds for row in rows) if rows else None


def _rate(rows: Sequence[Row]) -> float | None:
    """Return cached over prompt tokens; None where a call did not count: absent is not zero."""
    counts = [(row.cached, row.prompt) for row in rows]
    if not counts or any(cached is None or not prompt for cached, prompt in counts):
        return None
    return sum(cached or 0 for cached, _ in counts) / sum(prompt or 0 for _, prompt in counts)
