"""From rows to pairs: which requests are compared, and which are left out, each with its cause."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from enum import StrEnum
from statistics import median

from prefixwise.bench.ttft.estimate import Pair
from prefixwise.bench.ttft.labels import Label
from prefixwise.bench.ttft.plan import Row
from prefixwise.bench.ttft.schedule import Arm

LATE = 0.05
"""Lateness of the client, as a share of a time to first token, from which that time is not used."""

_COUNTED = {Arm.COLD: Label.COLD_OK, Arm.CONTROL: Label.COLD_OK, Arm.WARM: Label.WARM_OK}


class Cause(StrEnum):
    """Why a request is left out. That it was slow is no cause."""

    FAILED = "no complete answer"
    NO_TOKEN = "no first token"  # noqa: S105 - not that kind
    OPENED = "a connection was opened for it"
    LATE = "the client was late"
    LABEL = "it was not what it was meant to be"


def cause(row: Row, *, reported: bool) -> Cause | None:
    """Return why a request is left out, None where it counts.

    Args:
        row: The request.
        reported: Whether the server counts cached tokens: then a request has to be what it was meant to be.
    """
    if row.label is Label.FAILED:
        return Cause.FAILED
    if row.ttft is None or row.ttft <= 0:
        return Cause.NO_TOKEN
    if row.opened:
        return Cause.OPENED
    if row.late > LATE * row.ttft:
        return Cause.LATE
    return Cause.LABEL if reported and row.label is not _COUNTED[row.arm] else None


def pairs_of(rows: Iterable[Row], length: int, *, reported: bool) -> list[Pair]:
    """Return the pairs of one length whose requests all count, by item."""
    items: dict[int, dict[Arm, list[Row]]] = defaultdict(lambda: defaultdict(list))
    for row in _last_attempts(rows):
        if row.length == length and cause(row, reported=reported) is None:
            items[row.item][row.arm].append(row)
    return [
        Pair(_ttft(arms[Arm.COLD]), _ttft(arms[Arm.WARM]))
        for _, arms in sorted(items.items())
        if arms[Arm.COLD] and arms[Arm.WARM]
    ]


def control_pairs(rows: Iterable[Row], length: int, *, reported: bool) -> list[Pair]:
    """Return pairs of two cold requests: each control and the cold request of an item that was sent nearest to it.

    No request stands in two pairs. Which of the two comes first alternates, so that a drift does not count as a
    difference.
    """
    every = [row for row in _last_attempts(rows) if row.length == length and cause(row, reported=reported) is None]
    free = sorted((row for row in every if row.arm is Arm.COLD), key=lambda row: row.order)
    pairs: list[Pair] = []
    for control in sorted((row for row in every if row.arm is Arm.CONTROL), key=lambda row: row.order):
        if not free:
            break
        nearest = min(free, key=lambda row: (abs(row.order - control.order), row.order))
        free.remove(nearest)
        first, second = sorted((control, nearest), key=lambda row: row.order)
        if len(pairs) % 2:
            first, second = second, first
        pairs.append(Pair(_ttft([first]), _ttft([second])))
    return pairs


def _last_attempts(rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows of the newest attempt at each item."""
    given = list(rows)
    newest: dict[tuple[int, int], int] = {}
    for row in given:
        newest[row.length, row.item] = max(row.attempt, newest.get((row.length, row.item), 0))
    yield from (row for row in given if row.attempt == newest[row.length, row.item])


def _ttft(rows: list[Row]) -> float:
    return median(row.ttft for row in rows if row.ttft is not None)
