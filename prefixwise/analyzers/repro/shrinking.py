"""Makes a pair of requests as small as it gets while lint still says the same of it."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.analyzers.repro.cuts import Cutter
from prefixwise.analyzers.repro.deltas import Probes, smallest
from prefixwise.analyzers.repro.links import first_role, loose_ends
from prefixwise.analyzers.repro.oracle import Oracle, Target
from prefixwise.analyzers.repro.recounting import Recounting, recounting
from prefixwise.analyzers.repro.samples import Sample, encoded
from prefixwise.core.request import Request

_ORDER = ("around", "item", "block", "property", "piece", "field", "item")
"""Kinds of cuts in the order in which they are tried; what the last ones leave may spare an item more."""


class Pair(msgspec.Struct, frozen=True):
    """Records of which two are the pair that misses.

    Attributes:
        samples: In order of start.
        before, after: Numbers of the pair; the same where a single request shows it.
        recounted: How usage is counted anew; None where it is as it was, or not there.
    """

    samples: tuple[Sample, ...]
    before: int
    after: int
    recounted: Recounting | None = None

    def lines(self, oracle: Oracle) -> list[bytes] | None:
        """Return the lines of its log; None where they cannot be read."""
        if self.recounted is not None:
            return self.recounted.lines(self.samples, oracle)
        return [encoded(sample.record) for sample in self.samples]

    def shows(self, oracle: Oracle, target: Target) -> bool:
        """Say whether lint still says of it what it is to show."""
        lines = self.lines(oracle)
        return lines is not None and oracle.shows(lines, target, self.before, self.after)


class _Whole(msgspec.Struct, frozen=True):
    """What a body must not lose: who speaks first; and what it must not get: new loose ends."""

    loose: tuple[frozenset[str], ...]
    first: tuple[str | None, ...]


def shrunk(pair: Pair, target: Target, oracle: Oracle, probes: Probes) -> Pair:
    """Return the smallest pair that still shows the target; `pair` does.

    Args:
        pair: To be made smaller.
        target: What it must still show.
        oracle: Says whether it does.
        probes: How many tries there are.
    """
    pair = _without_others(pair, target, oracle, probes)
    for kind in _ORDER:
        pair = _without(pair, kind, target, oracle, probes)
        if kind == "around" and pair.recounted is None:
            found = recounting(pair.samples, oracle, pair.before, pair.after)
            recounted = msgspec.structs.replace(pair, recounted=found)
            pair = recounted if recounted.shows(oracle, target) else pair
    return pair


def _without_others(pair: Pair, target: Target, oracle: Oracle, probes: Probes) -> Pair:
    """Leave out the records that are not of the pair."""

    def of(numbers: Sequence[int]) -> Pair:
        kept = sorted({*numbers, pair.before, pair.after})
        samples = tuple(pair.samples[number] for number in kept)
        return Pair(samples, kept.index(pair.before), kept.index(pair.after))

    others = [number for number in range(len(pair.samples)) if number not in (pair.before, pair.after)]
    return of(smallest(others, lambda numbers: of(numbers).shows(oracle, target), probes))


def _without(pair: Pair, kind: str, target: Target, oracle: Oracle, probes: Probes) -> Pair:
    requests = _requests(pair, oracle)
    if requests is None:
        return pair
    whole = _Whole(
        tuple(loose_ends(sample.body) for sample in pair.samples), tuple(first_role(request) for request in requests)
    )
    cutter = Cutter(pair.samples, requests)
    cuts = cutter.cuts(kind)

    def of(kept: Sequence[object]) -> Pair:
        gone = set(cuts).difference(kept)
        return msgspec.structs.replace(pair, samples=tuple(cutter.without(gone)))

    def holds(kept: Sequence[object]) -> bool:
        smaller = of(kept)
        return _is_whole(smaller, whole, oracle) and smaller.shows(oracle, target)

    return of(smallest(cuts, holds, probes))


def _is_whole(pair: Pair, whole: _Whole, oracle: Oracle) -> bool:
    if any(loose_ends(sample.body) - known for sample, known in zip(pair.samples, whole.loose, strict=True)):
        return False
    requests = _requests(pair, oracle)
    return requests is not None and tuple(map(first_role, requests)) == whole.first


def _requests(pair: Pair, oracle: Oracle) -> list[Request] | None:
    return oracle.requests([encoded(sample.record) for sample in pair.samples])
