"""The tiers below the device: host memory, disk, another replica, each a set of entries in LRU order.

A tier below the device holds entries by key, apart from any tree: what is evicted from the device can be found here
by the same chain of hashes. Order, write policies and threshold follow SGLang 0.5.23's HiCache
(`managers/cache_controller.py`, `mem_cache/hiradix_cache.py`), except that it evicts nodes of its tree, not blocks.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

from prefixwise.caches.block_keys import Key
from prefixwise.caches.bookkeeping import ensure
from prefixwise.caches.events import Copied, Demoted, Evicted, Listener, Loaded, LogicalClock, ignore
from prefixwise.caches.stores import BlockStore, CountingStore, MissingBlockError

WritePolicy: TypeAlias = Literal["through", "selective", "back"]
"""When the device's blocks are written to the tier below: once computed; at their second use; when evicted."""

SELECTIVE_USES = 2


class Tier:
    """One tier below the device.

    Args:
        name: "host", "disk" or "peer", or what reports shall call it.
        capacity: Entries that it holds; each is one block.
        store: Where the contents lie.
        read_only: Whether it takes only what its owner puts there (`publish`), as another replica's cache does.

    Raises:
        ValueError: A negative capacity.
    """

    def __init__(
        self, name: str, capacity: int, store: BlockStore[Key] | None = None, *, read_only: bool = False
    ) -> None:
        if capacity < 0:
            raise ValueError(f"the {name} tier cannot hold {capacity} blocks")
        self.name = name
        self.capacity = capacity
        self.store: BlockStore[Key] = CountingStore() if store is None else store
        self.read_only = read_only
        self.entries: OrderedDict[Key, None] = OrderedDict()

    def publish(self, keys: Iterable[Key]) -> None:
        """Add entries whose contents the store has already: a peer's, or files found at start. The oldest first."""
        for key in keys:
            self.entries[key] = None
            self.entries.move_to_end(key)
            if len(self.entries) > self.capacity:
                self.entries.popitem(last=False)


class Tiers:
    """The tiers below one device, nearest first.

    Args:
        tiers: The tiers.
        write: Write policy of the device; between tiers, what falls out of one goes to the next.
        device: Contents of the device's blocks; counted by default.
        promote: Whether an entry that was loaded from a lower tier is put into the writable tiers above it too.
        least_load: Tokens below which a run of entries is not worth loading (HiCache: 10).
        listener: Called with every event.
    """

    def __init__(
        self,
        tiers: Sequence[Tier],
        *,
        write: WritePolicy = "through",
        device: BlockStore[int] | None = None,
        promote: bool = True,
        least_load: int = 0,
        listener: Listener = ignore,
    ) -> None:
        self.tiers = tuple(tiers)
        self.write = write
        self.device: BlockStore[int] = CountingStore() if device is None else device
        self.promote = promote
        self.least_load = least_load
        self.clock = LogicalClock()
        self._listener = listener
        self._uses: Counter[Key] = Counter()
        self._pinned: Counter[Key] = Counter()
        # Uses in the step that is in progress, by block: its contents may not be computed before the step has ended.
        self._waiting: dict[int, tuple[Key, int]] | None = None
        self._writable = tuple(tier for tier in self.tiers if not tier.read_only)

    def listen(self, clock: LogicalClock, listener: Listener) -> None:
        """Take the clock and listener of the cache above."""
        self.clock, self._listener = clock, listener

    def find(self, key: Key) -> str | None:
        """Return the nearest tier that has an entry; no use is counted."""
        return next((tier.name for tier in self.tiers if key in tier.entries), None)

    def pin(self, keys: Iterable[Key]) -> None:
        """Keep entries from being evicted until `unpin`."""
        self._pinned.update(keys)

    def unpin(self, keys: Iterable[Key]) -> None:
        """End a `pin`."""
        for key in keys:
            self._pinned[key] -= 1
            if not self._pinned[key]:
                del self._pinned[key]

    def begin_step(self) -> None:
        """Write nothing down until `end_step`."""
        self._waiting = {}

    def end_step(self, ok: bool) -> None:
        """Write down what was used in the step; nothing where it failed."""
        waiting, self._waiting = self._waiting, None
        for block, (key, times) in (waiting or {}).items() if ok else ():
            self._write(key, block, times)

    def used(self, key: Key, block: int) -> None:
        """Note that a block of the device was stored or hit; write it down if the policy says so."""
        if self.write == "back" or not self._writable:
            return
        if self._waiting is None:
            self._write(key, block, 1)
        else:
            times = self._waiting[block][1] if block in self._waiting else 0
            self._waiting[block] = key, times + 1

    def forget(self, block: int) -> None:
        """Note that a block of the device holds no entry any more, and that what it was to hold was not computed."""
        if self._waiting:
            self._waiting.pop(block, None)

    def evicting(self, key: Key, block: int) -> str | None:
        """Note that the device is about to lose an entry; return the tier that keeps it, if one does."""
        self.forget(block)
        self._uses.pop(key, None)
        if self.write == "back" and self.find(key) is None and self._writable:
            self._put(0, key, self.device.get(block))
        return self.find(key)

    def load(self, key: Key, block: int) -> str | None:
        """Read an entry into a device block and count a use; return the tier it came from.

        None where no tier has it whole: damaged entries are dropped on the way.
        """
        for depth, tier in enumerate(self.tiers):
            if key not in tier.entries:
                continue
            try:
                contents = tier.store.get(key)
            except MissingBlockError:
                del tier.entries[key]
                tier.store.drop(key)
                continue
            self.device.put(block, contents)
            tier.entries.move_to_end(key)
            self._listener(Loaded(self.clock.stamp(), key, block, tier.name))
            if self.promote:
                self._promote(key, contents, self.tiers[:depth])
            return tier.name
        return None

    def clear(self) -> None:
        """Forget every entry."""
        for tier in self.tiers:
            for key in tier.entries:
                tier.store.drop(key)
            tier.entries.clear()
        self._uses.clear()

    def check_integrity(self) -> None:
        """Raise IntegrityError where a tier holds more than its capacity."""
        for tier in self.tiers:
            ensure(len(tier.entries) <= tier.capacity, f"the {tier.name} tier holds {len(tier.entries)} entries")

    def _write(self, key: Key, block: int, times: int) -> None:
        if self.write == "selective":
            self._uses[key] += times
            if self._uses[key] < SELECTIVE_USES:
                return
        nearest = self._writable[0]
        if key in nearest.entries:
            nearest.entries.move_to_end(key)
        elif self._put(0, key, self.device.get(block)):
            self._listener(Copied(self.clock.stamp(), key, block, nearest.name))

    def _promote(self, key: Key, contents: object, above: Sequence[Tier]) -> None:
        for level, tier in enumerate(self._writable):
            if tier in above and self._put(level, key, contents):
                self._listener(Copied(self.clock.stamp(), key, None, tier.name))

    def _put(self, level: int, key: Key, contents: object) -> bool:
        """Write an entry to the writable tier `level`, moving its oldest one down; False where there is no room."""
        tier = self._writable[level]
        while len(tier.entries) >= tier.capacity:
            oldest = next((entry for entry in tier.entries if entry not in self._pinned), None)
            if oldest is None:
                return False
            self._push_down(level, oldest)
        tier.store.put(key, contents)
        tier.entries[key] = None
        return True

    def _push_down(self, level: int, key: Key) -> None:
        tier = self._writable[level]
        del tier.entries[key]
        below = self._writable[level + 1 :]
        kept = next((lower for lower in below if key in lower.entries), None)
        if kept is None and below:
            try:
                contents = tier.store.get(key)
            except MissingBlockError:
                contents = None
            else:
                kept = below[0] if self._put(level + 1, key, contents) else None
        tier.store.drop(key)
        if kept is None:
            self._listener(Evicted(self.clock.stamp(), tier.name, 0, key=key))
        else:
            self._listener(Demoted(self.clock.stamp(), key, tier.name, kept.name))
