"""What a comparison shows: LEAK, ISOLATED or INCONCLUSIVE, and why; or that it was no measurement."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from prefixwise.bench.audit.order import Order
from prefixwise.bench.audit.split import CONTROL, ISOLATED, Split, holm
from prefixwise.bench.audit.timing import CERTIFICATE, TimingEvidence, isolation_needed
from prefixwise.bench.audit.usage import UsageEvidence

FAILED = 0.05
"""Share of probes without an answer above which it was no measurement."""


class Verdict(StrEnum):
    """What an audit shows."""

    LEAK = "LEAK"
    ISOLATED = "ISOLATED"
    INCONCLUSIVE = "INCONCLUSIVE"
    INVALID = "INVALID"


class Judged(msgspec.Struct, frozen=True):
    """A verdict and why.

    Attributes:
        reason: In one clause.
        by: What it rests on: `usage`, `timing` or nothing.
        needed: Pairs (blocks) that would decide, as far as one can tell; None where more of them would not.
    """

    verdict: Verdict
    reason: str
    by: str = ""
    needed: int | None = None


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison is judged by; None for what there is not.

    Attributes:
        sent: Probes; `failed`: those without a complete answer.
        usage, timing: What counts and times say.
        found: Whether the times are those of a leak, by the test of every pair or by the one at the end.
        stopped: Why sending ended early, '' where it did not.
    """

    sent: int
    failed: int
    usage: UsageEvidence | None
    timing: TimingEvidence | None
    found: bool = False
    stopped: str = ""


def timing_leaks(timings: list[TimingEvidence | None], split: Split) -> list[bool]:
    """Return of each comparison whether its times are those of a leak; all together err with a chance of `alpha`."""
    final = holm([1.0 if one is None else one.p for one in timings], split.final)
    return [one is not None and (one.reached is not None or late) for one, late in zip(timings, final, strict=True)]


def judge(evidence: Evidence, split: Split) -> Judged:
    """Return the verdict."""
    usage, timing = evidence.usage, evidence.timing
    if usage is not None and usage.leaks:
        hits = f"{usage.cross.hits} of {usage.cross.sent} foreign probes"
        return Judged(Verdict.LEAK, f"{hits} found cached tokens that only the other side had sent", "usage")
    if evidence.failed > FAILED * max(1, evidence.sent):
        return Judged(Verdict.INVALID, f"{evidence.failed} of {evidence.sent} probes have no complete answer")
    if timing is not None and timing.order is Order.APART:
        return Judged(
            Verdict.INVALID, "probes and controls were not sent in a random order: whatever changed meanwhile is in it"
        )
    if timing is not None and evidence.found:
        return _found(timing, usage, split)
    if timing is not None and timing.slower_p <= split.alpha / split.comparisons:
        return Judged(
            Verdict.INCONCLUSIVE, "foreign probes are answered later than controls: the arms do not match", "timing"
        )
    if usage is not None and usage.isolated:
        share = f"the upper limit is {usage.limit:.1%} of one's own" if usage.limit is not None else ""
        found = f"no foreign probe of {usage.cross.known} found cached tokens, {usage.same.hits} of one's own did"
        return Judged(Verdict.ISOLATED, f"{found}: {share}", "usage")
    return _by_timing(evidence, usage, timing)


def _found(timing: TimingEvidence, usage: UsageEvidence | None, split: Split) -> Judged:
    """Return the verdict on times that are those of a leak."""
    if timing.order is Order.FIXED:
        reason = "foreign probes are answered sooner, but always at the same turn: the turn may be the cause"
        return Judged(Verdict.INCONCLUSIVE, reason, "timing")
    how = (
        f"the evidence reached {split.threshold:,.0f} after {timing.reached} pairs"
        if timing.reached is not None
        else f"the test at the end has p = {timing.p:.1g}"
    )
    hidden = ", though the server counts nothing as cached" if usage is not None and not usage.cross.hits else ""
    return Judged(Verdict.LEAK, f"foreign probes are answered sooner than controls{hidden}: {how}", "timing")


def _by_timing(evidence: Evidence, usage: UsageEvidence | None, timing: TimingEvidence | None) -> Judged:
    """Return the verdict where nothing was found: whether that is because there is nothing."""
    if evidence.stopped:
        return Judged(Verdict.INCONCLUSIVE, evidence.stopped)
    if usage is not None and usage.needed is not None and usage.believed and not usage.isolated:
        reason = f"no foreign probe of {usage.cross.known} found cached tokens, which is too few to show isolation"
        return Judged(Verdict.INCONCLUSIVE, reason, "usage", usage.needed)
    if timing is None:
        return Judged(Verdict.INCONCLUSIVE, "there are too few probes and controls to compare", "", CERTIFICATE)
    needed = max((one.needed for one in timing.clocks if one.needed), default=None)
    if timing.own_evidence is None:
        reason = "nothing was found, but without probes of one's own prompts nobody knows whether it would have shown"
        return Judged(Verdict.INCONCLUSIVE, reason, "timing", needed)
    return _isolated(timing)


def _isolated(timing: TimingEvidence) -> Judged:
    best = timing.best
    shared = best.sharing if best else None
    if (timing.own_evidence or 0.0) < CONTROL or shared is None or not shared.shows or shared.high is None:
        reason = "one's own reuse does not show either: caching is off, the prefix too short, or the times too noisy"
        return Judged(Verdict.INCONCLUSIVE, reason, "timing")
    needed = isolation_needed(timing.pairs, shared)
    if shared.high > ISOLATED:
        bound = f"others may get up to {shared.high:.1%} of one's own reuse"
        return Judged(Verdict.INCONCLUSIVE, f"no leak was found, but {bound}", "timing", needed)
    if timing.pairs < CERTIFICATE:
        reason = f"no leak was found, but by times alone isolation takes {CERTIFICATE} blocks"
        return Judged(Verdict.INCONCLUSIVE, reason, "timing", CERTIFICATE)
    return Judged(Verdict.ISOLATED, f"others get at most {shared.high:.1%} of one's own reuse", "timing")


def overall(judged: list[Judged]) -> Verdict:
    """Return the verdict on all comparisons: the worst of them; isolated only where all are."""
    verdicts = {one.verdict for one in judged}
    for worst in (Verdict.LEAK, Verdict.INVALID, Verdict.INCONCLUSIVE):
        if worst in verdicts:
            return worst
    return Verdict.ISOLATED if verdicts else Verdict.INCONCLUSIVE
