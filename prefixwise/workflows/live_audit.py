"""A live audit, from what is asked to its report."""

from __future__ import annotations

import asyncio
import secrets
import shlex
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic
from urllib.parse import urlsplit

import msgspec

from prefixwise import __version__
from prefixwise.bench.audit import scout
from prefixwise.bench.audit.live import LiveAudit, Say
from prefixwise.bench.audit.live_report import LiveResult, live_report
from prefixwise.bench.audit.looks import recording_of
from prefixwise.bench.audit.plan import (
    CERTIFY,
    DIRECT,
    SCREEN,
    Credential,
    LivePlan,
    LiveRow,
    Stage,
    comparisons,
    labelled,
    requests_of,
)
from prefixwise.bench.audit.result import audit_result
from prefixwise.bench.audit.scout import Scouted
from prefixwise.bench.budget import Cost, agree, priced
from prefixwise.bench.rows import RowFile
from prefixwise.bench.sender import HttpSender
from prefixwise.caches.rulebook import Rulebook
from prefixwise.clients.connection import Connection
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.clients.protocol import PROTOCOLS, Cold, Protocol
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report

_RESTART_S = 300.0
_REMOTE_PAUSE_S = 0.5


class LiveAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a live audit is asked for; None and '' for what is left to the tool.

    Attributes:
        target: Address of the endpoint; `gateways`: other ways to it; `protocol`, `model`: how it is spoken to.
        tenants: Their keys.
        headers: Further header fields.
        salts: `none`, `sent` (each tenant sends one of its own) or `both`.
        evict_tokens: Tokens that push everything off the device, for a look behind that; 0 for no such look.
        restart: Command that restarts the server, for a look behind that; '' for no such look.
        certify: Whether as many blocks are sent as isolation takes by times alone.
        both_ways: Whether each pair is looked at in both directions.
        tokens, victims, wait_s, pause_s, block_tokens, blocks, seed, run: See `LivePlan`.
        keep: File for the rows; an interrupted run of this file goes on.
        yes, budget, rules: As in other measurements.
    """

    target: str
    protocol: str
    model: str
    tenants: tuple[Credential, ...]
    gateways: tuple[str, ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    salts: str = "none"
    evict_tokens: int = 0
    restart: str = ""
    certify: bool = False
    both_ways: bool = True
    tokens: int = 4096
    victims: int = 1
    wait_s: float | None = None
    pause_s: float | None = None
    block_tokens: int = 1
    blocks: int | None = None
    seed: int = 0
    run: str = ""
    keep: Path | None = None
    yes: bool = False
    budget: float | None = None
    rules: tuple[str, ...] = ()


def credentials_of(given: Sequence[str], environment: Mapping[str, str]) -> tuple[Credential, ...]:
    """Read `NAME=VARIABLE` pairs. Raises UserError where one is none, or its variable is not set."""
    found = []
    for one in given:
        name, equals, variable = (part.strip() for part in one.partition("="))
        if not equals or not name or not variable:
            raise UserError("a tenant is a name and a variable", "--tenant", "for example --tenant north=NORTH_KEY")
        if not environment.get(variable):
            raise UserError("the variable for the API key is not set", f"--tenant {name}", f"export {variable}=…")
        found.append(Credential(name, variable, environment[variable]))
    return tuple(found)


def plan_of(asked: LiveAsked) -> LivePlan:
    """Return what is to be run. Raises UserError for what cannot be."""
    protocol = PROTOCOLS.get(asked.protocol)
    names = labelled(asked.tenants)
    salted = {"none": (False,), "sent": (True,), "both": (False, True)}[asked.salts]
    if True in salted and not {Cold.SALT, Cold.ISOLATION_KEY} & set(protocol.cold):
        raise UserError(f"{protocol.title} has no field for a salt", "--salts", "leave it away")
    stages = (
        Stage.FRESH,
        *((Stage.EVICTED,) if asked.evict_tokens else ()),
        *((Stage.RESTARTED,) if asked.restart else ()),
    )
    local = _endpoint(asked, asked.target, "").is_local
    return LivePlan(
        run=asked.run or _run_of(asked.keep) or secrets.token_hex(8),
        target=asked.target,
        protocol=protocol.name,
        model=asked.model,
        comparisons=comparisons(
            names, both_ways=asked.both_ways, routes=(DIRECT, *asked.gateways), salted=salted, stages=stages
        ),
        blocks=asked.blocks or (CERTIFY if asked.certify else SCREEN),
        tokens=asked.tokens,
        victims=asked.victims,
        wait_s=asked.wait_s,
        pause_s=asked.pause_s if asked.pause_s is not None else 0.0 if local else _REMOTE_PAUSE_S,
        evict_tokens=asked.evict_tokens,
        block_tokens=asked.block_tokens,
        seed=asked.seed,
        version=__version__,
    )


def _run_of(keep: Path | None) -> str:
    """Return the name of the run that a file holds, so that it goes on; '' where it holds none."""
    if keep is None or not keep.is_file():
        return ""
    try:
        with keep.open("rb") as file:
            name = msgspec.json.decode(file.readline(), type=dict).get("run", "")
    except (OSError, msgspec.MsgspecError):
        return ""
    return name if isinstance(name, str) else ""


def cost_of(plan: LivePlan, book: Rulebook) -> Cost:
    """Return what a plan may cost at most."""
    requests, tokens = requests_of(plan)
    routes = len({one.route for one in plan.comparisons})
    before = routes * scout.REQUESTS + len(plan.comparisons)
    return priced(requests + before, tokens + before * plan.tokens, plan.protocol, plan.model, book)


def audit_live(asked: LiveAsked, say: Say, tell_cost: Callable[[str], None]) -> Report:
    """Run and return the report; an interrupted run keeps every probe that was answered.

    Args:
        asked: What is wanted.
        say: Takes lines on how far it is.
        tell_cost: Takes what it will cost, before anything is sent.

    Raises:
        UserError: It cannot be run.
    """
    plan = plan_of(asked)
    addresses = (asked.target, *asked.gateways)
    local = all(_endpoint(asked, address, "").is_local for address in addresses)
    cost = cost_of(plan, Rulebook(asked.rules))
    agree(cost, local=local, yes=asked.yes, budget=asked.budget)
    tell_cost(f"at most {cost}, to {', '.join(dict.fromkeys(addresses))}")
    with (
        tempfile.TemporaryDirectory() as scratch,
        RowFile(asked.keep or Path(scratch) / "rows.jsonl", plan, LiveRow) as rows,
    ):
        try:
            stopped, found = asyncio.run(_run(plan, asked, rows, say))
        except ExchangeError as problem:
            raise UserError(problem.what, asked.target, "is the server up, and the address right?") from None
        kept = list(rows.rows)
    return report_of(plan, kept, found, stopped, _place(asked))


def report_of(
    plan: LivePlan, rows: Sequence[LiveRow], found: Mapping[str, Scouted], stopped: str, place: str
) -> Report:
    """Return the report of the rows of a run."""
    recordings = [recording_of(plan, one, rows, stopped) for one in plan.comparisons]
    result = LiveResult(
        plan=plan,
        audit=audit_result(recordings),
        reported=any(one.reports for one in found.values()),
        counted=all(one.words.counted for one in found.values()),
        wait_s=max((one.wait_s for one in found.values()), default=0.0),
        requests=len(rows),
        stopped=stopped,
    )
    return live_report(result, recordings, place)


def _place(asked: LiveAsked) -> str:
    """Return what findings point at: the file that holds the rows, else the host."""
    return asked.keep.as_posix() if asked.keep is not None else urlsplit(asked.target).netloc.rpartition("@")[2]


def _endpoint(asked: LiveAsked, address: str, key: str) -> Endpoint:
    return Endpoint(address, PROTOCOLS.get(asked.protocol), asked.model, key, asked.headers)


async def _run(
    plan: LivePlan, asked: LiveAsked, rows: RowFile[LivePlan, LiveRow], say: Say
) -> tuple[str, dict[str, Scouted]]:
    names = labelled(asked.tenants)
    protocol: Protocol = PROTOCOLS.get(plan.protocol)
    senders = {
        (route, name): HttpSender(_endpoint(asked, asked.target if route == DIRECT else route, one.key))
        for route in (DIRECT, *asked.gateways)
        for name, one in names.items()
    }
    tenants = {name: one.tenant for name, one in names.items()}
    endpoint = _endpoint(asked, asked.target, "")

    async def restart() -> None:
        await _restart(asked.restart, endpoint)

    audit = LiveAudit(plan, protocol, senders, tenants, rows, say, restart if asked.restart else None)
    try:
        found = await audit.run()
    finally:
        for sender in senders.values():
            await sender.close()
    return audit.stopped, found


async def _restart(command: str, endpoint: Endpoint) -> None:
    """Run the user's command and wait until the endpoint takes connections again. Raises UserError."""
    try:
        words = shlex.split(command)
        process = await asyncio.create_subprocess_exec(*words, stdin=asyncio.subprocess.DEVNULL)
    except (OSError, ValueError) as problem:
        raise UserError(f"the command to restart cannot be run: {problem}", "--restart-command") from None
    if await process.wait():
        raise UserError(f"the command to restart ended with {process.returncode}", "--restart-command")
    deadline = monotonic() + _RESTART_S
    while True:
        try:
            (await Connection.open(endpoint.host, endpoint.port, endpoint.tls)).close()
        except ExchangeError as problem:
            if monotonic() > deadline:
                raise UserError(f"after the restart: {problem.what}", endpoint.address) from None
            await asyncio.sleep(0.5)
        else:
            return
