"""A run of programs, from what is asked to its report."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from prefixwise import __version__
from prefixwise.bench.budget import agree, priced
from prefixwise.bench.program.plan import Plan, Row
from prefixwise.bench.program.programs import PROGRAMS, levels
from prefixwise.bench.program.report import FIGURES, program_report, required
from prefixwise.bench.program.result import result
from prefixwise.bench.program.run import Say, run_programs
from prefixwise.bench.rows import RowFile, run_of
from prefixwise.bench.ttft.run import cold_ways
from prefixwise.caches.rulebook import Rulebook
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report

_AROUND = 64
"""Tokens around the words of a call, for the cost."""


class ProgramAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of programs is asked for; None and '' for what is left to the tool.

    Attributes:
        target: Address of the endpoint; `protocol`, `model`: how it is spoken to, and for what.
        key: API key; `headers`: further header fields.
        programs, rounds, controls, scale, cold, seed, run: See `Plan`; no program is every one.
        keep: File for the rows; an interrupted run of this file goes on.
        require: Conditions.
        yes, budget: Agreement to the cost.
        rules: Files of facts and prices laid over the packaged ones.
    """

    target: str
    protocol: str
    model: str
    key: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    programs: tuple[str, ...] = ()
    rounds: int = 10
    controls: int = 6
    scale: int = 1
    cold: Cold | None = None
    seed: int = 0
    run: str = ""
    keep: Path | None = None
    require: tuple[str, ...] = ()
    yes: bool = False
    budget: float | None = None
    rules: tuple[str, ...] = ()


def plan_of(asked: ProgramAsked) -> Plan:
    """Return what is to be run. Raises UserError for what cannot be."""
    protocol = PROTOCOLS.get(asked.protocol)
    wrong = next((name for name in asked.programs if name not in PROGRAMS), None)
    if wrong is not None:
        raise UserError(f"there is no program called {wrong[:100]!r}", "--only", f"known: {', '.join(PROGRAMS)}")
    return Plan(
        run=asked.run or run_of(asked.keep) or secrets.token_hex(8),
        target=asked.target,
        protocol=protocol.name,
        model=asked.model,
        programs=tuple(name for name in PROGRAMS if not asked.programs or name in asked.programs),
        rounds=asked.rounds,
        controls=min(asked.controls, asked.rounds),
        scale=asked.scale,
        cold=cold_ways(protocol, asked.cold),
        seed=asked.seed,
        version=__version__,
    )


def size_of(plan: Plan) -> tuple[int, int, int]:
    """Return how many calls, prompt tokens and tokens of answers a plan has."""
    calls = prompt = output = 0
    for name in plan.programs:
        made = levels(
            PROGRAMS[name](lambda tokens: [0] * tokens * plan.scale),
            lambda prompts, length: [[0] * length] * len(prompts),
        )
        for prompts, length in made:
            calls += len(prompts)
            prompt += sum(len(one) + _AROUND for one in prompts)
            output += length * len(prompts)
    times = 2 * plan.rounds + plan.controls
    return calls * times, prompt * times, output * times


def bench_program(asked: ProgramAsked, say: Say, tell_cost: Callable[[str], None]) -> Report:
    """Run and return the report; an interrupted run keeps every program that was run to its end.

    Args:
        asked: What is wanted.
        say: Takes lines on how far it is.
        tell_cost: Takes what it will cost, before anything is sent to an endpoint that is not on this machine.

    Raises:
        UserError: It cannot be run.
    """
    conditions = [parse_condition(one, FIGURES) for one in asked.require]
    plan = plan_of(asked)
    endpoint = Endpoint(asked.target, PROTOCOLS.get(plan.protocol), plan.model, asked.key, asked.headers)
    if not endpoint.is_local:
        calls, prompt, output = size_of(plan)
        cost = priced(calls, prompt, plan.protocol, plan.model, Rulebook(asked.rules), output)
        agree(cost, local=False, yes=asked.yes, budget=asked.budget)
        tell_cost(str(cost))
    with (
        tempfile.TemporaryDirectory() as scratch,
        RowFile(asked.keep or Path(scratch) / "rows.jsonl", plan, Row) as rows,
    ):
        words = run_programs(plan, endpoint, rows, say)
        kept = list(rows.rows)
    found = result(plan, kept, words.around)
    return program_report(found, tuple(required(one, found) for one in conditions))
