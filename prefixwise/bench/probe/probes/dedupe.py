"""Identical new requests at once: how many of them are computed."""

from __future__ import annotations

import asyncio
from statistics import median
from typing import ClassVar

from prefixwise.bench.probe.finding import Finding, Verdict
from prefixwise.bench.probe.lab import Lab, Unit
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.probe.probe import PROBES, Probe, Size


class Dedupe(Probe):
    """Each request has a connection that is open before; what is paid is what is not counted as cached.

    A server that can read a block as soon as it is scheduled computes one of them; one that reads finished answers only
    computes all.
    """

    name: ClassVar[str] = "dedupe"
    title: ClassVar[str] = "Concurrent writes"
    figure: ClassVar[str] = "paid"
    place: ClassVar[int] = 5
    by_timing: ClassVar[bool] = False

    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""
        requests = plan.at_once * plan.replicates
        return Size(requests, requests * plan.length)

    async def find(self, lab: Lab) -> Finding:
        """Return how many of the requests were paid for, parts added up."""
        number = lab.plan.at_once

        async def work(unit: Unit) -> None:
            prompt = unit.text(lab.survey.length)
            senders = await lab.senders(number)
            await asyncio.gather(*(unit.send(Role.COLD, prompt, sender) for sender in senders))

        units = [await lab.unit(f"{self.name}/{number}/{at}", work) for at in range(lab.plan.replicates)]
        paid = [one for rows in units if (one := _paid(lab, rows, number)) is not None]
        if not paid:
            return self.nothing(Verdict.INCONCLUSIVE, "not all requests were answered")
        middle = median(paid)
        return Finding(
            probe=self.name,
            verdict=Verdict.MEASURED,
            said=f"of {number} identical requests at once {middle:.3g} are computed, the rest comes from the cache",
            value=middle,
            low=min(paid),
            high=max(paid),
            unit="requests",
            by=lab.survey.by,
            requests=lab.taken(self.name),
            assumed=("all arrive before the first is answered",),
            facts={"at_once": number},
        )


def _paid(lab: Lab, rows: list[Row], number: int) -> float | None:
    """Return how many prompts were computed, parts of them added up; None where an answer is missing."""
    cached = [row.cached for row in rows if row.ok and row.cached is not None]
    if len(cached) < number or not lab.survey.full:
        return None
    return sum(1 - min(1.0, one / lab.survey.full) for one in cached)


PROBES.add(Dedupe.name, Dedupe())
