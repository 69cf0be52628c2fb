"""What an audit comes to: evidence and a verdict a comparison, and one on all of them."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from prefixwise.bench.audit.recording import Arm, Level, Recording
from prefixwise.bench.audit.split import Split, split
from prefixwise.bench.audit.timing import TimingEvidence, timing_evidence
from prefixwise.bench.audit.usage import UsageEvidence, usage_evidence
from prefixwise.bench.audit.verdict import Evidence, Judged, Verdict, judge, overall, timing_leaks


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One comparison: who looked for whose prompts, and what was found.

    Attributes:
        name: Of the comparison; `level`: how far apart the two are.
        sent: Probes by arm; `failed`: those without an answer; `broken`: records that could not be read.
        matched: Whether controls came after a sham; None where that is not known.
        usage, timing: Evidence; None for what there is not.
        judged: The verdict.
    """

    name: str
    level: Level
    sent: dict[str, int]
    failed: int
    broken: int
    matched: bool | None
    usage: UsageEvidence | None
    timing: TimingEvidence | None
    judged: Judged


class AuditResult(msgspec.Struct, frozen=True, kw_only=True):
    """A whole audit.

    Attributes:
        verdict: On all comparisons.
        split: How the chance of a false alarm is split.
        comparisons: In the order in which they were made.
    """

    verdict: Verdict
    split: Split
    comparisons: tuple[Comparison, ...]


def audit_result(recordings: Sequence[Recording]) -> AuditResult:
    """Return what recordings, one or more, come to; the chance to err is split among them.

    Raises:
        ValueError: There is no recording.
    """
    shared = split(len(recordings))
    timings = [timing_evidence(one, shared.threshold) for one in recordings]
    found = timing_leaks(timings, shared)
    made = tuple(
        _comparison(one, timing, shared, found=leaks)
        for one, timing, leaks in zip(recordings, timings, found, strict=True)
    )
    # What two keys of one tenant share is no leak, so it has no say where others are compared too.
    counted = [one for one in made if one.level not in (Level.SAME_KEY, Level.KEYS)] or made
    return AuditResult(verdict=overall([one.judged for one in counted]), split=shared, comparisons=made)


def _comparison(recording: Recording, timing: TimingEvidence | None, shared: Split, *, found: bool) -> Comparison:
    usage = usage_evidence(recording)
    sent = {arm.value: len(recording.of(arm)) for arm in Arm}
    evidence = Evidence(
        sent=sum(sent.values()),
        failed=recording.failed,
        usage=usage,
        timing=timing,
        found=found,
        stopped=recording.stopped,
    )
    return Comparison(
        name=recording.name,
        level=recording.level,
        sent=sent,
        failed=recording.failed,
        broken=recording.broken,
        matched=recording.matched,
        usage=usage,
        timing=timing,
        judged=judge(evidence, shared),
    )
