"""What times say of a comparison: evidence pair by pair, a test at the end, the size of the effect, its limit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist, fmean, median, variance

import msgspec

from prefixwise.bench.audit.order import Layout, Order, layout
from prefixwise.bench.audit.recording import Arm, Probe, Recording, two_arms, usable
from prefixwise.bench.audit.split import ALPHA, ISOLATED, LIMIT_ALPHA
from prefixwise.stats.eprocess import CappedProcess
from prefixwise.stats.exact_sums import subset_tails, swap_p
from prefixwise.stats.interval import Interval
from prefixwise.stats.sharing import Sharing, sharing
from prefixwise.stats.shift import shift
from prefixwise.stats.two_samples import capped_logs, ks_smaller, mann_whitney_smaller

CERTIFICATE = 250
"""Blocks from which times alone may show isolation."""

SUBSETS = 600
"""Probes and controls up to which all orders are counted; beyond, all exchanges of units."""

_LEAST = 25
_POWER = 0.9
_SPREAD = 1.6
_FLOOR_S, _FLOOR = 0.002, 0.02


class Clock(msgspec.Struct, frozen=True, kw_only=True):
    """What one clock says; times in seconds, p values one-sided.

    Attributes:
        name: Of the clock.
        miss_s, cross_s, same_s: Medians.
        shift_s: By how much foreign probes are answered sooner (Hodges and Lehmann), and `interval`.
        p: Of the capped test: foreign probes are sooner. `slower_p`: they are later.
        ks_p, mann_whitney_p: Of the tests that others use.
        auc: Chance that a foreign probe is answered sooner than a control.
        served: Lower bound of the share of foreign probes that were served from the cache, as seen.
        sharing: What foreign probes save of what one's own save; None without the positive control.
        needed: Pairs that it would take to find an effect of this size; None where there is none.
    """

    name: str
    miss_s: float
    cross_s: float
    same_s: float | None
    shift_s: float
    interval: Interval | None
    p: float
    slower_p: float
    ks_p: float
    mann_whitney_p: float
    auc: float
    served: float
    sharing: Sharing | None
    needed: int | None

    @property
    def small(self) -> bool:
        """Whether the effect is too small to be told from arms that are not matched."""
        size = max(self.shift_s, self.miss_s - self.cross_s)
        return size < max(_FLOOR_S, _FLOOR * self.miss_s)


class TimingEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """What all clocks say together.

    Attributes:
        order: How probes and controls follow each other.
        pairs: Foreign probes, each with a control, that were used; `probes`, `controls`, `own`: times of each kind.
        evidence: The most that the sequential test reached, the mean over clocks.
        reached: Pairs after which it had reached the threshold; None where it never did.
        own_evidence: The most for one's own reuse; `own_p`: its test at the end. None without the positive control.
        clocks: Each of them.
    """

    order: Order
    pairs: int
    probes: int
    controls: int
    own: int
    evidence: float
    reached: int | None
    own_evidence: float | None
    own_p: float | None
    clocks: tuple[Clock, ...]

    @property
    def p(self) -> float:
        """Of the test at the end, over all clocks (Bonferroni)."""
        return min(1.0, len(self.clocks) * min((one.p for one in self.clocks), default=1.0))

    @property
    def slower_p(self) -> float:
        """The same for foreign probes that are answered later."""
        return min(1.0, len(self.clocks) * min((one.slower_p for one in self.clocks), default=1.0))

    @property
    def best(self) -> Clock | None:
        """The clock in which one's own reuse shows best, else the first: no foreign probe has a part in the choice."""
        if not self.clocks:
            return None
        return max(self.clocks, key=lambda one: one.sharing.control if one.sharing else 0.0)

    @property
    def limit(self) -> float | None:
        """Upper limit of what foreign probes save of what one's own save, in the best clock."""
        best = self.best
        return None if best is None or best.sharing is None else best.sharing.high


def timing_evidence(recording: Recording, threshold: float) -> TimingEvidence | None:
    """Return what the times say; None where there are not two of each kind.

    Args:
        recording: The probes.
        threshold: Evidence that counts as reached.
    """
    chosen = two_arms(recording, Arm.CROSS)
    cross = [one for one in chosen if one.arm is Arm.CROSS]
    miss = [one for one in chosen if one.arm is Arm.MISS]
    same = [one for one in usable(recording.probes) if one.arm is Arm.SAME]
    if min(len(cross), len(miss)) < 2:
        return None
    laid = layout(chosen, Arm.CROSS)
    evidence, reached = _sequential(chosen, laid, threshold)
    own = two_arms(recording, Arm.SAME) if len(same) >= 2 else []
    own_laid = layout(own, Arm.SAME) if own else None
    clocks = tuple(
        _clock(name, at, chosen, same, laid) for at, name in enumerate(recording.clocks) if _has(chosen, same, at)
    )
    return TimingEvidence(
        order=laid.order,
        pairs=sum(unit.pairs for unit in laid.units) if laid.order is Order.BLOCKS else min(len(cross), len(miss)),
        probes=len(cross),
        controls=len(miss),
        own=len(same),
        evidence=evidence,
        reached=reached,
        own_evidence=_sequential(own, own_laid, threshold)[0] if own_laid else None,
        own_p=_own_p(own, own_laid) if own_laid else None,
        clocks=clocks,
    )


def sequential(recording: Recording, threshold: float) -> tuple[float, int | None]:
    """Return the most that the evidence of a recording reached, and after how many pairs it was at the threshold."""
    chosen = two_arms(recording, Arm.CROSS)
    if not chosen:
        return 1.0, None
    return _sequential(chosen, layout(chosen, Arm.CROSS), threshold)


def _has(chosen: Sequence[Probe], same: Sequence[Probe], clock: int) -> bool:
    return all(len(one.times) > clock for one in (*chosen, *same))


def seconds(probes: Sequence[Probe], clock: int) -> list[float]:
    """Return the times of one clock."""
    return [value for one in probes if (value := one.times[clock]) is not None]


def _sequential(probes: Sequence[Probe], laid: Layout, threshold: float) -> tuple[float, int | None]:
    """Return the most that the evidence reached, a mean over clocks, and after how many pairs the threshold was."""
    clocks = range(len(probes[0].times)) if probes else range(0)
    times = [seconds(probes, clock) for clock in clocks]
    processes = [CappedProcess() for _ in clocks]
    most, reached = 1.0, None
    for unit in laid.units:
        now = fmean(
            process.add_unit([own[at] for at in unit.probes], [own[at] for at in unit.controls])
            for process, own in zip(processes, times, strict=True)
        )
        most = max(most, now)
        if reached is None and now >= threshold:
            reached = processes[0].pairs
    return most, reached


def _clock(name: str, at: int, chosen: Sequence[Probe], same: Sequence[Probe], laid: Layout) -> Clock:
    times = seconds(chosen, at)
    kinds = [one.arm is Arm.CROSS for one in chosen]
    cross = [time for time, probe in zip(times, kinds, strict=True) if probe]
    miss = [time for time, probe in zip(times, kinds, strict=True) if not probe]
    own = seconds(same, at)
    moved = shift(cross, miss)
    ks, order = ks_smaller(cross, miss), mann_whitney_smaller(cross, miss)
    sooner, later = capped_p(times, kinds, laid)
    # Two-sided limits at 90 % are one-sided ones at 95 %.
    shared = sharing(miss, own, cross, 1 - 2 * LIMIT_ALPHA) if len(own) >= 2 else None
    return Clock(
        name=name,
        miss_s=median(miss),
        cross_s=median(cross),
        same_s=median(own) if own else None,
        shift_s=moved.value,
        interval=moved.interval,
        p=sooner,
        slower_p=later,
        ks_p=ks.p,
        mann_whitney_p=order.p,
        auc=order.statistic,
        served=ks.statistic,
        sharing=shared,
        needed=_needed(times, kinds),
    )


def capped_p(times: Sequence[float], kinds: Sequence[bool], laid: Layout) -> tuple[float, float]:
    """Return the p values of the capped test: probes are sooner, and probes are later.

    All orders are counted that the draw could have given: of probes and controls over the whole recording, or of the
    sides of each unit.
    """
    logs = capped_logs(times)
    if laid.order is not Order.BLOCKS and len(times) <= SUBSETS:
        return subset_tails(logs, kinds)
    ahead = [
        math.fsum(logs[at] for at in unit.controls) - math.fsum(logs[at] for at in unit.probes) for unit in laid.units
    ]
    return swap_p(ahead), swap_p([-one for one in ahead])


def _own_p(own: Sequence[Probe], laid: Layout) -> float:
    kinds = [one.arm is Arm.SAME for one in own]
    clocks = range(len(own[0].times))
    return min(1.0, len(clocks) * min(capped_p(seconds(own, clock), kinds, laid)[0] for clock in clocks))


def _needed(times: Sequence[float], kinds: Sequence[bool]) -> int | None:
    """Return the pairs with which an effect as large as this one is found nine times in ten."""
    logs = capped_logs(times)
    probes = [one for one, probe in zip(logs, kinds, strict=True) if probe]
    controls = [one for one, probe in zip(logs, kinds, strict=True) if not probe]
    ahead = fmean(controls) - fmean(probes)
    if ahead <= 0:
        return None
    normal = NormalDist()
    z = normal.inv_cdf(1 - ALPHA) + normal.inv_cdf(_POWER)
    return max(_LEAST, math.ceil(_SPREAD * z * z * (variance(probes) + variance(controls)) / ahead**2 + 5))


def isolation_needed(pairs: int, shared: Sharing) -> int | None:
    """Return the pairs whose upper limit would be low enough, None where what is shared seems to be more than that."""
    ratio = max(0.0, shared.ratio or 0.0)
    if shared.high is None or ratio >= ISOLATED:
        return None
    return max(CERTIFICATE, math.ceil(pairs * ((shared.high - ratio) / (ISOLATED - ratio)) ** 2))
