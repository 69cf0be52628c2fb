"""Every cache against the model of `support.cache_machine`, over sizes, orders, tiers and failing steps."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule
from support.cache_machine import PLACEHOLDER, CacheMachine, Cells, Lossy, Prefix, Request

from prefixwise.caches.block_chain import BlockChainCache
from prefixwise.caches.block_keys import Content, extend_hashes, hash_block, with_contents
from prefixwise.caches.null_cache import NullCache
from prefixwise.caches.prefix_cache import PrefixCache
from prefixwise.caches.radix_cache import RadixCache
from prefixwise.caches.slot_cache import SlotCache
from prefixwise.caches.stores import MemoryStore
from prefixwise.caches.tiers import Tier, Tiers
from prefixwise.caches.trt_cache import TrtCache

# Failures are not shrunk: most of a run is in the seeds of `busy`, and trying to make those simpler takes minutes.
SETTINGS = settings(
    max_examples=40,
    stateful_step_count=30,
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    report_multiple_bugs=False,
)


class ChainMachine(CacheMachine):
    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        commit_at = draw(st.sampled_from(["schedule", "step"]))
        return BlockChainCache(
            draw(st.integers(4, 14)), draw(st.integers(1, 4)), commit_at=commit_at, listener=listener
        )


class RadixMachine(CacheMachine):
    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        eviction = draw(st.sampled_from(["lru", "lfu", "slru", "priority", "fifo", "filo", "mru"]))
        commit_at = draw(st.sampled_from(["schedule", "step"]))
        return RadixCache(
            draw(st.integers(4, 24)), draw(st.integers(1, 3)), eviction=eviction, commit_at=commit_at, listener=listener
        )

    @invariant()
    def nothing_lies_behind_what_is_gone(self) -> None:
        if not hasattr(self, "cache"):
            return
        prefixes = set(self.stored.values())
        assert len(prefixes) == len(self.stored), "two blocks are stored for one prefix"
        size = self.cache.block_size
        for namespace, tokens in prefixes:
            assert len(tokens) == size or (namespace, tokens[:-size]) in prefixes


class TieredMachine(CacheMachine):
    """Three tiers below, of which two lose entries and one is a peer's."""

    def tiers(self, draw: Any, cells: Cells, listener: Any) -> Tiers:
        self.stores = (Lossy(), Lossy(), Lossy())
        self.host = Tier("host", draw(st.sampled_from([0, 2, 4, 8])), self.stores[0])
        self.disk = Tier("disk", draw(st.sampled_from([0, 4, 12])), self.stores[1])
        self.peer = Tier("peer", 8, self.stores[2], read_only=True)
        write = draw(st.sampled_from(["through", "selective", "back"]))
        tiers = [self.host, self.disk, self.peer][: draw(st.integers(1, 3))]
        return Tiers(tiers, write=write, device=cells, promote=draw(st.booleans()), listener=listener)

    def hashes(self, prompt: Prefix) -> list[bytes]:
        """Return the block hashes of a prompt whose contents are padded in."""
        hashes: list[bytes] = []
        size = self.cache.block_size
        extend_hashes(hashes, prompt[1], len(prompt[1]) // size, size)
        return hashes

    def is_stored(self, prompt: Prefix, end: int) -> bool:
        if super().is_stored(prompt, end):
            return True
        block_hash = self.hashes((prompt[0], prompt[1][:end]))[-1]
        return any((prompt[0], block_hash) in tier.entries for tier in self.below.tiers)

    @rule(which=st.integers(0, 30), tier=st.integers(0, 2))
    def damage(self, which: int, tier: int) -> None:
        stored = list(self.stores[tier].blocks)
        if stored:
            self.stores[tier].damaged.add(stored[which % len(stored)])

    def has_damage(self) -> bool:
        return any(store.damaged for store in self.stores)

    def disturb(self, chance: random.Random) -> None:
        if chance.random() < 0.1:
            self.damage(which=chance.randrange(31), tier=chance.randrange(3))
        elif chance.random() < 0.1:
            self.publish(which=chance.randrange(31), namespace=0)

    @rule(which=st.integers(0, 30), namespace=st.sampled_from([0, 1, b"a"]))
    def publish(self, which: int, namespace: Any) -> None:
        """Let the peer have one of the prompts."""
        tokens = tuple(self.prompts[which % len(self.prompts)])
        size = self.cache.block_size
        if len(tokens) // size == 0 or PLACEHOLDER in tokens:
            return
        for index, block_hash in enumerate(self.hashes((namespace, tokens))):
            contents = [(namespace, tokens[: end + 1]) for end in range(index * size, (index + 1) * size)]
            self.stores[2].put((namespace, block_hash), contents)
            self.peer.publish([(namespace, block_hash)])


class TieredChainMachine(TieredMachine):
    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        self.below = self.tiers(draw, cells, listener)
        commit_at = draw(st.sampled_from(["schedule", "step"]))
        blocks, size = draw(st.integers(4, 9)), draw(st.integers(1, 3))
        return BlockChainCache(blocks, size, commit_at=commit_at, tiers=self.below, listener=listener, hash_one=padded)


def padded(parent: bytes | None, tokens: Any, extra: Any) -> bytes:
    """Hash a block as if its contents were padded in, as the model does; there is at most one content."""
    contents = tuple(Content(max(0, offset), 2 + min(0, offset), digest) for digest, offset in extra)
    block = list(with_contents(tokens, contents))
    return hash_block(parent, block, ())


def padded_path(path: Any) -> Prefix:
    """Return namespace and tokens, contents padded in, of a block of the tree."""
    tokens = [
        token
        for _, block, extra in path
        for token in with_contents(
            block, [Content(max(0, offset), 2 + min(0, offset), digest) for digest, offset in extra]
        )
    ]
    return path[0][0], tuple(tokens)


class TieredRadixMachine(TieredMachine):
    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        self.below = self.tiers(draw, cells, listener)
        commit_at = draw(st.sampled_from(["schedule", "step"]))
        blocks, size = draw(st.integers(4, 12)), draw(st.integers(1, 3))
        return RadixCache(blocks, size, commit_at=commit_at, tiers=self.below, listener=listener)


class TrtMachine(CacheMachine):
    """Partial reuse; what can be found is read from the tree, since blocks in host memory have no events by key."""

    follows_events = False
    cache: TrtCache

    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        self.copies = draw(st.booleans())
        return TrtCache(
            draw(st.integers(4, 12)),
            draw(st.integers(1, 4)),
            host_blocks=draw(st.integers(0, 6)),
            copy_partial=self.copies,
            device=cells,
            host=MemoryStore(),
            listener=listener,
        )

    def expected(self, prompt: Prefix, limit: int) -> int:
        size = self.cache.block_size
        entries = {padded_path(path): block for path, block in self.cache.stored()}
        assert len(entries) == len(self.cache.stored())
        namespace, tokens = prompt
        start = 0
        while start + size <= limit and (namespace, tokens[: start + size]) in entries:
            start += size
        chunk = tokens[start : min(start + size, limit)]
        if len(chunk) < size and (namespace, tokens[: start + len(chunk)]) in entries and chunk:
            return start + len(chunk)
        best = 0
        for (other, path), block in entries.items():
            behind = path[start:]
            if other != namespace or path[:start] != tokens[:start] or not 0 < len(behind) <= size:
                continue
            if min((*chunk, *behind)) < 0 or (not self.copies and self.is_needed(entries, other, path, block)):
                continue
            common = next((at for at in range(len(behind)) if behind[at : at + 1] != chunk[at : at + 1]), len(behind))
            best = max(best, common)
        return start + best

    def is_needed(self, entries: Any, namespace: Any, path: tuple[int, ...], block: int | None) -> bool:
        if any(block in request.table.blocks for request in self.requests):
            return True
        full = len(path) % self.cache.block_size == 0
        return full and any(
            other == namespace and len(longer) > len(path) and longer[: len(path)] == path for other, longer in entries
        )


class SlotMachine(CacheMachine):
    """llama.cpp's choice of a slot and of a saved prompt, made again by trying all."""

    follows_events = False
    cache: SlotCache

    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        self.releases: list[int] = []
        return SlotCache(
            draw(st.integers(1, 3)), 12, host_tokens=draw(st.sampled_from([0, 20])), device=cells, listener=listener
        )

    def release(self, request: Request, tokens: list[int] | None) -> None:
        self.releases.append(request.table.blocks[0] // self.cache.slot_tokens)
        super().release(request, tokens)

    def last_release(self, slot: int) -> int:
        return max((at for at, number in enumerate(self.releases) if number == slot), default=-1)

    def expected(self, prompt: Prefix, limit: int) -> int:
        entries = [(namespace, tokens) for namespace, tokens, _ in self.cache.slots()]
        idle = [number for number, (_, _, busy) in enumerate(self.cache.slots()) if not busy]
        if not idle:
            return 0
        length = len(prompt[1])
        best = max(idle, key=lambda number: (common(entries[number], prompt), -number))
        saves = 2 * common(entries[best], prompt) < len(entries[best][1])
        if common(entries[best], prompt) * 10 <= length:
            best = max(idle, key=lambda number: (-self.last_release(number), number))
            saves = True
        found = common(entries[best], prompt)
        if saves:
            kept = found / len(entries[best][1]) if entries[best][1] else -1
            for entry in self.cache.saved():
                share = common(entry, prompt) / len(entry[1])
                if share >= 0.25 and share > kept and common(entry, prompt) > found:
                    found, kept = common(entry, prompt), share
        return min(limit, found)


def common(entry: Any, prompt: Prefix) -> int:
    """Return how many tokens two sequences of one namespace share from the start on."""
    pairs = zip(entry[1], prompt[1], strict=False)
    length = next((at for at, (left, right) in enumerate(pairs) if left != right), min(len(entry[1]), len(prompt[1])))
    return length if entry[0] == prompt[0] else 0


class NullMachine(CacheMachine):
    def make(self, draw: Any, cells: Cells, listener: Any) -> PrefixCache:
        return NullCache(draw(st.integers(3, 12)), draw(st.integers(1, 4)), listener=listener)

    def expected(self, prompt: Prefix, limit: int) -> int:
        return 0


MACHINES = [
    ChainMachine, RadixMachine, TieredChainMachine, TieredRadixMachine, TrtMachine, SlotMachine, NullMachine,
]  # fmt: skip
for machine in MACHINES:
    machine.TestCase.settings = SETTINGS
for machine in (TieredChainMachine, TieredRadixMachine, TrtMachine):
    machine.TestCase.settings = settings(SETTINGS, max_examples=100)
TestChain = ChainMachine.TestCase
TestRadix = RadixMachine.TestCase
TestTieredChain = TieredChainMachine.TestCase
TestTieredRadix = TieredRadixMachine.TestCase
TestTrt = TrtMachine.TestCase
TestSlots = SlotMachine.TestCase
TestNull = NullMachine.TestCase
