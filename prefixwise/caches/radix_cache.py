"""A radix tree of pages, in SGLang's order.

Source: SGLang 0.5.23, `mem_cache/radix_cache.py`. Reuse goes to the page (one token by default). A prompt enters the
tree chunk by chunk, an answer when its request finishes; what was there already is given back at once, and the
request goes on with the tree's copy. Whole leaves are evicted, so more may go than was asked for.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import msgspec

from prefixwise.caches.block_keys import BlockHash, Content, Key, NamespaceId, extend_hashes, with_contents
from prefixwise.caches.bookkeeping import Bookkeeping, add_up, ensure
from prefixwise.caches.events import Allocated, Demoted, Evicted, Freed, Listener, Stored, Unregistered, ignore
from prefixwise.caches.eviction_orders import EVICTION_ORDERS
from prefixwise.caches.prefix_cache import IDLE, RUNNING, BlockTable, CommitAt, Match, OutOfBlocksError, PrefixCache
from prefixwise.caches.radix_tree import Node, RadixTree
from prefixwise.caches.tiers import Tiers


class _Found(msgspec.Struct, frozen=True):
    """Handle of a match: the deepest node, the prompt up to where loads end, and its page hashes (with tiers only)."""

    node: Node
    tokens: Sequence[int]
    hashes: list[BlockHash]


class _Held:
    """What a table locks: its deepest node; and the tokens that it inserted itself."""

    __slots__ = ("inserted", "node")

    def __init__(self, node: Node) -> None:
        self.node = node
        self.inserted = 0


class RadixCache(Bookkeeping, PrefixCache):
    """SGLang's prefix cache.

    Args:
        blocks: Pages of the pool; the lowest free one is given out first.
        page: Tokens in a page.
        eviction: Name of the eviction order: lru, lfu, slru, priority, fifo, filo or mru.
        commit_at: When committed pages can be found.
        tiers: Tiers below the device.
        listener: Called with every event.

    Raises:
        UserError: There is no such eviction order.
    """

    def __init__(
        self,
        blocks: int,
        page: int = 1,
        *,
        eviction: str = "lru",
        commit_at: CommitAt = "step",
        tiers: Tiers | None = None,
        listener: Listener = ignore,
    ) -> None:
        super().__init__(page, blocks, listener)
        self._order = EVICTION_ORDERS.get(eviction)
        self._commit_at = commit_at
        self._tiers = Tiers(()) if tiers is None else tiers
        self._tiers.listen(self.clock, listener)
        self._tree = RadixTree(page, self._order, self.clock)
        self._free = list(range(blocks))
        self._held: dict[int, _Held] = {}
        self._step = False
        self._due: dict[int, tuple[Sequence[int], int]] = {}

    @property
    def evictable_tokens(self) -> int:
        """Cached tokens that no request holds."""
        return self._tree.evictable

    @property
    def free_blocks(self) -> int:
        """Pages that hold nothing."""
        return len(self._free)

    def match(
        self,
        tokens: Sequence[int],
        namespace: NamespaceId = 0,
        *,
        contents: Sequence[Content] = (),
        limit: int | None = None,
        earlier: Match | None = None,
    ) -> Match:
        """Return the longest cached prefix in whole pages; stamps its nodes as used and splits the last one.

        What lies behind in lower tiers is found as well, page by page.
        """
        page = self.block_size
        most = max(0, len(tokens) - 1 if limit is None else min(limit, len(tokens))) // page * page
        full = len(tokens) // page * page
        padded = with_contents(tokens, contents)
        node, depth = self._tree.match(namespace, padded, most)
        matched = self._tree.peek(node, namespace, padded, depth, full)
        hashes = earlier.handle.hashes if earlier and isinstance(earlier.handle, _Found) else []
        places = self._below(namespace, padded, hashes, depth, most)
        path = list(self._tree.path(node))[::-1]
        tiers = [(RUNNING if step.lock_count else IDLE, len(step.tokens)) for step in path]
        usable = depth + len(places) * page
        return Match(
            namespace=namespace,
            tokens=len(tokens),
            blocks=tuple(block for step in path for block in step.blocks),
            matched=max(matched, usable),
            usable=usable,
            by_tier=add_up(tiers + [(tier, page) for tier in places]),
            loads=len(places),
            contents=tuple(contents),
            handle=_Found(node, padded[:usable] if places else (), hashes),
        )

    def available(self, held: Match | BlockTable | None = None) -> int:
        """Return free and evictable pages; for a match without those that its lock would protect and its loads."""
        pages = len(self._free) + self._tree.evictable // self.block_size
        if isinstance(held, Match):
            pages -= self._tree.unlocked(self._handle(held).node) // self.block_size + held.loads
        return pages

    def lock(self, match: Match, *, priority: int | None = None) -> BlockTable:
        """Protect the path to the matched node, and load the pages of lower tiers into the tree."""
        found = self._handle(match)
        if self.available(match) < 0:
            raise OutOfBlocksError(f"{match.loads} pages to load")
        table = self._open(match, priority)
        table.blocks.extend(match.blocks)
        table.committed = len(match.blocks) * self.block_size
        self._held[table.id] = _Held(found.node)
        self._tree.lock(found.node)
        if match.loads:
            self._load(table, match, found)
        # After the loads: writing a page down may push out an entry that is to be loaded.
        for step in self._tree.path(found.node):
            for page_hash, block in zip(step.hashes, step.blocks, strict=False):
                self._tiers.used((step.namespace, page_hash), block)
        self._emit_hits(table, match.blocks)
        return table

    def take(self, table: BlockTable, blocks: int) -> tuple[int, ...]:
        """Take the lowest free pages; if there are too few, evict leaves until there are enough."""
        self._require(table)
        if blocks > self.available():
            raise OutOfBlocksError(f"{blocks} pages are wanted, {self.available()} are free or evictable")
        self._evict((blocks - len(self._free)) * self.block_size)
        taken = tuple(heapq.heappop(self._free) for _ in range(blocks))
        self._emit(Allocated(self.clock.stamp(), table.id, taken))
        table.blocks.extend(taken)
        return taken

    def commit(self, table: BlockTable, tokens: Sequence[int], computed: int | None = None) -> None:
        """Insert the whole pages of a prompt's first `computed` tokens, now or when the step ends.

        An answer's tokens are not inserted before the request finishes. Duplicates in the table are replaced by the
        tree's pages and freed.
        """
        computed = len(tokens) if computed is None else computed
        self._require_room(table, computed)
        if computed > table.prompt_tokens or self._held[table.id].node.detached:
            return
        if self._step and self._commit_at == "step":
            self._due[table.id] = tokens, computed
        else:
            self._insert(table, tokens, computed)

    def release(self, table: BlockTable, tokens: Sequence[int] | None = None) -> None:
        """Insert the tokens of a request that finished, unlock its path and free its other pages.

        Of tokens that end behind the prompt, the prompt becomes a node of its own with a priority higher by one, so
        that the answer can be evicted without it.
        """
        if tokens is not None:
            self._require_room(table, len(tokens))
            if not self._held[table.id].node.detached:
                self._insert(table, tokens, len(tokens))
                self._split_prompt(table, tokens)
            self._tree.settle(table.id)
        self._close(table)
        self._due.pop(table.id, None)
        if self._step and tokens is None:
            self._unregister(table.id)
        node = self._held.pop(table.id).node
        self._give_back(table.blocks[table.committed // self.block_size :])
        self._give_back(self._tree.unlock(node))

    def begin_step(self) -> None:
        """Note what is inserted from now on. Raises ValueError in a step."""
        if self._step:
            raise ValueError("the last step has not ended")
        self._step = True
        self._tiers.begin_step()

    def end_step(self, ok: bool = True) -> None:
        """Insert what is due; or cut off what was inserted in a step that failed."""
        if not self._step:
            raise ValueError("no step has begun")
        self._step = False
        self._tiers.end_step(ok)
        due, self._due = self._due, {}
        if not ok:
            self._unregister(None)
        self._tree.settle()
        for number, (tokens, computed) in due.items() if ok else ():
            self._insert(self._tables[number], tokens, computed)

    def reset(self) -> bool:
        """Forget the tree and the lower tiers."""
        if self._tables:
            return False
        self._tree = RadixTree(self.block_size, self._order, self.clock)
        self._free = list(range(self.capacity))
        self._tiers.clear()
        return True

    def check_integrity(self) -> None:
        """Raise IntegrityError unless every page is free, in one node, or private to one request."""
        self._tree.check_integrity()
        locks: dict[Node, int] = {}
        owners: list[int] = list(self._free)
        detached: dict[Node, None] = {}
        for table in self._tables.values():
            path = list(self._tree.path(self._held[table.id].node))[::-1]
            shared = [block for node in path for block in node.blocks]
            pages = table.committed // self.block_size
            ensure(table.blocks[:pages] == shared, f"table {table.id} differs from its path")
            owners.extend(table.blocks[pages:])
            detached.update((node, None) for node in path if node.detached)
            for node in path:
                locks[node] = locks.get(node, 0) + 1
        self._count_references()
        for node in self._tree.nodes():
            owners.extend(node.blocks)
            ensure(node.lock_count == locks.get(node, 0), "a node's locks are wrong")
        for node in detached:
            owners.extend(node.blocks)
            ensure(node.lock_count == locks[node], "a cut-off node's locks are wrong")
        ensure(sorted(owners) == list(range(self.capacity)), "a page has no owner, or two")
        self._tiers.check_integrity()

    def _handle(self, match: Match) -> _Found:
        if not isinstance(match.handle, _Found):
            raise ValueError("the match is another cache's")
        return match.handle

    def _below(
        self, namespace: NamespaceId, tokens: Sequence[int], hashes: list[BlockHash], depth: int, most: int
    ) -> list[str]:
        """Return the tiers of the pages from `depth` on, up to the first that no tier has."""
        places: list[str] = []
        if not self._tiers.tiers:
            return places
        extend_hashes(hashes, tokens, most // self.block_size, self.block_size)
        for page_hash in hashes[depth // self.block_size : most // self.block_size]:
            tier = self._tiers.find((namespace, page_hash))
            if tier is None:
                break
            places.append(tier)
        return places if len(places) * self.block_size >= self._tiers.least_load else []

    def _load(self, table: BlockTable, match: Match, found: _Found) -> None:
        """Load pages in order, up to the first that cannot be read, and insert them."""
        first = len(match.blocks)
        keys: list[Key] = [(match.namespace, page_hash) for page_hash in found.hashes[first : first + match.loads]]
        self._tiers.pin(keys)
        targets = self.take(table, match.loads)
        places: list[str] = []
        for key, target in zip(keys, targets, strict=True):
            tier = self._tiers.load(key, target)
            if tier is None:
                break
            places.append(tier)
        self._tiers.unpin(keys)
        loaded = first + len(places)
        self._give_back(table.blocks[loaded:])
        del table.blocks[loaded:]
        table.cached_tokens = loaded * self.block_size
        wanted = {tier: tokens for tier, tokens in match.by_tier.items() if tier in (RUNNING, IDLE)}
        table.by_tier = add_up([*wanted.items(), *((tier, self.block_size) for tier in places)])
        node, _ = self._tree.insert(
            match.namespace, found.tokens, table.blocks, counted=table.cached_tokens, hashes=found.hashes
        )
        self._move_lock(table, node)
        table.committed = table.cached_tokens

    def _insert(self, table: BlockTable, tokens: Sequence[int], computed: int) -> None:
        held = self._held[table.id]
        pages = computed // self.block_size
        if pages * self.block_size < table.committed:
            return
        padded = with_contents(tokens, table.contents)
        hashes: list[BlockHash] = []
        if self._tiers.tiers:
            extend_hashes(hashes, padded, pages, self.block_size)
        node, present = self._tree.insert(
            table.namespace,
            padded,
            table.blocks[:pages],
            priority=table.priority or 0,
            counted=held.inserted,
            hashes=hashes,
            owner=table.id if self._step else 0,
        )
        length = pages * self.block_size
        held.inserted = max(held.inserted, length)
        first, new = table.committed // self.block_size, max(table.committed, present) // self.block_size
        duplicates = table.blocks[first:new]
        path = list(self._tree.path(node))[::-1]
        table.blocks[:pages] = [block for step in path for block in step.blocks]
        self._give_back(duplicates)
        self._move_lock(table, node)
        table.committed = length
        if new < pages:
            stored = tuple(table.blocks[new:pages])
            for page_hash, block in zip(hashes[new:], stored, strict=False):
                self._tiers.used((table.namespace, page_hash), block)
            tokens_stored = len(stored) * self.block_size
            self._emit(Stored(self.clock.stamp(), table.id, table.namespace, tokens_stored, stored))

    def _split_prompt(self, table: BlockTable, tokens: Sequence[int]) -> None:
        pages = min(table.prompt_tokens, len(tokens)) // self.block_size
        if 0 < pages < len(tokens) // self.block_size:
            padded = with_contents(tokens, table.contents)
            length = pages * self.block_size
            priority = (table.priority or 0) + 1
            self._tree.insert(table.namespace, padded, table.blocks[:pages], priority=priority, counted=length)

    def _move_lock(self, table: BlockTable, node: Node) -> None:
        held = self._held[table.id]
        self._tree.lock(node)
        self._give_back(self._tree.unlock(held.node))
        held.node = node

    def _evict(self, tokens: int) -> None:
        for node in self._tree.evict(tokens):
            lost = list(node.blocks)
            # From the end on, so that the beginning of a chain is the last to go from the tiers below.
            for page_hash, block in zip(reversed(node.hashes), reversed(node.blocks), strict=False):
                key = (node.namespace, page_hash)
                kept = self._tiers.evicting(key, block)
                if kept is not None:
                    lost.remove(block)
                    self._emit(Demoted(self.clock.stamp(), key, IDLE, kept, block))
            if lost:
                self._emit(Evicted(self.clock.stamp(), IDLE, len(lost) * self.block_size, tuple(lost)))
            for block in node.blocks:
                heapq.heappush(self._free, block)

    def _give_back(self, blocks: Sequence[int]) -> None:
        for block in blocks:
            heapq.heappush(self._free, block)
        if blocks:
            self._emit(Freed(self.clock.stamp(), tuple(blocks)))

    def _unregister(self, owner: int | None) -> None:
        cut, freed = self._tree.detach(owner)
        for block in cut:
            self._tiers.forget(block)
        if cut:
            self._emit(Unregistered(self.clock.stamp(), tuple(cut)))
        self._give_back(freed)
