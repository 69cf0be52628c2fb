"""Tiers below the device: when they are written, what they lose, and files that are damaged."""

from __future__ import annotations

from pathlib import Path

import pytest

from prefixwise.caches.block_chain import BlockChainCache
from prefixwise.caches.block_keys import Key, extend_hashes
from prefixwise.caches.events import Copied, Demoted, Event, Evicted, Loaded
from prefixwise.caches.file_store import FileStore
from prefixwise.caches.prefix_cache import PrefixCache
from prefixwise.caches.radix_cache import RadixCache
from prefixwise.caches.requests import admit
from prefixwise.caches.stores import CountingStore, MemoryStore, MissingBlockError
from prefixwise.caches.tiers import Tier, Tiers, WritePolicy

A, B, C = ([first] * 5 for first in (1, 2, 3))


def run(cache: PrefixCache, tokens: list[int]) -> dict[str, int]:
    """Serve a request from start to end; return its cached tokens by tier."""
    _, table = admit(cache, tokens)
    assert table is not None
    cache.release(table, tokens)
    cache.check_integrity()
    return table.by_tier


def chain(tiers: list[Tier], events: list[Event], **options: object) -> BlockChainCache:
    """Return a cache with room for one request of five tokens on the device."""
    below = Tiers(tiers, listener=events.append, **options)  # type: ignore[arg-type]
    return BlockChainCache(4, 2, tiers=below, listener=events.append)


def kinds(events: list[Event], kind: type) -> list[Event]:
    found = [event for event in events if isinstance(event, kind)]
    events.clear()
    return found


@pytest.mark.parametrize(
    ("write", "after_one_use", "after_two", "after_eviction"),
    [("through", 2, 2, 2), ("selective", 0, 2, 2), ("back", 0, 0, 2)],
)
def test_a_write_policy_says_when_the_host_has_a_block(
    write: WritePolicy, after_one_use: int, after_two: int, after_eviction: int
) -> None:
    host = Tier("host", 10)
    cache = chain([host], [], write=write)
    run(cache, A)
    assert len(host.entries) == after_one_use
    assert run(cache, A) == {"idle": 4}
    assert len(host.entries) == after_two
    run(cache, B)
    assert len([key for key in host.entries if key not in cache.stored_blocks()]) == after_eviction
    assert run(cache, A) == {"host": 4}


def test_a_demotion_is_said_and_so_is_a_loss() -> None:
    events: list[Event] = []
    cache = chain([Tier("host", 2)], events)
    run(cache, A)
    assert len(kinds(events, Copied)) == 2
    run(cache, B)
    assert [event.tier for event in kinds(events, Evicted)] == ["host", "host"]  # type: ignore[attr-defined]
    cache = chain([Tier("host", 10)], events)
    run(cache, A)
    events.clear()
    run(cache, B)
    assert [(event.source, event.target) for event in kinds(events, Demoted)] == [("idle", "host")] * 2  # type: ignore[attr-defined]
    run(cache, A)
    assert [event.source for event in kinds(events, Loaded)] == ["host", "host"]  # type: ignore[attr-defined]


def test_what_falls_out_of_the_host_goes_to_disk_in_order_of_last_use_and_comes_back_through_it() -> None:
    for promote, tiers in ((True, [4, 4]), (False, [4, 2])):
        host, disk = Tier("host", 4), Tier("disk", 10)
        cache = chain([host, disk], [], promote=promote)
        run(cache, A)
        run(cache, B)
        assert (len(host.entries), len(disk.entries)) == (4, 0)
        run(cache, C)
        assert (len(host.entries), len(disk.entries)) == (4, 2)
        assert run(cache, A) == {"disk": 4}
        assert [len(host.entries), len(disk.entries)] == tiers


def test_a_load_shorter_than_the_least_is_not_worth_it() -> None:
    for least, hit in ((4, {"host": 4}), (5, {})):
        cache = chain([Tier("host", 10)], [], least_load=least)
        run(cache, A)
        run(cache, B)
        assert run(cache, A) == hit


def test_a_peer_is_read_and_never_written() -> None:
    peer = Tier("peer", 10, MemoryStore(), read_only=True)
    below = Tiers([peer], device=MemoryStore())
    cache = BlockChainCache(4, 2, tiers=below)
    hashes: list[bytes] = []
    extend_hashes(hashes, A, 2, 2)
    for block_hash in hashes:
        peer.store.put((0, block_hash), "keys and values")
    peer.publish((0, block_hash) for block_hash in hashes)
    assert run(cache, A) == {"peer": 4}
    assert run(cache, [1, 1, 1, 1, 7]) == {"idle": 4}
    assert len(peer.entries) == 2


def test_a_radix_tree_finds_pages_below_it_behind_those_it_has() -> None:
    host = Tier("host", 20)
    cache = RadixCache(6, tiers=Tiers([host]))
    run(cache, [1, 1, 1, 1])
    run(cache, [1, 1, 2, 2, 2])
    match = cache.match([1, 1, 1, 1, 9])
    assert match.by_tier == {"idle": 2, "host": 2}
    assert match.loads == 2
    table = cache.lock(match)
    assert table.by_tier == {"idle": 2, "host": 2}
    cache.check_integrity()


def test_a_counting_store_counts_and_holds_nothing() -> None:
    device: CountingStore[int] = CountingStore()
    cache = BlockChainCache(4, 2, tiers=Tiers([Tier("host", 10)], device=device))
    run(cache, A)
    assert sum(device.gets.values()) == 2
    run(cache, B)
    run(cache, A)
    assert sum(device.puts.values()) == 2
    with pytest.raises(TypeError):
        device.put(1, b"lost")


# Files

KEY: Key = (b"tenant", b"hash")


def test_a_file_is_found_again_at_the_next_start_and_by_its_identity_only(tmp_path: Path) -> None:
    store = FileStore(tmp_path / "kv", "weights 1, fp32, 16")
    store.put(KEY, b"contents")
    store.put((7, b"hash"), memoryview(b"other"))
    again = FileStore(tmp_path / "kv", "weights 1, fp32, 16")
    assert sorted(again.keys(), key=repr) == [(7, b"hash"), KEY]
    assert (again.get(KEY), again.get((7, b"hash"))) == (b"contents", b"other")
    other = FileStore(tmp_path / "kv", "weights 2, fp32, 16")
    assert other.keys() == []
    with pytest.raises(MissingBlockError):
        other.get(KEY)
    again.drop(KEY)
    again.drop(KEY)
    assert again.keys() == [(7, b"hash")]


def test_a_file_that_is_changed_or_cut_anywhere_is_a_miss(tmp_path: Path) -> None:
    store = FileStore(tmp_path, "x")
    store.put(KEY, b"contents")
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    for index in range(len(whole)):
        path.write_bytes(whole[:index])
        with pytest.raises(MissingBlockError):
            store.get(KEY)
        path.write_bytes(whole[:index] + bytes([whole[index] ^ 1]) + whole[index + 1 :])
        with pytest.raises(MissingBlockError):
            store.get(KEY)
        assert store.keys() == []
    path.write_bytes(whole)
    assert store.get(KEY) == b"contents"


def test_a_damaged_file_ends_the_hit_and_is_computed_again(tmp_path: Path) -> None:
    disk = Tier("disk", 10, FileStore(tmp_path, "x"))
    device = MemoryStore[int]()
    cache = BlockChainCache(4, 2, tiers=Tiers([disk], device=device))
    for block in range(4):
        device.put(block, b"kv")
    run(cache, A)
    run(cache, B)
    assert len(list(tmp_path.iterdir())) == 4
    second = list(disk.entries)[1]
    FileStore(tmp_path, "x").drop(second)
    match = cache.match(A)
    assert match.usable == 4
    table = cache.lock(match)
    assert (table.cached_tokens, table.by_tier, len(table.blocks)) == (2, {"disk": 2}, 1)
    cache.check_integrity()


def test_a_file_holds_bytes_only(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        FileStore(tmp_path, "x").put(KEY, [1])


@pytest.mark.parametrize("make", [BlockChainCache, RadixCache])
def test_what_is_to_be_loaded_is_not_pushed_out_by_the_hits_that_come_before_it(make: type) -> None:
    host = Tier("host", 2)
    cache = make(6, 1, tiers=Tiers([host], write="selective"))
    hashes: list[bytes] = []
    extend_hashes(hashes, [1, 2, 3, 4], 4, 1)
    run(cache, [1, 2])
    host.publish([(0, hashes[2]), (0, hashes[3])])
    match = cache.match([1, 2, 3, 4, 5])
    assert match.by_tier == {"idle": 2, "host": 2}
    assert cache.lock(match).by_tier == {"idle": 2, "host": 2}
