"""Nodes of the prefix tree that several tenants have in common, whatever their namespaces, and what they seem to be."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterable, Sequence
from enum import IntEnum

import msgspec

from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tree import ROOT

_LEAST_MANY = 5
_SHARE_OF_MANY = 0.05


class NodeClass(IntEnum):
    """What a stretch of a prompt that tenants share seems to be."""

    OWN = 0
    """One tenant's."""
    APPROVED = 1
    """On the allow-list."""
    TEMPLATE = 2
    """Many tenants begin with it, and it holds nothing private: like a template that may be approved."""
    DOCUMENT = 3
    """Several tenants have it, in the middle of their prompts: like a public document."""
    PRIVATE = 4
    """Few tenants have it and nobody approved it, or it holds a secret or a person's data."""

    @property
    def label(self) -> str:
        """How people read it."""
        return _LABELS[self]


_LABELS = ("own", "approved", "template-like", "public document", "private")


def many(tenants: int) -> int:
    """Return how many of so many tenants make a stretch template-like: 5 %, and no fewer than five."""
    return max(_LEAST_MANY, math.ceil(_SHARE_OF_MANY * tenants))


class SharedNodes(msgspec.Struct, frozen=True):
    """By node of the tree.

    Attributes:
        tenants: How many have it; `visits`: how many requests.
        kind: Its `NodeClass`.
        first, last: When it was used, in seconds; infinite without known times.
        approved: Whether it is approved for all; a node's ancestors are then approved, too.
    """

    tenants: array[int]
    visits: array[int]
    kind: bytearray
    first: array[float]
    last: array[float]
    approved: bytearray

    def cumulated(self, rows: Rows, kind: NodeClass) -> array[int]:
        """Return by node the tokens of that kind on the way to it."""
        tree = rows.tree
        sums = array("i", bytes(4 * len(tree)))
        for node in tree.by_depth():
            parent = tree.parent[node]
            if parent != ROOT:
                own = tree.depth[node] - tree.depth[parent] if self.kind[node] == kind else 0
                sums[node] = sums[parent] + own
        return sums


def shared_nodes(rows: Rows, approved: Sequence[int], tainted: Iterable[tuple[int, bool]] = ()) -> SharedNodes:
    """Return who has each node, and what it seems to be.

    Args:
        rows: The corpus; requests of no tenant count for nothing.
        approved: By row, leading tokens that are approved for all.
        tainted: Rows whose shared prefix holds something private, and whether it is in the head of the prompt.
    """
    known = [row for row in range(len(rows)) if rows.tenants[rows.tenant[row]]]
    tenants, visits, first, last = _use(rows, known)
    is_approved, in_head = _marked(rows, known, approved), _heads(rows, known)
    tainted_nodes = _tainted(rows, tainted, tenants)
    enough = many(len({rows.tenant[row] for row in known}))
    kind = bytearray(len(rows.tree))
    for node, count in enumerate(tenants):
        if rows.tree.parent[node] == ROOT:
            continue
        if is_approved[node]:
            kind[node] = NodeClass.APPROVED
        elif count < 2:
            kind[node] = NodeClass.OWN
        elif tainted_nodes[node] or count < _LEAST_MANY:
            kind[node] = NodeClass.PRIVATE
        else:
            kind[node] = NodeClass.TEMPLATE if in_head[node] and count >= enough else NodeClass.DOCUMENT
    return SharedNodes(tenants, visits, kind, first, last, is_approved)


def _use(rows: Rows, known: Sequence[int]) -> tuple[array[int], array[int], array[float], array[float]]:
    """Return by node how many tenants and requests have it, and when first and last."""
    tree, times = rows.tree, rows.start_times()
    counts, visits = array("i", bytes(4 * len(tree))), array("i", bytes(4 * len(tree)))
    first, last = array("d", [math.inf]) * len(tree), array("d", [-math.inf]) * len(tree)
    who: dict[int, set[int]] = {}
    for row in known:
        node = rows.node[row]
        visits[node] += 1
        who.setdefault(node, set()).add(rows.tenant[row])
        first[node], last[node] = min(first[node], times[row]), max(last[node], times[row])
    for node in tree.by_depth(deepest_first=True):
        own = who.pop(node, None)
        if own is None:
            continue
        counts[node] = len(own)
        parent = tree.parent[node]
        if parent == ROOT:
            continue
        visits[parent] += visits[node]
        first[parent], last[parent] = min(first[parent], first[node]), max(last[parent], last[node])
        others = who.get(parent)
        if others is None:
            who[parent] = own
        elif len(own) > len(others):  # the smaller set goes into the larger: n log n in all
            own |= others
            who[parent] = own
        else:
            others |= own
    return counts, visits, first, last


def _marked(rows: Rows, known: Iterable[int], depths: Sequence[int]) -> bytearray:
    """Return the nodes that lie within so many leading tokens of a row."""
    tree, marks = rows.tree, bytearray(len(rows.tree))
    done: set[tuple[int, int]] = set()
    for row in known:
        node, depth = rows.node[row], depths[row]
        if not depth or (node, depth) in done:
            continue
        done.add((node, depth))
        while tree.parent[node] != ROOT and not marks[node]:
            marks[node] = tree.depth[node] <= depth
            node = tree.parent[node]
    return marks


def _heads(rows: Rows, known: Iterable[int]) -> bytearray:
    """Return the nodes within tools and system text; where a log knows no such head, of the whole prompt."""
    ends = [end or tokens for end, tokens in zip(rows.system_end, rows.prompt_tokens, strict=True)]
    return _marked(rows, known, ends)


def _tainted(rows: Rows, found: Iterable[tuple[int, bool]], tenants: Sequence[int]) -> bytearray:
    """Return the shared nodes in the head of a row, or behind it, as far as several tenants have them."""
    tree, marks = rows.tree, bytearray(len(rows.tree))
    for row, in_head in found:
        node, head = rows.node[row], rows.system_end[row]
        while tree.parent[node] != ROOT:
            if tenants[node] > 1 and (not head or (tree.depth[node] <= head) is in_head):
                marks[node] = 1
            node = tree.parent[node]
    return marks


class Stretch(msgspec.Struct, frozen=True):
    """A run of nodes that the same number of tenants share, of one kind; `node` is its end.

    `diversity` is distinct tenants over reuses: low where each tenant mostly meets its own entry again.
    """

    node: int
    kind: NodeClass
    start: int
    end: int
    tenants: int
    requests: int
    diversity: float
    first: float
    last: float


def stretches(rows: Rows, nodes: SharedNodes, most: int) -> tuple[Stretch, ...]:
    """Return the shared stretches that most tokens of requests pass, at most so many."""
    tree = rows.tree
    goes_on = bytearray(len(tree))
    begins = array("i", [0]) * len(tree)
    for node in tree.by_depth():
        parent = tree.parent[node]
        if parent == ROOT:
            continue
        same = nodes.kind[node] == nodes.kind[parent] and nodes.tenants[node] == nodes.tenants[parent]
        begins[node] = begins[parent] if same else tree.depth[parent]
        if same:
            goes_on[parent] = 1
    ends = [node for node, count in enumerate(nodes.tenants) if count > 1 and not goes_on[node] and tree.depth[node]]
    ends.sort(key=lambda node: (-nodes.visits[node] * (tree.depth[node] - begins[node]), node))
    return tuple(
        Stretch(
            node,
            NodeClass(nodes.kind[node]),
            begins[node],
            tree.depth[node],
            nodes.tenants[node],
            nodes.visits[node],
            nodes.tenants[node] / max(nodes.visits[node] - 1, 1),
            nodes.first[node],
            nodes.last[node],
        )
        for node in ends[:most]
    )
