"""Caches of single blocks with one eviction order each, as simulators of storage have them.

A request is a list of block numbers, root first. `serve` looks it up, brings it in, and says how many of its leading
blocks were there. A block behind the first missing one must be computed again, so it is a miss even where it is there.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol


class BlockCache(Protocol):
    """A cache of blocks."""

    def serve(self, blocks: list[int], now: float) -> int:
        """Take in a request at the time `now` (seconds) and return how many of its leading blocks were there."""
        ...


class LeastRecent:
    """Evicts the block whose last use is longest ago.

    Args:
        capacity: In blocks.
        leaf_first: Whether within a request the leaf counts as used before the root, so that chains are eaten from
            their ends, as engines do; else the root does.
    """

    def __init__(self, capacity: int, *, leaf_first: bool) -> None:
        self._capacity = capacity
        self._leaf_first = leaf_first
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def serve(self, blocks: list[int], now: float) -> int:  # noqa: ARG002 - it has no clock
        """Look up, then use every block."""
        held = self._blocks
        hits = _leading(held, blocks)
        room = self._capacity - len(held)
        use, evict = held.move_to_end, held.popitem
        for block in reversed(blocks) if self._leaf_first else blocks:
            if block in held:
                use(block)
                continue
            if room:
                room -= 1
            else:
                evict(last=False)
            held[block] = None
        return hits


class FirstIn:
    """Evicts the block that came first; a use changes nothing.

    Args:
        capacity: In blocks.
        anywhere: Count every block that is there as a hit, also behind a missing one.
    """

    def __init__(self, capacity: int, *, anywhere: bool) -> None:
        self._capacity = capacity
        self._anywhere = anywhere
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def serve(self, blocks: list[int], now: float) -> int:  # noqa: ARG002 - it has no clock
        """Look up and bring in block by block."""
        held = self._blocks
        hits = _leading(held, blocks)
        found = 0
        for block in blocks:
            if block in held:
                found += 1
                continue
            if len(held) >= self._capacity:
                held.popitem(last=False)
            held[block] = None
        return found if self._anywhere else hits


class LeastFrequent:
    """Evicts the block that was used least since it came, among equals the one that has been so longest."""

    def __init__(self, capacity: int) -> None:
        self._capacity = capacity
        self._uses: dict[int, int] = {}
        self._by_uses: dict[int, OrderedDict[int, None]] = {}
        self._fewest = 1

    def serve(self, blocks: list[int], now: float) -> int:  # noqa: ARG002 - it has no clock
        """Look up, then use every block, root first."""
        hits = _leading(self._uses, blocks)
        for block in blocks:
            uses = self._uses.get(block)
            if uses is None:
                if len(self._uses) >= self._capacity:
                    self._evict()
                self._put(block, 1)
                self._fewest = 1
                continue
            self._take(block, uses)
            if uses == self._fewest and uses not in self._by_uses:
                self._fewest = uses + 1
            self._put(block, uses + 1)
        return hits

    def _put(self, block: int, uses: int) -> None:
        self._uses[block] = uses
        equals = self._by_uses.get(uses)
        if equals is None:
            equals = self._by_uses[uses] = OrderedDict()
        equals[block] = None

    def _take(self, block: int, uses: int) -> None:
        equals = self._by_uses[uses]
        del equals[block]
        if not equals:
            del self._by_uses[uses]

    def _evict(self) -> None:
        equals = self._by_uses[self._fewest]
        block, _ = equals.popitem(last=False)
        del self._uses[block]
        if not equals:
            del self._by_uses[self._fewest]


class TimeToLive:
    """Unlimited room; a block dies some seconds after it came, or after its last use where a use refreshes it."""

    def __init__(self, seconds: float, *, refresh: bool) -> None:
        self._seconds = seconds
        self._refresh = refresh
        self._since: dict[int, float] = {}

    def serve(self, blocks: list[int], now: float) -> int:
        """Look up, then put what was missing, and refresh what was there."""
        since = self._since
        least = now - self._seconds
        hits = 0
        for block in blocks:
            came = since.get(block)
            if came is None or came < least:  # a lifetime without end finds only what came
                break
            hits += 1
        for block in blocks if self._refresh else blocks[hits:]:
            since[block] = now
        return hits


def _leading(held: OrderedDict[int, None] | dict[int, int], blocks: list[int]) -> int:
    """Return how many of the leading `blocks` are held."""
    hits = 0
    for block in blocks:
        if block not in held:
            break
        hits += 1
    return hits
