"""Which tokens a step computes, and what the accounts say; a stand-in computes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from prefixwise.caches.block_chain import BlockChainCache
from prefixwise.caches.null_cache import NullCache
from prefixwise.caches.prefix_cache import PrefixCache
from prefixwise.caches.radix_cache import RadixCache
from prefixwise.core.errors import UserError
from prefixwise.engine.engine import Engine
from prefixwise.engine.executor import Executor, Piece
from prefixwise.engine.request import Finish, Request, Sampling, account_of

END = 99


class Scripted(Executor):
    """Answers every request with 50, 51, …; notes the pieces of each step as (start, tokens)."""

    def __init__(self) -> None:
        self.steps: list[list[tuple[int, int]]] = []
        self.fails = False
        self.answers = iter(range(50, 10_000))
        self.fixed: int | None = None

    def run(self, pieces: Sequence[Piece]) -> list[int]:
        self.steps.append([(piece.start, len(piece.tokens)) for piece in pieces])
        if self.fails:
            raise RuntimeError("out of memory")
        return [next(self.answers) if self.fixed is None else self.fixed for piece in pieces if piece.wanted]


def make(cache: PrefixCache, **settings: Any) -> tuple[Engine, Scripted]:
    """Return an engine whose clock ticks once a look."""
    executor = Scripted()
    ticks = iter(range(100_000))
    chosen = {"context": 1000, "vocabulary": 100_000, "ends": (END,), "clock": lambda: float(next(ticks)), **settings}
    return Engine(executor, cache, lambda ids: "".join(chr(64 + i) for i in ids), **chosen), executor


def submit(engine: Engine, prompt: Sequence[int], answer: int = 3, **more: Any) -> Request:
    return engine.submit(prompt, Sampling(max_tokens=answer), **more)


def test_a_step_has_one_budget_and_running_requests_come_first() -> None:
    engine, executor = make(BlockChainCache(100, 4), token_budget=10)
    first = submit(engine, range(15))
    second = submit(engine, range(100, 112))
    engine.finish([first, second])
    # The rest of the first prompt leaves 5 of 10 tokens for the second, whose rest shares a step with the decode.
    assert executor.steps == [[(0, 10)], [(10, 5), (0, 5)], [(15, 1), (5, 7)], [(16, 1), (12, 1)], [(13, 1)]]
    assert (len(first.output), len(second.output)) == (3, 3)


def test_only_so_many_run_at_a_time() -> None:
    engine, executor = make(BlockChainCache(100, 4), most_running=2)
    engine.finish([submit(engine, [n] * 5, 2) for n in range(3)])
    assert [len(step) for step in executor.steps] == [2, 2, 1, 1]


def test_requests_of_one_step_find_each_others_blocks_in_the_chain() -> None:
    engine, executor = make(BlockChainCache(100, 4))
    requests = [submit(engine, [*range(8), 60 + n], 1) for n in range(3)]
    engine.finish(requests)
    assert executor.steps == [[(0, 9), (8, 1), (8, 1)]]
    assert [request.cached for request in requests] == [{}, {"running": 8}, {"running": 8}]


def test_longest_prefix_first_lets_one_of_many_alike_go_on() -> None:
    engine, executor = make(RadixCache(1000), most_running=8, order="longest-prefix-first")
    shared = list(range(40))
    alike = [submit(engine, [*shared, 60 + n], 1) for n in range(3)]
    other = submit(engine, range(200, 205), 1)
    engine.step()
    # All four have room; the two that wait for the first would find nothing yet, and take their turn behind the other.
    assert [size for _, size in executor.steps[0]] == [41, 5, 41, 41]
    engine.finish([*alike, other])
    engine, executor = make(RadixCache(1000), most_running=1, order="longest-prefix-first")
    requests = [submit(engine, [*shared, 60 + n], 1) for n in range(2)] + [submit(engine, range(200, 205), 1)]
    engine.finish(requests)
    # Once the first has computed what they share, the second finds it and goes before the one that came after.
    assert executor.steps == [[(0, 41)], [(40, 1)], [(0, 5)]]


def test_the_longest_cached_prompt_goes_first() -> None:
    engine, _ = make(RadixCache(1000), most_running=1, order="longest-prefix-first")
    engine.finish([submit(engine, range(100), 1)])
    cold, short, long = (submit(engine, prompt, 1) for prompt in ([500] * 9, range(50), range(90)))
    engine.finish([cold, short, long])
    assert [request.scheduled for request in (long, short, cold)] == sorted(
        request.scheduled or 0 for request in (long, short, cold)
    )


def test_a_request_without_room_takes_the_last_ones_blocks() -> None:
    engine, _ = make(BlockChainCache(7, 4))
    first = submit(engine, range(8), 12)
    second = submit(engine, range(100, 110), 4)
    engine.finish([first, second])
    assert (first.preemptions, second.preemptions) == (0, 1)
    assert (len(first.output), len(second.output)) == (12, 4)
    # What it found when it came again was its own, and does not count.
    assert account_of(second).cached_tokens == 0
    assert engine.scheduler.preemptions == 1
    engine.check_integrity()


def test_one_token_is_enough_to_warm_the_cache() -> None:
    for cache in (BlockChainCache(50, 4), RadixCache(200)):
        engine, _ = make(cache)
        engine.finish([submit(engine, range(20), 1)])
        again = submit(engine, [*range(20), 7], 1)
        engine.finish([again])
        assert again.cached == {"idle": 20}


def test_a_repeated_prompt_of_whole_blocks_loses_the_last() -> None:
    engine, _ = make(BlockChainCache(50, 4))
    engine.finish([submit(engine, range(20), 1)])
    again = submit(engine, range(20), 1)
    engine.finish([again])
    account = account_of(again)
    assert (account.matched_tokens, account.cached_tokens) == (20, 16)


def test_answers_can_be_found_by_the_next_turn() -> None:
    for cache, found in ((BlockChainCache(50, 4), 12), (RadixCache(200), 15)):
        engine, _ = make(cache)
        first = submit(engine, range(10), 6)
        engine.finish([first])
        # 10 + 6 tokens, the last of which has no keys and values.
        turn = submit(engine, [*first.tokens, 7], 1)
        engine.finish([turn])
        assert turn.cached == {"idle": found}


def test_a_step_that_fails_leaves_nothing_to_be_found() -> None:
    for cache in (BlockChainCache(50, 4), RadixCache(200)):
        engine, executor = make(cache)
        waiting = submit(engine, range(300, 320), 1)
        engine.cancel(waiting)
        executor.fails = True
        failed = submit(engine, range(20), 3)
        with pytest.raises(RuntimeError, match="out of memory"):
            engine.step()
        assert failed.finish == Finish.ERROR
        assert engine.idle
        engine.check_integrity()
        executor.fails = False
        again = submit(engine, range(20), 3)
        engine.finish([again])
        assert again.cached == {}
        assert engine.totals.finished == {"cancelled": 1, "error": 1, "length": 1}


def test_answers_end_where_they_should() -> None:
    engine, executor = make(NullCache(100, 4))
    executor.fixed = END
    ended = submit(engine, range(5), 4)
    engine.finish([ended])
    assert (ended.finish, ended.text, ended.output) == (Finish.STOP, "", [END])
    on = engine.submit(range(5), Sampling(max_tokens=4, ignore_end=True))
    engine.finish([on])
    assert (on.finish, on.output) == (Finish.LENGTH, [END] * 4)
    own = engine.submit(range(5), Sampling(max_tokens=4, stop_ids=(51,)))
    executor.fixed = None
    engine.finish([own])
    assert (own.finish, own.output, own.text) == (Finish.STOP, [50, 51], "r")
    # 50, 51 … are r, s, t, …
    text = engine.submit(range(5), Sampling(max_tokens=40, stop=("vw", "zz")))
    engine.finish([text])
    assert (text.finish, text.text, len(text.output)) == (Finish.STOP, "tu", 4)


def test_updates_carry_every_token_once() -> None:
    engine, _ = make(BlockChainCache(100, 4), token_budget=8)
    requests = [submit(engine, range(n, n + 12), 4) for n in (0, 100)]
    seen: dict[int, list[int]] = {1: [], 2: []}
    texts = {1: "", 2: ""}
    ends = []
    for update in engine.run():
        seen[update.request.number] += [] if update.token is None else [update.token]
        texts[update.request.number] += update.text
        ends += [update.request.number] if update.finish else []
    assert [seen[request.number] for request in requests] == [request.output for request in requests]
    assert [texts[request.number] for request in requests] == [request.text for request in requests]
    assert sorted(ends) == [1, 2]


def test_the_account_adds_up() -> None:
    engine, _ = make(BlockChainCache(100, 4))
    engine.finish([submit(engine, range(20), 1)])
    request = submit(engine, range(22), 5)
    engine.finish([request])
    account = account_of(request)
    assert (account.prompt_tokens, account.cached_tokens, account.output_tokens) == (22, 20, 5)
    assert account.cached_by_tier == {"idle": 20}
    assert account.ttft is not None
    assert account.decode_seconds is not None
    assert account.ttft + account.decode_seconds == (request.ended or 0) - request.came
    totals = engine.totals
    assert (totals.prompt_tokens, totals.cached_tokens, totals.output_tokens) == (42, 20, 6)
    assert totals.computed_tokens == 20 + 2 + 4
    assert totals.steps == 6


REFUSED: dict[str, dict[str, Any]] = {
    "the prompt is empty": {"prompt": []},
    "no tokens of the model's 100": {"prompt": [5, 100]},
    "do not fit into the model's context of 60": {"prompt": [1] * 50, "answer": 11},
    "the KV cache holds 40": {"prompt": [1] * 38, "answer": 4},
    "max_tokens=0 makes no sense": {"prompt": [1], "answer": 0},
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_can_never_run_is_refused(said: str) -> None:
    engine, _ = make(BlockChainCache(11, 4), context=60, vocabulary=100)
    with pytest.raises(UserError) as refusal:
        submit(engine, **REFUSED[said])
    assert said in refusal.value.what
    assert engine.idle
    # The most that fits does run: the last token of an answer needs no room.
    engine.finish([submit(engine, [1] * 38, 3)])


def test_an_order_that_is_none_is_refused() -> None:
    with pytest.raises(UserError, match="no order called 'random'"):
        make(BlockChainCache(11, 4), order="random")
