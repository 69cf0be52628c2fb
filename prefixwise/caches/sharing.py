"""How much of each prompt an earlier request had, when nothing is ever evicted.

In the finished prefix tree the longest prefix that a prompt shares with any earlier one is the depth of its deepest
ancestor that an earlier prompt passed. Each node is marked once a partition, so a replay costs the size of the
tree plus one step a request, whatever the number of tokens.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Sequence

import msgspec

from prefixwise.corpus.rows import NONE, Rows
from prefixwise.corpus.tree import ROOT


class Sharing(msgspec.Struct, frozen=True):
    """By row: `shared` tokens that an earlier request had, and the first request that had them (-1: none)."""

    shared: array[int]
    partner: array[int]


def sharing(rows: Rows, fields: tuple[str, ...] = (), *, outputs: bool = True) -> Sharing:
    """Return what each prompt shares with any earlier one of the same model and namespace.

    Requests are taken in order of start; a prompt is readable from the start of its request on, an answer from
    its end on (from its start where the log has no end).

    Args:
        rows: The corpus.
        fields: Parts of the namespace that separate requests; () is one namespace a model.
        outputs: Whether answers enter the cache.
    """
    used = tuple(name for name in fields if any(getattr(space, name) is not None for space in rows.namespaces))
    key = (sharing, used, outputs and any(node != NONE for node in rows.response_node))
    if key not in rows.memo:
        rows.memo[key] = shared_within(rows, partition(rows, used), outputs=key[2])
    found: Sharing = rows.memo[key]
    return found


def shared_within(rows: Rows, partitions: Sequence[int], *, outputs: bool = True) -> Sharing:
    """Return what each prompt shares with any earlier one of its partition; `partitions` are numbers by row."""
    parent, depth = rows.tree.parent, rows.tree.depth
    times = rows.start_times()
    marked_in = array("i", [NONE]) * len(rows.tree)
    owner = array("i", [NONE]) * len(rows.tree)
    shared, partner = array("i", [0]) * len(rows), array("i", [NONE]) * len(rows)
    pending: list[tuple[float, int]] = []
    current = NONE

    def mark(node: int, row: int) -> int:
        """Mark the way up from `node`; return the first node that was marked before."""
        while marked_in[node] != current and parent[node] != ROOT:
            marked_in[node] = current
            owner[node] = row
            node = parent[node]
        return node

    for row in sorted(rows.by_start(), key=partitions.__getitem__):
        if partitions[row] != current:
            current = partitions[row]
            pending.clear()
        while pending and pending[0][0] <= times[row]:
            earlier = heapq.heappop(pending)[1]
            mark(rows.response_node[earlier], earlier)
        node = mark(rows.node[row], row)
        if depth[node]:
            shared[row], partner[row] = depth[node], owner[node]
        if outputs and rows.response_node[row] != NONE:
            end = rows.end[row]
            heapq.heappush(pending, (max(end, times[row]) if end == end else times[row], row))
    return Sharing(shared, partner)


def partition(rows: Rows, fields: Sequence[str]) -> array[int]:
    """Number the caches that cannot see each other: by row, one number a model and value of `fields`."""
    numbers: dict[tuple[int, bytes], int] = {}
    parts = [space.id(fields) for space in rows.namespaces]
    return array(
        "i",
        (
            numbers.setdefault((model, parts[space]), len(numbers))
            for model, space in zip(rows.model, rows.namespace, strict=True)
        ),
    )
