"""A leak that was measured, as a finding, and the page that explains it."""

from __future__ import annotations

import hashlib

from prefixwise.bench.audit.result import AuditResult, Comparison
from prefixwise.bench.audit.timing import TimingEvidence
from prefixwise.bench.audit.verdict import Verdict
from prefixwise.core.finding import Confidence, Finding, Fix, Mode, Safety, Severity, Where

RULE = "cross-tenant-reuse"
CODE = "PW990"
SUMMARY = "A tenant's request was served from what another tenant had sent"
SEVERITY = Severity.CRITICAL
FIX = (
    "Give each tenant a cache namespace of its own: a salt that the gateway derives from the authenticated tenant with "
    "a secret key, never one that the client sends; and see to it that every tier of the cache honours it."
)
PAGE = f"""# {SUMMARY}

A prompt that one tenant had sent made another tenant's request faster, or the server counted its tokens as cached. Who
can tell hits from misses can find out whether a guessed prompt is in the cache, so the cache tells tenants what others
ask. Here nobody guessed: the text was random, and no other request had it.

Seen by usage, a single hit is proof: a fresh random prompt can be cached only because the other side sent it. Seen by
times, the chance that an audit without any sharing says so is below one in a thousand, over all its comparisons.

**What helps.** Per-tenant salts or keys, set where the tenant is authenticated. On hosted APIs a workspace, project or
organisation for each tenant: a routing key is no isolation. Where a leak shows only after eviction or a restart, the
device's cache is apart and a lower tier is not: upgrade it or switch it off. Then audit again."""


def leaks(result: AuditResult, path: str) -> tuple[Finding, ...]:
    """Return a finding for each comparison that is a leak.

    Args:
        result: The audit.
        path: The file, or the place, that was audited.
    """
    return tuple(_leak(result, one, path) for one in result.comparisons if one.judged.verdict is Verdict.LEAK)


def _leak(result: AuditResult, found: Comparison, path: str) -> Finding:
    # Two keys of one tenant may share; said all the same, since somebody asked.
    counts = found.level.apart or (
        result.verdict is Verdict.LEAK and not any(one.level.apart for one in result.comparisons)
    )
    severity = SEVERITY if counts else Severity.INFO
    named = f"{RULE}\0{path}\0{found.name}".encode("utf-8", "replace")
    return Finding(
        rule=RULE,
        code=CODE,
        severity=severity,
        level=severity.level,
        confidence=Confidence.CERTAIN if found.judged.by == "usage" else Confidence.LIKELY,
        mode=Mode.LOG,
        where=Where.ENGINE,
        path=path,
        evidence=tuple(_evidence(found)),
        message=f"{found.name} ({found.level}): {found.judged.reason}.",
        fix=Fix(FIX, Safety.NONE),
        fingerprint=hashlib.blake2b(named, digest_size=12).hexdigest(),
    )


def _evidence(found: Comparison) -> list[str]:
    said = []
    usage, timing = found.usage, found.timing
    if usage is not None and usage.cross.share is not None:
        low, high = usage.cross.share.low, usage.cross.share.high
        said.append(f"{usage.cross.hits} of {usage.cross.sent} foreign probes cached [{low:.1%}, {high:.1%}]")
    if timing is not None:
        said += _of_times(timing)
    return said


def _of_times(timing: TimingEvidence) -> list[str]:
    best = timing.best
    said = [f"evidence {timing.evidence:.3g} over {timing.pairs} pairs, p = {timing.p:.2g} at the end"]
    if best is not None:
        between = (
            f" [{1000 * best.interval.low:.3g}, {1000 * best.interval.high:.3g}]" if best.interval is not None else ""
        )
        said.append(f"answered {1000 * best.shift_s:.3g} ms{between} sooner by the {best.name}'s clock")
    return said
