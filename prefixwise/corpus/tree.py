"""The radix tree over token ids: what any two prompts of a corpus share is the depth of their common ancestor.

An edge is a slice of a stored segment, so the tree holds no text of its own. A prompt always ends at a node.
Nodes keep their number when an edge is split (the new node is the upper one), so a pair (node, segment) that was
walked once leads to the same node for ever: that memo makes a known segment one look-up.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import TypeVar

from prefixwise.corpus.tokenizer import BYTES_PER_ID

State = TypeVar("State")

ROOT = -1
"""Parent of the roots. A tree has one root a vocabulary: ids of different vocabularies do not compare."""


class PrefixTree:
    """Nodes as columns: `parent[n]`, `depth[n]` in tokens. Enough for every count; holds no text.

    `grain` is the number of tokens below which two prompts cannot be told apart: 1 for a tree over token ids, the
    block size for a trace of block hashes.
    """

    def __init__(self, grain: int = 1) -> None:
        self.grain = grain
        self.parent = array("i")
        self.depth = array("i")

    def __len__(self) -> int:
        return len(self.parent)

    def add_root(self) -> int:
        """Add a root and return its number."""
        return self.add(ROOT, 0)

    def add(self, parent: int, depth: int) -> int:
        """Add a node and return its number; for trees whose nodes are known beforehand (traces)."""
        self.parent.append(parent)
        self.depth.append(depth)
        return len(self.parent) - 1

    def path(self, node: int) -> list[int]:
        """Return the nodes from below the root down to `node`."""
        nodes = []
        while self.parent[node] != ROOT:
            nodes.append(node)
            node = self.parent[node]
        nodes.reverse()
        return nodes

    def fold(self, start: Callable[[int], State], step: Callable[[State, int], State]) -> Iterator[tuple[int, State]]:
        """Yield every node but the roots with its state, parents first.

        Args:
            start: Returns the state of a root.
            step: Returns the state of a node from that of its parent, which it must leave as it is.
        """
        children: list[list[int]] = [[] for _ in range(len(self))]
        stack: list[tuple[int, State]] = []
        for node, parent in enumerate(self.parent):
            if parent == ROOT:
                stack.append((node, start(node)))
            else:
                children[parent].append(node)
        while stack:
            node, state = stack.pop()
            for child in children[node]:
                after = step(state, child)
                yield child, after
                stack.append((child, after))

    def by_depth(self, *, deepest_first: bool = False) -> list[int]:
        """Return all nodes ordered by depth; a parent never follows its child (or never precedes it)."""
        return sorted(range(len(self)), key=self.depth.__getitem__, reverse=deepest_first)


class TokenTree(PrefixTree):
    """A prefix tree that grows from sequences of token ids and can give them back."""

    def __init__(self) -> None:
        super().__init__()
        self.segments: list[bytes] = []
        self._edge_segment = array("i")
        self._edge_start = array("i")
        self._children: dict[int, int] = {}
        self._walked: dict[int, int] = {}

    def add(self, parent: int, depth: int, segment: int = 0, start: int = 0) -> int:
        """Add a node whose edge is the slice of `segment` that begins at token `start`."""
        self.parent.append(parent)
        self.depth.append(depth)
        self._edge_segment.append(segment)
        self._edge_start.append(start)
        return len(self.parent) - 1

    def add_segment(self, ids: bytes) -> int:
        """Store token ids (at least one) and return the segment's number."""
        self.segments.append(ids)
        return len(self.segments) - 1

    def walk(self, node: int, segment: int) -> int:
        """Return the node that `segment` leads to from `node`, adding what is new."""
        key = node << 32 | segment
        end = self._walked.get(key)
        if end is None:
            end = self._walked[key] = self.insert(node, segment)
        return end

    def insert(self, node: int, segment: int) -> int:
        """Do the same without a memo, for callers that keep one."""
        ids = self.segments[segment]
        total = len(ids) // BYTES_PER_ID
        depth, children = self.depth, self._children
        at = 0
        while at < total:
            key = _child_key(node, ids, at)
            child = children.get(key)
            if child is None:
                leaf = children[key] = self.add(node, depth[node] + total - at, segment, at)
                return leaf
            length = depth[child] - depth[node]
            edge = self.segments[self._edge_segment[child]]
            same = common_ids(edge, self._edge_start[child], ids, at, min(length, total - at))
            node = child if same == length else self._split(node, child, key, same)
            at += same
        return node

    def _split(self, node: int, child: int, key: int, same: int) -> int:
        """Put a node `same` tokens below `node` into the edge to `child`, and return it."""
        segment, start = self._edge_segment[child], self._edge_start[child]
        upper = self.add(node, self.depth[node] + same, segment, start)
        self.parent[child] = upper
        self._edge_start[child] = start + same
        self._children[key] = upper
        self._children[_child_key(upper, self.segments[segment], start + same)] = child
        return upper

    def edge(self, node: int) -> bytes:
        """Return the ids on the edge that leads to `node`."""
        if self.parent[node] == ROOT:
            return b""
        start = self._edge_start[node]
        stop = start + self.depth[node] - self.depth[self.parent[node]]
        return self.segments[self._edge_segment[node]][start * BYTES_PER_ID : stop * BYTES_PER_ID]

    def ids(self, node: int) -> bytes:
        """Return all ids from the root to `node`."""
        return b"".join(self.edge(step) for step in self.path(node))

    def edges(self, node: int) -> Iterator[tuple[int, bytes]]:
        """Yield (node, ids of its edge) from the root down to `node`."""
        for step in self.path(node):
            yield step, self.edge(step)


def _child_key(node: int, ids: bytes, at: int) -> int:
    return node << 32 | int.from_bytes(ids[at * BYTES_PER_ID : at * BYTES_PER_ID + BYTES_PER_ID], "little")


def common_ids(a: bytes, a_start: int, b: bytes, b_start: int, most: int) -> int:
    """Return how many of at most `most` ids agree from `a_start` in `a` and `b_start` in `b`.

    Compares slices (at memory speed) and bisects down to the first difference.
    """
    a_at, b_at, size = a_start * BYTES_PER_ID, b_start * BYTES_PER_ID, most * BYTES_PER_ID
    if a[a_at : a_at + size] == b[b_at : b_at + size]:
        return most
    low, high = 0, most  # the first `low` agree, the first `high` do not
    while high - low > 1:
        middle = (low + high) // 2
        cut = low * BYTES_PER_ID
        stop = middle * BYTES_PER_ID
        if a[a_at + cut : a_at + stop] == b[b_at + cut : b_at + stop]:
            low = middle
        else:
            high = middle
    return low
