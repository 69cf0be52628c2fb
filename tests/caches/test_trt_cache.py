"""TensorRT-LLM style blocks, case by case, worked out by hand from its C++ sources."""

from __future__ import annotations

import random
from typing import cast

import pytest
from support.served import held, run

from prefixwise.caches.events import Demoted, Event, Loaded
from prefixwise.caches.prefix_cache import BlockTable
from prefixwise.caches.requests import blocks_for, new_blocks
from prefixwise.caches.stores import MemoryStore
from prefixwise.caches.trt_cache import TrtCache
from prefixwise.caches.trt_pool import Retention, RetentionRange


def test_part_of_an_idle_leaf_is_taken_over_and_its_rest_is_lost() -> None:
    cache = TrtCache(8, 4)
    run(cache, [1, 2, 3, 4])
    match = cache.match([1, 2, 9, 9, 9])
    assert (match.usable, match.loads) == (2, 0)
    table = cache.lock(match)
    assert table.cached_tokens == 2
    assert cache.match([1, 2, 3, 4, 5]).usable == 0


def test_part_of_a_block_that_somebody_needs_is_copied_or_left_alone() -> None:
    for copies, usable in ((True, 2), (False, 0)):
        cache = TrtCache(8, 4, copy_partial=copies)
        run(cache, [1, 2, 3, 4, 5, 6])
        match = cache.match([1, 2, 9, 9, 9])
        assert (match.usable, match.loads) == (usable, int(copies))
        cache.lock(match)
        assert cache.match([1, 2, 3, 4, 5, 6]).usable == 5
        cache.check_integrity()


def test_the_lowest_priority_goes_first_and_a_duration_ends() -> None:
    def last(clock: float) -> int:
        cache = TrtCache(4, 2)
        for first, priority, duration in ((1, 80, 10.0), (5, 35, None), (7, 20, None)):
            match = cache.match([first, first, first])
            table = cache.lock(match, retention=Retention((RetentionRange(0, None, priority, duration),)))
            cache.take(table, 1)
            cache.release(table, [first, first])
        cache.clock.advance(clock)
        held(cache, [0, 0, 0, 0, 0, 0])
        kept = [first for first in (1, 5, 7) if cache.match([first, first, first]).usable == 2]
        assert len(kept) == 1
        return kept[0]

    assert last(9) == 1
    assert last(10) == 1
    cache = TrtCache(3, 2)
    for first, priority, duration in ((1, 80, 10.0), (5, 60, None)):
        table = cache.lock(
            cache.match([first] * 3), retention=Retention((RetentionRange(0, None, priority, duration),))
        )
        cache.take(table, 1)
        cache.release(table, [first, first])
    cache.clock.advance(10)
    held(cache, [0, 0, 0])
    assert [cache.match([first] * 3).usable for first in (1, 5)] == [0, 2]
    with pytest.raises(ValueError, match="cannot go back"):
        cache.clock.advance(9)


def test_a_lost_block_takes_what_lies_behind_it() -> None:
    cache = TrtCache(4, 2)
    table = cache.lock(
        cache.match([1, 2, 3, 4, 5]), retention=Retention((RetentionRange(0, 2, 10), RetentionRange(2, 4, 90)))
    )
    cache.take(table, 2)
    cache.release(table, [1, 2, 3, 4])
    held(cache, [7, 7, 7, 7, 7])
    assert cache.match([1, 2, 3, 4, 5]).usable == 0
    cache.check_integrity()


def test_a_block_moves_to_host_memory_from_the_threshold_on_and_comes_back() -> None:
    for priority, usable in ((30, 2), (29, 0)):
        events: list[Event] = []
        cache = TrtCache(2, 2, host_blocks=2, listener=events.append)
        run(cache, [1, 2], priority=priority)
        cache.release(held(cache, [7, 7, 7, 7]))
        match = cache.match([1, 2, 3])
        assert (match.usable, match.loads) == (usable, usable // 2)
        assert match.by_tier == ({"host": 2} if usable else {})
        table = cache.lock(match)
        assert (table.blocks != []) == bool(usable)
        assert any(isinstance(event, Demoted) for event in events) == bool(usable)
        assert any(isinstance(event, Loaded) for event in events) == bool(usable)
        cache.check_integrity()


def test_a_block_that_is_copied_from_host_memory_is_not_the_one_that_makes_room() -> None:
    device, host = MemoryStore[int](), MemoryStore[int]()
    cache = TrtCache(3, 2, host_blocks=2, device=device, host=host)
    ranges = (RetentionRange(0, 2, 40), RetentionRange(2, 4, 90))
    table = cache.lock(cache.match([1, 2, 3, 4, 5]), retention=Retention(ranges))
    for block, contents in zip(cache.take(table, 2), (["one", "two"], ["three", "four"]), strict=True):
        device.put(block, contents)
    cache.release(table, [1, 2, 3, 4])
    filler = held(cache, [7] * 6)
    for block in filler.blocks:
        device.put(block, ["seven", "seven"])
    cache.release(filler, [7] * 6)
    match = cache.match([1, 9, 9, 9])
    assert (match.usable, match.by_tier, match.loads) == (1, {"host": 1}, 1)
    table = cache.lock(match)
    contents = device.get(table.blocks[0])
    assert isinstance(contents, list)
    assert contents[0] == "one"
    assert cache.match([1, 2, 0]).usable == 2
    cache.check_integrity()


def test_priorities_lie_between_0_and_100() -> None:
    cache = TrtCache(4, 2)
    with pytest.raises(ValueError, match="0 to 100"):
        cache.lock(cache.match([1]), priority=101)
    assert cache.running() == ()


@pytest.mark.parametrize("seed", range(20))
def test_what_a_request_finds_is_what_was_computed(seed: int) -> None:
    draw = random.Random(seed)
    device: MemoryStore[int] = MemoryStore()
    cache = TrtCache(10, 4, host_blocks=6, device=device, host=MemoryStore())
    running: list[tuple[BlockTable, list[int]]] = []
    prompts: list[list[int]] = [[]]
    found = 0
    for _ in range(300):
        while len(running) > draw.randint(0, 2):
            table, tokens = running.pop(draw.randrange(len(running)))
            cache.release(table, tokens)
        base = draw.choice(prompts)
        tokens = base[: draw.randint(0, len(base))] + [draw.randrange(3) for _ in range(draw.randint(1, 8))]
        tokens = tokens[:20]
        match = cache.match(tokens)
        if new_blocks(match, 4) > cache.available(match):
            continue
        prompts = [*prompts[-8:], tokens]
        table = cache.lock(match)
        read = [token for block in table.blocks for token in cast("list[int]", device.get(block))]
        assert read[: table.cached_tokens] == tokens[: table.cached_tokens]
        found += table.cached_tokens
        cache.take(table, blocks_for(len(tokens), 4) - len(table.blocks))
        for index, block in enumerate(table.blocks):
            device.put(block, tokens[4 * index : 4 * index + 4])
        cache.commit(table, tokens)
        running.append((table, tokens))
        cache.check_integrity()
    assert found > 300
