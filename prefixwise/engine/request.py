"""A request on its way through the engine: what was asked for, how far it is, and the account of it."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from prefixwise.caches.block_keys import Content, NamespaceId
from prefixwise.caches.prefix_cache import BlockTable, Match
from prefixwise.core.errors import UserError


class Sampling(msgspec.Struct, frozen=True):
    """How an answer is drawn and where it ends.

    Attributes:
        max_tokens: Most tokens of the answer.
        temperature: 0 takes the likeliest token always.
        top_p: Draw from the likeliest tokens that have this share together.
        top_k: Draw from this many likeliest tokens; 0 for all.
        seed: Decides the draws; None lets the engine choose.
        stop: Texts that end the answer and are not part of it.
        stop_ids: Tokens that end the answer besides the model's own.
        ignore_end: Whether the model's own end tokens end nothing.
    """

    max_tokens: int = 128
    temperature: float = 0.0
    top_p: float = 1.0
    top_k: int = 0
    seed: int | None = None
    stop: tuple[str, ...] = ()
    stop_ids: tuple[int, ...] = ()
    ignore_end: bool = False

    def check(self) -> None:
        """Raise UserError for values that make no sense."""
        wrong = {
            "max_tokens": self.max_tokens < 1,
            "temperature": not 0 <= self.temperature <= 100,
            "top_p": not 0 < self.top_p <= 1,
            "top_k": self.top_k < 0,
            "stop": "" in self.stop,
        }
        for name, is_wrong in wrong.items():
            if is_wrong:
                raise UserError(f"{name}={getattr(self, name)!r} makes no sense")


class Finish(StrEnum):
    """Why a request ended."""

    STOP = "stop"
    LENGTH = "length"
    CANCELLED = "cancelled"
    ERROR = "error"


class Draw(msgspec.Struct, frozen=True):
    """How one token is drawn: `at` is the place between 0 and 1 in the distribution."""

    temperature: float
    top_p: float
    top_k: int
    at: float


class Request:
    """One request.

    Args:
        number: Unique in its engine.
        prompt: Token ids.
        sampling: How the answer is drawn.
        namespace: Only cache entries of this namespace are found.
        contents: Images and the like among the tokens.
        seed: For the draws.
        now: When it came, in seconds.

    Attributes:
        tokens: Prompt and answer.
        computed: Leading tokens whose keys and values are there.
        table: Its blocks while it runs.
        match: Its last look-up, whose block hashes are used again.
        cached: Prompt tokens that came from the cache by tier, when it was first scheduled; later look-ups, after
            preemptions, find what the request computed itself and do not count.
        matched: Prompt tokens that were cached then, usable or not.
        preemptions: Times it lost its blocks.
        finish: Why it ended; None before.
        scheduled, first_token, ended: When, in seconds; None before.
        text: The answer so far, without stop strings.
    """

    __slots__ = (
        "cached", "came", "computed", "contents", "ended", "finish", "first_token", "match", "matched", "namespace",
        "number", "preemptions", "prompt_tokens", "sampling", "scheduled", "seed", "table", "text", "tokens",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        prompt: Sequence[int],
        sampling: Sampling,
        namespace: NamespaceId,
        contents: Sequence[Content],
        seed: int,
        now: float,
    ) -> None:
        self.number = number
        self.tokens = list(prompt)
        self.prompt_tokens = len(self.tokens)
        self.sampling = sampling
        self.namespace = namespace
        self.contents = tuple(contents)
        self.seed = seed
        self.came = now
        self.computed = 0
        self.table: BlockTable | None = None
        self.match: Match | None = None
        self.cached: dict[str, int] = {}
        self.matched = 0
        self.preemptions = 0
        self.finish: Finish | None = None
        self.scheduled: float | None = None
        self.first_token: float | None = None
        self.ended: float | None = None
        self.text = ""

    @property
    def output(self) -> list[int]:
        """Ids of the answer so far."""
        return self.tokens[self.prompt_tokens :]

    def draw(self) -> Draw | None:
        """Return how the next token is drawn, None for the likeliest.

        The place depends on the seed and on the number of the token alone, so an answer is the same whatever runs
        beside it and however often it is preempted.
        """
        if not self.sampling.temperature:
            return None
        index = len(self.tokens) - self.prompt_tokens
        digest = hashlib.blake2b(b"%d:%d" % (self.seed, index), digest_size=7).digest()
        at = int.from_bytes(digest, "big") / 2**56
        return Draw(self.sampling.temperature, self.sampling.top_p, self.sampling.top_k, at)


class Account(msgspec.Struct, frozen=True):
    """What a request cost.

    Attributes:
        prompt_tokens: Length of the prompt.
        cached_tokens: Of those, read from the cache.
        cached_by_tier: The same by tier.
        matched_tokens: Of the prompt, in the cache; what of it was not read fell under the rule that the last token,
            or block, is computed.
        output_tokens: Length of the answer.
        preemptions: Times the request lost its blocks to others and was begun anew.
        queue_seconds: From its arrival until it was scheduled.
        prefill_seconds: From then until the first token.
        decode_seconds: From then until the last.
        finish: Why it ended.
        seed: What the draws depended on; None where the likeliest token was taken.
    """

    prompt_tokens: int
    cached_tokens: int
    cached_by_tier: dict[str, int]
    matched_tokens: int
    output_tokens: int
    preemptions: int
    queue_seconds: float | None
    prefill_seconds: float | None
    decode_seconds: float | None
    finish: str
    seed: int | None

    @property
    def ttft(self) -> float | None:
        """Seconds from arrival to the first token."""
        if self.queue_seconds is None or self.prefill_seconds is None:
            return None
        return self.queue_seconds + self.prefill_seconds


def account_of(request: Request) -> Account:
    """Return the account of a request that ended."""
    return Account(
        prompt_tokens=request.prompt_tokens,
        cached_tokens=sum(request.cached.values()),
        cached_by_tier=dict(request.cached),
        matched_tokens=request.matched,
        output_tokens=len(request.tokens) - request.prompt_tokens,
        preemptions=request.preemptions,
        queue_seconds=_between(request.came, request.scheduled),
        prefill_seconds=_between(request.scheduled, request.first_token),
        decode_seconds=_between(request.first_token, request.ended),
        finish=request.finish or "",
        seed=request.seed if request.sampling.temperature else None,
    )


def _between(begin: float | None, end: float | None) -> float | None:
    return None if begin is None or end is None else end - begin
