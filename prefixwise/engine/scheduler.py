"""Which tokens of which requests a step computes: continuous batching with chunked prefill and preemption.

The order of things is that of vLLM 0.32's scheduler (`v1/core/sched/scheduler.py`): one budget of tokens a step;
running requests first; then waiting ones, each once its whole prompt would fit. A running request that gets no block
takes those of the request that was admitted last, which starts over later and usually finds its blocks still cached.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from prefixwise.caches.block_keys import NamespaceId
from prefixwise.caches.prefix_cache import Match, PrefixCache
from prefixwise.caches.requests import blocks_for, new_blocks
from prefixwise.core.errors import UserError
from prefixwise.engine.request import Request

Order: TypeAlias = Literal["fcfs", "longest-prefix-first"]
"""Which waiting request is next: the one that came first, or the one of which most is cached."""

ORDERS: tuple[Order, ...] = get_args(Order)
_MOST_SORTED = 128
"""Waiting requests beyond which they are taken as they came (SGLang's limit)."""
_ALIKE = 32
"""Tokens that two waiting requests must share, and of which none may be cached, for one to wait for the other."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """The tokens `start` to `end` of a request."""

    request: Request
    start: int
    end: int

    @property
    def completes(self) -> bool:
        """Whether nothing of the request is left to compute, so that its next token is wanted."""
        return self.end == len(self.request.tokens)


class Scheduler:
    """Holds the requests and hands out the blocks.

    Args:
        cache: The prefix cache.
        token_budget: Most tokens a step.
        most_running: Most requests at a time.
        order: Which waiting request is next.
        clock: Seconds that only grow.

    Attributes:
        waiting, running: The requests.
        preemptions: Requests that lost their blocks, in all.
    """

    def __init__(
        self,
        cache: PrefixCache,
        token_budget: int,
        most_running: int,
        order: Order,
        clock: Callable[[], float],
    ) -> None:
        if token_budget < 1 or most_running < 1:
            raise UserError("a step must have room for a token and a request")
        if order not in ORDERS:
            raise UserError(f"there is no order called {order[:60]!r}", help=f"known: {', '.join(ORDERS)}")
        self.cache = cache
        self.waiting: deque[Request] = deque()
        self.running: list[Request] = []
        self.preemptions = 0
        self._budget = token_budget
        self._most_running = most_running
        self._order = order
        self._clock = clock

    def check_fits(self, tokens: int) -> None:
        """Raise UserError for a request of so many tokens, prompt and answer, that it could never run."""
        # The last token of an answer has no keys and values.
        needed = blocks_for(max(1, tokens - 1), self.cache.block_size)
        if needed > self.cache.capacity:
            held = self.cache.capacity * self.cache.block_size
            raise UserError(f"prompt and answer are {tokens:,} tokens, the KV cache holds {held:,}")

    def schedule(self) -> list[Chunk]:
        """Begin a step and return what it computes; the caller ends it with `cache.end_step`."""
        self.cache.begin_step()
        chunks: list[Chunk] = []
        preempted = self.preemptions
        budget = self._schedule_running(chunks)
        if self.preemptions == preempted:
            self._schedule_waiting(chunks, budget)
        return chunks

    def remove(self, request: Request, computed: bool) -> None:
        """Take a request out; the blocks of one that computed its tokens keep them.

        Args:
            request: It must be waiting or running.
            computed: Whether what it computed may be found later, beyond what was committed.
        """
        if request.table is None:
            self.waiting.remove(request)
            return
        self.running.remove(request)
        self.cache.release(request.table, request.tokens[: request.computed] if computed else None)
        request.table = None

    def _schedule_running(self, chunks: list[Chunk]) -> int:
        """Give every running request its tokens as far as budget and blocks go; return the budget that is left."""
        budget = self._budget
        index = 0
        while index < len(self.running) and budget:
            request = self.running[index]
            end = min(len(request.tokens), request.computed + budget)
            while not self._grow(request, end):
                self._preempt(self.running[-1])
                if request.table is None:
                    return budget
            chunks.append(self._chunk(request, end))
            budget -= end - request.computed
            index += 1
        return budget

    def _schedule_waiting(self, chunks: list[Chunk], budget: int) -> None:
        """Admit waiting requests until one does not fit."""
        if self._order == "longest-prefix-first" and budget and len(self.running) < self._most_running:
            self.waiting = deque(self._longest_first())
        while self.waiting and budget and len(self.running) < self._most_running:
            request = self.waiting[0]
            match = self._look_up(request)
            if new_blocks(match, self.cache.block_size) > self.cache.available(match):
                return
            self.waiting.popleft()
            self.running.append(request)
            request.table = self.cache.lock(match)
            request.computed = request.table.cached_tokens
            if request.scheduled is None:
                request.scheduled = self._clock()
                request.cached, request.matched = dict(request.table.by_tier), match.matched
            end = min(len(request.tokens), request.computed + budget)
            if not self._grow(request, end):
                raise AssertionError("a request that was admitted has no room")
            chunks.append(self._chunk(request, end))
            budget -= end - request.computed

    def _look_up(self, request: Request) -> Match:
        request.match = self.cache.match(
            request.tokens, request.namespace, contents=request.contents, earlier=request.match
        )
        return request.match

    def _chunk(self, request: Request, end: int) -> Chunk:
        assert request.table is not None  # noqa: S101
        self.cache.commit(request.table, request.tokens, end)
        return Chunk(request, request.computed, end)

    def _grow(self, request: Request, tokens: int) -> bool:
        """Give a request the blocks for its first `tokens` tokens; False, and no change, where there are too few."""
        assert request.table is not None  # noqa: S101
        needed = blocks_for(tokens, self.cache.block_size) - len(request.table.blocks)
        if needed > self.cache.available(request.table):
            return False
        if needed > 0:
            self.cache.take(request.table, needed)
        return True

    def _preempt(self, request: Request) -> None:
        """Take all blocks from a running request; it is the next to be admitted."""
        assert request.table is not None  # noqa: S101
        self.running.remove(request)
        self.cache.release(request.table)
        request.table = None
        request.computed = 0
        request.preemptions += 1
        self.preemptions += 1
        self.waiting.appendleft(request)

    def _longest_first(self) -> Iterable[Request]:
        """Return the waiting requests, those first of which most is cached.

        Of several that begin alike with nothing cached, the first goes on and the others wait behind all: once it has
        computed what they share, they find it.
        """
        if len(self.waiting) > _MOST_SORTED:
            return self.waiting
        behind: set[int] = set()
        seen: set[tuple[NamespaceId, tuple[int, ...]]] = set()
        for request in self.waiting:
            if self._look_up(request).usable > _ALIKE or len(request.tokens) <= _ALIKE:
                continue
            beginning = request.namespace, tuple(request.tokens[:_ALIKE])
            if beginning in seen:
                behind.add(request.number)
            seen.add(beginning)

        def rank(request: Request) -> tuple[bool, int]:
            return request.number in behind, -(request.match.usable if request.match else 0)

        return sorted(self.waiting, key=rank)
