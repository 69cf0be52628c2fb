"""Runs a cold-against-warm plan: find out how to ask, warm up, then every request in its order, each kept at once."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from time import perf_counter_ns

import msgspec

from prefixwise.bench.lag import LagMeter
from prefixwise.bench.rows import RowFile
from prefixwise.bench.scout import Scout
from prefixwise.bench.sender import Sender, Sent
from prefixwise.bench.ttft.estimate import Pair
from prefixwise.bench.ttft.labels import Label, expected_cached, label
from prefixwise.bench.ttft.looks import LOOKS, look
from prefixwise.bench.ttft.pairing import pairs_of
from prefixwise.bench.ttft.plan import Plan, Row
from prefixwise.bench.ttft.prompts import Prompts, behind, cold_tokens
from prefixwise.bench.ttft.schedule import Arm, Design, Slot, schedule
from prefixwise.bench.words import Vocabulary
from prefixwise.clients.protocol import Ask, Body, Cold, Protocol
from prefixwise.core.errors import UserError

Say = Callable[[str], None]
"""Takes a line on how far the run is."""

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 10.0
_FALLBACK_WAIT_S = 1.0


class Found(msgspec.Struct, frozen=True):
    """What is known of a server before anything is measured.

    Attributes:
        words: Words of one token, and the size of a prompt without them.
        header: Tokens that every prompt begins with: those may be cached in a cold one.
        reports: Whether the server counts cached tokens.
        visible_s: How long after an answer its prompt was found in the cache; None where that cannot be seen.
        cold_s: Time to first token of a warm-up.
    """

    words: Vocabulary
    header: int
    reports: bool
    visible_s: float | None
    cold_s: float


class TtftRun:
    """One run of a plan against one sender.

    Args:
        plan: What is run.
        protocol: How the endpoint is spoken to.
        sender: Sends to it.
        rows: Keeps a row a request.
        say: Takes lines on how far it is.
        body: Makes the body of a request; None for the protocol's own way.
    """

    def __init__(
        self,
        plan: Plan,
        protocol: Protocol,
        sender: Sender,
        rows: RowFile[Plan, Row],
        say: Say,
        body: Callable[[Ask], Body] | None = None,
    ) -> None:
        self.plan, self.rows = plan, rows
        self._sender, self._say = sender, say
        self._body = body or protocol.body
        self._scout = Scout(plan, protocol, sender, self._body, plan.around)
        self._ready: dict[tuple[int, int], int] = {}  # when a primed item may be read
        self._began = perf_counter_ns()

    async def run(self, ready: Callable[[], Awaitable[None]] | None = None) -> Found:
        """Do all of it, or what an earlier run of this file left.

        Args:
            ready: Awaited when all is found out, before the first request that is measured.

        Raises:
            UserError: The server cannot be measured: it refuses requests or does not count their tokens.
            ExchangeError: It cannot be reached.
        """
        found = await self._find_out()
        prompts = Prompts(self.plan, found.words)
        if ready is not None:
            await ready()
        for chunk in self._chunks():
            self._say(f"{chunk[0].stop} items of each of {len(self.plan.lengths)} lengths")
            await self._send_all(prompts, found, chunk)
            if self.plan.adaptive and all(look(pairs).enough for pairs in self._pairs(found).values() if pairs):
                break
        return found

    # -- before --------------------------------------------------------------------------------------------

    async def _find_out(self) -> Found:
        words = await self._scout.words()
        header, reports = await self._scout.header(words, max(*self.plan.lengths, words.around))
        cold_s = await self._scout.warm_up(words, max(self.plan.lengths[0], words.around))
        return Found(words, header, reports, await self._visible(words) if reports else None, cold_s)

    async def _visible(self, words: Vocabulary) -> float | None:
        """Return how long after its answer a prompt is found in the cache: each wait has a prompt of its own."""
        wait = 0.0
        while wait <= _LONGEST_WAIT_S:
            ask = self._scout.other(words, max(*self.plan.lengths, words.around))
            await self._scout.checked(ask)
            await asyncio.sleep(wait)
            usage = (await self._scout.checked(ask)).answer.usage
            if usage is not None and (usage.cached_tokens or 0) > 0:
                return wait
            wait = wait * 2 or _FIRST_WAIT_S
        return None

    # -- the requests --------------------------------------------------------------------------------------

    def _chunks(self) -> Iterator[tuple[range, int]]:
        """Yield which items and how many controls come next: all of them, or up to the next look."""
        design = self.plan.design
        if not self.plan.adaptive:
            yield range(design.items), design.controls
            return
        done = 0
        for upto in (*(one for one in LOOKS if one < design.items), design.items):
            controls = design.controls * upto // design.items - design.controls * done // design.items
            yield range(done, upto), controls
            done = upto

    def _order(self, chunk: tuple[range, int]) -> list[tuple[int, Slot]]:
        """Return the requests of a chunk: those of every length in their own order, the lengths mixed at random."""
        items, controls = chunk
        design = msgspec.structs.replace(self.plan.design, items=len(items), controls=controls)
        seed = f"{self.plan.seed}/{items.start}"
        orders = {length: self._numbered(design, items, f"{seed}/{length}") for length in self.plan.lengths}
        rng = random.Random(seed)  # noqa: S311 - not for secrets
        turns = [length for length, slots in orders.items() for _ in slots]
        rng.shuffle(turns)
        queues = {length: iter(slots) for length, slots in orders.items()}
        return [(length, next(queues[length])) for length in turns]

    def _numbered(self, design: Design, items: range, seed: str) -> list[Slot]:
        """Return an order whose items and controls have numbers that no other chunk uses."""
        made = schedule(design, seed)
        behind = self.plan.design.items + self.plan.design.controls * items.start // self.plan.design.items
        return [
            msgspec.structs.replace(
                slot,
                item=behind + slot.item - design.items if slot.arm is Arm.CONTROL else items.start + slot.item,
            )
            for slot in made
        ]

    async def _send_all(self, prompts: Prompts, found: Found, chunk: tuple[range, int]) -> None:
        finished, attempts = self._kept()
        async with LagMeter() as meter:
            for length, slot in self._order(chunk):
                if (length, slot.item) not in finished:
                    await self._send(prompts, found, length, slot, attempts[length, slot.item], meter)

    def _kept(self) -> tuple[set[tuple[int, int]], dict[tuple[int, int], int]]:
        """Return which items an earlier run finished, and how often each of the others was begun."""
        seen: dict[tuple[int, int], list[Row]] = defaultdict(list)
        for row in self.rows.rows:
            seen[row.length, row.item].append(row)
        attempts: dict[tuple[int, int], int] = defaultdict(int)
        finished = set()
        for place, rows in seen.items():
            last = max(row.attempt for row in rows)
            mine = [row for row in rows if row.attempt == last]
            wanted = 1 if mine[0].arm is Arm.CONTROL else 1 + self.plan.design.repeats
            if len(mine) == wanted:
                finished.add(place)
            else:
                attempts[place] = last + 1
        return finished, attempts

    async def _send(
        self, prompts: Prompts, found: Found, length: int, slot: Slot, attempt: int, meter: LagMeter
    ) -> None:
        body = self._body(prompts.ask(length, slot.item, slot.arm, slot.repeat, attempt))
        if slot.arm is Arm.WARM:
            await asyncio.sleep(max(0.0, (self._ready[length, slot.item] - perf_counter_ns()) / 1e9))
        meter.reset()
        sent = await self._sender.send(body)
        wait = found.visible_s if found.visible_s is not None else max(_FALLBACK_WAIT_S, 2 * found.cold_s)
        self._ready[length, slot.item] = perf_counter_ns() + int(wait * 1e9)
        self.rows.add(self._row(found, length, slot, attempt, sent, meter.worst))

    def _row(self, found: Found, length: int, slot: Slot, attempt: int, sent: Sent, late: float) -> Row:
        answer, usage = sent.answer, sent.answer.usage
        prompt = usage.prompt_tokens if usage else None
        cached = usage.cached_tokens if usage else None
        whole = prompt or length + behind(found.words) + self.plan.suffix
        expected = expected_cached(whole if self.plan.mode == "replay" else length, whole, self.plan.block)
        counted = cached if cached is not None or not found.reports else 0
        return Row(
            length=length,
            item=slot.item,
            arm=slot.arm,
            repeat=slot.repeat,
            attempt=attempt,
            order=len(self.rows.rows),
            at=(answer.sent - self._began) / 1e9,
            ttft=answer.ttft,
            ttfo=None if answer.first_output is None else (answer.first_output - answer.sent) / 1e9,
            total=answer.seconds,
            server=answer.server_s,
            prompt=prompt,
            cached=cached,
            output=usage.output_tokens if usage else None,
            expected=expected,
            label=label(slot.arm, counted, expected, cold_tokens(self.plan, found.header))
            if answer.ok
            else Label.FAILED,
            status=answer.status,
            error=answer.error,
            failure=answer.failure,
            opened=sent.opened,
            reads=answer.reads,
            late=late,
            id=answer.id,
        )

    def _pairs(self, found: Found) -> dict[int, list[Pair]]:
        return {length: pairs_of(self.rows.rows, length, reported=found.reports) for length in self.plan.lengths}


def cold_ways(protocol: Protocol, asked: Cold | None) -> Cold:
    """Return how prompts are made cold: as asked, else the best way that the protocol has.

    Raises:
        UserError: The protocol does not have that way.
    """
    if asked is None:
        return protocol.cold[0]
    if asked not in protocol.cold:
        known = ", ".join(protocol.cold)
        raise UserError(f"{protocol.title} has no way to be cold called {asked}", "--cold", f"known: {known}")
    return asked
