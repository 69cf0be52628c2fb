"""A log replayed on a live engine, and what a rule predicts held against what it reports."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable

import httpx
import msgspec

from prefixwise.bench.counters import CounterCheck, Watch, told, watch_of
from prefixwise.bench.replay.from_log import Dress, arrivals, chosen, work_of_log
from prefixwise.bench.replay.work import Work
from prefixwise.bench.verify.predict import predicted
from prefixwise.bench.verify.report import verify_report
from prefixwise.bench.verify.result import VerifyResult, compared, figures
from prefixwise.bench.verify.run import Seen, VerifyRun
from prefixwise.caches.policy import Policy, parse_policy
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.clients.protocol import PROTOCOLS
from prefixwise.core.errors import UserError
from prefixwise.core.report import Report
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.tokenizer import ChooseTokenizer, Exactness
from prefixwise.workflows.replaying import Target, agree_to_cost, cold_asked

OURS = "prefixwise"
_RULES = {"vllm": "vllm", "sglang": "sglang"}
"""Rules of engines, by the name of their protocol, at their usual settings."""


class VerifyAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a verification is asked for.

    Attributes:
        target: Where it goes.
        under: The rule; None for the engine's own, where that is known.
        tolerance: Tokens by which a request may be off; None for 0 where the engine is ours, else one block.
        own_tokenizer: Whether the user named a tokenizer: then the server is not asked for tokens.
        cold, run: See `ReplayAsked`.
        log_model: Only requests to this model of the log; `limit`: most requests.
        wait: Seconds between an answer and the next request.
        metrics: Pages of the server's counters, or `auto`.
        rules: Files of facts and prices laid over the packaged ones.
    """

    target: Target
    under: str | None = None
    tolerance: int | None = None
    own_tokenizer: bool = False
    cold: str | None = None
    run: str = ""
    log_model: str | None = None
    limit: int | None = None
    wait: float = 0.0
    metrics: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


class _Health(msgspec.Struct):
    index: str = ""
    block: int = 0
    capacity: int = 0
    eviction: str = "lru"


def verify(
    asked: VerifyAsked,
    corpus: Corpus,
    again: Again,
    choose: ChooseTokenizer,
    say: Callable[[str], None],
    tell: Callable[[int, int | None, str], None],
) -> Report:
    """Replay a log, one request at a time, and return how far prediction and report agree.

    Every answer has one token, so that nothing of it enters the cache: the last token of an answer has no KV.

    Args:
        asked: What is wanted.
        corpus: The log.
        again: Reads its requests.
        choose: Finds tokenizers, where the server is not asked.
        say: Takes what the user should know before requests are sent.
        tell: Called with how far it is.

    Raises:
        UserError: It cannot be run.
    """
    if corpus.index is None:
        raise UserError("a trace holds no text to send", help="verify a log")
    order = chosen(corpus.rows, asked.log_model, asked.limit)
    endpoint = asked.target.endpoint()
    watch = watch_of(asked.metrics, endpoint)
    agree_to_cost(asked.target, corpus.rows, order, 1, asked.rules, say)
    policy = _policy(asked, endpoint)
    dress = Dress(asked.run or secrets.token_hex(8), endpoint.model, cold_asked(asked.target, asked.cold), 1)
    with Work() as work:
        at = arrivals(corpus.rows, order, needed=False)
        work_of_log(corpus.rows, again, order, at, PROTOCOLS.get(asked.target.protocol), dress, work)
        try:
            seen, counters = asyncio.run(_send(asked, work, watch, tell))
        except ExchangeError as problem:
            raise UserError(problem.what, asked.target.address, "is the server up, and the address right?") from None
        left_out = dict(sorted(work.left_out.items()))
    expected, exactness, name = predicted([one.request if not one.error else None for one in seen], policy, choose)
    by_server = any(one.by_server for one in seen)
    tolerance = asked.tolerance
    if tolerance is None:
        tolerance = 0 if asked.target.protocol == OURS else policy.unit or 1
    requests = [compared(one, found, tolerance) for one, found in zip(seen, expected, strict=True)]
    return verify_report(
        VerifyResult(
            target=asked.target.address,
            protocol=asked.target.protocol,
            model=endpoint.model,
            rule=policy.label,
            tolerance=tolerance,
            counted_by="the server itself" if by_server else name,
            exactness=Exactness.EXACT if by_server else exactness,
            left_out=left_out,
            counters=counters,
            **figures(requests),  # type: ignore[arg-type]
        )
    )


async def _send(
    asked: VerifyAsked, work: Work, watch: Watch | None, tell: Callable[[int, int | None, str], None]
) -> tuple[list[Seen], CounterCheck | None]:
    names = sorted({item.protocol for item in work.items} | {asked.target.protocol})
    endpoints = {name: asked.target.endpoint(name) for name in names}
    if watch is not None:
        await asyncio.to_thread(watch.begin)
    seen = await VerifyRun(work, endpoints, ask=not asked.own_tokenizer, wait=asked.wait, tell=tell).run()
    if watch is None:
        return seen, None
    answers = told(((one.prompt, one.cached) for one in seen), complete=not any(one.error for one in seen))
    return seen, await asyncio.to_thread(watch.check, answers)


def _policy(asked: VerifyAsked, endpoint: Endpoint) -> Policy:
    """Return the rule: the one that was named, else that of the engine."""
    rule = asked.under or _RULES.get(asked.target.protocol) or _rule_of_ours(asked, endpoint)
    return parse_policy(rule)


def _rule_of_ours(asked: VerifyAsked, endpoint: Endpoint) -> str:
    """Return the rule of the bundled server, as its health page has it. Raises UserError where it is unknown."""
    unknown = UserError("the rule of this cache is not known", help="name it: --under vllm:block=16")
    if asked.target.protocol != OURS:
        raise unknown
    try:
        with httpx.Client(verify=endpoint.tls or False, timeout=10.0, trust_env=False) as client:
            answer = client.get(endpoint.url("/health"))
        found = msgspec.json.decode(answer.content, type=_Health)
    except httpx.HTTPError as problem:
        what = f"no connection: {problem or type(problem).__name__}"
        raise UserError(what, asked.target.address, "is the server up, and the address right?") from None
    except msgspec.MsgspecError:
        raise unknown from None
    room = f",capacity={found.capacity}" if found.capacity else ""
    if found.index == "chain":
        return f"vllm:block={found.block}{room}"
    if found.index == "radix":
        order = f",eviction={found.eviction}" if room and found.eviction != "lru" else ""
        return f"sglang:page={found.block}{room}{order}"
    raise unknown
