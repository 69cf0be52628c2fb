"""Which rows of a tree, or of a table, are shown where there is little room."""

from __future__ import annotations

from collections.abc import Sequence

from prefixwise.core.report import Cell, Tree

FEW = 8
"""Rows of a tree that are shown in brief."""
FEW_GROUPS = 3
"""Rows of a table that are shown in brief."""


def drawn_values(block: Tree, part: int = 0) -> list[float]:
    """Return what is drawn of each row of a tree: the whole of it, or as `part` 1 its own; nothing where none is."""
    names = [column.name for column in block.columns]
    if part >= len(block.drawn) or block.drawn[part] not in names:
        return []
    at = 2 + names.index(block.drawn[part])
    return [_number(row[at]) for row in block.rows]


def largest(depths: Sequence[int], values: Sequence[float], most: int = FEW) -> list[int]:
    """Return the indexes of the rows with the largest values and of all that they stand under, in order.

    Not more than `most`, as long as a row is not larger than the one that it stands under.
    """
    kept = sorted(range(len(depths)), key=lambda index: (-values[index], index))[:most]
    found = set(kept)
    for index in kept:
        level = depths[index]
        for above in range(index - 1, -1, -1):
            if depths[above] < level:
                found.add(above)
                level = depths[above]
    return sorted(found)


def _number(cell: Cell) -> float:
    return float(cell) if isinstance(cell, int | float) else 0.0
