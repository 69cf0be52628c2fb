"""What has to be known of an endpoint before tenants are compared on it."""

from __future__ import annotations

import asyncio
from itertools import count

import msgspec

from prefixwise.bench.audit.plan import LivePlan
from prefixwise.bench.audit.prompts import Part, Prompts
from prefixwise.bench.sender import Sender, Sent
from prefixwise.bench.words import NONCE_TOKENS, Vocabulary, nonce, uncounted, vocabulary
from prefixwise.clients.protocol import Ask, Protocol
from prefixwise.core.errors import UserError

REQUESTS = 16
"""Requests of it at most where each word costs one token; some 110 more where words have to be counted one by one."""

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.1, 4.0
_FALLBACK_WAIT_S = 1.0


class Scouted(msgspec.Struct, frozen=True):
    """What is known.

    Attributes:
        words: Words of known cost.
        header: Cached tokens that any prompt may have: what all begin with, and letters that two begin with by chance.
        reports: Whether cached tokens are counted.
        wait_s: How long after its answer a prompt is looked for.
    """

    words: Vocabulary
    header: int
    reports: bool
    wait_s: float


class Scout:
    """Finds out, by the key of one tenant and with prompts that nobody looks for later.

    Args:
        plan: What is to be run.
        protocol: How the endpoint is spoken to.
        sender: Over which connection.
        salt: Namespace to ask for, '' for none.
        attempt: Tells the prompts of a run that goes on from those that it sent before.
        name: Whose key it is, for messages: what a server says may repeat the key, and is not shown.
    """

    def __init__(self, plan: LivePlan, protocol: Protocol, sender: Sender, salt: str, attempt: int, name: str) -> None:
        self._plan, self._protocol, self._sender, self._salt = plan, protocol, sender, salt
        self._attempt, self._name = attempt, name
        self._number = count()

    async def run(self) -> Scouted:
        """Return what was found out. Raises UserError where nothing can be measured, ExchangeError out of reach."""
        first = await self._checked(self._framed(""))
        usage = first.answer.usage
        counted = usage is not None and usage.prompt_tokens is not None
        words = await vocabulary(self._count) if counted else uncounted()
        prompts = Prompts(self._plan, words)
        header, reports = await self._header(prompts)
        wait = self._plan.wait_s
        if wait is None:
            wait = await self._visible(prompts) if reports else None
        return Scouted(words, header + NONCE_TOKENS, reports, _FALLBACK_WAIT_S if wait is None else wait)

    async def check(self) -> None:
        """See to it that the key is taken. Raises UserError where it is not, ExchangeError where nobody answers."""
        await self._checked(self._framed(""))

    def _own(self) -> str:
        return nonce(f"{self._plan.run}/{self._name}", next(self._number), self._attempt)

    def _framed(self, text: str) -> Ask:
        return Ask(
            model=self._plan.model,
            system=f"{self._own()}{text}",
            user=Part.FIRST.value,
            max_tokens=1,
            ignore_eos=True,
            salt=self._salt,
        )

    async def _count(self, text: str) -> int:
        usage = (await self._checked(self._framed(text))).answer.usage
        if usage is None or usage.prompt_tokens is None:
            raise UserError("the server counts prompt tokens in some answers only", self._plan.target)
        return usage.prompt_tokens

    async def _checked(self, ask: Ask) -> Sent:
        sent = await self._sender.send(self._protocol.body(ask))
        if not sent.answer.ok:
            why = f"HTTP status {sent.answer.status}" if sent.answer.status else str(sent.answer.failure or "no answer")
            raise UserError(
                f"the server refuses {self._name}: {why}", self._plan.target, "check model, key and address"
            )
        return sent

    async def _header(self, prompts: Prompts) -> tuple[int, bool]:
        """Return the cached tokens of a prompt that is new, and whether those of one sent before are counted at all."""
        for _ in range(2):
            ask = prompts.made(self._own(), Part.FIRST, self._salt)
            new = (await self._checked(ask)).answer.usage
        again = (await self._checked(ask)).answer.usage
        header = 0 if new is None else new.cached_tokens or 0
        reports = again is not None and again.cached_tokens is not None
        # Where nearly all of a new prompt is said to be cached, the counts say nothing, and hide nothing.
        return (header if header < self._plan.prefix / 2 else 0), reports

    async def _visible(self, prompts: Prompts) -> float | None:
        """Return how long after its answer a prompt of one's own is found; None where it is not."""
        wait = 0.0
        while wait <= _LONGEST_WAIT_S:
            own = self._own()
            await self._checked(prompts.made(own, Part.FIRST, self._salt))
            await asyncio.sleep(wait)
            usage = (await self._checked(prompts.made(own, Part.PROBE, self._salt))).answer.usage
            if usage is not None and (usage.cached_tokens or 0) > self._plan.prefix / 2:
                return wait
            wait = wait * 2 or _FIRST_WAIT_S
        return None
