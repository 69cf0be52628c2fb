"""Full blocks in a hash chain, in vLLM's order.

Source: vLLM 0.32.0, `v1/core/kv_cache_manager.py`, `block_pool.py`, `single_type_kv_cache_manager.py`; models with
full attention only. A block is known by the hash of all tokens up to its end. Blocks that no request holds stay in
one queue and keep their hashes until they are given out again: that is the eviction. A request's blocks enter the
queue from its tail on, those with a hash at the end, those without one at the head. Equal blocks are not merged: a hit
takes the one that was stored first.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.caches.block_keys import BlockHash, Content, HashBlock, Key, NamespaceId, extend_hashes, hash_block
from prefixwise.caches.bookkeeping import Bookkeeping, add_up, ensure
from prefixwise.caches.events import Allocated, Demoted, Evicted, Freed, Listener, Stored, Unregistered, ignore
from prefixwise.caches.free_queue import FreeQueue
from prefixwise.caches.prefix_cache import IDLE, RUNNING, BlockTable, CommitAt, Match, OutOfBlocksError, PrefixCache
from prefixwise.caches.tiers import Tiers

NULL_BLOCK = 0


class _Found(msgspec.Struct, frozen=True):
    """Handle of a match: all block hashes of the prompt, and where each usable block lies (a tier's name: load it)."""

    hashes: list[BlockHash]
    places: tuple[int | str, ...]


class _Step(msgspec.Struct, frozen=True):
    """A step in progress: by table, the block indexes stored in it, and up to which block to store at its end."""

    registered: dict[int, list[int]]
    due: dict[int, int]


class BlockChainCache(Bookkeeping, PrefixCache):
    """vLLM's prefix cache.

    Args:
        blocks: Blocks of the pool, with block 0, which is never used (vLLM's null block).
        block_size: Tokens in one block.
        commit_at: When a committed block can be found.
        tiers: Tiers below the device.
        hash_one: Hash of one block.
        listener: Called with every event.

    Attributes:
        free_queue: Blocks that no request holds, the next one to be given out first.
    """

    def __init__(
        self,
        blocks: int,
        block_size: int = 16,
        *,
        commit_at: CommitAt = "schedule",
        tiers: Tiers | None = None,
        hash_one: HashBlock = hash_block,
        listener: Listener = ignore,
    ) -> None:
        super().__init__(block_size, blocks - 1, listener)
        self.free_queue = FreeQueue(range(1, blocks))
        self._commit_at = commit_at
        self._tiers = Tiers(()) if tiers is None else tiers
        self._tiers.listen(self.clock, listener)
        self._hash_one = hash_one
        self._references = [0] * blocks
        self._key_of: dict[int, Key] = {}
        # Blocks of a key in the order in which they were stored.
        self._blocks_of: dict[Key, dict[int, None]] = {}
        self._hashes: dict[int, list[BlockHash]] = {}
        self._step: _Step | None = None

    def match(
        self,
        tokens: Sequence[int],
        namespace: NamespaceId = 0,
        *,
        contents: Sequence[Content] = (),
        limit: int | None = None,
        earlier: Match | None = None,
    ) -> Match:
        """Return the leading run of blocks that are cached; changes nothing, not even their order."""
        size = self.block_size
        most = max(0, len(tokens) - 1 if limit is None else limit)
        hashes = earlier.handle.hashes if earlier and isinstance(earlier.handle, _Found) else []
        full = len(tokens) // size
        places: list[int | str] = []
        # Hashes are made only as far as there are hits, and kept for later tries and commits.
        while len(places) < full:
            index = len(places)
            extend_hashes(hashes, tokens, index + 1, size, contents, self._hash_one)
            place = self._find((namespace, hashes[index]))
            if place is None:
                break
            places.append(place)
        matched = len(places) * size
        usable = self._worth_loading(places[: most // size])
        return Match(
            namespace=namespace,
            tokens=len(tokens),
            blocks=tuple(place for place in usable if isinstance(place, int)),
            matched=matched,
            usable=len(usable) * size,
            by_tier=add_up((self._tier(place), size) for place in usable),
            loads=sum(isinstance(place, str) for place in usable),
            contents=tuple(contents),
            handle=_Found(hashes, tuple(usable)),
        )

    def available(self, held: Match | BlockTable | None = None) -> int:
        """Return the length of the queue, for a match without the blocks that it would take out of it."""
        if not isinstance(held, Match):
            return len(self.free_queue)
        return len(self.free_queue) - held.loads - sum(not self._references[block] for block in held.blocks)

    def lock(self, match: Match, *, priority: int | None = None) -> BlockTable:
        """Reference the matched blocks, and load those of lower tiers into blocks from the queue's head."""
        found = match.handle
        if not isinstance(found, _Found):
            raise ValueError("the match is another cache's")
        if self.available(match) < 0:
            raise OutOfBlocksError(f"{match.loads} blocks to load")
        table = self._open(match, priority)
        self._hashes[table.id] = list(found.hashes)
        for block in match.blocks:
            if not self._references[block]:
                self.free_queue.remove(block)
            self._references[block] += 1
        if match.loads:
            self._load(table, found)
        else:
            table.blocks.extend(match.blocks)
        # After the loads: writing a block down may push out an entry that is to be loaded.
        for block in match.blocks:
            self._tiers.used(self._key_of[block], block)
        table.committed = len(table.blocks) * self.block_size
        self._emit_hits(table, match.blocks)
        return table

    def take(self, table: BlockTable, blocks: int) -> tuple[int, ...]:
        """Take blocks from the queue's head; what they held is evicted."""
        self._require(table)
        if blocks > len(self.free_queue):
            raise OutOfBlocksError(f"{blocks} blocks are wanted, {len(self.free_queue)} are free")
        taken = tuple(self._pop() for _ in range(blocks))
        self._emit(Allocated(self.clock.stamp(), table.id, taken))
        table.blocks.extend(taken)
        return taken

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Store the full blocks among the first `computed` tokens, now or when the step ends."""
        computed = len(tokens) if computed is None else computed
        self._require_room(table, computed)
        full = computed // self.block_size
        extend_hashes(self._hashes[table.id], tokens, full, self.block_size, table.contents, self._hash_one)
        if self._step and self._commit_at == "step":
            self._step.due[table.id] = full
        else:
            self._register(table, full)

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """Give the table's blocks back from its tail on: with a hash to the queue's tail, without one to its head."""
        if tokens is not None:
            self._require_room(table, len(tokens))
            full = len(tokens) // self.block_size
            extend_hashes(self._hashes[table.id], tokens, full, self.block_size, table.contents, self._hash_one)
            self._register(table, full)
        self._close(table)
        if self._step:
            self._step.due.pop(table.id, None)
            indexes = self._step.registered.pop(table.id, [])
            if tokens is None:
                self._unregister([table.blocks[index] for index in indexes])
        del self._hashes[table.id]
        self._unreference(table.blocks[::-1])

    def begin_step(self) -> None:
        """Note what is stored from now on. Raises ValueError in a step."""
        if self._step:
            raise ValueError("the last step has not ended")
        self._step = _Step({}, {})
        self._tiers.begin_step()

    def end_step(self, ok: bool = True) -> None:
        """Store what is due and write it down; or forget what was stored in a step that failed."""
        step, self._step = self._step, None
        if step is None:
            raise ValueError("no step has begun")
        self._tiers.end_step(ok)
        if not ok:
            for number, indexes in step.registered.items():
                table = self._tables[number]
                table.committed = indexes[0] * self.block_size
                self._unregister([table.blocks[index] for index in indexes])
            return
        for number, full in step.due.items():
            self._register(self._tables[number], full)

    def reset(self) -> bool:
        """Forget every hash, here and below; the queue keeps its order."""
        if self._tables:
            return False
        self._key_of.clear()
        self._blocks_of.clear()
        self._tiers.clear()
        return True

    def check_integrity(self) -> None:
        """Raise IntegrityError unless references, queue and hashes agree."""
        references = self._count_references()
        for block in range(1, len(self._references)):
            ensure(self._references[block] == references[block], f"block {block} is referenced wrongly")
            ensure((block in self.free_queue) == (references[block] == 0), f"block {block} is queued wrongly")
        ensure(NULL_BLOCK not in references and NULL_BLOCK not in self.free_queue, "the null block is used")
        ensure(len(self.free_queue) + len(references) == self.capacity, "blocks are lost")
        stored = {block: key for key, blocks in self._blocks_of.items() for block in blocks}
        ensure(stored == self._key_of, "hashes and blocks disagree")
        ensure(sum(map(len, self._blocks_of.values())) == len(stored), "a block is stored under two keys")
        ensure(all(self._blocks_of.values()), "a key has no block")
        self._tiers.check_integrity()

    def stored_blocks(self) -> dict[Key, tuple[int, ...]]:
        """Return the device blocks of every key, the one that a hit takes first."""
        return {key: tuple(blocks) for key, blocks in self._blocks_of.items()}

    def _find(self, key: Key) -> int | str | None:
        blocks = self._blocks_of.get(key)
        return next(iter(blocks)) if blocks else self._tiers.find(key)

    def _tier(self, place: int | str) -> str:
        if isinstance(place, str):
            return place
        return RUNNING if self._references[place] else IDLE

    def _worth_loading(self, places: list[int | str]) -> list[int | str]:
        """Cut the match before its first load where there is too little behind that is worth one."""
        first = next((index for index, place in enumerate(places) if isinstance(place, str)), None)
        if first is None or (len(places) - first) * self.block_size >= self._tiers.least_load:
            return places
        return places[:first]

    def _load(self, table: BlockTable, found: _Found) -> None:
        """Fill the table in order; at an entry that cannot be read the hit ends, and what comes after is given back."""
        keys = [(table.namespace, block_hash) for block_hash in found.hashes[: len(found.places)]]
        self._tiers.pin(keys)
        targets = [self._pop() if isinstance(place, str) else place for place in found.places]
        new = [target for target, place in zip(targets, found.places, strict=True) if isinstance(place, str)]
        self._emit(Allocated(self.clock.stamp(), table.id, tuple(new)))
        tiers: list[str] = []
        for key, place, target in zip(keys, found.places, targets, strict=True):
            if isinstance(place, int):
                # It is referenced by this table by now: one reference is its own.
                tiers.append(RUNNING if self._references[place] > 1 else IDLE)
                continue
            source = self._tiers.load(key, target)
            if source is None:
                break
            tiers.append(source)
            self._store(key, target)
        self._tiers.unpin(keys)
        table.blocks.extend(targets[: len(tiers)])
        self._unreference(targets[len(tiers) :][::-1])
        table.cached_tokens = len(tiers) * self.block_size
        table.by_tier = add_up((tier, self.block_size) for tier in tiers)

    def _pop(self) -> int:
        block = self.free_queue.pop()
        key = self._key_of.get(block)
        if key is not None:
            self._forget(block)
            kept = None if key in self._blocks_of else self._tiers.evicting(key, block)
            if kept is None:
                self._emit(Evicted(self.clock.stamp(), IDLE, self.block_size, (block,), key))
            else:
                self._emit(Demoted(self.clock.stamp(), key, IDLE, kept, block))
        self._references[block] = 1
        return block

    def _unreference(self, blocks: Sequence[int]) -> None:
        with_hash: list[int] = []
        without: list[int] = []
        for block in blocks:
            self._references[block] -= 1
            if not self._references[block]:
                (with_hash if block in self._key_of else without).append(block)
        self.free_queue.prepend(without)
        self.free_queue.append(with_hash)
        if without:
            self._emit(Freed(self.clock.stamp(), tuple(without)))

    def _register(self, table: BlockTable, full: int) -> None:
        """Store the table's blocks up to `full` that are not stored yet."""
        first = table.committed // self.block_size
        if full <= first:
            return
        hashes = self._hashes[table.id]
        for index in range(first, full):
            key, block = (table.namespace, hashes[index]), table.blocks[index]
            self._store(key, block)
            self._tiers.used(key, block)
        if self._step:
            self._step.registered.setdefault(table.id, []).extend(range(first, full))
        table.committed = full * self.block_size
        blocks = tuple(table.blocks[first:full])
        tokens = len(blocks) * self.block_size
        self._emit(Stored(self.clock.stamp(), table.id, table.namespace, tokens, blocks))

    def _store(self, key: Key, block: int) -> None:
        self._key_of[block] = key
        self._blocks_of.setdefault(key, {})[block] = None

    def _forget(self, block: int) -> None:
        key = self._key_of.pop(block)
        blocks = self._blocks_of[key]
        del blocks[block]
        if not blocks:
            del self._blocks_of[key]

    def _unregister(self, blocks: list[int]) -> None:
        for block in blocks:
            if block in self._key_of:
                self._forget(block)
                self._tiers.forget(block)
        if blocks:
            self._emit(Unregistered(self.clock.stamp(), tuple(blocks)))
