"""What the server itself says of cached tokens: one prefix that nobody can explain is worth more than any time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec

from prefixwise.bench.audit.recording import Arm, Probe, Recording
from prefixwise.bench.audit.split import ISOLATED, LIMIT_ALPHA
from prefixwise.stats.binomial import clopper_pearson
from prefixwise.stats.interval import Interval

ENOUGH = 60
"""Probes without a hit that bound the rate of hits at 4.9 %."""


class Hits(msgspec.Struct, frozen=True):
    """Hits of one arm.

    Attributes:
        sent: Probes that were sent; shares are of these.
        known: Those of which the server said how much was cached. The others are unknown, not zero.
        hits: Those with more than what every prompt begins with.
        share: Of those sent, with its interval; None without any.
        most: The most cached tokens in one.
    """

    sent: int
    known: int
    hits: int
    share: Interval | None
    most: int

    @property
    def rate(self) -> float:
        """Hits over probes of which it is known."""
        return self.hits / self.known if self.known else 0.0


class UsageEvidence(msgspec.Struct, frozen=True):
    """What usage says of a comparison.

    Attributes:
        floor: Cached tokens up to which a probe shows nothing: what every prompt begins with, to the end of its block.
        miss, same, cross: The arms.
        believed: Whether it can be: not where prompts that nobody sent before are said to be cached.
        limit: Upper limit of what others get of one's own reuse, None where one's own does not show.
        needed: Probes without a hit that would show isolation; None where one's own reuse does not show.
    """

    floor: int
    miss: Hits
    same: Hits
    cross: Hits
    believed: bool
    limit: float | None
    needed: int | None

    @property
    def leaks(self) -> bool:
        """Whether a probe found what only somebody else had sent."""
        return self.believed and self.cross.hits > 0

    @property
    def isolated(self) -> bool:
        """Whether enough probes found nothing while one's own found theirs."""
        return self.believed and self.limit is not None and self.limit <= ISOLATED and self.cross.known >= ENOUGH


def usage_evidence(recording: Recording) -> UsageEvidence | None:
    """Return what the counts say; None where no probe has one."""
    if all(one.cached is None for one in recording.probes):
        return None
    control = max((one.cached or 0 for one in recording.of(Arm.MISS)), default=0)
    floor = _rounded(control if recording.header is None else recording.header, recording.block)
    # A floor that was looked for beforehand tells when prompts that are new are said to be cached.
    believed = control <= floor
    if recording.header is None:
        most = max((one.cached or 0 for one in recording.probes), default=0)
        believed = not control or control < most / 2
    miss, same, cross = (_hits(recording.of(arm), floor) for arm in (Arm.MISS, Arm.SAME, Arm.CROSS))
    limit = needed = None
    if same.hits and cross.known:
        upper = clopper_pearson(cross.hits, cross.known, 1 - 2 * LIMIT_ALPHA).high
        limit = min(1.0, upper / same.rate)
        needed = math.ceil(math.log(LIMIT_ALPHA) / math.log1p(-ISOLATED * same.rate))
    return UsageEvidence(floor, miss, same, cross, believed, limit, max(needed, ENOUGH) if needed else None)


def _hits(probes: Sequence[Probe], floor: int) -> Hits:
    known = [one.cached for one in probes if one.cached is not None]
    hits = sum(one > floor for one in known)
    share = clopper_pearson(hits, len(probes)) if probes else None
    return Hits(len(probes), len(known), hits, share, max(known, default=0))


def _rounded(tokens: int, block: int) -> int:
    return -(-tokens // block) * block
