"""Entries of caches with breakpoints: a prefix, until when it lives, and from when on it can be read."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.corpus.tree import ROOT, PrefixTree


def prefix_node(tree: PrefixTree, node: int, depth: int) -> int:
    """Return the node on whose edge the first `depth` tokens of the prompt at `node` end: with it, they are named."""
    parent, depths = tree.parent, tree.depth
    while parent[node] != ROOT and depths[parent[node]] >= depth:
        node = parent[node]
    return node


class Entry:
    """One entry; `life` is how long it lives after its last use."""

    __slots__ = ("last", "life", "ready")

    def __init__(self, last: float, ready: float, life: float) -> None:
        self.last = last
        self.ready = ready
        self.life = life


class Entries:
    """The entries of one level of one cache, by node and depth of what they hold."""

    def __init__(self) -> None:
        self._at: dict[int, Entry] = {}
        self._depths: dict[int, list[int]] = {}

    def get(self, node: int, depth: int) -> Entry | None:
        """Return the entry of a prefix."""
        return self._at.get(node << 32 | depth)

    def store(self, node: int, depth: int, now: float, ready: float, life: float) -> None:
        """Write a prefix, or use it once more where it is there already; its life stays as it was written."""
        entry = self._at.get(node << 32 | depth)
        if entry is None:
            self._at[node << 32 | depth] = Entry(now, ready, life)
            self._depths.setdefault(node, []).append(depth)
            return
        if entry.ready > now:
            entry.ready = min(entry.ready, ready)
        elif now - entry.last > entry.life:
            entry.ready, entry.life = ready, life
        entry.last = now

    def above(self, tree: PrefixTree, node: int, most: int) -> Iterator[tuple[int, int]]:
        """Yield (node, depth) of every entry on the way up from `node` of at most `most` tokens, longest first."""
        parent = tree.parent
        while parent[node] != ROOT:
            for depth in sorted(self._depths.get(node, ()), reverse=True):
                if depth <= most:
                    yield node, depth
            node = parent[node]


class Found:
    """The longest entry that a request can read, and what it would read if nothing expired or everything was ready."""

    __slots__ = ("alive", "kept", "written")

    def __init__(self) -> None:
        self.alive = self.kept = self.written = 0

    def look(self, entry: Entry | None, depth: int, now: float) -> bool:
        """Look at one entry; entries come longest first. Return whether it is the one to read, which uses it."""
        if entry is None:
            return False
        self.written = self.written or depth
        if entry.ready > now:
            return False
        self.kept = self.kept or depth
        if now - entry.last > entry.life:
            return False
        self.alive = depth
        entry.last = now
        return True
