"""A cache that never finds anything: what every request costs without one."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.caches.block_keys import Content, NamespaceId
from prefixwise.caches.bookkeeping import Bookkeeping, ensure
from prefixwise.caches.events import Allocated, Freed, Listener, ignore
from prefixwise.caches.free_queue import FreeQueue
from prefixwise.caches.prefix_cache import BlockTable, Match, OutOfBlocksError, PrefixCache


class NullCache(Bookkeeping, PrefixCache):
    """Blocks without reuse.

    Args:
        blocks: Blocks of the pool.
        block_size: Tokens in one block.
        listener: Called with every event.
    """

    def __init__(self, blocks: int, block_size: int = 16, *, listener: Listener = ignore) -> None:
        super().__init__(block_size, blocks, listener)
        self._free = FreeQueue(range(blocks))

    def match(
        self,
        tokens: Sequence[int],
        namespace: NamespaceId = 0,
        *,
        contents: Sequence[Content] = (),
        limit: int | None = None,  # noqa: ARG002 - the protocol's
        earlier: Match | None = None,  # noqa: ARG002
    ) -> Match:
        """Return nothing."""
        return Match(namespace, len(tokens), (), 0, 0, {}, contents=tuple(contents))

    def available(self, held: Match | BlockTable | None = None) -> int:  # noqa: ARG002
        """Return the free blocks."""
        return len(self._free)

    def lock(self, match: Match, *, priority: int | None = None) -> BlockTable:
        """Return an empty table."""
        return self._open(match, priority)

    def take(self, table: BlockTable, blocks: int) -> tuple[int, ...]:
        """Take the blocks that have been free for longest."""
        self._require(table)
        if blocks > len(self._free):
            raise OutOfBlocksError(f"{blocks} blocks are wanted, {len(self._free)} are free")
        taken = tuple(self._free.pop() for _ in range(blocks))
        self._emit(Allocated(self.clock.stamp(), table.id, taken))
        table.blocks.extend(taken)
        return taken

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Store nothing."""
        self._require_room(table, len(tokens) if computed is None else computed)

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """Free the table's blocks."""
        self._require_room(table, len(tokens or ()))
        self._close(table)
        self._free.append(table.blocks)
        if table.blocks:
            self._emit(Freed(self.clock.stamp(), tuple(table.blocks)))

    def begin_step(self) -> None:
        """Nothing is noted."""

    def end_step(self, ok: bool = True) -> None:
        """Nothing is forgotten."""

    def reset(self) -> bool:
        """Return whether no request is running."""
        return not self._tables

    def check_integrity(self) -> None:
        """Raise IntegrityError unless each block is free or in one table."""
        references = self._count_references()
        ensure(all(count == 1 for count in references.values()), "two requests share a block")
        ensure(sorted([*self._free, *references]) == list(range(self.capacity)), "a block is lost, or in two states")
