"""What a probe is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import msgspec

from prefixwise.bench.probe.finding import By, Finding, Verdict
from prefixwise.bench.probe.lab import Lab
from prefixwise.bench.probe.plan import Plan
from prefixwise.core.registry import Registry


class Size(NamedTuple):
    """The most requests and prompt tokens that a probe sends, and the seconds that it waits besides."""

    requests: int
    tokens: int
    seconds: float = 0.0


class Probe(ABC):
    """Finds out one thing about a cache.

    Attributes:
        name: As `--only` calls it; `title`: as people do.
        place: Where in the order of a run; `figure`: what `--require` calls its value.
        by_timing: Whether it works without counts.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    figure: ClassVar[str]
    place: ClassVar[int]
    by_timing: ClassVar[bool] = True

    def default(self, plan: Plan) -> bool:  # noqa: ARG002
        """Return whether it is run where nobody asks for it by name."""
        return True

    @abstractmethod
    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""

    @abstractmethod
    async def find(self, lab: Lab) -> Finding:
        """Return what it finds, where hits can be told from misses. Raises ExchangeError."""

    async def run(self, lab: Lab) -> Finding:
        """Return what it finds, or why it cannot."""
        by = lab.survey.by
        if lab.survey.caching is False:
            return self.nothing(Verdict.ABSENT, "nothing is cached here, by count or by time")
        if by is By.NOTHING:
            counts = f"the count of cached tokens is {lab.survey.counting}"
            return self.nothing(Verdict.INCONCLUSIVE, f"{counts}, and times do not tell hits from misses")
        if by is By.TIMING and not self.by_timing:
            return self.nothing(Verdict.INCONCLUSIVE, "this takes a right count of cached tokens; times cannot tell it")
        found = await self.find(lab)
        made = lab.survey.timing
        if found.by is not By.TIMING or made is None:
            return found
        threshold = f"a first token within {1000 * made.threshold:.3g} ms is a hit's"
        right = f"so it was, and no other, for {1 - made.wrong:.0%} of {2 * made.pairs} known requests"
        return msgspec.structs.replace(found, assumed=(*found.assumed, f"{threshold}; {right}"))

    def nothing(self, verdict: Verdict, said: str) -> Finding:
        """Return a finding without a figure."""
        return Finding(probe=self.name, verdict=verdict, said=said)

    def verdict(self, lab: Lab) -> Verdict:
        """Return the verdict on what hits and misses told."""
        return Verdict.MEASURED if lab.survey.by is By.USAGE else Verdict.INFERRED


PROBES: Registry[Probe] = Registry("probe", "prefixwise.bench.probe.probes", group="probe")
"""Every probe, by name."""


def probes(plan: Plan) -> tuple[Probe, ...]:
    """Return the probes of a plan in their order. Raises UserError for a name that is none."""
    chosen = [PROBES.get(name) for name in plan.only] or [probe for probe in PROBES if probe.default(plan)]
    return tuple(sorted(set(chosen), key=lambda probe: probe.place))
