"""The report of a run of programs."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.bench.program.programs import PROGRAMS
from prefixwise.bench.program.result import ProgramResult, ProgramsResult, Verdict
from prefixwise.core.condition import Condition
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Column, Outcome, Report, Requirement, Table, Text, Unit
from prefixwise.stats.interval import Interval

BENCH_PROGRAM = DocumentKind(
    "prefixwise/bench-program", 1, "programs of many calls, with reuse and without", ProgramsResult
)

_EVERY = "speedup"
_OF_ONE = {f"{name.replace('-', '_')}_speedup": name for name in PROGRAMS}
FIGURES = (_EVERY, *_OF_ONE)
"""What can be required: of every program, or of one."""


def required(condition: Condition, found: ProgramsResult) -> Requirement:
    """Return how a condition came out: met or not met where the whole interval says so, else undecided.

    That of every program is met where all meet it, and not met where one does not.
    """
    name = _OF_ONE.get(condition.figure)
    chosen = [one for one in found.programs if name in (None, one.name)]
    each = [_required(condition, one) for one in chosen]
    return next(
        (one for wanted in ("not met", "undecided") for one in each if one.state == wanted),
        each[0] if each else Requirement(condition.expression, None, met=False, undecided=True),
    )


def _required(condition: Condition, one: ProgramResult) -> Requirement:
    made = one.estimate
    if made is None or made.interval is None or one.judged.verdict is Verdict.INVALID:
        return Requirement(condition.expression, made.speedup if made else None, met=False, undecided=True)
    low, high = made.interval.low, made.interval.high
    holds = {condition.test(end, condition.wanted) for end in (low, high)}
    return Requirement(condition.expression, made.speedup, holds == {True}, low, high, undecided=len(holds) > 1)


def program_report(found: ProgramsResult, requirements: tuple[Requirement, ...] = ()) -> Report:
    """Return the report of a run: invalid where a program is, inconclusive where one is."""
    verdicts = {one.judged.verdict for one in found.programs}
    outcome = Outcome.INCONCLUSIVE if Verdict.INCONCLUSIVE in verdicts else Outcome.DONE
    return Report(
        schema=BENCH_PROGRAM.schema,
        schema_version=BENCH_PROGRAM.version,
        command="bench program",
        title=f"{', '.join(sorted(verdicts))}: {found.plan.model} at {found.plan.target}",
        blocks=tuple(_blocks(found)),
        values=found,
        notes=tuple(_notes(found)),
        requirements=requirements,
        seed=found.plan.seed,
        outcome=Outcome.INVALID if Verdict.INVALID in verdicts else outcome,
    )


def _blocks(found: ProgramsResult) -> Iterator[Block]:
    yield Text("verdicts", tuple(f"{one.name}: {one.judged.verdict}; {one.judged.reason}." for one in found.programs))
    columns = (
        Column("program", "program"),
        Column("calls", "calls", Unit.COUNT),
        Column("prompt", "prompt tokens", Unit.TOKENS),
        Column("pairs", "pairs", Unit.COUNT),
        Column("off", "without reuse", Unit.SECONDS),
        Column("on", "with reuse", Unit.SECONDS),
        Column("speedup", "speed-up"),
        Column("interval", "95 % interval"),
        Column("centre", "Hodges-Lehmann"),
        Column("rate", "hit rate", Unit.RATE),
        Column("off_rate", "without", Unit.RATE),
        Column("noise", "without differs by", Unit.RATE),
    )
    cells = tuple(
        (
            one.name,
            one.calls,
            one.prompt,
            one.estimate.n if one.estimate else 0,
            one.off,
            one.on,
            f"{one.estimate.speedup:.2f}" if one.estimate else None,
            _between(one.estimate.interval) if one.estimate else None,
            f"{one.estimate.centre:.2f} {_between(one.estimate.centre_interval) or ''}".rstrip()
            if one.estimate
            else None,
            one.hit_rate,
            one.off_rate,
            one.noise,
        )
        for one in found.programs
    )
    note = "From the first call to the last answer: medians; speed-ups are medians over rounds, each with both arms."
    yield Table("programs", "With reuse and without", columns, cells, note)


def _between(interval: Interval | None) -> str | None:
    return None if interval is None else f"[{interval.low:.2f}, {interval.high:.2f}]"


def _notes(found: ProgramsResult) -> Iterator[str]:
    yield (
        "what stands in a prompt for an earlier answer is drawn, as long as that was: the server's own answers are "
        "timed but not sent back"
    )
    if any(one.hit_rate is None and one.on is not None for one in found.programs):
        yield "the server does not count cached tokens: that the arms differ by reuse alone is not verified"
    if any(one.hit_rate == 0 for one in found.programs):
        yield "nothing was cached with reuse either"
    for one in found.programs:
        for why, number in one.left_out.items():
            yield f"{one.name}: {number} left out ({why})"
