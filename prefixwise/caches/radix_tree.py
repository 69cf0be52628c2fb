"""A radix tree over token ids whose nodes own device blocks, with locks, stamps and eviction as in SGLang.

Source: SGLang 0.5.23, `mem_cache/radix_cache.py` (its reference tree, in Python) and `evict_policy.py`. A page is a
block; at page size 1, SGLang's default, a block is a token.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from prefixwise.caches.block_keys import BlockHash, NamespaceId, common_length
from prefixwise.caches.bookkeeping import ensure
from prefixwise.caches.events import LogicalClock
from prefixwise.caches.eviction_orders import EvictionOrder

ChildKey: TypeAlias = tuple[NamespaceId | None, tuple[int, ...]]

_SPARE = 64
LOWEST_PRIORITY = -(2**63)


class Node:
    """A run of tokens between two places where prompts part.

    Attributes:
        tokens: Its tokens, whole pages.
        blocks: A device block for each page.
        hashes: A chained hash for each page; empty where no tier needs them.
        namespace: Namespace of the path.
        parent: Node above; None for the root.
        children: By first page; below the root by namespace too.
        lock_count: Running requests whose path goes through it.
        owner: Table that inserted it in the step that is in progress; 0 for all other nodes.
        detached: Whether it was cut off because its step failed; it lives until its locks are gone.
        last_access: Stamp of its last use.
        created: Stamp of when it was made.
        hit_count: Requests that inserted it.
        priority: Highest priority of those requests.
    """

    __slots__ = (
        "blocks", "children", "created", "detached", "hashes", "hit_count", "last_access", "lock_count", "namespace",
        "owner", "parent", "priority", "tokens",
    )  # fmt: skip

    def __init__(self, clock: LogicalClock, parent: Node | None, namespace: NamespaceId, priority: int) -> None:
        self.tokens: tuple[int, ...] = ()
        self.blocks: list[int] = []
        self.hashes: list[BlockHash] = []
        self.namespace = namespace
        self.parent = parent
        self.children: dict[ChildKey, Node] = {}
        self.lock_count = 0
        self.owner = 0
        self.detached = False
        self.last_access = clock.stamp()
        self.created = clock.stamp()
        self.hit_count = 0
        self.priority = priority


class RadixTree:
    """The tree.

    Args:
        page: Tokens in a page.
        order: Which leaf goes first.
        clock: Gives the stamps.
        weigh: Says how many tokens a run of tokens stands for; a simulator may pass one number for many.

    Attributes:
        root: The root; it has no tokens and is never evicted.
        evictable: Tokens of nodes without locks.
        protected: Tokens of nodes with locks.
    """

    def __init__(
        self, page: int, order: EvictionOrder, clock: LogicalClock, weigh: Callable[[tuple[int, ...]], int] = len
    ) -> None:
        self.page = page
        self.root = Node(clock, None, 0, LOWEST_PRIORITY)
        self.root.lock_count = 1
        self.evictable = 0
        self.protected = 0
        self._order = order
        self._clock = clock
        self._weigh = weigh
        # What may be evicted, by key; an entry whose key has changed since is passed over.
        self._queue: list[tuple[tuple[int, ...], int, Node]] = []
        # Nodes without locks and children; a dictionary, because a set has no order of its own.
        self._leaves: dict[Node, None] = {}
        self._fresh: list[Node] = []

    def match(self, namespace: NamespaceId, tokens: Sequence[int], length: int) -> tuple[Node, int]:
        """Return the deepest node of the first `length` tokens, whole pages, and its depth.

        Counts as a use of every node on the way, also of one that is matched in part: it is stamped before it is
        split, so its unmatched rest is refreshed too.
        """
        if not length:
            return self.root, 0
        node, depth = self.root, 0
        now = self._clock.stamp()
        while depth < length:
            child = node.children.get(self._child_key(node, namespace, tokens, depth))
            if child is None:
                break
            child.last_access = now
            self._queue_leaf(child)
            shared = self._shared_pages(child, tokens, depth, length)
            depth += shared
            if shared < len(child.tokens):
                return self._split(child, shared), depth
            node = child
        return node, depth

    def peek(self, node: Node, namespace: NamespaceId, tokens: Sequence[int], depth: int, length: int) -> int:
        """Return up to where tokens from `depth` on are below `node`; counts as no use and splits nothing."""
        while depth < length:
            child = node.children.get(self._child_key(node, namespace, tokens, depth))
            if child is None:
                break
            shared = self._shared_pages(child, tokens, depth, length)
            depth += shared
            if shared < len(child.tokens):
                break
            node = child
        return depth

    def insert(
        self,
        namespace: NamespaceId,
        tokens: Sequence[int],
        blocks: Sequence[int],
        *,
        priority: int = 0,
        counted: int = 0,
        hashes: Sequence[BlockHash] = (),
        owner: int = 0,
    ) -> tuple[Node, int]:
        """Insert the tokens of `blocks`; return the last node and how many tokens were there already.

        Args:
            namespace: Namespace of the path.
            tokens: Tokens, at least a page for each block.
            blocks: Blocks of the pages; the tree keeps those of pages that were not there.
            priority: Priority of the request; nodes on the way have at least this afterwards.
            counted: Tokens that the request inserted before: nodes within them do not count it again.
            hashes: Chained hashes of the pages, where tiers need them.
            owner: Table that inserts, in a step; 0 otherwise.
        """
        length = len(blocks) * self.page
        node, depth = self.root, 0
        now = self._clock.stamp()
        while depth < length:
            child = node.children.get(self._child_key(node, namespace, tokens, depth))
            if child is None:
                break
            child.last_access = now
            shared = self._shared_pages(child, tokens, depth, length)
            depth += shared
            node = self._split(child, shared) if shared < len(child.tokens) else child
            node.priority = max(node.priority, priority)
            if depth > counted:
                node.hit_count += 1
            self._queue_leaf(node)
            if node is not child:
                self._queue_leaf(child)
        if depth == length:
            return node, depth
        leaf = Node(self._clock, node, namespace, priority)
        leaf.tokens = tuple(tokens[depth:length])
        leaf.blocks = list(blocks[depth // self.page :])
        leaf.hashes = list(hashes[depth // self.page : len(blocks)])
        leaf.hit_count = int(length > counted)
        leaf.owner = owner
        self._add(leaf, node)
        return leaf, depth

    def lock(self, node: Node) -> None:
        """Protect the path from the root to `node`."""
        for step in self.path(node):
            if not step.lock_count:
                weight = self._weigh(step.tokens)
                self.evictable -= weight
                self.protected += weight
            step.lock_count += 1
            self._update_leaf(step)

    def unlock(self, node: Node) -> list[int]:
        """End a `lock`; return the blocks of nodes that were only waiting for it."""
        freed: list[int] = []
        for step in self.path(node):
            step.lock_count -= 1
            if step.detached:
                if not step.lock_count:
                    freed.extend(step.blocks)
            elif not step.lock_count:
                weight = self._weigh(step.tokens)
                self.evictable += weight
                self.protected -= weight
                self._update_leaf(step)
        return freed

    def unlocked(self, node: Node) -> int:
        """Return the tokens of the path that a lock would protect anew."""
        return sum(self._weigh(step.tokens) for step in self.path(node) if not step.lock_count)

    def evict(self, tokens: int) -> list[Node]:
        """Take out leaves, whole, until at least `tokens` tokens are gone or no leaf is left; return them in order.

        A parent that becomes a leaf competes at once.
        """
        gone: list[Node] = []
        while tokens > 0 and self._queue:
            key, _, leaf = heapq.heappop(self._queue)
            if leaf not in self._leaves or key != self._order(leaf):
                continue
            tokens -= self._weigh(leaf.tokens)
            gone.append(leaf)
            self._remove(leaf)
        return gone

    def _queue_leaf(self, node: Node) -> None:
        """Queue a node whose key is new, if it may be evicted."""
        if node not in self._leaves:
            return
        if len(self._queue) > 4 * len(self._leaves) + _SPARE:  # most entries are out of date
            self._queue = [(self._order(leaf), leaf.created, leaf) for leaf in self._leaves]
            heapq.heapify(self._queue)
        else:
            heapq.heappush(self._queue, (self._order(node), node.created, node))

    def settle(self, owner: int | None = None) -> None:
        """Treat what was inserted in this step, by one table or (None) all, like everything else from now on."""
        for node in self._fresh:
            if owner in (None, node.owner):
                node.owner = 0
        self._fresh = [node for node in self._fresh if node.owner]

    def detach(self, owner: int | None = None) -> tuple[list[int], list[int]]:
        """Cut off what was inserted in this step, by one table or (None) all, and all that lies below it.

        Returns:
            The blocks that were cut off, and those among them that nobody locks.
        """
        cut: list[int] = []
        freed: list[int] = []
        for node in self._fresh:
            if not node.detached and node.owner and owner in (None, node.owner):
                self._detach(node, cut, freed)
        return cut, freed

    def nodes(self) -> Iterator[Node]:
        """Return all nodes but the root, parents first."""
        stack = list(self.root.children.values())
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.children.values())

    def path(self, node: Node) -> Iterator[Node]:
        """Return the nodes from `node` up to, and without, the root."""
        while node.parent is not None:
            yield node
            node = node.parent

    def check_integrity(self) -> None:
        """Raise IntegrityError unless tokens, keys, locks and sums agree."""
        sums = {True: 0, False: 0}
        for node in self.nodes():
            parent = node.parent
            ensure(parent is not None and not node.detached, "a node of the tree is cut off")
            if parent is None:
                continue
            key = self._child_key(parent, node.namespace, node.tokens, 0)
            ensure(parent.children.get(key) is node, "a child lies under a wrong key")
            ensure(parent is self.root or parent.namespace == node.namespace, "a path crosses namespaces")
            ensure(0 < len(node.tokens) == len(node.blocks) * self.page, "a node's tokens and blocks disagree")
            ensure(len(node.hashes) in (0, len(node.blocks)), "a node's hashes and blocks disagree")
            ensure(
                parent is self.root or parent.lock_count >= node.lock_count, "a locked node lies below an unlocked one"
            )
            ensure((node in self._leaves) == (not node.lock_count and not node.children), "a leaf is missing")
            sums[node.lock_count > 0] += self._weigh(node.tokens)
        ensure((self.protected, self.evictable) == (sums[True], sums[False]), "the tree's sums are wrong")
        ensure(len(self._leaves) <= sum(1 for _ in self.nodes()), "a leaf is not in the tree")

    def _child_key(self, node: Node, namespace: NamespaceId, tokens: Sequence[int], depth: int) -> ChildKey:
        page = tuple(tokens[depth : depth + self.page])
        return (namespace if node is self.root else None, page)

    def _shared_pages(self, node: Node, tokens: Sequence[int], depth: int, length: int) -> int:
        shared = common_length(node.tokens, tokens, depth, length - depth)
        return shared // self.page * self.page

    def _split(self, node: Node, at: int) -> Node:
        """Put a new node with the first `at` tokens above `node`, which keeps its stamps and the rest."""
        parent = node.parent
        if parent is None:
            raise ValueError("the root cannot be split")
        key = self._child_key(parent, node.namespace, node.tokens, 0)
        upper = Node(self._clock, parent, node.namespace, node.priority)
        upper.hit_count, upper.lock_count, upper.owner = node.hit_count, node.lock_count, node.owner
        if upper.owner:
            self._fresh.append(upper)
        pages = at // self.page
        upper.tokens, node.tokens = node.tokens[:at], node.tokens[at:]
        upper.blocks, node.blocks = node.blocks[:pages], node.blocks[pages:]
        upper.hashes, node.hashes = node.hashes[:pages], node.hashes[pages:]
        upper.children = {self._child_key(upper, node.namespace, node.tokens, 0): node}
        parent.children[key] = upper
        node.parent = upper
        return upper

    def _add(self, leaf: Node, parent: Node) -> None:
        """Hang a new leaf below `parent`."""
        parent.children[self._child_key(parent, leaf.namespace, leaf.tokens, 0)] = leaf
        if leaf.owner:
            self._fresh.append(leaf)
        self.evictable += self._weigh(leaf.tokens)
        self._update_leaf(parent)
        self._update_leaf(leaf)

    def _remove(self, leaf: Node) -> Node:
        """Take a leaf without locks out of the tree; return its parent."""
        parent = leaf.parent
        if parent is None:
            raise ValueError("the root cannot be evicted")
        del parent.children[self._child_key(parent, leaf.namespace, leaf.tokens, 0)]
        self.evictable -= self._weigh(leaf.tokens)
        self._leaves.pop(leaf, None)
        leaf.owner = 0
        self._update_leaf(parent)
        return parent

    def _detach(self, top: Node, cut: list[int], freed: list[int]) -> None:
        parent = top.parent
        if parent is None:
            raise ValueError("the root cannot be cut off")
        del parent.children[self._child_key(parent, top.namespace, top.tokens, 0)]
        self._update_leaf(parent)
        stack = [top]
        while stack:
            node = stack.pop()
            stack.extend(node.children.values())
            node.children = {}
            node.detached = True
            cut.extend(node.blocks)
            self._leaves.pop(node, None)
            if node.lock_count:
                self.protected -= self._weigh(node.tokens)
            else:
                self.evictable -= self._weigh(node.tokens)
                freed.extend(node.blocks)

    def _update_leaf(self, node: Node) -> None:
        if node is self.root or node.detached:
            return
        if node.lock_count or node.children:
            self._leaves.pop(node, None)
        elif node not in self._leaves:
            self._leaves[node] = None
            self._queue_leaf(node)
