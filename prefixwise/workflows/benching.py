"""A cold-against-warm run, from what is asked to its report."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import msgspec

from prefixwise import __version__
from prefixwise.bench.budget import agree, cost_of
from prefixwise.bench.counters import CounterCheck, Watch, told, watch_of
from prefixwise.bench.rows import RowFile, run_of
from prefixwise.bench.sender import HttpSender
from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.plan import Mode, Plan, Row
from prefixwise.bench.ttft.report import ttft_report
from prefixwise.bench.ttft.require import FIGURES, required
from prefixwise.bench.ttft.result import result
from prefixwise.bench.ttft.run import Say, TtftRun, cold_ways
from prefixwise.bench.ttft.schedule import Design
from prefixwise.caches.rulebook import Rulebook
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report

LENGTHS = (1024, 2048, 4096)
QUICK_LENGTHS = (128, 256, 512)
QUICK_ITEMS = 30


class TtftAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a cold-against-warm run is asked for; None and '' for what is left to the tool.

    Attributes:
        target: Address of the endpoint; `protocol`, `model`: how it is spoken to, and for what.
        key: API key; `headers`: further header fields.
        lengths, items, repeats, controls, suffix, block, seed, run, mode, cold: See `Plan`.
        quick: Short prompts, and no more pairs than it takes.
        adaptive: No more pairs than it takes.
        keep: File for the rows; an interrupted run of this file goes on.
        require: Conditions.
        yes, budget: Agreement to the cost.
        metrics: Pages of the server's counters, or `auto`.
        rules: Files of facts and prices laid over the packaged ones.
    """

    target: str
    protocol: str
    model: str
    key: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    lengths: tuple[int, ...] = ()
    items: int | None = None
    repeats: int = 1
    controls: int = 10
    suffix: int = 64
    block: int = 1
    seed: int = 0
    run: str = ""
    mode: Mode = Mode.SHARED_PREFIX
    cold: Cold | None = None
    quick: bool = False
    adaptive: bool = False
    keep: Path | None = None
    require: tuple[str, ...] = ()
    yes: bool = False
    budget: float | None = None
    metrics: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def plan_of(asked: TtftAsked) -> Plan:
    """Return what is to be run. Raises UserError for what cannot be."""
    protocol = PROTOCOLS.get(asked.protocol)
    lengths = tuple(sorted(set(asked.lengths))) or (QUICK_LENGTHS if asked.quick else LENGTHS)
    if lengths[0] < 1 or asked.suffix < 1 or asked.block < 1:
        raise UserError("lengths are counts of tokens", "--lengths", "for example 1024,2048,4096")
    items = asked.items or QUICK_ITEMS
    try:
        design = Design(items, asked.repeats, asked.controls, max(8, asked.repeats))
    except ValueError:
        raise UserError("a run needs one item or more, and one repeat or more", "--items, --repeats") from None
    return Plan(
        run=asked.run or run_of(asked.keep) or secrets.token_hex(8),
        target=asked.target,
        protocol=protocol.name,
        model=asked.model,
        lengths=lengths,
        suffix=asked.suffix,
        design=design,
        cold=cold_ways(protocol, asked.cold),
        mode=asked.mode,
        block=asked.block,
        seed=asked.seed,
        adaptive=asked.adaptive or asked.quick,
        version=__version__,
    )


def bench_ttft(asked: TtftAsked, say: Say, tell_cost: Callable[[str], None]) -> Report:
    """Run and return the report; an interrupted run keeps every request that was answered.

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
    watch = watch_of(asked.metrics, endpoint)
    if not endpoint.is_local:
        cost = cost_of(plan, Rulebook(asked.rules))
        agree(cost, local=False, yes=asked.yes, budget=asked.budget)
        tell_cost(str(cost))
    with (
        tempfile.TemporaryDirectory() as scratch,
        RowFile(asked.keep or Path(scratch) / "rows.jsonl", plan, Row) as rows,
    ):
        try:
            counters = asyncio.run(_run(plan, endpoint, rows, watch, say))
        except ExchangeError as problem:
            raise UserError(problem.what, asked.target, "is the server up, and the address right?") from None
        kept = list(rows.rows)
    found = result(plan, kept, counters)
    return ttft_report(found, kept, [required(one, found) for one in conditions])


async def _run(
    plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], watch: Watch | None, say: Say
) -> CounterCheck | None:
    sender = HttpSender(endpoint)
    before = len(rows.rows)

    async def begin() -> None:
        if watch is not None:
            await asyncio.to_thread(watch.begin)

    try:
        await TtftRun(plan, endpoint.protocol, sender, rows, say).run(begin)
    finally:
        await sender.close()
    if watch is None:
        return None
    mine = rows.rows[before:]
    answers = told(
        ((row.prompt, row.cached) for row in mine), complete=all(row.label is not Label.FAILED for row in mine)
    )
    return await asyncio.to_thread(watch.check, answers)


def key_of(protocol: str, variable: str | None, environment: Mapping[str, str]) -> str:
    """Return the API key for a protocol.

    Args:
        protocol: Its name.
        variable: Environment variable that holds it; None for the one that the vendor's tools look into.
        environment: The environment.

    Raises:
        UserError: The variable that was named is not set.
    """
    name = variable or PROTOCOLS.get(protocol).key_variable
    if variable and not environment.get(variable):
        raise UserError("the variable for the API key is not set", f"--key-env {variable}", f"export {variable}=…")
    return environment.get(name, "") if name else ""


def header_fields(given: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Read `Name: value` fields. Raises UserError for what is none."""
    fields = []
    for one in given:
        name, colon, value = one.partition(":")
        if not colon or not name.strip():
            raise UserError("this is no header field", f"--header {name}", "write it as 'Name: value'")
        fields.append((name.strip(), value.strip()))
    return tuple(fields)
