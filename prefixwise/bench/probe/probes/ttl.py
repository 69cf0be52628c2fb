"""The lifetime: how long after its last use, or after it was written, a prompt is still found."""

from __future__ import annotations

import asyncio
import heapq
import math
import random
from collections import defaultdict
from time import perf_counter
from typing import ClassVar

from prefixwise.bench.probe.finding import Finding, Verdict
from prefixwise.bench.probe.lab import Lab, Unit
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.probe.probe import PROBES, Probe, Size
from prefixwise.stats.survival import Survival, survival

_GAP = 0.75
"""Share of an age at which all were alive after which a prompt is read again, to see whether that prolongs its life."""
_BEYOND = 1.1
_SLACK_S = 0.05


_EXPIRY = {
    "sliding": "; reading prolongs their life",
    "fixed": "; reading does not prolong their life",
    "unclear": "; whether reading prolongs their life is not clear",
}


class Ttl(Probe):
    """Every look has a prompt of its own, since reading may prolong a life: primed at staggered times, read once.

    Then some prompts are read again and again, each time well within the lifetime, until they are older than any that
    were found: those that are still there live on by being used (sliding), else they die at their age (fixed).
    """

    name: ClassVar[str] = "ttl"
    title: ClassVar[str] = "Lifetime"
    figure: ClassVar[str] = "ttl_s"
    place: ClassVar[int] = 7

    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""
        looks = len(plan.ages) * plan.replicates
        kept = plan.replicates * (2 + math.ceil(_BEYOND * plan.ages[-1] / (_GAP * plan.ages[0]))) if plan.ages else 0
        requests = 2 * looks + min(kept, 20 * plan.replicates)
        return Size(requests, requests * plan.length, 2.5 * max(plan.ages, default=0.0))

    async def find(self, lab: Lab) -> Finding:
        """Return the bracket between the oldest age at which all were found and the youngest at which none was."""
        if not lab.plan.ages:
            return self.nothing(Verdict.INCONCLUSIVE, "no ages were given to look at")
        await self._look(lab)
        seen = [row for name in self._names(lab) for row in lab.finished(name) or () if row.role is Role.READ]
        found = self._survival(lab, seen)
        if found is None:
            return self.nothing(Verdict.INCONCLUSIVE, "no look told whether a prompt was alive")
        low, high = found.last_all, found.first_none
        curve = {f"alive_after_{age:.3g}_s": share for age, share in zip(found.ages, found.shares, strict=True)}
        expiry = await self._expiry(lab, low, high) if low is not None and high is not None else "unclear"
        return self._finding(lab, low, high, {"expiry": expiry, **curve})

    def _finding(self, lab: Lab, low: float | None, high: float | None, facts: dict[str, str | float]) -> Finding:
        if high is None:
            said = f"all prompts were found after {low:.4g} s" if low is not None else "some were found at every age"
            said += ": they live longer than that" if low is not None else ", some were not"
        elif low is None:
            said = f"after {high:.4g} s none was found, and after the shortest wait not all"
        else:
            said = f"all prompts were found after {low:.4g} s, none after {high:.4g} s"
            said += _EXPIRY[str(facts["expiry"])]
        return Finding(
            probe=self.name,
            verdict=Verdict.INCONCLUSIVE if low is None else self.verdict(lab),
            said=said,
            value=None if low is None or high is None else math.sqrt(low * high),
            low=low,
            high=high,
            unit="seconds",
            by=lab.survey.by,
            requests=lab.taken(self.name),
            assumed=("nothing but time removed a prompt: others' requests, or the probe's own, did not push it out",),
            facts=facts,
        )

    # -- one look each -------------------------------------------------------------------------------------

    def _names(self, lab: Lab) -> list[str]:
        return [f"{self.name}/{age:g}/{at}" for age in lab.plan.ages for at in range(lab.plan.replicates)]

    async def _look(self, lab: Lab) -> None:
        """Prime what no earlier run finished, each as late as its look allows, and look when it is time."""
        waiting = [name for name in self._names(lab) if lab.finished(name) is None]
        random.Random(lab.plan.seed).shuffle(waiting)  # noqa: S311 - not for secrets
        waiting.sort(key=_age)  # the old ones are primed first, and the young ones while those wait
        due: list[tuple[float, str, Unit]] = []
        while waiting or due:
            if waiting and (not due or due[0][0] - perf_counter() > lab.survey.primes * _slowest(due) + _SLACK_S):
                name = waiting.pop()
                unit = lab.begin(name)
                await unit.prime(unit.text(lab.survey.length))
                heapq.heappush(due, (perf_counter() + _age(name), name, unit))
                continue
            when, name, unit = heapq.heappop(due)
            await asyncio.sleep(max(0.0, when - perf_counter()))
            await unit.send(Role.READ, unit.text(lab.survey.length))
            lab.end(unit)
            lab.say(f"looked after {_age(name):g} s, {len(waiting) + len(due)} looks to go")

    def _survival(self, lab: Lab, rows: list[Row]) -> Survival | None:
        """Return how the share that is alive falls; a look that came late counts at the age that it had."""
        ages: dict[float, list[tuple[float, bool]]] = defaultdict(list)
        for row in rows:
            alive = lab.hit(row)
            if alive is not None and row.age is not None:
                ages[_age(row.unit)].append((row.age, alive))
        looks = []
        for nominal, own in sorted(ages.items()):
            mixed = len({alive for _, alive in own}) > 1
            # All alive holds for the youngest of them, none alive for the oldest.
            age = nominal if mixed else (min if own[0][1] else max)(one for one, _ in own)
            looks += [(age, alive) for _, alive in own]
        return survival(looks) if looks else None

    # -- used again and again ------------------------------------------------------------------------------

    async def _expiry(self, lab: Lab, low: float, high: float) -> str:
        """Return whether use prolongs a life: sliding, fixed or unclear."""
        gap = _GAP * low
        reads = math.ceil(_BEYOND * high / gap)
        names = [f"{self.name}/used/{at}" for at in range(lab.plan.replicates)]
        due = []
        for name in names:
            if lab.finished(name) is None:
                unit = lab.begin(name)
                await unit.prime(unit.text(lab.survey.length))
                due.append((perf_counter(), unit))
        for turn in range(1, reads + 1):
            for primed, unit in due:
                await asyncio.sleep(max(0.0, primed + turn * gap - perf_counter()))
                await unit.send(Role.READ, unit.text(lab.survey.length))
        for _, unit in due:
            lab.end(unit)
        return _judged([self._used(lab, lab.finished(name) or [], low, high) for name in names])

    def _used(self, lab: Lab, rows: list[Row], low: float, high: float) -> bool | None:
        """Return whether a prompt that was used on and on outlived its age; None where a gap was too long."""
        reads = [row for row in rows if row.role is Role.READ]
        before = 0.0
        for row in reads:
            age = row.age or 0.0
            alive = lab.hit(row)
            if age - before > low or alive is None:
                return None
            if not alive:
                return False
            before = age
        return before > high or None


def _judged(outlived: list[bool | None]) -> str:
    known = {one for one in outlived if one is not None}
    return "unclear" if len(known) != 1 else "sliding" if known == {True} else "fixed"


def _age(name: str) -> float:
    return float(name.split("/")[1])


def _slowest(due: list[tuple[float, str, Unit]]) -> float:
    """Return how long a prime takes, by those that were sent."""
    return max((row.total or 0.0 for _, _, unit in due for row in unit.rows), default=0.0)


PROBES.add(Ttl.name, Ttl())
