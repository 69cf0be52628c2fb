"""Runs a live audit: three kinds of probe in random blocks, each row kept at once, no more of them than it takes."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping, Sequence
from time import perf_counter_ns

from prefixwise.bench.audit.looks import Looks
from prefixwise.bench.audit.plan import BATCH, Comparison, LivePlan, LiveRow, Stage
from prefixwise.bench.audit.prompts import Part, Prompts, salt_of
from prefixwise.bench.audit.recording import Arm
from prefixwise.bench.audit.scout import Scout, Scouted
from prefixwise.bench.audit.trials import Trial, drawn_block, shuffled
from prefixwise.bench.lag import LagMeter
from prefixwise.bench.rows import RowFile
from prefixwise.bench.sender import Sender, Sent
from prefixwise.clients.answer import Answer
from prefixwise.clients.failures import ExchangeError
from prefixwise.clients.protocol import Protocol

Say = Callable[[str], None]
"""Takes a line on how far the run is."""

Disturb = Callable[[], Awaitable[None]]
"""Does what empties the device's cache, such as a restart, and comes back when requests are answered again."""

LATE = 0.5
"""Lateness of the client, as a share of a time to first token, from which that time is not used. What is less makes
times longer in all arms alike, and what is long is cut off: to leave more out costs more than it brings."""

_IN_A_ROW = 5
"""Probes without an answer in a row after which nothing more is sent."""

_TOO_MANY = 429


class Stopped(Exception):  # noqa: N818 - it is no error of ours
    """Nothing more may be sent; says why."""


class LiveAudit:
    """One run of a plan.

    Args:
        plan: What is run.
        protocol: How the endpoint is spoken to.
        senders: A connection for each (route, name of credential); direct ones for all.
        tenants: Tenant by name of credential, for salts.
        rows: Where probes are kept.
        say: Takes lines on how far it is.
        restart: Restarts the server, where the plan has that stage.
    """

    def __init__(
        self,
        plan: LivePlan,
        protocol: Protocol,
        senders: Mapping[tuple[str, str], Sender],
        tenants: Mapping[str, str],
        rows: RowFile[LivePlan, LiveRow],
        say: Say,
        restart: Disturb | None = None,
    ) -> None:
        self.plan, self.rows = plan, rows
        self._protocol, self._senders, self._tenants, self._say = protocol, senders, tenants, say
        self._restart = restart
        self._looks = Looks(plan, rows.rows)
        self._random = random.Random(f"{plan.seed}/pauses")  # noqa: S311 - not for secrets
        self._began = perf_counter_ns()
        self._kept = len(rows.rows)
        self._failed = self._refused = self._fillers = 0
        self.stopped = ""

    async def run(self) -> dict[str, Scouted]:
        """Do all of it, or what an earlier run of this file left; return what was found out on each route.

        Raises:
            UserError: Nothing can be measured there.
            ExchangeError: It cannot be reached.
        """
        found = await self._find_out()
        async with LagMeter() as meter:
            try:
                while open_ones := self._looks.open():
                    for one in self._mixed(open_ones):
                        await self._batch(one, found[one.route], meter)
            except Stopped as why:
                self.stopped = str(why)
        return found

    async def _find_out(self) -> dict[str, Scouted]:
        found: dict[str, Scouted] = {}
        for (route, name), sender in self._senders.items():
            own = any(one.salted for one in self.plan.comparisons)
            salt = self._salt(name) if own else ""
            scout = Scout(self.plan, self._protocol, sender, salt, self._kept, f"{name} {route}")
            if route in found:
                await scout.check()
            else:
                found[route] = await scout.run()
        return found

    def _mixed(self, open_ones: Sequence[Comparison]) -> list[Comparison]:
        mixed = list(open_ones)
        self._random.shuffle(mixed)
        return mixed

    # -- blocks --------------------------------------------------------------------------------------------

    async def _batch(self, one: Comparison, found: Scouted, meter: LagMeter) -> None:
        """Send the next block of a comparison; where a cache is emptied in between, a batch of blocks."""
        first = self._looks.next_block(one)
        seed = f"{self.plan.seed}/{one.name}"
        prompts = Prompts(self.plan, found.words)
        if one.stage is Stage.FRESH:
            for trial in drawn_block(first, seed):
                await self._first(one, trial, prompts)
                await self._probe(one, trial, prompts, found, meter, found.wait_s)
        else:
            blocks = range(first, first + min(BATCH, self._looks.left(one)))
            trials = [trial for block in blocks for trial in drawn_block(block, seed)]
            for trial in shuffled(trials, f"{seed}/{first}"):
                await self._first(one, trial, prompts)
            await self._disturb(one, prompts)
            for trial in trials:
                await self._probe(one, trial, prompts, found, meter, 0.0)
        self._looks.look(one, self.rows.rows)
        self._say(f"{one.name}: {self._looks.said(one)}")

    async def _first(self, one: Comparison, trial: Trial, prompts: Prompts) -> None:
        """Send what a probe looks for, and see to it that the other side's traffic comes last before every probe.

        Where it is not looked for it is a sham, another prompt of the same length: whatever such traffic does to times,
        it does to all arms.
        """
        if trial.arm is Arm.SAME:
            await self._repeated(one, trial, one.prober, prompts, sham=False)
        if trial.arm is Arm.CROSS or self.plan.sham:
            await self._repeated(one, trial, one.victim, prompts, sham=trial.arm is not Arm.CROSS)

    async def _repeated(self, one: Comparison, trial: Trial, name: str, prompts: Prompts, *, sham: bool) -> None:
        ask = prompts.ask(one, trial, Part.FIRST, sham=sham, salt=self._salt_in(one, name))
        body = self._protocol.body(ask)
        for _ in range(self.plan.victims):
            self._watch(await self._send(one.route, name, body))

    async def _probe(
        self, one: Comparison, trial: Trial, prompts: Prompts, found: Scouted, meter: LagMeter, wait: float
    ) -> None:
        ask = prompts.ask(one, trial, Part.PROBE, salt=self._salt_in(one, one.prober))
        body = self._protocol.body(ask)
        await asyncio.sleep(wait)
        meter.reset()
        sent = await self._send(one.route, one.prober, body)
        self.rows.add(self._row(one, trial, sent, found, meter.worst))
        self._watch(sent)
        await asyncio.sleep(self.plan.pause_s * (0.5 + 0.5 * self._random.random()))

    async def _send(self, route: str, name: str, body: dict[str, object]) -> Sent | None:
        try:
            return await self._senders[route, name].send(body)
        except ExchangeError:
            return None

    def _watch(self, sent: Sent | None) -> None:
        """Stop where the server does not want more, or does not answer. Raises Stopped."""
        fine = sent is not None and sent.answer.ok
        self._failed = 0 if fine else self._failed + 1
        if sent is not None and sent.answer.status == _TOO_MANY:
            self._refused += 1
        if self._refused > 1:
            raise Stopped("the server asks for fewer requests (429), so nothing more was sent")
        if self._failed >= _IN_A_ROW:
            raise Stopped(f"{_IN_A_ROW} requests in a row have no complete answer, so nothing more was sent")

    async def _disturb(self, one: Comparison, prompts: Prompts) -> None:
        if one.stage is Stage.RESTARTED:
            if self._restart is None:
                raise AssertionError("a plan with a restart has a way to do it")
            await self._restart()
            for name in (one.victim, one.prober):  # on new connections, before anything is measured on them
                await self._filler(one, name, prompts)
            return
        for number in range(-(-self.plan.evict_tokens // self.plan.tokens)):
            await self._filler(one, one.prober if number % 2 else one.victim, prompts)

    async def _filler(self, one: Comparison, name: str, prompts: Prompts) -> None:
        """Send a prompt that nobody looks for."""
        self._fillers += 1
        ask = prompts.other(self._fillers, self._kept, self._salt_in(one, name))
        self._watch(await self._send(one.route, name, self._protocol.body(ask)))

    # -- salts and rows ------------------------------------------------------------------------------------

    def _salt(self, name: str) -> str:
        return salt_of(self.plan.run, self._tenants[name])

    def _salt_in(self, one: Comparison, name: str) -> str:
        return self._salt(name) if one.salted else ""

    def _row(self, one: Comparison, trial: Trial, sent: Sent | None, found: Scouted, late: float) -> LiveRow:
        answer = sent.answer if sent is not None else None
        usage = answer.usage if answer is not None else None
        return LiveRow(
            victim=one.victim,
            prober=one.prober,
            level=one.level,
            condition=one.condition,
            block=trial.block,
            arm=trial.arm,
            order=len(self.rows.rows),
            at=(perf_counter_ns() - self._began) / 1e9,
            ttft=answer.ttft if answer is not None and answer.ok else None,
            total=answer.seconds if answer is not None and answer.ok else None,
            prompt=usage.prompt_tokens if usage else None,
            cached=usage.cached_tokens if usage else None,
            header=found.header,
            left_out=_left_out(sent, late),
            status=answer.status if answer is not None else 0,
            failure=answer.failure if answer is not None else None,
            opened=sent.opened if sent is not None else False,
            late=late,
        )


def _left_out(sent: Sent | None, late: float) -> str:
    """Return why a time is not used, '' where it is. That it was slow is no cause."""
    if sent is None or not sent.answer.ok:
        return "no complete answer"
    answer: Answer = sent.answer
    if answer.ttft is None or answer.ttft <= 0:
        return "no first token"
    if sent.opened:
        return "a connection was opened for it"
    return "the client was late" if late > LATE * answer.ttft else ""
