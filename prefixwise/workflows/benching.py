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
from prefixwise.bench.replay.bodies import UnsendableError, body_of, protocol_for
from prefixwise.bench.row_table import check_table, write_table
from prefixwise.bench.rows import RowFile, run_of
from prefixwise.bench.scout import Scout
from prefixwise.bench.sender import HttpSender
from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.own_request import OwnRequest
from prefixwise.bench.ttft.plan import Mode, Plan, Row
from prefixwise.bench.ttft.prompts import BEHIND, behind
from prefixwise.bench.ttft.report import ttft_report
from prefixwise.bench.ttft.require import FIGURES, required
from prefixwise.bench.ttft.result import result
from prefixwise.bench.ttft.run import Say, TtftRun, cold_ways
from prefixwise.bench.ttft.schedule import Design
from prefixwise.bench.words import Vocabulary
from prefixwise.caches.rulebook import Rulebook
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.single import read_one

LENGTHS = (1024, 2048, 4096)
QUICK_LENGTHS = (128, 256, 512)
QUICK_ITEMS = 20
ITEMS = 30


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
        request: The user's own request, as `FILE#N`; '' for made-up texts.
        metrics: Pages of the server's counters, or `auto`.
        rules: Files of facts and prices laid over the packaged ones.
        table: File for the rows as a table (Parquet), written at the end.
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
    request: str = ""
    metrics: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    table: Path | None = None


def plan_of(asked: TtftAsked) -> Plan:
    """Return what is to be run. Raises UserError for what cannot be."""
    protocol = PROTOCOLS.get(asked.protocol)
    lengths = tuple(sorted(set(asked.lengths))) or (QUICK_LENGTHS if asked.quick else LENGTHS)
    if lengths[0] < 1 or asked.suffix < 1 or asked.block < 1:
        raise UserError("lengths are counts of tokens", "--lengths", "for example 1024,2048,4096")
    items = asked.items or (QUICK_ITEMS if asked.quick else ITEMS)
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
        quick=asked.quick,
        request=asked.request,
        version=__version__,
    )


def _with_request(plan: Plan, asked: TtftAsked) -> tuple[Plan, OwnRequest]:
    """Return the plan of the user's own request, its length by our own count, and what makes its bodies.

    Raises:
        UserError: The request cannot be read, or not be sent there.
    """
    if asked.lengths:
        raise UserError("a request has one length, its own", "--request, --lengths", "leave --lengths out")
    request, _ = read_one(asked.request, ReadOptions())
    try:
        protocol = protocol_for(PROTOCOLS.get(plan.protocol), request.api)
        if protocol.name != plan.protocol:
            raise UnsendableError("a bare prompt goes by its own protocol: --protocol openai-completions")
        own = OwnRequest(body_of(request, protocol), protocol, plan.cold)
    except UnsendableError as problem:
        raise UserError(str(problem), asked.request, "name the --protocol of its endpoint") from None
    index = CorpusIndex()
    index.add(request)
    index.finish()
    tokens = index.rows.prompt_tokens[0]
    return msgspec.structs.replace(plan, lengths=(max(1, tokens - BEHIND),), around=max(tokens, BEHIND + 1)), own


def _with_length(plan: Plan, endpoint: Endpoint, own: OwnRequest) -> Plan:
    """Return the plan with the length of the request as the server counts it.

    Raises:
        UserError: The server refuses, or cannot be reached.
    """

    async def words() -> Vocabulary:
        sender = HttpSender(endpoint)
        try:
            return await Scout(plan, endpoint.protocol, sender, own.body, plan.around).words()
        finally:
            await sender.close()

    try:
        found = asyncio.run(words())
    except ExchangeError as problem:
        raise UserError(problem.what, endpoint.address, "is the server up, and the address right?") from None
    length = found.around - behind(found)
    if length < 1:
        raise UserError("the request is too short to be measured", plan.request, "send one with a longer beginning")
    return msgspec.structs.replace(plan, lengths=(length,))


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
    check_table(asked.table)
    plan, own = plan_of(asked), None
    if asked.request:
        plan, own = _with_request(plan, asked)
    endpoint = Endpoint(asked.target, PROTOCOLS.get(plan.protocol), plan.model, asked.key, asked.headers)
    watch = watch_of(asked.metrics, endpoint)
    if not endpoint.is_local:
        cost = cost_of(plan, Rulebook(asked.rules))
        agree(cost, local=False, yes=asked.yes, budget=asked.budget)
        tell_cost(str(cost))
    if own is not None:
        plan = _with_length(plan, endpoint, own)
    with (
        tempfile.TemporaryDirectory() as scratch,
        RowFile(asked.keep or Path(scratch) / "rows.jsonl", plan, Row) as rows,
    ):
        try:
            counters = asyncio.run(_run(plan, endpoint, rows, own, watch, say))
        except ExchangeError as problem:
            raise UserError(problem.what, asked.target, "is the server up, and the address right?") from None
        kept = list(rows.rows)
    if asked.table is not None:
        write_table(asked.table, plan, Row, kept)
    found = result(plan, kept, counters)
    return ttft_report(found, kept, [required(one, found) for one in conditions])


async def _run(
    plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], own: OwnRequest | None, watch: Watch | None, say: Say
) -> CounterCheck | None:
    sender = HttpSender(endpoint)
    before = len(rows.rows)

    async def begin() -> None:
        if watch is not None:
            await asyncio.to_thread(watch.begin)

    try:
        await TtftRun(plan, endpoint.protocol, sender, rows, say, own.body if own else None).run(begin)
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
