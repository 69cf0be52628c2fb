"""The engine: requests in, tokens out, one step after the other.

It knows nothing of tensors: an `Executor` computes, a `PrefixCache` says which blocks hold what.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

import msgspec

from prefixwise.caches.block_keys import Content, NamespaceId
from prefixwise.caches.bookkeeping import ensure
from prefixwise.caches.prefix_cache import PrefixCache
from prefixwise.core.errors import UserError
from prefixwise.engine.executor import Executor, Piece
from prefixwise.engine.request import Finish, Request, Sampling
from prefixwise.engine.scheduler import Chunk, Order, Scheduler
from prefixwise.engine.text_stream import TextStream

_GREEDY = Sampling()


class Update(msgspec.Struct, frozen=True):
    """What a step brought one request: perhaps a token, perhaps text, perhaps its end."""

    request: Request
    token: int | None
    text: str
    finish: Finish | None


class Totals(msgspec.Struct):
    """What the engine has done since it was made; seconds are wall time.

    Attributes:
        steps: Steps that computed something.
        computed_tokens: Tokens that went through the model.
        prompt_tokens, cached_tokens: Of requests that were scheduled.
        output_tokens: Tokens of answers.
        finished: Requests that ended, by reason.
        schedule_seconds: Spent with the index and the choice of what to compute.
        compute_seconds: Spent in the executor.
        after_seconds: Spent with what came out: text, ends, accounts.
    """

    steps: int = 0
    computed_tokens: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    finished: dict[str, int] = {}
    schedule_seconds: float = 0.0
    compute_seconds: float = 0.0
    after_seconds: float = 0.0


class Engine:
    """Runs requests on one model with one cache. Not to be called from two threads at a time.

    Args:
        executor: Computes the steps.
        cache: Its blocks are the executor's.
        decode: Returns the text of ids.
        context: Most tokens of prompt and answer.
        ends: Ids that end an answer.
        vocabulary: Ids that a prompt may hold are below this.
        token_budget: Most tokens a step.
        most_running: Most requests at a time.
        order: Which waiting request is next.
        seed: Decides the draws of requests without a seed of their own.
        clock: Seconds that only grow.

    Attributes:
        cache: The cache.
        scheduler: The requests.
        totals: What was done so far.
    """

    def __init__(
        self,
        executor: Executor,
        cache: PrefixCache,
        decode: Callable[[list[int]], str],
        *,
        context: int,
        vocabulary: int,
        ends: Sequence[int] = (),
        token_budget: int = 2048,
        most_running: int = 64,
        order: Order = "fcfs",
        seed: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.cache = cache
        self.scheduler = Scheduler(cache, token_budget, most_running, order, clock)
        self.totals = Totals()
        self.context = context
        self._executor = executor
        self._decode = decode
        self._vocabulary = vocabulary
        self._ends = frozenset(ends)
        self._seed = seed
        self._clock = clock
        self._streams: dict[int, TextStream] = {}
        self._numbers = 0

    @property
    def idle(self) -> bool:
        """Whether there is nothing to do."""
        return not self.scheduler.running and not self.scheduler.waiting

    def submit(
        self,
        prompt: Sequence[int],
        sampling: Sampling = _GREEDY,
        namespace: NamespaceId = 0,
        contents: Sequence[Content] = (),
    ) -> Request:
        """Take a request; `step` computes it.

        Raises:
            UserError: The prompt is empty or holds ids that are no tokens, it does not fit with its answer, or the
                sampling makes no sense.
        """
        sampling.check()
        if not prompt:
            raise UserError("the prompt is empty")
        if not all(0 <= token < self._vocabulary for token in prompt):
            raise UserError(f"the prompt holds ids that are no tokens of the model's {self._vocabulary:,}")
        total = len(prompt) + sampling.max_tokens
        if total > self.context:
            raise UserError(
                f"the prompt of {len(prompt):,} tokens and an answer of {sampling.max_tokens:,} do not fit into the "
                f"model's context of {self.context:,}"
            )
        self.scheduler.check_fits(total)
        self._numbers += 1
        seed = self._seed * 1_000_003 + self._numbers if sampling.seed is None else sampling.seed
        request = Request(self._numbers, prompt, sampling, namespace, contents, seed, self._clock())
        self._streams[request.number] = TextStream(self._decode, sampling.stop)
        self.scheduler.waiting.append(request)
        return request

    def cancel(self, request: Request) -> bool:
        """End a request and free its blocks; False for one that has ended."""
        if request.finish is not None:
            return False
        self.scheduler.remove(request, computed=False)
        self._close(request, Finish.CANCELLED)
        return True

    def step(self) -> list[Update]:
        """Compute one step and return what it brought.

        Raises:
            Exception: Whatever the executor raised. The requests of the step have ended as errors, and nothing that it
                was to compute can be found; the engine goes on with the others.
        """
        began = self._clock()
        chunks = self._schedule()
        if not chunks:
            self.cache.end_step()
            return []
        pieces = [_piece(chunk) for chunk in chunks]
        scheduled = self._clock()
        try:
            tokens = iter(self._executor.run(pieces))
        except BaseException:
            self._fail(chunks)
            raise
        computed = self._clock()
        self.cache.end_step()
        stored = self._clock()
        updates = [self._advance(chunk, tokens) for chunk in chunks]
        totals = self.totals
        totals.steps += 1
        totals.computed_tokens += sum(chunk.end - chunk.start for chunk in chunks)
        totals.schedule_seconds += scheduled - began + stored - computed
        totals.compute_seconds += computed - scheduled
        totals.after_seconds += self._clock() - stored
        return updates

    def run(self) -> Iterator[Update]:
        """Compute until there is nothing to do; yield what comes as it comes."""
        while not self.idle:
            yield from self.step()

    def finish(self, requests: Sequence[Request]) -> None:
        """Compute until these requests have ended."""
        while any(request.finish is None for request in requests):
            self.step()

    def check_integrity(self) -> None:
        """Raise IntegrityError where blocks are lost or, with no request running, still held."""
        self.cache.check_integrity()
        if not self.scheduler.running:
            ensure(self.cache.available() == self.cache.capacity, "blocks are held though nothing runs")

    def _schedule(self) -> list[Chunk]:
        before = {request.number for request in self.scheduler.running}
        try:
            chunks = self.scheduler.schedule()
        except BaseException:
            self._fail([])
            raise
        for chunk in chunks:
            request = chunk.request
            if request.number not in before and not request.preemptions:
                self.totals.prompt_tokens += request.prompt_tokens
                self.totals.cached_tokens += sum(request.cached.values())
        return chunks

    def _advance(self, chunk: Chunk, tokens: Iterator[int]) -> Update:
        """Note what a request's chunk brought, and end the request if that was its last token."""
        request = chunk.request
        request.computed = chunk.end
        if not chunk.completes:
            return Update(request, None, "", None)
        token = next(tokens)
        if request.first_token is None:
            request.first_token = self._clock()
        self.totals.output_tokens += 1
        request.tokens.append(token)
        sampling = request.sampling
        stream = self._streams[request.number]
        ended = token in sampling.stop_ids or (token in self._ends and not sampling.ignore_end)
        text = "" if ended else stream.push(token)
        full = len(request.tokens) - request.prompt_tokens >= sampling.max_tokens
        finish = Finish.STOP if ended or stream.stopped else Finish.LENGTH if full else None
        if finish is not None:
            text += stream.end()
            # A stop string may have come with the text that was held back.
            finish = Finish.STOP if stream.stopped else finish
            self.scheduler.remove(request, computed=True)
            self._close(request, finish)
        request.text += text
        return Update(request, token, text, finish)

    def _close(self, request: Request, finish: Finish) -> None:
        request.finish = finish
        request.ended = self._clock()
        request.match = None
        del self._streams[request.number]
        self.totals.finished[finish] = self.totals.finished.get(finish, 0) + 1

    def _fail(self, chunks: Sequence[Chunk]) -> None:
        self.cache.end_step(ok=False)
        for chunk in chunks:
            self.scheduler.remove(chunk.request, computed=False)
            self._close(chunk.request, Finish.ERROR)


def _piece(chunk: Chunk) -> Piece:
    request = chunk.request
    assert request.table is not None  # noqa: S101
    tokens = request.tokens[chunk.start : chunk.end]
    wanted = chunk.completes
    return Piece(tokens, chunk.start, request.table.blocks, wanted, request.draw() if wanted else None)
