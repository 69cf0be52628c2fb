"""Blocks in TensorRT-LLM's manner: reuse of a part of a block, priorities with durations, release from the tail on.

Source: see `trt_pool`. A prompt's last token is set aside before it is cut into blocks; the rest below a full block
can be found too. Where no block is equal, the one with the longest common beginning is used: copied where somebody
needs it as it is, otherwise taken over, and what followed in it is lost.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.caches.block_keys import Content, NamespaceId, common_length, extra_keys
from prefixwise.caches.bookkeeping import Bookkeeping, add_up, ensure
from prefixwise.caches.events import Allocated, Freed, Listener, Stored, ignore
from prefixwise.caches.prefix_cache import HOST, IDLE, RUNNING, BlockTable, Match, OutOfBlocksError, PrefixCache
from prefixwise.caches.stores import BlockPool, BlockStore
from prefixwise.caches.trt_pool import (
    DEFAULT_OFFLOAD_PRIORITY,
    DEFAULT_PRIORITY,
    HIGHEST_PRIORITY,
    LOWEST_PRIORITY,
    PooledBlock,
    Retention,
    RetentionRange,
    TreeKey,
    TrtPool,
)

NO_RETENTION = Retention()


class _Found(msgspec.Struct, frozen=True):
    """Handle of a match: equal blocks, then one of which `part` tokens are equal, if there is one."""

    full: tuple[PooledBlock, ...]
    partial: PooledBlock | None = None
    part: int = 0


class _Held:
    """What a request holds: its blocks, and what it asked for."""

    __slots__ = ("blocks", "retention")

    def __init__(self, retention: Retention) -> None:
        self.blocks: list[PooledBlock] = []
        self.retention = retention


class TrtCache(Bookkeeping, PrefixCache):
    """TensorRT-LLM's prefix cache.

    Args:
        blocks: Blocks on the device.
        block_size: Tokens in a block.
        host_blocks: Blocks in host memory.
        partial: Whether parts of blocks are reused.
        copy_partial: Whether a block that is needed as it is may be copied for that; otherwise it is left alone.
        offload_priority: Blocks of a lower priority are not moved to host memory (30 in the code that was read; the
            documentation says 35).
        device: Contents of the device's blocks.
        host: Contents of the host's blocks.
        listener: Called with every event.
    """

    def __init__(
        self,
        blocks: int,
        block_size: int = 32,
        *,
        host_blocks: int = 0,
        partial: bool = True,
        copy_partial: bool = True,
        offload_priority: int = DEFAULT_OFFLOAD_PRIORITY,
        device: BlockPool | None = None,
        host: BlockStore[int] | None = None,
        listener: Listener = ignore,
    ) -> None:
        super().__init__(block_size, blocks, listener)
        self._partial = partial
        self._copy_partial = copy_partial
        self._pool = TrtPool(blocks, host_blocks, offload_priority, device, host, self.clock, listener)
        self._held: dict[int, _Held] = {}
        # What the step in progress computes; a part of a block is copied at once, so it must be there already.
        self._due: dict[int, tuple[Sequence[int], int]] | None = None

    def match(
        self,
        tokens: Sequence[int],
        namespace: NamespaceId = 0,
        *,
        contents: Sequence[Content] = (),
        limit: int | None = None,
        earlier: Match | None = None,  # noqa: ARG002 - the protocol's
    ) -> Match:
        """Return the blocks that are equal and the best beginning of one; only ends durations that are over."""
        self._pool.refresh()
        most = max(0, len(tokens) - 1 if limit is None else min(limit, len(tokens)))
        found = self._walk(tokens, namespace, contents, most)
        whole = self._walk(tokens, namespace, contents, len(tokens))
        usable = len(found.full) * self.block_size + found.part
        used = [*found.full, *([found.partial] if found.partial and not self._must_copy(found.partial) else [])]
        tiers = [(self._tier(block), self.block_size) for block in found.full]
        if found.partial:
            tiers.append((self._tier(found.partial), found.part))
        copies = int(found.partial is not None and self._must_copy(found.partial))
        return Match(
            namespace=namespace,
            tokens=len(tokens),
            blocks=tuple(block.index for block in used if not block.level),
            matched=max(usable, len(whole.full) * self.block_size + whole.part),
            usable=usable,
            by_tier=add_up(tiers),
            loads=sum(block.level for block in used) + copies,
            contents=tuple(contents),
            handle=found,
        )

    def available(self, held: Match | BlockTable | None = None) -> int:
        """Return the device blocks that no request holds, for a match without those that it would take."""
        free = self._pool.free()
        if isinstance(held, Match):
            found = self._handle(held)
            used = [*found.full, *([found.partial] if found.partial else [])]
            free -= held.loads + sum(not block.level and self._pool.is_free(block) for block in used)
        return free

    def lock(self, match: Match, *, priority: int | None = None, retention: Retention = NO_RETENTION) -> BlockTable:
        """Hold the matched blocks, bring those in host memory back, and copy or take over the one matched in part.

        Args:
            match: What `match` returned.
            priority: Priority of everything that `retention` says nothing about, 0 to 100; 35 by default.
            retention: Priorities by token range, with durations.

        Raises:
            OutOfBlocksError: There is no room for the match's loads.
            ValueError: A priority outside 0 to 100.
        """
        found = self._handle(match)
        if priority is not None:
            whole = RetentionRange(0, None, priority)
            retention = Retention((*retention.ranges, whole), priority)
        given = [retention.decode_priority, *(part.priority for part in retention.ranges)]
        if not all(LOWEST_PRIORITY <= number <= HIGHEST_PRIORITY for number in given):
            raise ValueError(f"priorities are {LOWEST_PRIORITY} to {HIGHEST_PRIORITY}")
        if self.available(match) < 0:
            raise OutOfBlocksError(f"{match.loads} blocks to load")
        table = self._open(match, priority)
        held = self._held[table.id] = _Held(retention)
        for index, block in enumerate(found.full):
            self._pool.claim(block, retention.of_block(index * self.block_size))
            held.blocks.append(block)
        copy = found.partial is not None and self._must_copy(found.partial)
        if found.partial and not copy:
            self._pool.detach(found.partial)
            self._pool.claim(found.partial, retention.of_block(len(found.full) * self.block_size))
            held.blocks.append(found.partial)
        if found.partial and copy:
            # Held from here on, or those that are brought back could push it out before it is copied.
            self._pool.claim(found.partial, (found.partial.priority, found.partial.duration))
        for block in held.blocks:
            self._pool.onboard(block)
        if found.partial and copy:
            held.blocks.append(self._copy(found.partial, found.part))
        table.blocks.extend(block.index for block in held.blocks)
        table.committed = len(found.full) * self.block_size
        self._emit_hits(table, match.blocks)
        return table

    def take(self, table: BlockTable, blocks: int) -> tuple[int, ...]:
        """Take the blocks of the lowest priority that were released longest ago."""
        self._require(table)
        if blocks > self._pool.free():
            raise OutOfBlocksError(f"{blocks} blocks are wanted, {self._pool.free()} are free")
        self._pool.refresh()
        held = self._held[table.id]
        taken: list[int] = []
        for _ in range(blocks):
            start = len(held.blocks) * self.block_size
            wanted = held.retention.of_block(start) or (DEFAULT_PRIORITY, None)
            if start >= table.prompt_tokens:
                wanted = held.retention.decode_priority, held.retention.decode_duration
            block = self._pool.take(*wanted)
            held.blocks.append(block)
            taken.append(block.index)
        self._emit(Allocated(self.clock.stamp(), table.id, tuple(taken)))
        table.blocks.extend(taken)
        return tuple(taken)

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Store the full blocks among a prompt's tokens but its last, now or when the step ends.

        An answer is stored when its request finishes.
        """
        computed = len(tokens) if computed is None else computed
        self._require_room(table, computed)
        if self._due is None:
            self._store_prompt(table, tokens, computed)
        else:
            self._due[table.id] = tokens, computed

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """Store what a finished request computed, its unfilled last block too; give blocks back from the tail on."""
        if tokens is not None:
            self._require_room(table, len(tokens))
            self._store(table, tokens, len(tokens))
        self._close(table)
        if self._due is not None:
            self._due.pop(table.id, None)
        held = self._held.pop(table.id)
        for block in reversed(held.blocks):
            self._pool.release(block)
        unknown = tuple(block.index for block in held.blocks if self._pool.is_free(block) and block.key is None)
        if unknown:
            self._emit(Freed(self.clock.stamp(), unknown))

    def begin_step(self) -> None:
        """Store nothing that is committed from now on before `end_step`. Raises ValueError in a step."""
        if self._due is not None:
            raise ValueError("the last step has not ended")
        self._due = {}

    def end_step(self, ok: bool = True) -> None:
        """Store what is due, unless the step failed."""
        due, self._due = self._due, None
        if due is None:
            raise ValueError("no step has begun")
        for number, (tokens, computed) in due.items() if ok else ():
            self._store_prompt(self._tables[number], tokens, computed)

    def reset(self) -> bool:
        """Empty the tree; the queues keep their order."""
        if self._tables:
            return False
        for block in tuple(self._pool.root.children.values()):
            self._pool.detach(block)
        return True

    def check_integrity(self) -> None:
        """Raise IntegrityError unless tables and pool agree."""
        self._pool.check_integrity()
        references = self._count_references()
        for block in self._pool.blocks:
            expected = references[block.index] if not block.level else 0
            ensure(block.references == expected, f"block {block.number} is referenced wrongly")
        for table in self._tables.values():
            held = [block.index for block in self._held[table.id].blocks]
            ensure(held == table.blocks, f"table {table.id} holds other blocks")
        self._check_tree()

    def stored(self) -> list[tuple[tuple[TreeKey, ...], int | None]]:
        """Return every block of the tree: the keys on its path, its own last, and its number (None: in host memory)."""
        found: list[tuple[tuple[TreeKey, ...], int | None]] = []
        stack: list[tuple[PooledBlock, tuple[TreeKey, ...]]] = [(self._pool.root, ())]
        while stack:
            above, path = stack.pop()
            for key, block in above.children.items():
                found.append(((*path, key), None if block.level else block.index))
                stack.append((block, (*path, key)))
        return found

    def _check_tree(self) -> None:
        stack = [(child, True) for child in self._pool.root.children.values()]
        while stack:
            block, top = stack.pop()
            key = block.key
            if key is None:
                ensure(False, "a block of the tree has no key")
                continue
            ensure((key[0] is not None) == top, "a path crosses namespaces")
            ensure(0 < len(key[1]) <= self.block_size, "a block holds too many tokens, or none")
            ensure(len(key[1]) == self.block_size or not block.children, "something follows an unfilled block")
            stack.extend((child, False) for child in block.children.values())

    def _handle(self, match: Match) -> _Found:
        if not isinstance(match.handle, _Found):
            raise ValueError("the match is another cache's")
        return match.handle

    def _tier(self, block: PooledBlock) -> str:
        if block.level:
            return HOST
        return IDLE if self._pool.is_free(block) else RUNNING

    def _copy(self, source: PooledBlock, tokens: int) -> PooledBlock:
        """Copy the first tokens of a block that is held, for otherwise it could be taken itself, to a fresh one."""
        target = self._pool.take(source.priority, source.duration)
        self._pool.copy(source, target, tokens)
        self._pool.release(source)
        return target

    def _must_copy(self, block: PooledBlock) -> bool:
        return not self._pool.is_free(block) or bool(block.children)

    def _key(
        self, parent: PooledBlock, tokens: Sequence[int], namespace: NamespaceId, contents: Sequence[Content],
        start: int, end: int,
    ) -> TreeKey:  # fmt: skip
        top = namespace if parent is self._pool.root else None
        return top, tuple(tokens[start:end]), extra_keys(contents, start, end)

    def _walk(self, tokens: Sequence[int], namespace: NamespaceId, contents: Sequence[Content], most: int) -> _Found:
        node = self._pool.root
        full: list[PooledBlock] = []
        for start in range(0, most, self.block_size):
            key = self._key(node, tokens, namespace, contents, start, min(start + self.block_size, most))
            child = node.children.get(key)
            if child is None or child.tokens < self.block_size:
                partial, part = (child, child.tokens) if child else self._best_part(node, key)
                return _Found(tuple(full), partial, part)
            full.append(child)
            node = child
        return _Found(tuple(full))

    def _best_part(self, node: PooledBlock, key: TreeKey) -> tuple[PooledBlock | None, int]:
        """Return the child with the longest common beginning; the one stored first of equals."""
        best: PooledBlock | None = None
        part = 0
        if not self._partial or key[2]:
            return best, part
        for other, child in node.children.items():
            if other[0] != key[0] or other[2] or (not self._copy_partial and self._must_copy(child)):
                continue
            common = common_length(other[1], key[1], 0, self.block_size)
            if common > part:
                best, part = child, common
        return best, part

    def _store_prompt(self, table: BlockTable, tokens: Sequence[int], computed: int) -> None:
        full = min(computed, table.prompt_tokens - 1) // self.block_size
        self._store(table, tokens, full * self.block_size)

    def _store(self, table: BlockTable, tokens: Sequence[int], computed: int) -> None:
        """Insert the blocks that are not in the tree; one that is equal to another's stays outside it."""
        node = self._pool.root
        stored: list[PooledBlock] = []
        held = self._held[table.id].blocks
        for start in range(0, computed, self.block_size):
            end = min(start + self.block_size, computed)
            key = self._key(node, tokens, table.namespace, table.contents, start, end)
            child = node.children.get(key)
            if child is None:
                child = held[start // self.block_size]
                if child.key is not None:
                    # It hangs elsewhere, behind a block of another request: it cannot be in two places.
                    break
                self._pool.insert(node, key, child)
                stored.append(child)
            node = child
        table.committed = max(table.committed, computed)
        if stored:
            tokens_stored = sum(block.tokens for block in stored)
            blocks = tuple(block.index for block in stored)
            self._emit(Stored(self.clock.stamp(), table.id, table.namespace, tokens_stored, blocks))
