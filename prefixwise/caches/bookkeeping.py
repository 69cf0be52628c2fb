"""What every prefix cache keeps besides its index: its clock, its listener, and the tables of running requests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from prefixwise.caches.events import Event, Hit, Listener, LogicalClock, ignore
from prefixwise.caches.prefix_cache import BlockTable, IntegrityError, Match


class Bookkeeping:
    """Base of the caches: numbers tables and notices those that were released.

    Args:
        block_size: Tokens in one block.
        capacity: Device blocks that can hold tokens.
        listener: Called with every event.

    Raises:
        ValueError: A size below one.
    """

    def __init__(self, block_size: int, capacity: int, listener: Listener = ignore) -> None:
        if block_size < 1 or capacity < 1:
            raise ValueError(f"{capacity} blocks of {block_size} tokens hold nothing")
        self.block_size = block_size
        self.capacity = capacity
        self.clock = LogicalClock()
        self._listener = listener
        self._tables: dict[int, BlockTable] = {}
        self._numbers = 0

    def running(self) -> tuple[BlockTable, ...]:
        """Return the tables of running requests in order of their locks."""
        return tuple(self._tables.values())

    def _open(self, match: Match, priority: int | None) -> BlockTable:
        self._numbers += 1
        table = BlockTable(self._numbers, match, priority)
        self._tables[table.id] = table
        return table

    def _require(self, table: BlockTable) -> None:
        if self._tables.get(table.id) is not table:
            raise ValueError(f"table {table.id} is not a running request of this cache")

    def _require_room(self, table: BlockTable, tokens: int) -> None:
        self._require(table)
        if tokens > len(table.blocks) * self.block_size:
            raise ValueError(f"{tokens} tokens do not fit into the {len(table.blocks)} blocks of table {table.id}")

    def _close(self, table: BlockTable) -> None:
        self._require(table)
        del self._tables[table.id]

    def _emit(self, event: Event) -> None:
        self._listener(event)

    def _emit_hits(self, table: BlockTable, blocks: tuple[int, ...]) -> None:
        """Say what a request took, one event a tier; `blocks` are those that were on the device already."""
        for tier, tokens in table.by_tier.items():
            on_device = blocks if tier in ("running", "idle") else ()
            self._emit(Hit(self.clock.stamp(), table.id, table.namespace, tier, tokens, on_device))

    def _count_references(self) -> Counter[int]:
        """Return how many tables hold each block. Raises IntegrityError where one holds a block twice."""
        references: Counter[int] = Counter()
        for table in self._tables.values():
            ensure(len(set(table.blocks)) == len(table.blocks), f"table {table.id} holds a block twice")
            references.update(table.blocks)
        return references


def ensure(holds: bool, message: str) -> None:
    """Raise IntegrityError with `message` unless it holds."""
    if not holds:
        raise IntegrityError(message)


def add_up(tiers: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Return tokens by tier; tiers without tokens are absent."""
    total: dict[str, int] = {}
    for tier, tokens in tiers:
        if tokens:
            total[tier] = total.get(tier, 0) + tokens
    return total
