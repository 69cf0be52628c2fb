"""How many caches stand behind one address: how often a prompt has to be sent until it stays a hit."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.bench.probe.finding import Finding
from prefixwise.bench.probe.lab import Lab
from prefixwise.bench.probe.plan import Plan
from prefixwise.bench.probe.probe import PROBES, Probe, Size


class Replicas(Probe):
    """A lower bound: routers may keep a prompt to one replica, and chance may find a warm one."""

    name: ClassVar[str] = "replicas"
    title: ClassVar[str] = "Replicas"
    figure: ClassVar[str] = "replicas"
    place: ClassVar[int] = 1

    def size(self, plan: Plan) -> Size:  # noqa: ARG002
        """Return nothing: the survey has seen it."""
        return Size(0, 0)

    async def find(self, lab: Lab) -> Finding:
        """Return how many sends it took until all were hits."""
        number = lab.survey.primes
        sends = "one send" if number == 1 else f"{number} sends"
        return Finding(
            probe=self.name,
            verdict=self.verdict(lab),
            said=f"a prompt stays a hit after {sends}: at least {number} cache{'s' * (number > 1)}",
            value=float(number),
            low=float(number),
            unit="replicas",
            by=lab.survey.by,
            assumed=("requests with one prompt may go to any replica",),
        )


PROBES.add(Replicas.name, Replicas())
