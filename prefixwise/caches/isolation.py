"""Rows as they would be if others kept their entries apart: any rule can then be replayed under any isolation.

What keeps entries apart is put into the tree itself: a node that is not shared exists once for each owner. A rule needs
to know nothing of it, nor of namespaces, and a bounded cache still holds the entries of all owners in one pool.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Sequence

from prefixwise.core.namespace import SHARED
from prefixwise.corpus.rows import NONE, Rows
from prefixwise.corpus.tree import ROOT, PrefixTree

NOBODY = -1
"""Owner of what all share."""


def isolated_rows(rows: Rows, owner: Sequence[int], shared: Sequence[int] | None = None) -> Rows:
    """Return rows over a tree in which owners have in common only the nodes that are shared.

    Args:
        rows: The corpus; namespaces that it logs count for nothing in the result.
        owner: By row, whose entries it makes and may use.
        shared: By node, whether all may use it; its ancestors must be shared too. None where nothing is.
    """
    made = copy.copy(rows)
    made.memo, made.namespaces = {}, [SHARED]
    made.namespace = array("i", bytes(4 * len(rows)))
    if len(set(owner)) > 1:
        growing = _Isolating(rows.tree, shared)
        made.tree = growing.tree
        made.layouts = None  # they name nodes of the old tree
        made.node = array("i", map(growing.copy, rows.node, owner))
        if any(node != NONE for node in rows.response_node):
            made.response_node = array("i", map(growing.copy, rows.response_node, owner))
    return made


class _Isolating:
    """Grows the tree: as many copies of a node as it has owners."""

    def __init__(self, old: PrefixTree, shared: Sequence[int] | None) -> None:
        self.tree = PrefixTree(old.grain)
        self._old = old
        self._shared = shared
        self._copies: dict[int, int] = {}

    def copy(self, node: int, owner: int) -> int:
        """Return the copy of a node that an owner uses, -1 for an absent node."""
        if node == NONE:
            return NONE
        old, copies, missing = self._old, self._copies, []
        while (key := self._key(node, owner)) not in copies:
            missing.append((node, key))
            node = old.parent[node]
            if node == ROOT:
                break
        at = ROOT if node == ROOT else copies[key]
        for step, new in reversed(missing):
            at = copies[new] = self.tree.add(at, old.depth[step])
        return at

    def _key(self, node: int, owner: int) -> int:
        everybodys = self._old.parent[node] == ROOT or (self._shared is not None and self._shared[node])
        return node << 32 | ((NOBODY if everybodys else owner) + 1)
