"""What all probes work with: prompts that share exactly so much, requests that are kept, and the word on a hit."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable
from time import perf_counter_ns
from typing import NamedTuple

from prefixwise.bench.lag import LagMeter
from prefixwise.bench.probe.finding import By
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.probe.survey import Survey
from prefixwise.bench.rows import RowFile
from prefixwise.bench.scout import framed
from prefixwise.bench.sender import HttpSender, Sender, Sent
from prefixwise.bench.words import Vocabulary, nonce
from prefixwise.clients.endpoint import Endpoint
from prefixwise.clients.protocol import Ask

Say = Callable[[str], None]
_TAIL = 64
"""Tokens behind a fork, enough for words of any cost to add up."""


class Prompt(NamedTuple):
    """A request, its tokens, and how many words' tokens it shares with others of its unit."""

    ask: Ask
    length: int
    shared: int


class Unit:
    """One thing tried, with prompts of its own; whole or not at all when a run is continued.

    Attributes:
        name: Probe and what is tried; `attempt`: how often that was begun before.
        rows: What was answered.
    """

    def __init__(self, lab: Lab, name: str, attempt: int) -> None:
        self.name, self.attempt = name, attempt
        self.rows: list[Row] = []
        self._lab = lab
        self._primed: int | None = None

    def text(self, length: int, item: int = 0) -> Prompt:
        """Return a prompt of `length` tokens that shares nothing with those of other items."""
        words, own = self._lab.words, self._nonce(item)
        return Prompt(framed(self._lab.plan, own, words.text(length, f"{own} all")), length, length - words.around)

    def forked(self, length: int, shared: int, fork: int) -> Prompt:
        """Return one of two prompts of `length` tokens of which the first `shared` words' tokens are the same."""
        words, own = self._lab.words, self._nonce(0)
        word, cost = forks(words)[fork]
        start = words.text(words.around + shared, f"{own} {shared}")
        rest = words.text(length - shared - cost, f"{own} fork {fork}")
        return Prompt(framed(self._lab.plan, own, f"{start} {word}{rest}"), length, shared)

    def _nonce(self, item: int) -> str:
        return nonce(f"{self._lab.plan.run}/{self.name}", item, self.attempt)

    async def send(self, role: Role, prompt: Prompt, sender: Sender | None = None) -> Row:
        """Send a prompt and keep what came."""
        ask, length, shared = prompt
        late, sent = await self._lab.send(ask, sender)
        answer, usage = sent.answer, sent.answer.usage
        row = Row(
            unit=self.name,
            role=role,
            attempt=self.attempt,
            length=length,
            shared=shared,
            at=(answer.sent - self._lab.began) / 1e9,
            age=None if role is not Role.READ or self._primed is None else (answer.sent - self._primed) / 1e9,
            ttft=answer.ttft,
            total=answer.seconds,
            prompt=usage.prompt_tokens if usage else None,
            cached=usage.cached_tokens if usage else None,
            ok=answer.ok,
            error=answer.error,
            opened=sent.opened,
            late=late,
            id=answer.id,
        )
        if role is Role.PRIME:
            self._primed = answer.end or perf_counter_ns()
        self.rows.append(row)
        self._lab.keep(row)
        return row

    async def prime(self, prompt: Prompt) -> None:
        """Send a prompt as often as it takes to be in every replica's cache."""
        for _ in range(self._lab.survey.primes):
            await self.send(Role.PRIME, prompt)

    async def settle(self) -> None:
        """Wait until what was primed can be read."""
        await asyncio.sleep(self._lab.survey.wait)


Work = Callable[[Unit], Awaitable[object]]


class Lab:
    """An endpoint, the words it was found to count, and the file that everything goes into.

    Args:
        plan: What is run.
        endpoint: Where.
        words: Words and their tokens.
        rows: Keeps the requests; what an earlier run finished is taken from it.
        meter: Measures the client's own lateness.
        say: Takes lines on how far the run is.

    Attributes:
        survey: What is known of the endpoint's counting; the probes rest on it.
    """

    def __init__(
        self, plan: Plan, endpoint: Endpoint, words: Vocabulary, rows: RowFile[Plan, Row], meter: LagMeter, say: Say
    ) -> None:
        self.plan, self.words, self.say = plan, words, say
        self.survey = Survey()
        self.began = perf_counter_ns()
        self._endpoint, self._rows, self._meter = endpoint, rows, meter
        self._senders = [HttpSender(endpoint)]
        self._finished, self._attempts = _kept(rows.rows)

    async def unit(self, name: str, work: Work) -> list[Row]:
        """Return the rows of a unit: those of an earlier run, else what `work` sends now."""
        found = self.finished(name)
        if found is not None:
            return found
        unit = self.begin(name)
        await work(unit)
        return self.end(unit)

    def finished(self, name: str) -> list[Row] | None:
        """Return the rows of a unit that was finished before."""
        return self._finished.get(name)

    def begin(self, name: str) -> Unit:
        """Begin a unit, with prompts that no earlier attempt had."""
        return Unit(self, name, self._attempts[name])

    def end(self, unit: Unit) -> list[Row]:
        """Mark a unit as finished, and return its rows."""
        self.keep(Row(unit=unit.name, role=Role.END, attempt=unit.attempt))
        self._finished[unit.name] = unit.rows
        return unit.rows

    def keep(self, row: Row) -> None:
        """Write a row."""
        self._rows.add(row)

    async def send(self, ask: Ask, sender: Sender | None = None) -> tuple[float, Sent]:
        """Send a request; return the client's lateness meanwhile, and the answer. Raises ExchangeError."""
        self._meter.reset()
        sent = await (sender or self._senders[0]).send(self._endpoint.protocol.body(ask))
        return self._meter.worst, sent

    async def senders(self, number: int) -> list[HttpSender]:
        """Return so many senders, each with an open connection. Raises ExchangeError."""
        while len(self._senders) < number:
            self._senders.append(HttpSender(self._endpoint))
        await asyncio.gather(*(one.open() for one in self._senders[:number]))
        return self._senders[:number]

    async def close(self) -> None:
        """Close all connections."""
        for one in self._senders:
            await one.close()

    def hit(self, row: Row) -> bool | None:
        """Return whether a request of the plan's usual length was served from the cache; None for no word."""
        if not row.ok:
            return None
        if self.survey.by is By.USAGE:
            return None if row.cached is None else row.cached > self.survey.floor
        made = self.survey.timing
        if made is None or not made.usable or row.seconds is None:
            return None
        return made.hit(row.seconds, row.late)

    def taken(self, probe: str) -> int:
        """Return how many requests a probe took, those of finished units of earlier runs too."""
        return sum(len(rows) for name, rows in self._finished.items() if name.split("/")[0] == probe)

    def possible(self, tokens: int) -> int:
        """Return the smallest length from `tokens` on that words come to. Raises UserError where there is none."""
        return self.words.possible(tokens)

    @property
    def tail(self) -> int:
        """Tokens around the words, and those of a fork's end: what a prompt needs beside what it shares."""
        return self.words.around + _TAIL


def forks(words: Vocabulary) -> tuple[tuple[str, int], tuple[str, int]]:
    """Return two words of one cost that begin with different letters, so that not even a byte is shared."""
    first, cost = words.words[0]
    for word, other in words.words:
        if other == cost and word[0] != first[0]:
            return (first, cost), (word, other)
    return (first, cost), words.words[-1]


def _kept(rows: list[Row]) -> tuple[dict[str, list[Row]], Counter[str]]:
    """Return the rows of finished units, and of every unit how often it was begun."""
    by_unit: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_unit[row.unit].append(row)
    finished: dict[str, list[Row]] = {}
    attempts: Counter[str] = Counter()
    for name, own in by_unit.items():
        last = max(row.attempt for row in own)
        attempts[name] = last + 1
        if any(row.role is Role.END for row in own):
            finished[name] = [row for row in own if row.attempt == last and row.role is not Role.END]
    return finished, attempts
