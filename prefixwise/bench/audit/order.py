"""Whether the order of probes and controls was a draw, and which exchanges are fair because of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum
from itertools import pairwise

import msgspec

from prefixwise.bench.audit.recording import Arm, Probe
from prefixwise.stats.binomial import at_least
from prefixwise.stats.fair_units import Unit, fair_units

_FEW = 8
"""Pairs of neighbours below which a pattern of the order may be chance."""

_CHANCE = 2e-4
_APART = -3.5
_TOO_MIXED = 5.0
"""Standard deviations by which the number of runs may differ from that of a draw."""


class Order(StrEnum):
    """How probes and controls follow each other."""

    DRAWN = "drawn"
    """At random over all of them, as far as one can see."""
    BLOCKS = "blocks"
    """At random inside blocks."""
    FIXED = "fixed"
    """In turns: whatever the turn does to a time looks like the cache."""
    APART = "apart"
    """One kind first, then the other: whatever changed meanwhile looks like the cache."""


class Layout(msgspec.Struct, frozen=True):
    """The order, and the units whose sides may be exchanged, by place among the probes given."""

    order: Order
    units: tuple[Unit, ...]


def layout(probes: Sequence[Probe], arm: Arm) -> Layout:
    """Return how probes of `arm` and controls follow each other. Only kinds and blocks are looked at, no time."""
    kinds = [one.arm is arm for one in probes]
    if any(one.block is not None for one in probes):
        return _told(Order.BLOCKS, _in_blocks(probes, kinds), kinds)
    units = tuple(fair_units(kinds))
    neighbours = len(kinds) // 2
    if neighbours >= _FEW and all(kinds[2 * at] is not kinds[2 * at + 1] for at in range(neighbours)):
        return _told(Order.BLOCKS, units, kinds)
    z = _runs(kinds)
    if z <= _APART:
        return Layout(Order.APART, units)
    return Layout(Order.FIXED if z >= _TOO_MIXED else Order.DRAWN, units)


def _in_blocks(probes: Sequence[Probe], kinds: Sequence[bool]) -> tuple[Unit, ...]:
    places: dict[int | None, list[int]] = {}
    for place, one in enumerate(probes):
        places.setdefault(one.block, []).append(place)
    units: list[Unit] = []
    for members in places.values():
        found = fair_units([kinds[place] for place in members])
        units += [Unit(_mapped(unit.probes, members), _mapped(unit.controls, members)) for unit in found]
    # In the order in which they are complete: blocks may be sent into each other.
    return tuple(sorted(units, key=lambda unit: max((*unit.probes, *unit.controls))))


def _mapped(places: Sequence[int], members: Sequence[int]) -> tuple[int, ...]:
    return tuple(members[place] for place in places)


def _told(order: Order, units: tuple[Unit, ...], kinds: Sequence[bool]) -> Layout:
    """Return the layout, or say that it is no draw where probes come first, or last, in too many units."""
    count = len(units)
    first = sum(min(unit.probes) < min(unit.controls) for unit in units)
    lopsided = max(first, count - first)
    if count >= _FEW and 2 * at_least(lopsided, count, 0.5) <= _CHANCE:
        return Layout(Order.FIXED if _runs(kinds) > _APART else Order.APART, units)
    return Layout(order, units)


def _runs(kinds: Sequence[bool]) -> float:
    """Return by how many standard deviations there are more runs than in a draw (Wald and Wolfowitz 1940)."""
    probes = sum(kinds)
    controls = len(kinds) - probes
    total = len(kinds)
    if not probes or not controls or total < 4:
        return 0.0
    runs = 1 + sum(a is not b for a, b in pairwise(kinds))
    both = 2 * probes * controls
    variance = both * (both - total) / (total * total * (total - 1))
    return (runs - 1 - both / total) / math.sqrt(variance) if variance > 0 else 0.0
