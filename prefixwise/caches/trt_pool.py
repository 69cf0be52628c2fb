"""The blocks of a TensorRT-LLM style cache: two levels of memory, a tree of blocks, queues by priority.

Source: TensorRT-LLM, main branch of 2025 and 2026, `cpp/tensorrt_llm/batch_manager/kvCacheManager.cpp` and
`evictionPolicy.cpp`; read, not run.
"""

from __future__ import annotations

import heapq
from typing import TypeAlias

import msgspec

from prefixwise.caches.block_keys import ExtraKey, NamespaceId
from prefixwise.caches.bookkeeping import ensure
from prefixwise.caches.events import Demoted, Evicted, Listener, Loaded, LogicalClock
from prefixwise.caches.free_queue import FreeQueue
from prefixwise.caches.prefix_cache import HOST, IDLE
from prefixwise.caches.stores import BlockPool, BlockStore, CountingStore

DEFAULT_PRIORITY, LOWEST_PRIORITY, HIGHEST_PRIORITY = 35, 0, 100
DEFAULT_OFFLOAD_PRIORITY = 30

TreeKey: TypeAlias = tuple[NamespaceId | None, tuple[int, ...], tuple[ExtraKey, ...]]
"""Key of a block among its siblings: namespace (below the root only), tokens, extra keys."""


class RetentionRange(msgspec.Struct, frozen=True):
    """How long the blocks of a token range are to stay.

    Attributes:
        start: First token.
        end: Behind the last token; None is the end of the prompt.
        priority: 0 to 100.
        duration: Time on the cache's clock after the release, behind which the priority is the default; None: for good.
    """

    start: int
    end: int | None
    priority: int
    duration: float | None = None


class Retention(msgspec.Struct, frozen=True):
    """What a request asks to be retained: ranges of its prompt, and what it generates."""

    ranges: tuple[RetentionRange, ...] = ()
    decode_priority: int = DEFAULT_PRIORITY
    decode_duration: float | None = None

    def of_block(self, start: int) -> tuple[int, float | None] | None:
        """Return priority and duration of the prompt's block that starts at token `start`; None: not said."""
        for part in self.ranges:
            if part.start <= start and (part.end is None or start < part.end):
                return part.priority, part.duration
        return None


class PooledBlock:
    """One block of memory with its place in the tree.

    Attributes:
        number: Its number; blocks swap their memory, never their numbers.
        level: 0 on the device, 1 in host memory.
        index: Index of its memory on that level: on the device, the block id that tables hold.
        key: Its key among its siblings; None for a block outside the tree.
        parent: Block before it; None for a block outside the tree.
        children: Blocks after it.
        references: Running requests that hold it.
        priority: Priority, 0 to 100.
        duration: How long that holds after its release.
    """

    __slots__ = ("children", "duration", "index", "key", "level", "number", "parent", "priority", "references")

    def __init__(self, number: int, level: int, index: int) -> None:
        self.number = number
        self.level = level
        self.index = index
        self.key: TreeKey | None = None
        self.parent: PooledBlock | None = None
        self.children: dict[TreeKey, PooledBlock] = {}
        self.references = 0
        self.priority = DEFAULT_PRIORITY
        self.duration: float | None = None

    @property
    def tokens(self) -> int:
        """Tokens that can be found in it."""
        return len(self.key[1]) if self.key else 0


class TrtPool:
    """Blocks on the device and in host memory.

    Args:
        blocks: Blocks on the device.
        host_blocks: Blocks in host memory.
        offload_priority: Blocks of a lower priority are not moved to host memory.
        device: Contents of the device's blocks; counted by default.
        host: Contents of the host's blocks.
        clock: Clock of the cache.
        listener: Called with every event.
    """

    def __init__(
        self,
        blocks: int,
        host_blocks: int,
        offload_priority: int,
        device: BlockPool | None,
        host: BlockStore[int] | None,
        clock: LogicalClock,
        listener: Listener,
    ) -> None:
        self.root = PooledBlock(-1, 0, -1)
        self.blocks = [PooledBlock(number, 0, number) for number in range(blocks)]
        self.blocks += [PooledBlock(blocks + index, 1, index) for index in range(host_blocks)]
        self.device: BlockPool = CountingStore() if device is None else device
        self.host: BlockStore[int] = CountingStore() if host is None else host
        self._offload_priority = offload_priority
        self._clock = clock
        self._listener = listener
        self._queues = [[FreeQueue(()) for _ in range(HIGHEST_PRIORITY + 1)] for _ in range(2)]
        self._free = [0, 0]
        # Where a queued block waits: its level and priority when it was queued.
        self._queued: dict[int, tuple[int, int]] = {}
        self._expiring: list[tuple[float, int, int]] = []
        self._releases: dict[int, int] = {}
        for block in self.blocks:
            self._enqueue(block)

    def free(self, level: int = 0) -> int:
        """Return the blocks of a level that no request holds."""
        return self._free[level]

    def is_free(self, block: PooledBlock) -> bool:
        """Return whether no request holds a block."""
        return block.number in self._queued

    def claim(self, block: PooledBlock, retention: tuple[int, float | None] | None) -> None:
        """Let one more request hold a block; a priority that it brings replaces the old one."""
        self._dequeue(block)
        block.references += 1
        if retention:
            block.priority = retention[0]
        block.duration = retention[1] if retention else None

    def release(self, block: PooledBlock) -> None:
        """End a claim; a block that nobody holds any more goes to the back of its priority's queue."""
        block.references -= 1
        if block.references:
            return
        self._enqueue(block)
        if block.duration is not None and block.priority != DEFAULT_PRIORITY:
            release = self._clock.stamp()
            self._releases[block.number] = release
            heapq.heappush(self._expiring, (self._clock.now + block.duration, release, block.number))

    def refresh(self) -> None:
        """Give blocks whose duration is over the default priority, at the back of its queue."""
        while self._expiring and self._expiring[0][0] <= self._clock.now:
            _, release, number = heapq.heappop(self._expiring)
            # A block that was claimed since has another release, or none.
            if self._releases.get(number) != release:
                continue
            block = self.blocks[number]
            self._dequeue(block)
            block.priority = DEFAULT_PRIORITY
            self._enqueue(block)

    def take(self, priority: int, duration: float | None) -> PooledBlock:
        """Return a device block that holds nothing: the front of the lowest priority.

        What it held moves to host memory if its priority allows it and a host block is free; otherwise it is lost
        with everything behind it.
        """
        block = self._front(0)
        if block.key and self._queued[block.number][1] >= self._offload_priority and self._free[1]:
            block = self._offload(block)
        self._dequeue(block)
        self._lose(block)
        block.priority, block.duration = priority, duration
        block.references = 1
        return block

    def onboard(self, block: PooledBlock) -> None:
        """Bring a claimed block from host memory to the device; the host block is free again, and empty."""
        if not block.level:
            return
        target = self.take(DEFAULT_PRIORITY, None)
        self.device.put(target.index, self.host.get(block.index))
        self._listener(Loaded(self._clock.stamp(), None, target.index, HOST))
        self._swap(block, target)
        self.release(target)

    def copy(self, source: PooledBlock, target: PooledBlock, tokens: int) -> None:
        """Copy the first tokens of a block to another on the device."""
        if source.level:
            self.device.put(target.index, self.host.get(source.index))
        else:
            self.device.copy(source.index, target.index, tokens)

    def insert(self, parent: PooledBlock, key: TreeKey, block: PooledBlock) -> None:
        """Hang a block into the tree."""
        block.key, block.parent = key, parent
        parent.children[key] = block

    def detach(self, block: PooledBlock) -> list[PooledBlock]:
        """Cut a block and all that lies behind it out of the tree; return them."""
        if block.parent is None or block.key is None:
            return []
        del block.parent.children[block.key]
        cut: list[PooledBlock] = []
        stack = [block]
        while stack:
            gone = stack.pop()
            stack.extend(gone.children.values())
            gone.children, gone.parent, gone.key = {}, None, None
            cut.append(gone)
        return cut

    def check_integrity(self) -> None:
        """Raise IntegrityError unless queues, references, memory and tree agree."""
        places = {(block.level, block.index) for block in self.blocks}
        ensure(len(places) == len(self.blocks), "two blocks share memory")
        queued: set[int] = set()
        for level, queues in enumerate(self._queues):
            numbers = [(number, priority) for priority, queue in enumerate(queues) for number in queue]
            ensure(len(numbers) == self._free[level], "free blocks are miscounted")
            for number, priority in numbers:
                block = self.blocks[number]
                ensure(self._queued.get(number) == (level, priority), "a block waits elsewhere")
                ensure((block.level, block.priority) == (level, priority), "a block waits at a wrong place")
                queued.add(number)
        for block in self.blocks:
            ensure((block.number in queued) == (block.references == 0), f"block {block.number} is queued wrongly")
            ensure(not block.references or not block.level, "a request holds a block in host memory")
            ensure((block.key is None) == (block.parent is None), "a block is half in the tree")
            if block.parent is not None and block.key is not None:
                ensure(block.parent.children.get(block.key) is block, "a block hangs under a wrong key")
            ensure(all(child.parent is block for child in block.children.values()), "a child has another parent")

    def _front(self, level: int) -> PooledBlock:
        number = next(number for queue in self._queues[level] if len(queue) for number in queue)
        return self.blocks[number]

    def _offload(self, block: PooledBlock) -> PooledBlock:
        """Move a block's contents to host memory; return the block that has its device memory now."""
        other = self._front(1)
        self._dequeue(block)
        self._dequeue(other)
        self._lose(other)
        self.host.put(other.index, self.device.get(block.index))
        self._listener(Demoted(self._clock.stamp(), None, IDLE, HOST, block.index))
        self._swap(block, other)
        self._enqueue(block)
        self._enqueue(other)
        return other

    def _lose(self, block: PooledBlock) -> None:
        """Empty a block; what lies behind it can no longer be found either, but keeps its place in the queues."""
        lost = [(gone.level, gone.index, gone.tokens) for gone in self._subtree(block) if gone.key]
        self.detach(block)
        for level, index, tokens in lost:
            tier, blocks = (HOST, ()) if level else (IDLE, (index,))
            self._listener(Evicted(self._clock.stamp(), tier, tokens, blocks))

    def _subtree(self, block: PooledBlock) -> list[PooledBlock]:
        found = [block]
        for above in found:
            found.extend(above.children.values())
        return found

    def _swap(self, one: PooledBlock, other: PooledBlock) -> None:
        one.level, other.level = other.level, one.level
        one.index, other.index = other.index, one.index

    def _enqueue(self, block: PooledBlock) -> None:
        self._queued[block.number] = block.level, block.priority
        self._queues[block.level][block.priority].append((block.number,))
        self._free[block.level] += 1

    def _dequeue(self, block: PooledBlock) -> None:
        place = self._queued.pop(block.number, None)
        self._releases.pop(block.number, None)
        if place:
            self._queues[place[0]][place[1]].remove(block.number)
            self._free[place[0]] -= 1
