"""What a run shows, in one of six verdicts, each with its reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum

import msgspec

from prefixwise.bench.ttft.estimate import Estimate
from prefixwise.bench.ttft.labels import Label

EFFECT = 1.05
"""A speed-up up to this is called none. With nothing going on, an interval lies above it in 0.5 % of runs of 6 pairs,
in 0.2 % of 20 (docs/bench-statistics.md)."""

FEWEST = 6
"""Pairs without which there is no interval at 95 %."""

WRONG = 0.05
"""Share of contaminated or missed requests above which a run is invalid, not trimmed."""


class Verdict(StrEnum):
    """What a run shows."""

    CONFIRMED = "caching confirmed"
    NO_GAIN = "cached, no latency gain"
    INFERRED = "caching inferred from timing"
    NONE = "no caching"
    CONTRADICTORY = "contradictory"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"


class Judged(msgspec.Struct, frozen=True):
    """A verdict and why."""

    verdict: Verdict
    reason: str


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What is judged.

    Attributes:
        estimate: Of the pairs that are right, or, where the server does not count, of all; None without pairs.
        labels: How many requests were what, by label; `cold_labels` and `warm_labels` apart.
        noise: By how much cold requests differ, as a share; None where that is not known.
        controls_agree: Whether cold requests take as long as each other; None where that is not known.
    """

    estimate: Estimate | None
    cold_labels: dict[Label, int]
    warm_labels: dict[Label, int]
    noise: float | None = None
    controls_agree: bool | None = None

    @property
    def reported(self) -> bool:
        """Whether the server counted cached tokens in all complete requests."""
        every = Counter(self.cold_labels) + Counter(self.warm_labels)
        return not every[Label.UNKNOWN]


def count(labels: Iterable[Label]) -> dict[Label, int]:
    """Return how many there are of each label."""
    return dict(Counter(labels))


def judge(evidence: Evidence) -> Judged:
    """Return the verdict, from what the server counted and from the interval of the speed-up."""
    cold, warm = Counter(evidence.cold_labels), Counter(evidence.warm_labels)
    if evidence.reported:
        return _by_usage(evidence, cold, warm)
    return _by_timing(evidence)


def _by_usage(evidence: Evidence, cold: Counter[Label], warm: Counter[Label]) -> Judged:
    complete = sum(warm.values()) - warm[Label.FAILED]
    hits = warm[Label.WARM_OK] + warm[Label.PARTIAL]
    sent_cold = sum(cold.values()) - cold[Label.FAILED]
    if complete and not hits:
        return _without_hits(evidence)
    if sent_cold and cold[Label.CONTAMINATED] > sent_cold / 2:
        return Judged(Verdict.CONTRADICTORY, "cold prompts, which nobody sent before, are reported as cached")
    for count, of, what in (
        (cold[Label.CONTAMINATED], sent_cold, "cold requests were served from the cache"),
        (warm[Label.MISSED], complete, "warm requests were not served from the cache"),
    ):
        if of and count > WRONG * of:
            return Judged(Verdict.INVALID, f"{count} of {of} {what}")
    if warm[Label.PARTIAL] > WRONG * complete:
        return Judged(
            Verdict.INCONCLUSIVE, f"{warm[Label.PARTIAL]} of {complete} warm requests were cached in part only"
        )
    found = evidence.estimate
    if found is None or found.interval is None:
        return _too_few(found)
    if found.interval.low > EFFECT:
        return Judged(Verdict.CONFIRMED, "the server counts the cached tokens, and warm requests are faster")
    if found.interval.low >= 1 / EFFECT and found.interval.high <= EFFECT:
        return Judged(Verdict.NO_GAIN, "the server counts cached tokens, but warm requests take as long as cold ones")
    return Judged(Verdict.INCONCLUSIVE, _wider(found))


def _without_hits(evidence: Evidence) -> Judged:
    """Judge a run in which the server counts no cached token in any warm request."""
    found = evidence.estimate
    if found is None or found.interval is None:
        return _too_few(found)
    margin = 1 + max(EFFECT - 1, evidence.noise or 0.0)
    if found.interval.low > margin:
        return Judged(Verdict.CONTRADICTORY, "warm requests are faster, though the server counts nothing as cached")
    if found.interval.low >= 1 / margin and found.interval.high <= margin:
        return Judged(Verdict.NONE, "the server counts nothing as cached, and warm requests take as long as cold ones")
    return Judged(Verdict.INCONCLUSIVE, _wider(found))


def _by_timing(evidence: Evidence) -> Judged:
    found = evidence.estimate
    if found is None or found.interval is None:
        return _too_few(found)
    if evidence.noise is None or evidence.controls_agree is None:
        return Judged(Verdict.INCONCLUSIVE, "the server does not count cached tokens, and there are too few controls")
    if not evidence.controls_agree:
        return Judged(Verdict.INCONCLUSIVE, "cold requests do not take as long as each other: something else changes")
    margin = 1 + max(EFFECT - 1, evidence.noise)
    if found.interval.low > margin:
        return Judged(
            Verdict.INFERRED, "the server does not count cached tokens, but warm requests are faster than noise"
        )
    return Judged(Verdict.INCONCLUSIVE, _wider(found))


def _too_few(found: Estimate | None) -> Judged:
    return Judged(Verdict.INCONCLUSIVE, f"{found.n if found else 0} pairs are too few: {FEWEST} make an interval")


def _wider(found: Estimate) -> str:
    low, high = (found.interval.low, found.interval.high) if found.interval else (0.0, 0.0)
    needed = f"; about {found.needed} pairs make an interval of 5 % to each side" if found.needed > found.n else ""
    return f"the speed-up lies between {low:.3g} and {high:.3g}, which decides nothing{needed}"
