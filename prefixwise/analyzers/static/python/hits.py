"""What reached a prompt, and which of several ways there is the one to tell."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from prefixwise.analyzers.static.python.pieces import Hop, Moving
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Where


class Strength(IntEnum):
    """How well a place is known to be a prompt."""

    NAME = 1
    """By the name of a variable, function or parameter."""
    ROLE = 2
    """A message with its role, or an argument that only model calls have."""
    CALL = 3
    """An argument of a call that is known to ask a model, or to set up one that does."""


class Hit(NamedTuple):
    """A value that changes by itself, in a prompt.

    Attributes:
        kind, frequency: As they are there.
        behind: Tokens of constant text behind it, None where there is some whose size is not known.
        sent: The last step of its way.
        costs: It stands in front of something that could have been reused; where it does not, the place still says
            that weaker signs are wrong.
        evidence: Clauses on the place.
    """

    moving: Moving
    kind: VolatileKind
    frequency: Frequency
    area: Where
    strength: Strength
    behind: int | None
    sent: Hop
    costs: bool
    evidence: tuple[str, ...] = ()

    @property
    def order(self) -> tuple[object, ...]:
        """Which of the ways of one value is the one to tell: the least in this order."""
        behind = 1_000_000 if self.behind is None else self.behind
        return (
            -self.strength,
            not self.costs,
            self.frequency.rank,
            self.area is Where.MESSAGES,
            -behind,
            len(self.moving.hops),
        )


class Hits:
    """All that reached a prompt."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, int, int, VolatileKind], Hit] = {}

    def add(self, hit: Hit) -> None:
        """Take note of a value in a prompt."""
        origin = hit.moving.origin
        key = (origin.path, origin.start, origin.end, hit.kind)
        known = self._found.get(key)
        if known is None or hit.order < known.order:
            self._found[key] = hit

    def all(self, bound: set[tuple[str, str]]) -> list[Hit]:
        """Return what costs something, in order of place.

        Args:
            bound: Parameters that get a value known to change from a call: that value is told, not the parameter.
        """
        costly = [hit for hit in self._found.values() if hit.costs and hit.moving.origin.weak not in bound]
        places: dict[tuple[str, VolatileKind], list[tuple[int, int]]] = {}
        for hit in costly:
            places.setdefault((hit.moving.origin.path, hit.kind), []).append(hit.moving.origin[3:5])
        found = [hit for hit in costly if not _holds_another(hit, places[hit.moving.origin.path, hit.kind])]
        return sorted(found, key=lambda hit: (hit.moving.origin[2:5], hit.kind.value))


def _holds_another(hit: Hit, places: list[tuple[int, int]]) -> bool:
    """Say whether what moves a value is told at a place within it: the smaller one is the cause."""
    start, end = hit.moving.origin[3:5]
    return any(start <= other[0] and other[1] <= end and other != (start, end) for other in places)
