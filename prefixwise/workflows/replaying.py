"""A replay, from what is asked to its report."""

from __future__ import annotations

import asyncio
import secrets
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from prefixwise import __version__
from prefixwise.analyzers.hitrate import CEILING, rules_for
from prefixwise.bench.budget import agree, priced
from prefixwise.bench.counters import CounterCheck, Watch, told, watch_of
from prefixwise.bench.load.plan import parse_slo
from prefixwise.bench.replay.from_log import Dress, arrivals, chosen, logged_output, work_of_log
from prefixwise.bench.replay.plan import ReplayPlan, ReplayRow
from prefixwise.bench.replay.pool import Pool
from prefixwise.bench.replay.report import replay_report
from prefixwise.bench.replay.require import FIGURES, required
from prefixwise.bench.replay.result import Expected, replay_result
from prefixwise.bench.replay.run import Client, ReplayRun
from prefixwise.bench.replay.synthetic import WordWriter, work_of_trace
from prefixwise.bench.replay.vocabulary import writer_for
from prefixwise.bench.replay.work import Work
from prefixwise.bench.row_table import check_table, write_table
from prefixwise.bench.rows import RowFile, run_of
from prefixwise.bench.ttft.run import cold_ways
from prefixwise.caches.rulebook import Rulebook
from prefixwise.caches.sharing import sharing
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.rows import Rows


class Target(msgspec.Struct, frozen=True, kw_only=True):
    """An endpoint as the command line names it.

    Attributes:
        address, protocol, model: Of the endpoint.
        key: API key; `headers`: further header fields.
        yes, budget: Agreement to the cost.
    """

    address: str
    protocol: str
    model: str
    key: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    yes: bool = False
    budget: float | None = None

    def endpoint(self, protocol: str = "") -> Endpoint:
        """Return the endpoint, spoken to by its own protocol or another one."""
        return Endpoint(self.address, PROTOCOLS.get(protocol or self.protocol), self.model, self.key, self.headers)


class ReplayAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a replay is asked for.

    Attributes:
        target: Where it goes.
        speed, concurrency, ramp, output, run, seed: See `ReplayPlan`.
        cold: A way to be cold, `none`, or None for the best that the protocol has.
        synthetic: Whether texts are made up.
        log_model: Only requests to this model of the log; `limit`: most requests.
        slos: Limits, as `parse_slo` reads them; `require`: conditions.
        under: Rules for the expected hit rate.
        metrics: Pages of the server's counters, or `auto`.
        keep: File for the rows; an interrupted run of this file goes on.
        rules: Files of facts and prices laid over the packaged ones.
        table: File for the rows as a table (Parquet), written at the end.
    """

    target: Target
    speed: float = 1.0
    concurrency: int = 0
    ramp: float = 0.0
    output: int | None = None
    run: str = ""
    seed: int = 0
    cold: str | None = None
    synthetic: bool = False
    log_model: str | None = None
    limit: int | None = None
    slos: tuple[str, ...] = ()
    require: tuple[str, ...] = ()
    under: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    keep: Path | None = None
    rules: tuple[str, ...] = ()
    table: Path | None = None


def cold_asked(target: Target, cold: str | None) -> Cold | None:
    """Return how a run is kept apart from what the cache holds; None for not at all.

    Raises:
        UserError: The protocol does not have that way.
    """
    return None if cold == "none" else cold_ways(PROTOCOLS.get(target.protocol), Cold(cold) if cold else None)


def bench_replay(
    asked: ReplayAsked,
    corpus: Corpus,
    again: Again,
    say: Callable[[str], None],
    tell: Callable[[int, int | None, str], None],
) -> Report:
    """Replay an input and return the report; an interrupted run keeps every request that was answered.

    Args:
        asked: What is wanted.
        corpus: The input.
        again: Reads its requests.
        say: Takes what the user should know before requests are sent.
        tell: Called with how far it is.

    Raises:
        UserError: It cannot be run.
    """
    conditions = [parse_condition(one, FIGURES) for one in asked.require]
    slo = tuple(limit for one in asked.slos for limit in parse_slo(one))
    check_table(asked.table)
    order = chosen(corpus.rows, asked.log_model, asked.limit)
    at = arrivals(corpus.rows, order, needed=not asked.concurrency)
    if corpus.index is None and not asked.synthetic:
        raise UserError("a trace holds no text to send", help="make up texts that share the same: --synthetic")
    rates = expected(corpus.rows, order, asked.under)
    plan = _plan(asked, corpus, len(order), slo)
    watch = watch_of(asked.metrics, asked.target.endpoint())
    agree_to_cost(asked.target, corpus.rows, order, asked.output, asked.rules, say)
    with (
        Work() as work,
        tempfile.TemporaryDirectory() as scratch,
        RowFile(asked.keep or Path(scratch) / "rows.jsonl", plan, ReplayRow) as rows,
    ):
        try:
            client, counters = asyncio.run(
                _replay(asked, plan, corpus, again, (order, at), work, rows, watch, say, tell)
            )
        except ExchangeError as problem:
            raise UserError(problem.what, asked.target.address, "is the server up, and the address right?") from None
        kept, left_out = list(rows.rows), dict(work.left_out)
    if asked.table is not None:
        write_table(asked.table, plan, ReplayRow, kept)
    found = replay_result(plan, kept, client, rates, left_out, counters)
    return replay_report(found, kept, [required(one, found) for one in conditions])


def _plan(asked: ReplayAsked, corpus: Corpus, requests: int, slo: tuple[tuple[str, float], ...]) -> ReplayPlan:
    protocol = PROTOCOLS.get(asked.target.protocol)
    return ReplayPlan(
        run=asked.run or run_of(asked.keep) or secrets.token_hex(8),
        target=asked.target.address,
        protocol=protocol.name,
        model=asked.target.model,
        inputs=tuple(file.path for file in corpus.inputs),
        requests=requests,
        speed=0.0 if asked.concurrency else asked.speed,
        concurrency=asked.concurrency,
        ramp=asked.ramp,
        cold=cold_asked(asked.target, asked.cold),
        synthetic=corpus.index is None,
        output=asked.output,
        slo=slo,
        seed=asked.seed,
        version=__version__,
    )


def agree_to_cost(
    target: Target,
    rows: Rows,
    order: Sequence[int],
    output: int | None,
    rules: Sequence[str],
    say: Callable[[str], None],
) -> None:
    """See to it that the user knows what requests to an endpoint that is not their own machine cost.

    Args:
        target: Where they go.
        rows: The log.
        order: Those that are sent.
        output: Tokens of every answer; None for as many as were logged.
        rules: Files of prices laid over the packaged ones.
        say: Takes what it costs.

    Raises:
        UserError: It is above the budget, or nobody has agreed to it.
    """
    if target.endpoint().is_local:
        return
    prompt = sum(rows.prompt_tokens[row] for row in order)
    answers = sum(output if output is not None else logged_output(rows, row) for row in order)
    cost = priced(len(order), prompt, target.protocol, target.model, Rulebook(rules), answers)
    agree(cost, local=False, yes=target.yes, budget=target.budget)
    say(str(cost))


async def _replay(
    asked: ReplayAsked,
    plan: ReplayPlan,
    corpus: Corpus,
    again: Again,
    when: tuple[list[int], list[float]],
    work: Work,
    rows: RowFile[ReplayPlan, ReplayRow],
    watch: Watch | None,
    say: Callable[[str], None],
    tell: Callable[[int, int | None, str], None],
) -> tuple[Client, CounterCheck | None]:
    order, at = when
    dress = Dress(plan.run, plan.model, plan.cold, plan.output)
    if corpus.index is None:
        writer = await writer_for(asked.target.endpoint(), corpus.rows, dress)
        work_of_trace(corpus.rows, order, at, writer, dress, work)
        if isinstance(writer, WordWriter) and writer.near:
            say(f"{len(writer.near):,} blocks are not as long as in the trace, by a few tokens")
    else:
        work_of_log(corpus.rows, again, order, at, PROTOCOLS.get(plan.protocol), dress, work)
    names = {item.protocol for item in work.items}
    pool = Pool({name: asked.target.endpoint(name) for name in sorted(names)})
    run = ReplayRun(plan, work, pool, rows, tell)
    if watch is not None:
        await asyncio.to_thread(watch.begin)
    try:
        client = await run.run()
    finally:
        await pool.close()
    if watch is None:
        return client, None
    mine = [row for row in rows.rows if row.part == run.part]
    answers = told(((row.prompt, row.cached) for row in mine), complete=all(row.ok for row in mine))
    return client, await asyncio.to_thread(watch.check, answers)


def expected(rows: Rows, order: Sequence[int], under: Sequence[str]) -> list[Expected]:
    """Return what rules give the requests of a replay, without answers: those of the log are not given again."""
    prompt = sum(rows.prompt_tokens[row] for row in order)
    found = []
    for policy in rules_for(rows, under):
        bare = policy.without_outputs() or policy
        matched = bare.replay(rows).matched
        found.append(Expected(bare.label, sum(matched[row] for row in order) / prompt if prompt else None))
    shared = sharing(rows, outputs=False).shared
    return [*found, Expected(CEILING, sum(shared[row] for row in order) / prompt if prompt else None)]
