"""Runs a replay: every request when it is due, each kept at once."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter, process_time

import msgspec

from prefixwise.bench.lag import LagMeter
from prefixwise.bench.replay.pace import closed_loop, open_loop
from prefixwise.bench.replay.plan import ReplayPlan, ReplayRow
from prefixwise.bench.replay.pool import Pool
from prefixwise.bench.replay.work import Item, Work
from prefixwise.bench.rows import RowFile
from prefixwise.bench.sender import Sent
from prefixwise.clients.failures import ExchangeError

_OPENED = 16
"""Connections that are open before an open loop begins."""


class Client(msgspec.Struct, frozen=True):
    """How busy the client itself was: what it adds to the times it measures.

    Attributes:
        lags: How late each tick of a clock in its loop was, in seconds.
        cpu: Share of a core that it used.
        seconds: How long it sent.
    """

    lags: tuple[float, ...]
    cpu: float
    seconds: float


class ReplayRun:
    """One replay of work over a pool of connections.

    Args:
        plan: How.
        work: What.
        pool: Whereto.
        rows: Keeps a row a request.
        tell: Called with (requests answered, all, what they are).
    """

    def __init__(
        self,
        plan: ReplayPlan,
        work: Work,
        pool: Pool,
        rows: RowFile[ReplayPlan, ReplayRow],
        tell: Callable[[int, int | None, str], None],
    ) -> None:
        self._plan, self._work, self._pool, self._rows, self._tell = plan, work, pool, rows, tell
        self._part = 1 + max((row.part for row in rows.rows), default=-1)
        self._began = 0.0

    @property
    def part(self) -> int:
        """Number of this sitting."""
        return self._part

    @property
    def left(self) -> list[Item]:
        """The requests that no earlier run of the file has sent."""
        sent = {row.number for row in self._rows.rows}
        return [item for item in self._work.items if item.number not in sent]

    async def run(self) -> Client:
        """Send all of it, or what an earlier run of this file left.

        Raises:
            ExchangeError: The endpoint cannot be reached.
        """
        left = self.left
        for name in sorted({item.protocol for item in left}):
            await self._pool.open(name, min(len(left), self._plan.concurrency or _OPENED))
        async with LagMeter(keep=True) as meter:
            used = process_time()
            self._began = perf_counter()
            try:
                await self._paced(left)
            except ExceptionGroup as problems:  # of tasks, such as a disk that is full; one says it
                raise problems.exceptions[0] from None
            seconds = perf_counter() - self._began
        return Client(tuple(meter.seen), (process_time() - used) / seconds if seconds else 0.0, seconds)

    async def _paced(self, left: list[Item]) -> None:
        plan = self._plan
        if plan.concurrency:
            await closed_loop(left, self._send, plan.concurrency, plan.ramp, self._began)
        else:
            await open_loop(left, self._send, plan.speed, plan.ramp, self._began)

    async def _send(self, item: Item, due: float) -> None:
        content = self._work.content(item)
        at = perf_counter() - self._began
        try:
            sent = await self._pool.send(item.protocol, content)
        except ExchangeError as problem:
            row = ReplayRow(
                number=item.number,
                record=item.record,
                part=self._part,
                due=due,
                at=at,
                error=problem.what,
                failure=problem.failure,
            )
        else:
            row = self._row(item, due, sent)
        self._rows.add(row)
        self._tell(len(self._rows.rows), len(self._work.items), "requests")

    def _row(self, item: Item, due: float, sent: Sent) -> ReplayRow:
        answer, usage = sent.answer, sent.answer.usage
        at = answer.sent / 1e9 - self._began
        output = usage.output_tokens if usage else None
        spread = (answer.arrivals[-1] - answer.arrivals[0]) / 1e9 if answer.arrivals else None
        return ReplayRow(
            number=item.number,
            record=item.record,
            part=self._part,
            due=at if self._plan.concurrency else due,
            at=at,
            ttft=answer.ttft,
            tpot=spread / (output - 1) if spread is not None and output is not None and output > 1 else None,
            total=answer.seconds,
            prompt=usage.prompt_tokens if usage else None,
            cached=usage.cached_tokens if usage else None,
            output=output,
            status=answer.status,
            error=answer.error,
            failure=answer.failure,
            opened=sent.opened,
            reads=answer.reads,
            id=answer.id,
        )
