"""Runs a plan of programs: every call is made and encoded beforehand, the arms of a round come in random order."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Callable
from itertools import count

import msgspec

from prefixwise.bench.lag import LagMeter
from prefixwise.bench.program.plan import Arm, Call, Plan, Row
from prefixwise.bench.program.programs import PROGRAMS, levels
from prefixwise.bench.rows import RowFile
from prefixwise.bench.scout import Scout, framed
from prefixwise.bench.sender import HttpSender, Sent
from prefixwise.bench.words import Vocabulary, nonce
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.failures import ExchangeError
from prefixwise.core.errors import UserError

Say = Callable[[str], None]


class ProgramRun:
    """One run of a plan against one endpoint."""

    def __init__(self, plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], say: Say) -> None:
        self.plan, self.rows = plan, rows
        self._endpoint, self._say = endpoint, say
        self._senders: list[HttpSender] = [HttpSender(endpoint)]

    async def run(self) -> Vocabulary:
        """Do all rounds, or those that an earlier run of this file left; return the words that prompts are made of.

        Raises:
            UserError: The server refuses requests, or its token counts do not add up.
            ExchangeError: It cannot be reached.
        """
        try:
            scout = Scout(self.plan, self._endpoint.protocol, self._senders[0])
            words = await scout.words()
            await scout.warm_up(words, words.possible(words.around + 200 * self.plan.scale))
            async with LagMeter() as meter:
                for turn in range(self.plan.rounds):
                    self._say(f"round {turn + 1} of {self.plan.rounds}")
                    await self._round(words, turn, meter)
            return words
        finally:
            for one in self._senders:
                await one.close()

    async def _round(self, words: Vocabulary, turn: int, meter: LagMeter) -> None:
        """Run every program in both arms, all mixed: what drifts meanwhile meets both."""
        wanted = [Arm.ON, Arm.OFF, *([Arm.CONTROL] if turn < self.plan.controls else [])]
        finished, attempts = self._kept(len(wanted), turn)
        left = [(name, arm) for name in self.plan.programs if name not in finished for arm in wanted]
        random.Random(f"{self.plan.seed}/{turn}").shuffle(left)  # noqa: S311 - not for secrets
        for name, arm in left:
            made = self.made(words, name, turn, arm, attempts[name])
            await self._connect(max(len(level) for level in made))
            meter.reset()
            await self._send(Row(program=name, round=turn, arm=arm, attempt=attempts[name]), made, meter)

    def _kept(self, wanted: int, turn: int) -> tuple[set[str], dict[str, int]]:
        """Return which programs an earlier run finished in this round, and how often the others were begun."""
        seen: dict[str, list[Row]] = defaultdict(list)
        for row in self.rows.rows:
            if row.round == turn:
                seen[row.program].append(row)
        attempts: dict[str, int] = defaultdict(int)
        finished = set()
        for name, rows in seen.items():
            last = max(row.attempt for row in rows)
            if sum(row.attempt == last for row in rows) == wanted:
                finished.add(name)
            else:
                attempts[name] = last + 1
        return finished, attempts

    def made(self, words: Vocabulary, name: str, turn: int, arm: Arm, attempt: int) -> list[list[bytes]]:
        """Return all calls of a program, encoded, in levels that are sent at once.

        What stands in a prompt for an earlier answer is drawn, as long as that was asked to be: so all arms of a round
        send the same words, and nothing has to be made while the clock runs.
        """
        seed, drawn, number = f"{self.plan.run}/{name}/{turn}/{attempt}", count(), count()

        def draw(tokens: int) -> str:
            length = words.possible(words.around + tokens * self.plan.scale)
            return words.text(length, f"{seed}/{next(drawn)}")

        def answer(prompts: list[str], output: int) -> list[str]:
            length = words.possible(words.around + output)
            return [words.text(length, f"{seed}/{next(drawn)}") for _ in prompts]

        def call(text: str, output: int) -> bytes:
            apart = 0 if arm is Arm.ON else 1 + next(number)
            own = nonce(f"{seed}/{arm}", apart)
            return self._endpoint.ask(framed(self.plan, own, text, output=output))

        made = levels(PROGRAMS[name](draw), answer)
        return [[call(text, output) for text in prompts] for prompts, output in made]

    async def _connect(self, number: int) -> None:
        while len(self._senders) < number:
            self._senders.append(HttpSender(self._endpoint))
        await asyncio.gather(*(one.open() for one in self._senders[:number]))

    async def _send(self, row: Row, made: list[list[bytes]], meter: LagMeter) -> None:
        sent: list[Sent] = []
        for level in made:
            try:
                sent += await asyncio.gather(
                    *(sender.send_encoded(one) for sender, one in zip(self._senders, level, strict=False))
                )
            except ExchangeError as problem:
                self.rows.add(msgspec.structs.replace(row, order=len(self.rows.rows), ok=False, error=problem.what))
                return
        ends = [one.answer.end for one in sent if one.answer.end is not None]
        wrong = next((one.answer for one in sent if not one.answer.ok), None)
        self.rows.add(
            msgspec.structs.replace(
                row,
                order=len(self.rows.rows),
                seconds=(max(ends) - sent[0].answer.sent) / 1e9 if ends else 0.0,
                calls=tuple(_call(one) for one in sent),
                ok=wrong is None,
                error="" if wrong is None else wrong.error or f"status {wrong.status}",
                opened=any(one.opened for one in sent),
                late=meter.worst,
            )
        )


def _call(sent: Sent) -> Call:
    answer, usage = sent.answer, sent.answer.usage
    prompt, cached = (usage.prompt_tokens, usage.cached_tokens) if usage else (None, None)
    return Call(answer.ttft, answer.seconds, prompt, cached)


def run_programs(plan: Plan, endpoint: Endpoint, rows: RowFile[Plan, Row], say: Say) -> Vocabulary:
    """Run a plan to its end; see `ProgramRun.run`.

    Raises:
        UserError: The server refuses requests, cannot be reached, or its token counts do not add up.
    """
    try:
        return asyncio.run(ProgramRun(plan, endpoint, rows, say).run())
    except ExchangeError as problem:
        raise UserError(problem.what, plan.target, "is the server up, and the address right?") from None
