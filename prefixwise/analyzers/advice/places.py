"""Where cache markers of a request may stand: ends of blocks that mean the same in every request of an application."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from prefixwise.corpus.layouts import EMPTY, Block
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.tree import ROOT

_FEWEST = 3
"""Requests that have to share a prefix of a tenth of them."""
NOWHERE = 0
"""The depth of a place that a request does not have."""


class Place(StrEnum):
    """What a marker stands behind."""

    TOOLS = "the tools"
    SYSTEM = "the system text"
    MOST = "what most requests share"
    SOME = "what a tenth of the requests share"
    BEFORE_LAST = "the last block but one"
    LAST = "the last block"


class Places(msgspec.Struct, frozen=True):
    """By place, its depth in each row; places that no row has, or that are another one everywhere, are left out."""

    depths: dict[Place, array[int]]


def places_of(rows: Rows) -> Places:
    """Return the places of rows of one application."""
    most, some = _shared(rows)
    depths = {place: array("i", bytes(4 * len(rows))) for place in Place}
    for row, tokens in enumerate(rows.prompt_tokens):
        ends = _ends(rows, row)
        limits = (
            (Place.TOOLS, rows.tools_end[row]),
            (Place.SYSTEM, rows.system_end[row]),
            (Place.MOST, most[row]),
            (Place.SOME, some[row]),
        )
        for place, limit in limits:
            depths[place][row] = _last_up_to(ends, limit)
        depths[Place.LAST][row] = ends[-1] if ends else tokens
        depths[Place.BEFORE_LAST][row] = ends[-2] if ends and len(ends) > 1 else NOWHERE
    found: dict[Place, array[int]] = {}
    for place in (Place.LAST, Place.SYSTEM, Place.TOOLS, Place.MOST, Place.SOME, Place.BEFORE_LAST):
        if any(depths[place]) and depths[place] not in found.values():
            found[place] = depths[place]
    return Places({place: found[place] for place in Place if place in found})


def _last_up_to(ends: Sequence[int] | None, limit: int) -> int:
    """Return the last end of a block up to a depth; where nobody knows the blocks, the depth itself."""
    if ends is None:
        return limit
    at = bisect_right(ends, limit)
    return ends[at - 1] if at else NOWHERE


def _ends(rows: Rows, row: int) -> list[int] | None:
    """Return where the blocks of a prompt end that can carry a marker, None where nobody knows."""
    layouts = rows.layouts
    if layouts is None or layouts.of_row[row] <= EMPTY:
        return None
    found: list[int] = []
    for layout in layouts.path(layouts.of_row[row]):
        blocks = range(layouts.first[layout + 1] - 1, layouts.first[layout] - 1, -1)
        found.extend(layouts.ends[block] for block in blocks if layouts.kinds[block] != Block.THINKING)
    found.reverse()
    return found


def _shared(rows: Rows) -> tuple[list[int], list[int]]:
    """Return by row how deep half of all rows share it, and a tenth of them, up to where they part.

    Only where prompts part is a prefix one of several requests, and known beforehand: the turns of a conversation share
    more each time, and nobody knows of a turn whether there will be another.
    """
    tree = rows.tree
    parent, depth = tree.parent, tree.depth
    passed: Counter[int] = Counter()
    ways: dict[int, set[int]] = {}
    for end, times in Counter(rows.node).items():
        node = end
        while parent[node] != ROOT:
            passed[node] += times
            ways.setdefault(parent[node], set()).add(node)
            node = parent[node]
    forks = {node for node, children in ways.items() if len(children) > 1}
    most: list[int] = []
    some: list[int] = []
    half, tenth = max(2, (len(rows) + 1) // 2), max(_FEWEST, (len(rows) + 9) // 10)
    for end in rows.node:
        for found, enough in ((most, half), (some, tenth)):
            node = end
            while parent[node] != ROOT and not (node in forks and passed[node] >= enough):
                node = parent[node]
            found.append(depth[node])
    return most, some
