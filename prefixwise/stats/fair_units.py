"""Pairs out of a random order of two kinds, so that which of the two is which stays a fair coin.

The k-th of one kind beside the k-th of the other is no such pair: which places meet then depends on the order itself,
and under a drift the coin is loaded. Here neighbours in time are laid together before anybody looks at their kinds:
two of different kinds make a unit; two of the same kind make a group of two, groups meet groups, and so on. Whatever
the times are, given which places meet, each unit is as likely to be one way round as the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple


class Unit(NamedTuple):
    """As many probes as controls, by their place in the order; exchanging the two sides changes no chance."""

    probes: tuple[int, ...]
    controls: tuple[int, ...]

    @property
    def pairs(self) -> int:
        """How many of each."""
        return len(self.probes)


class Pairing:
    """Takes one measurement after the other, and gives a unit whenever one is complete."""

    def __init__(self) -> None:
        self._waiting: list[tuple[bool, tuple[int, ...]] | None] = []

    def add(self, place: int, *, probe: bool) -> Unit | None:
        """Take the measurement at a place of the order, a probe or a control."""
        group: tuple[int, ...] = (place,)
        for level, other in enumerate(self._waiting):
            if other is None:
                self._waiting[level] = (probe, group)
                return None
            self._waiting[level] = None
            kind, places = other
            if kind is not probe:
                return Unit(group, places) if probe else Unit(places, group)
            group = (*places, *group)
        self._waiting.append((probe, group))
        return None


def fair_units(kinds: Iterable[bool]) -> Iterator[Unit]:
    """Yield the units of an order in which True stands for a probe, each as early as it is complete."""
    pairing = Pairing()
    for place, probe in enumerate(kinds):
        unit = pairing.add(place, probe=probe)
        if unit is not None:
            yield unit
