"""llama.cpp's slots, case by case, worked out by hand from its sources."""

from __future__ import annotations

import pytest
from support.served import held, run

from prefixwise.caches.prefix_cache import OutOfBlocksError
from prefixwise.caches.requests import admit
from prefixwise.caches.slot_cache import SlotCache


def test_a_prompt_goes_to_the_slot_that_has_most_of_it_and_keeps_it_to_the_token() -> None:
    cache = SlotCache(2, 32)
    run(cache, [1, 2, 3, 4, 5])
    run(cache, [7, 8, 9])
    table = held(cache, [1, 2, 3, 9, 9])
    assert table.cached_tokens == 3
    assert held(cache, [7, 8, 9]).cached_tokens == 2
    assert admit(cache, [7, 8, 9])[1] is None
    with pytest.raises(OutOfBlocksError):
        cache.lock(cache.match([7, 8, 9]))


def test_a_slot_that_would_lose_more_than_half_is_saved_and_a_saved_prompt_comes_back() -> None:
    cache = SlotCache(1, 32, host_tokens=40)
    long = list(range(10))
    run(cache, long)
    other = [0, 1, 2, 3, *range(50, 60)]
    assert run(cache, other) == 4
    assert cache.saved() == [(0, tuple(long))]
    match = cache.match([*long, 60])
    assert (match.usable, match.by_tier) == (10, {"host": 10})
    table = cache.lock(match)
    assert table.cached_tokens == 10
    assert cache.saved() == [(0, tuple(other))]


def test_an_empty_slot_takes_any_saved_prompt() -> None:
    cache = SlotCache(2, 32, host_tokens=64)
    for first in (100, 200, 300):
        run(cache, list(range(first, first + 10)))
    assert [tokens[0] for _, tokens in cache.saved()] == [100]
    assert run(cache, [*range(100, 110), 5]) == 10


def test_the_host_cache_drops_the_oldest_and_always_keeps_one() -> None:
    cache = SlotCache(1, 32, host_tokens=8)
    for first in (100, 200, 300):
        run(cache, list(range(first, first + 10)))
    assert cache.saved() == [(0, tuple(range(200, 210)))]
    cache.check_integrity()
