"""The units (blocks, pages) of a corpus by number: what caches of fixed units store, look up and evict."""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tree import ROOT


def _whole_units(rows: Rows, size: int) -> Iterator[tuple[int, int]]:
    """Yield (node, how many whole units end on its edge), for every node of the tree in order."""
    depth = rows.tree.depth
    for node, parent in enumerate(rows.tree.parent):
        yield node, depth[node] // size - (depth[parent] // size if parent != ROOT else 0)


class Runs:
    """Runs of whole units that no request parts: no prompt, and nothing that it may use, ends inside one.

    Args:
        rows: The corpus.
        size: Tokens in a unit.

    Attributes:
        weights: Units in each run, by number.
    """

    def __init__(self, rows: Rows, size: int) -> None:
        self.size = size
        self._parent = rows.tree.parent
        # The last token is never served, so of a prompt that ends with a unit the last unit stands apart.
        ends_whole = bytearray(len(rows.tree))
        for node, tokens in zip(rows.node, rows.prompt_tokens, strict=True):
            ends_whole[node] = tokens % size == 0
        self.weights: list[int] = []
        self._runs: list[tuple[int, ...]] = []
        for node, count in _whole_units(rows, size):
            parts = (count - 1, 1) if ends_whole[node] else (count,)
            first = len(self.weights)
            self.weights.extend(part for part in parts if part)
            self._runs.append(tuple(range(first, len(self.weights))))

    def on_path(self, node: int) -> list[int]:
        """Return the numbers of the runs from the root to `node`."""
        runs, parent = self._runs, self._parent
        steps = []
        while node != ROOT:
            if runs[node]:
                steps.append(runs[node])
            node = parent[node]
        return [run for step in reversed(steps) for run in step]

    def within(self, path: list[int], units: int) -> int:
        """Return how many leading runs of `path` make up `units` units."""
        weights = self.weights
        for count, run in enumerate(path):
            if units <= 0:
                return count
            units -= weights[run]
        return len(path)


class Units:
    """Numbers every distinct unit of a corpus; a unit is known by all tokens up to its end, as in a hash chain.

    Args:
        rows: The corpus.
        size: Tokens in a unit.

    Attributes:
        total: How many whole units there are; numbers run from 0. The last, unfilled unit of a prompt that ends at
            node n has the number `total + n`, and an empty one is nowhere used.
    """

    def __init__(self, rows: Rows, size: int) -> None:
        self.size = size
        self._parent = rows.tree.parent
        self._first = array("q", bytes(8 * len(rows.tree)))
        self._count = array("i", bytes(4 * len(rows.tree)))
        total = 0
        for node, count in _whole_units(rows, size):
            self._first[node], self._count[node] = total, count
            total += count
        self.total = total

    def on_path(self, node: int) -> list[int]:
        """Return the numbers of the whole units from the root to `node`."""
        first, count, parent = self._first, self._count, self._parent
        nodes = []
        while node != ROOT:
            if count[node]:
                nodes.append(node)
            node = parent[node]
        numbers: list[int] = []
        for step in reversed(nodes):
            numbers.extend(range(first[step], first[step] + count[step]))
        return numbers
