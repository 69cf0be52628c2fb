"""A load run, from what is asked to its report."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from prefixwise import __version__
from prefixwise.bench.budget import agree, priced
from prefixwise.bench.load.plan import Plan, Row, parse_slo
from prefixwise.bench.load.report import FIGURES, load_report, required
from prefixwise.bench.load.result import result
from prefixwise.bench.load.run import Say, load
from prefixwise.bench.rows import RowFile, run_of
from prefixwise.bench.ttft.run import cold_ways
from prefixwise.caches.rulebook import Rulebook
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report

_BEFORE = 16


class LoadAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a load run is asked for; None and '' for what is left to the tool.

    Attributes:
        target: Address of the endpoint; `protocol`, `model`: how it is spoken to, and for what.
        key: API key; `headers`: further header fields.
        groups, each, prefix, suffix, output, concurrency, rate, connections, cold, seed, run: See `Plan`.
        slo: Limits, as `parse_slo` reads them.
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
    groups: int = 8
    each: int = 8
    prefix: int = 1024
    suffix: int = 128
    output: int = 16
    concurrency: int | None = None
    rate: float | None = None
    connections: int = 256
    slo: str = ""
    cold: Cold | None = None
    seed: int = 0
    run: str = ""
    keep: Path | None = None
    require: tuple[str, ...] = ()
    yes: bool = False
    budget: float | None = None
    rules: tuple[str, ...] = ()


def plan_of(asked: LoadAsked) -> Plan:
    """Return what is to be run. Raises UserError for what cannot be."""
    protocol = PROTOCOLS.get(asked.protocol)
    if asked.concurrency is not None and asked.rate is not None:
        raise UserError("a load has a concurrency or a rate", "--concurrency, --rate", "give one of them")
    if asked.rate is not None and asked.rate <= 0:
        raise UserError("a rate is above 0", f"--rate {asked.rate:g}", "requests a second, such as 4")
    return Plan(
        run=asked.run or run_of(asked.keep) or secrets.token_hex(8),
        target=asked.target,
        protocol=protocol.name,
        model=asked.model,
        groups=asked.groups,
        each=asked.each,
        prefix=asked.prefix,
        suffix=asked.suffix,
        output=asked.output,
        concurrency=(asked.concurrency or 8) if asked.rate is None else 0,
        rate=asked.rate or 0.0,
        connections=asked.connections,
        slo=parse_slo(asked.slo),
        cold=cold_ways(protocol, asked.cold),
        seed=asked.seed,
        version=__version__,
    )


def bench_load(asked: LoadAsked, say: Say, tell_cost: Callable[[str], None]) -> Report:
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
    if not endpoint.is_local:
        requests = plan.groups * plan.each + _BEFORE
        tokens, output = requests * (plan.prefix + plan.suffix), plan.groups * plan.each * plan.output
        cost = priced(requests, tokens, plan.protocol, plan.model, Rulebook(asked.rules), output)
        agree(cost, local=False, yes=asked.yes, budget=asked.budget)
        tell_cost(str(cost))
    with (
        tempfile.TemporaryDirectory() as scratch,
        RowFile(asked.keep or Path(scratch) / "rows.jsonl", plan, Row) as rows,
    ):
        client = load(plan, endpoint, rows, say)
        kept = list(rows.rows)
    found = result(plan, kept, client)
    return load_report(found, kept, [required(one, found) for one in conditions])
