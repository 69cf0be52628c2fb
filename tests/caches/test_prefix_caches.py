"""What each prefix cache does, case by case; right answers were worked out by hand from the engines' sources."""

from __future__ import annotations

import pytest
from support.served import held, run

from prefixwise.caches.block_chain import BlockChainCache
from prefixwise.caches.block_keys import Content
from prefixwise.caches.events import Allocated, Event, Evicted, Freed, Hit, Stored, Unregistered
from prefixwise.caches.eviction_orders import EVICTION_ORDERS
from prefixwise.caches.null_cache import NullCache
from prefixwise.caches.prefix_cache import OutOfBlocksError, PrefixCache
from prefixwise.caches.radix_cache import RadixCache
from prefixwise.caches.requests import admit, append, blocks_for
from prefixwise.caches.slot_cache import SlotCache
from prefixwise.caches.trt_cache import TrtCache
from prefixwise.core.errors import UserError

# vLLM


def test_a_released_chain_is_queued_from_its_tail_and_an_unfilled_block_comes_first() -> None:
    cache = BlockChainCache(21, 4)
    run(cache, list(range(10)))
    assert list(cache.free_queue) == [3, *range(4, 21), 2, 1]


def test_an_aligned_repeat_matches_all_and_uses_all_but_the_last_block() -> None:
    cache = BlockChainCache(80, 32)
    tokens = list(range(2048))
    run(cache, tokens)
    match = cache.match(tokens)
    assert (match.matched, match.usable) == (2048, 2016)


def test_a_second_request_of_the_same_step_hits_at_schedule_and_misses_at_step() -> None:
    for commit_at, hits in (("schedule", 4), ("step", 0)):
        cache = BlockChainCache(20, 4, commit_at=commit_at)  # type: ignore[arg-type]
        cache.begin_step()
        held(cache, list(range(6)))
        match, _ = admit(cache, list(range(6)))
        assert match.usable == hits
        cache.end_step()
        assert cache.match(list(range(6))).usable == 4
        cache.check_integrity()


@pytest.mark.parametrize("cache", [BlockChainCache(20, 2), RadixCache(20, 2, commit_at="schedule")])
def test_a_failed_step_leaves_nothing_behind_but_what_was_there_before(cache: BlockChainCache | RadixCache) -> None:
    run(cache, [1, 2, 3, 4])
    cache.begin_step()
    tables = [held(cache, [1, 2, 3, 4, 5, 6, 7]), held(cache, [1, 2, 3, 4, 5, 6, 8])]
    assert cache.match([1, 2, 3, 4, 5, 6, 9]).usable == 6
    cache.end_step(ok=False)
    assert cache.match([1, 2, 3, 4, 5, 6, 9]).usable == 4
    cache.check_integrity()
    for table in tables:
        cache.release(table)
    cache.check_integrity()
    assert cache.available() == cache.capacity
    assert cache.match([1, 2, 3, 4, 5, 6, 9]).usable == 4


def test_an_aborted_request_takes_back_what_it_stored_in_the_step() -> None:
    cache = BlockChainCache(20, 2)
    cache.begin_step()
    cache.release(held(cache, [1, 2, 3]))
    assert cache.match([1, 2, 3]).usable == 0
    cache.end_step()
    cache.check_integrity()


def test_of_two_equal_blocks_the_one_stored_first_is_hit_until_it_is_gone() -> None:
    cache = BlockChainCache(8, 2)
    tables = []
    cache.begin_step()
    for _ in range(2):
        match = cache.match([1, 2, 3], limit=0)
        table = cache.lock(match)
        cache.take(table, 2)
        tables.append(table)
    for table in tables:
        cache.commit(table, [1, 2, 3])
    cache.end_step()
    assert cache.match([1, 2, 3]).blocks == (tables[0].blocks[0],)
    for table in tables:
        cache.release(table)
    first, second = tables[0].blocks[0], tables[1].blocks[0]
    assert list(cache.free_queue)[-2:] == [first, second]
    filler = held(cache, list(range(50, 60)))
    assert first not in filler.blocks
    extra = held(cache, [99])
    assert extra.blocks == [first]
    assert cache.match([1, 2, 3]).blocks == (second,)


def test_a_prompt_is_admitted_only_whole_with_the_hits_it_takes_out_of_the_queue() -> None:
    cache = BlockChainCache(5, 2)
    run(cache, [1, 2, 3, 4, 5])
    match, table = admit(cache, [1, 2, 3, 4, *range(10, 16)])
    assert (match.usable, table) == (4, None)
    assert cache.available(match) == 2
    assert admit(cache, [1, 2, 3, 4, 10, 11])[1]


def test_hits_say_whether_a_running_request_holds_the_blocks() -> None:
    events: list[Event] = []
    cache = BlockChainCache(20, 2, listener=events.append)
    run(cache, [1, 2, 3, 4, 5])
    assert admit(cache, [1, 2, 9])[0].by_tier == {"idle": 2}
    match, table = admit(cache, [1, 2, 3, 4, 5])
    assert match.by_tier == {"running": 2, "idle": 2}
    assert table
    hits = [event for event in events if isinstance(event, Hit) and event.table == table.id]
    assert [(hit.tier, hit.tokens) for hit in hits] == [("running", 2), ("idle", 2)]


def test_events_tell_the_whole_life_of_a_block() -> None:
    events: list[Event] = []
    cache = BlockChainCache(3, 2, listener=events.append)
    run(cache, [1, 2, 3])
    run(cache, [7, 8, 9])
    kinds = [type(event) for event in events]
    assert kinds == [Allocated, Stored, Freed, Allocated, Stored, Freed] or Evicted in kinds
    evicted = [event for event in events if isinstance(event, Evicted)]
    assert [(event.tier, event.tokens, event.blocks) for event in evicted] == [("idle", 2, (1,))]
    assert [event.time for event in events] == sorted(event.time for event in events)


def test_at_block_level_numbers_of_blocks_are_the_tokens_and_the_limit_is_the_prompts() -> None:
    cache = BlockChainCache(20, 1)
    run(cache, [101, 102, 103])
    assert cache.match([101, 102, 103], limit=(3 * 512 - 1) // 512).usable == 2
    assert cache.match([101, 102, 103], limit=(3 * 512 + 40 - 1) // 512).usable == 3


def test_images_tell_blocks_apart_from_the_one_that_they_are_in_on() -> None:
    for cache in (BlockChainCache(40, 2), RadixCache(40, 2), TrtCache(40, 2), SlotCache(2, 40)):
        tokens = [1, 2, 9, 9, 5, 6, 7]
        table = admit(cache, tokens, contents=[Content(2, 2, "cat")])[1]
        assert table
        cache.release(table, tokens)
        assert cache.match(tokens, contents=[Content(2, 2, "cat")]).usable == 6
        assert cache.match(tokens, contents=[Content(2, 2, "dog")]).usable == 2
        assert cache.match(tokens).usable == 2


def test_decoded_blocks_are_stored_as_they_fill() -> None:
    cache = BlockChainCache(20, 2)
    tokens = [1, 2, 3]
    table = held(cache, tokens)
    tokens.append(4)
    assert append(cache, table, tokens)
    assert cache.match([1, 2, 3, 4, 5]).usable == 4


# SGLang


def test_reuse_goes_to_the_token_and_duplicates_are_given_back() -> None:
    cache = RadixCache(40)
    first, second = held(cache, [1, 2, 3, 4]), None
    match = cache.match([1, 2, 3, 9], limit=0)
    second = cache.lock(match)
    cache.take(second, 4)
    cache.commit(second, [1, 2, 3, 9])
    assert second.blocks[:3] == first.blocks[:3]
    assert cache.free_blocks == 40 - 5
    cache.check_integrity()


def test_a_partial_hit_refreshes_the_rest_of_the_node_too() -> None:
    cache = RadixCache(8)
    run(cache, [1, 2, 3, 4])
    run(cache, [5, 6, 7])
    cache.match([1, 2, 9])
    held(cache, [8, 8, 8])
    assert cache.match([1, 2, 3, 4, 0]).usable == 4
    assert cache.match([5, 6, 7, 0]).usable == 0


def test_an_answer_can_be_evicted_without_its_prompt_and_goes_first_by_priority() -> None:
    cache = RadixCache(6, eviction="priority")
    tokens = [1, 2, 3]
    table = held(cache, tokens)
    tokens += [4, 5]
    append(cache, table, tokens)
    assert cache.match([1, 2, 3, 4, 5, 6]).usable == 3
    cache.release(table, tokens)
    assert cache.match([1, 2, 3, 4, 5, 6]).usable == 5
    held(cache, [9, 9])
    assert cache.match([1, 2, 3, 4, 5, 6]).usable == 3


def test_a_retracted_request_leaves_only_what_the_tree_owned() -> None:
    cache = RadixCache(20)
    tokens = [1, 2, 3]
    table = held(cache, tokens)
    tokens += [4, 5]
    append(cache, table, tokens)
    cache.release(table)
    assert cache.match([1, 2, 3, 4, 5, 6]).usable == 3


def test_slru_keeps_what_two_requests_had() -> None:
    for eviction, survivor in (("lru", 5), ("slru", 1)):
        cache = RadixCache(8, eviction=eviction)
        run(cache, [1, 1, 1])
        run(cache, [1, 1, 1])
        run(cache, [5, 5, 5])
        held(cache, [7] * 5)
        assert [first for first in (1, 5) if cache.match([first] * 3 + [0]).usable] == [survivor]


def test_eviction_orders_are_found_by_name() -> None:
    assert EVICTION_ORDERS.names() == ("fifo", "filo", "lfu", "lru", "mru", "priority", "slru")
    with pytest.raises(UserError) as problem:
        RadixCache(8, eviction="lrv")
    assert "did you mean lru?" in (problem.value.help or "")


# All


def every_cache() -> list[PrefixCache]:
    return [BlockChainCache(20, 2), RadixCache(20, 2), TrtCache(20, 2), SlotCache(2, 20), NullCache(20, 2)]


@pytest.mark.parametrize("cache", every_cache(), ids=lambda cache: type(cache).__name__)
def test_calls_that_make_no_sense_change_nothing(cache: PrefixCache) -> None:
    table = held(cache, [1, 2, 3, 4])
    with pytest.raises(ValueError, match="do not fit"):
        cache.commit(table, list(range(100)))
    with pytest.raises(OutOfBlocksError):
        cache.take(table, 1000)
    assert not cache.reset()
    cache.check_integrity()
    cache.release(table)
    with pytest.raises(ValueError, match="not a running request"):
        cache.release(table)
    assert cache.reset()
    assert cache.available() == cache.capacity


@pytest.mark.parametrize("cache", every_cache(), ids=lambda cache: type(cache).__name__)
def test_namespaces_never_meet(cache: PrefixCache) -> None:
    tokens = list(range(9))
    run(cache, tokens, b"tenant-a")
    assert cache.match(tokens, b"tenant-b").matched == 0
    assert cache.match(tokens, 0).matched == 0
    own = cache.match(tokens, b"tenant-a").usable
    assert own == (0 if isinstance(cache, NullCache) else 8)


def test_the_same_calls_give_the_same_events() -> None:
    def events_of(make: type) -> list[Event]:
        events: list[Event] = []
        cache = make(9, 2, listener=events.append)
        for first in (1, 2, 1, 3, 4, 1):
            run(cache, [first, first, 5, 6, first])
        return events

    for make in (BlockChainCache, RadixCache, TrtCache, NullCache):
        assert events_of(make) == events_of(make)
        assert events_of(make)


def test_blocks_for_rounds_up() -> None:
    assert [blocks_for(tokens, 4) for tokens in (0, 1, 4, 5)] == [0, 1, 1, 2]


def test_an_unregistered_block_is_said() -> None:
    events: list[Event] = []
    cache = BlockChainCache(9, 2, listener=events.append)
    cache.begin_step()
    table = held(cache, [1, 2, 3])
    cache.end_step(ok=False)
    assert [event.blocks for event in events if isinstance(event, Unregistered)] == [(table.blocks[0],)]
