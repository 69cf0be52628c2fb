"""The quick replays of bounded rules against the caches themselves, driven token by token over the same logs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.reading import corpus_of

from prefixwise.caches.block_chain import BlockChainCache
from prefixwise.caches.policy import parse_policy
from prefixwise.caches.prefix_cache import BlockTable, PrefixCache
from prefixwise.caches.radix_cache import RadixCache
from prefixwise.caches.requests import admit, append
from prefixwise.corpus.rows import Rows

BEGIN = 1_700_000_000
LASTING = st.lists(st.integers(0, 5), max_size=25)
"""Seconds that requests run; while they do, they hold their blocks."""

Call = tuple[str, str, list[int], list[int]]
"""Model, salt, prompt, and the answer as far as it has keys and values."""


@st.composite
def calls(draw: st.DrawFn) -> list[Call]:
    """Return requests that begin alike, repeat each other, go on from answers, and are of few models and salts."""
    found: list[Call] = []
    tails = st.lists(st.integers(0, 3), max_size=12)
    for _ in range(draw(st.integers(1, 25))):
        base: list[int] = []
        if found and draw(st.integers(0, 4)):
            _, _, prompt, answer = draw(st.sampled_from(found))
            whole = prompt + answer
            base = whole[: draw(st.integers(0, len(whole)))] if draw(st.booleans()) else whole
        prompt = (base + draw(tails))[:60] or [0]
        model, salt = draw(st.sampled_from("ab")), draw(st.sampled_from(["", "", "x"]))
        found.append((model, salt, prompt, draw(tails)))
    return found


def rows_of(stream: list[Call], lasting: list[int]) -> Rows:
    """Return the stream as rows; a logged answer has one token more, the last, which has no keys and values.

    A request comes each second and runs for `lasting` seconds; those behind the end of that list are over at once.
    """
    records = []
    for number, (model, salt, prompt, answer) in enumerate(stream):
        record = {"model": model, "prompt_token_ids": prompt} | ({"cache_salt": salt} if salt else {})
        times = {"ts": BEGIN + number, "end_time": BEGIN + number + _lasts(lasting, number)}
        records.append({"request": record} | times | ({"response": [*answer, 9]} if answer else {}))
    return corpus_of(*records).rows


def _lasts(lasting: list[int], number: int) -> int:
    return lasting[number] if number < len(lasting) else 0


def served_by(
    make: type[BlockChainCache] | type[RadixCache], stream: list[Call], lasting: list[int], **settings: Any
) -> list[int]:
    """Return the tokens that each request is served by a cache a model; requests hold their blocks while they run."""
    pools: dict[str, PrefixCache] = {}
    running: dict[str, list[tuple[int, int, BlockTable]]] = {"a": [], "b": []}
    found = []
    for number, (model, salt, prompt, _) in enumerate(stream):
        pool = pools.get(model) or pools.setdefault(model, make(**settings))
        end = number + _lasts(lasting, number)
        _finish(pool, running[model], stream, number)
        match, table = admit(pool, prompt, ["", "x"].index(salt))
        found.append(match.usable if table else 0)
        if table:
            running[model].append((end, number, table))
            if end == number:  # over at once
                _finish(pool, running[model], stream, number)
        pool.check_integrity()
    return found


def _finish(pool: PrefixCache, running: list[tuple[int, int, BlockTable]], stream: list[Call], now: int) -> None:
    """End the requests that are over at `now`, in order of their ends."""
    for end, number, table in sorted(running, key=lambda one: one[:2]):
        if end <= now:
            _, _, prompt, answer = stream[number]
            pool.release(table, _generate(pool, table, prompt, answer))
    running[:] = [one for one in running if one[0] > now]


def _generate(pool: PrefixCache, table: BlockTable, prompt: list[int], answer: list[int]) -> list[int]:
    """Return what a request computes: vLLM's goes on to where its room ends, SGLang's is thrown back to its prompt."""
    if isinstance(pool, RadixCache):
        return prompt + answer if append(pool, table, prompt + answer) else prompt
    for count in range(1, len(answer) + 1):
        if not append(pool, table, prompt + answer[:count]):
            return prompt + answer[: count - 1]
    return prompt + answer


@settings(max_examples=300, deadline=None)
@given(stream=calls(), lasting=LASTING, block=st.sampled_from([1, 2, 4, 16]), capacity=st.integers(1, 60))
def test_vllms_pool_is_replayed_exactly(stream: list[Call], lasting: list[int], block: int, capacity: int) -> None:
    replay = parse_policy(f"vllm:block={block},capacity={capacity}").replay(rows_of(stream, lasting))
    assert list(replay.matched) == served_by(BlockChainCache, stream, lasting, blocks=capacity + 1, block_size=block)


@pytest.mark.parametrize("eviction", ["lru", "lfu", "slru", "priority", "fifo"])
@settings(max_examples=150, deadline=None)
@given(stream=calls(), lasting=LASTING, page=st.sampled_from([1, 3, 16]), capacity=st.integers(1, 120))
def test_sglangs_tree_is_replayed_exactly(
    eviction: str, stream: list[Call], lasting: list[int], page: int, capacity: int
) -> None:
    rule = f"sglang:page={page},capacity={capacity},eviction={eviction}"
    replay = parse_policy(rule).replay(rows_of(stream, lasting))
    expected = served_by(RadixCache, stream, lasting, blocks=capacity, page=page, eviction=eviction)
    assert list(replay.matched) == expected
