"""The rows of tables and trees that are shown where there is little room."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import msgspec

from prefixwise.core.report import Cell, Table, Tree

Shown = TypeVar("Shown", Table, Tree)

_FEW_BRANCHES = 8
_FEW_ROWS = 3


def briefly(block: Shown) -> tuple[Shown, str]:
    """Return a block with the rows that are to be shown and, where that is not all of them, how many it is."""
    kept: Sequence[int] = range(len(block.rows))
    if block.brief and isinstance(block, Table):
        kept = kept[:_FEW_ROWS]
    elif isinstance(block, Tree) and block.brief and (values := drawn_values(block)):
        kept = largest([depth if isinstance(depth, int) else 0 for depth, *_ in block.rows], values)
    if len(kept) == len(block.rows):
        return block, ""
    rows = tuple(block.rows[index] for index in kept)
    details = tuple(block.details[index] for index in kept) if block.details else ()
    return msgspec.structs.replace(block, rows=rows, details=details), f"{len(rows)} of {len(block.rows):,} rows"


def drawn_values(block: Tree, part: int = 0) -> list[float]:
    """Return what is drawn of each row of a tree: the whole of it, or as `part` 1 its own; nothing where none is."""
    names = [column.name for column in block.columns]
    if part >= len(block.drawn) or block.drawn[part] not in names:
        return []
    at = 2 + names.index(block.drawn[part])
    return [_number(row[at]) for row in block.rows]


def largest(depths: Sequence[int], values: Sequence[float], most: int = _FEW_BRANCHES) -> list[int]:
    """Return the indexes of the rows with the largest values and of all that they stand under, in order.

    Not more than `most`, as long as no row is larger than the one that it stands under.
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
