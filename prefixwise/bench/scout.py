"""Finds out how an endpoint has to be asked, before anything is measured: what its tokens are, and what it counts."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from statistics import median
from typing import Protocol as Shape

from prefixwise.bench.sender import Sender, Sent
from prefixwise.bench.words import Vocabulary, nonce, uncounted, vocabulary
from prefixwise.clients.protocol import Ask, Body, Cold, Protocol
from prefixwise.core.errors import UserError

QUESTION = "Go on."
"""What stands in the newest message where only the beginning matters."""

LEAD = "Words:"
SALTED = (Cold.SALT, Cold.ISOLATION_KEY)

_SETTLED = 3
_CLOSE = 0.10
_WARM_UPS = 10
_TRIES = 6
_BUSY, _BROKEN = 429, 500


class Framing(Shape):
    """What of a plan decides how its prompts are framed."""

    @property
    def run(self) -> str:
        """Name of the run: nonces are made of it."""

    @property
    def target(self) -> str:
        """Address of the endpoint."""

    @property
    def model(self) -> str:
        """Model, as the endpoint calls it."""

    @property
    def cold(self) -> Cold:
        """How prompts are made cold."""


def framed(plan: Framing, own: str, shared: str, newest: str = QUESTION, *, output: int = 1) -> Ask:
    """Return a request whose system prompt is `shared`, in a namespace of its own or behind a nonce."""
    salted = plan.cold in SALTED
    return Ask(
        model=plan.model,
        system=f"{LEAD if salted else own}{shared}",
        user=newest,
        max_tokens=output,
        ignore_eos=True,
        salt=own if salted else "",
    )


class Scout:
    """Asks an endpoint about itself, in prompts that share no block with any that is measured.

    Args:
        plan: How prompts are framed.
        protocol: How the endpoint is spoken to.
        sender: Sends to it.
        body: Makes the body of a request; None for the protocol's own way.
        around: Tokens of a prompt without words by our own count, for servers that count none.
    """

    def __init__(
        self,
        plan: Framing,
        protocol: Protocol,
        sender: Sender,
        body: Callable[[Ask], Body] | None = None,
        around: int = 0,
    ) -> None:
        self._plan, self._sender, self._around = plan, sender, around
        self._body = body or protocol.body
        self._extra = count()  # numbers of prompts that are no items: their nonces are nobody else's

    async def words(self) -> Vocabulary:
        """Return words and their tokens; a token a word where the server does not count prompt tokens.

        Raises:
            UserError: The server refuses, or its counts do not add up.
        """
        sent = await self.checked(framed(self._plan, self._nonce("words"), ""))
        counts = sent.answer.usage is not None and sent.answer.usage.prompt_tokens is not None
        return await vocabulary(self._count) if counts else uncounted(self._around)

    async def _count(self, text: str) -> int:
        sent = await self.checked(framed(self._plan, self._nonce("words"), text))
        usage = sent.answer.usage
        if usage is None or usage.prompt_tokens is None:
            raise UserError("the server counts prompt tokens in some answers only", self._plan.target)
        return usage.prompt_tokens

    def _nonce(self, what: str) -> str:
        return nonce(f"{self._plan.run}/{what}", next(self._extra))

    async def checked(self, ask: Ask) -> Sent:
        """Send a request that has to work for a run to make sense, again where the server is only busy or broken.

        Raises:
            UserError: It does not work.
        """
        for _ in range(_TRIES):
            sent = await self._sender.send(self._body(ask))
            if sent.answer.ok or (sent.answer.status < _BROKEN and sent.answer.status != _BUSY):
                break
        if not sent.answer.ok:
            raise UserError(
                f"the server refuses: {sent.answer.error}", self._plan.target, "check model, key and address"
            )
        return sent

    def other(self, words: Vocabulary, tokens: int) -> Ask:
        """Return a request of so many tokens that shares no block with any other."""
        own = self._nonce("extra")
        return framed(self._plan, own, words.text(tokens, own))

    async def header(self, words: Vocabulary, tokens: int) -> tuple[int, bool]:
        """Return the tokens that two unrelated prompts share, and whether a known hit is reported at all.

        Args:
            words: Words and their tokens.
            tokens: Length of the prompts.
        """
        cached = []
        for _ in range(2):
            ask = self.other(words, tokens)
            sent = await self.checked(ask)
            cached.append(sent.answer.usage and sent.answer.usage.cached_tokens)
        again = await self.checked(ask)
        hit = again.answer.usage and again.answer.usage.cached_tokens
        return cached[1] or 0, hit is not None

    async def warm_up(self, words: Vocabulary, tokens: int) -> float:
        """Send throw-away prompts until three in a row take about as long; return how long that is.

        An engine that has just been started took 40 to 58 s for its first wave, and 0.6 to 1.4 s for later ones.
        """
        taken: list[float] = []
        for _ in range(_WARM_UPS):
            sent = await self.checked(self.other(words, tokens))
            taken.append(sent.answer.ttft or sent.answer.seconds or 0.0)
            last = taken[-_SETTLED:]
            if len(last) == _SETTLED and max(abs(one / median(last) - 1) for one in last) <= _CLOSE:
                break
        return median(taken[-_SETTLED:])
