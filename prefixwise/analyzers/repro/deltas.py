"""Delta debugging: the smallest part of something that still shows what the whole shows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Probes:
    """How often something may still be tried; a search that runs out of tries keeps what it has."""

    def __init__(self, most: int) -> None:
        self.left = most
        self.used = 0

    def take(self) -> bool:
        """Say whether another try may be made, and count it."""
        if self.left <= 0:
            return False
        self.left -= 1
        self.used += 1
        return True


def smallest(units: Sequence[T], holds: Callable[[list[T]], bool], probes: Probes) -> list[T]:
    """Return a part of `units`, in their order, of which none can be left out alone.

    First large runs are left out, then smaller ones; what is left is tried one by one until nothing goes any more.

    Args:
        units: What holds as a whole.
        holds: Says whether a part of it still does.
        probes: How often that may be asked.
    """
    kept = list(units)
    size = len(kept)
    while size and kept:
        kept, shrunk = _without_runs(kept, size, holds, probes)
        if size > 1:
            size = min(size, len(kept) + 1) // 2
        elif not shrunk:
            break
    return kept


def _without_runs(kept: list[T], size: int, holds: Callable[[list[T]], bool], probes: Probes) -> tuple[list[T], bool]:
    """Return what is left when every run of so many units is left out that can be, and whether one was."""
    at, shrunk = 0, False
    while at < len(kept):
        rest = kept[:at] + kept[at + size :]
        if not probes.take():
            return kept, False
        if holds(rest):
            kept, shrunk = rest, True
        else:
            at += size
    return kept, shrunk
