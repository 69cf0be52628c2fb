"""Runs a load plan: all requests are made and encoded before the first is sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from time import perf_counter, perf_counter_ns

import msgspec

from prefixwise.bench.lag import LagMeter, cpu_seconds
from prefixwise.bench.load.plan import Plan, Row
from prefixwise.bench.rows import RowFile
from prefixwise.bench.scout import QUESTION, Scout, framed
from prefixwise.bench.sender import HttpSender, Sent
from prefixwise.bench.words import Vocabulary, nonce
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.core.errors import UserError

Say = Callable[[str], None]
_AHEAD_S = 0.003
"""Timers of an event loop are whole milliseconds and late; the rest of a wait is spent looking at the clock."""


class Client(msgspec.Struct, frozen=True):
    """How busy the client itself was: lateness of its loop at every tick, and its share of a core."""

    late: tuple[float, ...]
    cpu: float


class _Request(msgspec.Struct, frozen=True):
    number: int
    group: int
    first: bool
    content: bytes


class LoadRun:
    """One run of a plan against one endpoint."""

    def __init__(self, plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], say: Say) -> None:
        self.plan, self.rows = plan, rows
        self._endpoint, self._say = endpoint, say
        self._part = 1 + max((row.part for row in rows.rows), default=-1)
        self._began = 0
        self._senders: list[HttpSender] = []
        self._meter = LagMeter(keep=True)

    async def run(self) -> Client:
        """Do all of it, or what an earlier run of this file left; return how busy the client was.

        Raises:
            UserError: The server refuses requests, or its token counts do not add up.
            ExchangeError: It cannot be reached.
        """
        first = HttpSender(self._endpoint)
        try:
            scout = Scout(self.plan, self._endpoint.protocol, first)
            words = await scout.words()
            await scout.warm_up(words, min(self.plan.prefix, 512) + words.around)
        finally:
            await first.close()
        requests = self._requests(words)
        at_once = min(self.plan.concurrency or self._likely(), max(1, len(requests)))
        self._senders = [HttpSender(self._endpoint) for _ in range(at_once)]
        await asyncio.gather(*(one.open() for one in self._senders))
        self._say(f"{len(requests):,} requests")
        used, began = cpu_seconds(), perf_counter()
        try:
            async with self._meter:
                self._began = perf_counter_ns()
                await (self._closed(requests) if self.plan.concurrency else self._open(requests))
        finally:
            for one in self._senders:
                await one.close()
        return Client(tuple(self._meter.seen), (cpu_seconds() - used) / max(1e-9, perf_counter() - began))

    def _likely(self) -> int:
        """Return how many connections an open loop begins with: those of one second."""
        return max(1, min(self.plan.connections, round(self.plan.rate)))

    def _requests(self, words: Vocabulary) -> list[_Request]:
        """Return what is left to be sent, encoded."""
        done = {row.number for row in self.rows.rows}
        seen: set[int] = set()
        prefixes = {group: self._prefix(words, group) for group in range(self.plan.groups)}
        found = []
        for number, group in enumerate(self.plan.order):
            first = group not in seen
            seen.add(group)
            if number not in done:
                own, prefix = prefixes[group]
                suffix = words.text(words.around + self.plan.suffix, f"{self.plan.run}/{number}")
                ask = framed(self.plan, own, prefix, f"{QUESTION}{suffix}", output=self.plan.output)
                found.append(_Request(number, group, first, self._endpoint.ask(ask)))
        return found

    def _prefix(self, words: Vocabulary, group: int) -> tuple[str, str]:
        own = nonce(f"{self.plan.run}/group", group)
        return own, words.text(max(self.plan.prefix, words.around), own)

    # -- closed and open -----------------------------------------------------------------------------------

    async def _closed(self, requests: list[_Request]) -> None:
        """Keep so many requests under way: the next one begins when one has ended."""
        left = iter(requests)

        async def work(sender: HttpSender) -> None:
            for request in left:
                await self._send(sender, request, None)

        await asyncio.gather(*(work(sender) for sender in self._senders))

    async def _open(self, requests: list[_Request]) -> None:
        """Send each request when it is due, by one clock from the beginning on, whatever is still under way."""
        free: asyncio.LifoQueue[HttpSender] = asyncio.LifoQueue()
        for sender in self._senders:
            free.put_nowait(sender)
        async with asyncio.TaskGroup() as tasks:
            for request, due in zip(requests, self.plan.arrivals(len(requests)), strict=True):
                await self._until(due)
                tasks.create_task(self._when_free(free, request, due))

    async def _until(self, due: float) -> None:
        when = self._began / 1e9 + due
        if (left := when - perf_counter_ns() / 1e9) > _AHEAD_S:
            await asyncio.sleep(left - _AHEAD_S)
        while perf_counter_ns() / 1e9 < when:
            await asyncio.sleep(0)

    async def _when_free(self, free: asyncio.LifoQueue[HttpSender], request: _Request, due: float) -> None:
        if free.empty() and len(self._senders) < self.plan.connections:
            sender = HttpSender(self._endpoint)
            self._senders.append(sender)
        else:
            sender = await free.get()
        await self._send(sender, request, due)
        free.put_nowait(sender)

    # -- one request ---------------------------------------------------------------------------------------

    async def _send(self, sender: HttpSender, request: _Request, due: float | None) -> None:
        try:
            sent = await sender.send_encoded(request.content)
        except ExchangeError as problem:  # no connection: the request was not served
            at = (perf_counter_ns() - self._began) / 1e9
            self.rows.add(self._base(request, due, at=at, ok=False, error=problem.what, opened=True))
            return
        self.rows.add(self._row(request, due, sent))

    def _base(self, request: _Request, due: float | None, **more: object) -> Row:
        row = Row(number=request.number, group=request.group, first=request.first, part=self._part, due=due)
        return msgspec.structs.replace(row, **more)

    def _row(self, request: _Request, due: float | None, sent: Sent) -> Row:
        answer, usage = sent.answer, sent.answer.usage
        arrivals = answer.arrivals
        return self._base(
            request,
            due,
            at=(answer.sent - self._began) / 1e9,
            ttft=answer.ttft,
            total=answer.seconds,
            decode=(arrivals[-1] - arrivals[0]) / 1e9 if len(arrivals) > 1 else None,
            prompt=usage.prompt_tokens if usage else None,
            cached=usage.cached_tokens if usage else None,
            output=usage.output_tokens if usage else None,
            ok=answer.ok,
            status=answer.status,
            error=answer.error,
            opened=sent.opened,
            reads=answer.reads,
            late=self._meter.seen[-1] if self._meter.seen else 0.0,
            id=answer.id,
        )


def load(plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], say: Say) -> Client:
    """Run a plan to its end; see `LoadRun.run`.

    Raises:
        UserError: The server refuses requests, cannot be reached, or its token counts do not add up.
    """
    try:
        return asyncio.run(LoadRun(plan, endpoint, rows, say).run())
    except ExchangeError as problem:
        raise UserError(problem.what, plan.target, "is the server up, and the address right?") from None
