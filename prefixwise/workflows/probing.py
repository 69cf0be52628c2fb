"""A run of probes, from what is asked to its report."""

from __future__ import annotations

import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

import msgspec

from prefixwise import __version__
from prefixwise.bench.budget import agree, priced
from prefixwise.bench.probe.documented import with_documented
from prefixwise.bench.probe.plan import Plan, Row
from prefixwise.bench.probe.probe import probes
from prefixwise.bench.probe.report import figures, probe_report, required
from prefixwise.bench.probe.run import probe, size_of
from prefixwise.bench.rows import RowFile, run_of
from prefixwise.bench.ttft.run import Say, cold_ways
from prefixwise.caches.rulebook import Rulebook
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report


class ProbeAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a run of probes is asked for; None and '' for what is left to the tool.

    Attributes:
        target: Address of the endpoint; `protocol`, `model`: how it is spoken to, and for what.
        key: API key; `headers`: further header fields.
        only, length, longest, ages, replicates, fill, at_once, settle, cold, seed, run: See `Plan`.
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
    only: tuple[str, ...] = ()
    length: int = 2048
    longest: int = 8192
    ages: tuple[float, ...] = ()
    replicates: int = 3
    fill: int = 0
    at_once: int = 8
    settle: float = 6.4
    cold: Cold | None = None
    seed: int = 0
    run: str = ""
    keep: Path | None = None
    require: tuple[str, ...] = ()
    yes: bool = False
    budget: float | None = None
    rules: tuple[str, ...] = ()


def plan_of(asked: ProbeAsked) -> Plan:
    """Return what is to be run. Raises UserError for what cannot be."""
    protocol = PROTOCOLS.get(asked.protocol)
    plan = Plan(
        run=asked.run or run_of(asked.keep) or secrets.token_hex(8),
        target=asked.target,
        protocol=protocol.name,
        model=asked.model,
        only=tuple(dict.fromkeys(asked.only)),
        length=asked.length,
        longest=max(asked.length, asked.longest),
        replicates=asked.replicates,
        fill=asked.fill,
        at_once=asked.at_once,
        settle=asked.settle,
        cold=cold_ways(protocol, asked.cold),
        seed=asked.seed,
        version=__version__,
    )
    probes(plan)  # refuses what is none
    return msgspec.structs.replace(plan, ages=tuple(sorted(set(asked.ages)))) if asked.ages else plan


def bench_probe(asked: ProbeAsked, say: Say, tell_cost: Callable[[str], None]) -> Report:
    """Run and return the report; an interrupted run keeps every request that was answered.

    Args:
        asked: What is wanted.
        say: Takes lines on how far it is.
        tell_cost: Takes what it will cost and how long it waits, before anything is sent.

    Raises:
        UserError: It cannot be run.
    """
    conditions = [parse_condition(one, figures()) for one in asked.require]
    plan = plan_of(asked)
    endpoint = Endpoint(asked.target, PROTOCOLS.get(plan.protocol), plan.model, asked.key, asked.headers)
    size = size_of(plan)
    if not endpoint.is_local:
        cost = priced(size.requests, size.tokens, plan.protocol, plan.model, Rulebook(asked.rules))
        agree(cost, local=False, yes=asked.yes, budget=asked.budget)
        tell_cost(str(cost))
    tell_cost(f"at most {size.requests:,} requests, and {size.seconds:,.0f} s of waiting")
    with (
        tempfile.TemporaryDirectory() as scratch,
        RowFile(asked.keep or Path(scratch) / "rows.jsonl", plan, Row) as rows,
    ):
        try:
            survey, findings = probe(plan, endpoint, rows, say)
        except ExchangeError as problem:
            raise UserError(problem.what, asked.target, "is the server up, and the address right?") from None
        kept = list(rows.rows)
    findings = with_documented(findings, plan.protocol, plan.model, Rulebook(asked.rules))
    return probe_report(plan, survey, findings, kept, [required(one, findings) for one in conditions])
