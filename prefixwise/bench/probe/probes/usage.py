"""Whether the server counts cached tokens, and whether its counts can be believed."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.bench.probe.finding import By, Finding, Verdict
from prefixwise.bench.probe.lab import Lab
from prefixwise.bench.probe.plan import Plan
from prefixwise.bench.probe.probe import PROBES, Probe, Size
from prefixwise.bench.probe.survey import Counting, Survey

_MOST = 96


class Usage(Probe):
    """New prompts, the same ones again, and prompts of which half was sent: by count and by time."""

    name: ClassVar[str] = "usage"
    title: ClassVar[str] = "Reported usage"
    figure: ClassVar[str] = "reported"
    place: ClassVar[int] = 0

    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""
        return Size(_MOST, _MOST * plan.length, 10 * plan.settle)

    async def run(self, lab: Lab) -> Finding:
        """Return what the survey found: it has been made already."""
        return await self.find(lab)

    async def find(self, lab: Lab) -> Finding:
        """Return what the survey found."""
        found = lab.survey
        verdict, said = _said(found)
        facts: dict[str, str | float] = {"counting": found.counting.value}
        if found.timing is not None:
            facts["cold_over_warm"] = found.timing.ratio
        return Finding(
            probe=self.name,
            verdict=verdict,
            said=said,
            value=1.0 if found.counting is Counting.RIGHT else 0.0,
            by=By.USAGE if found.counting in (Counting.RIGHT, Counting.WRONG) else By.TIMING,
            requests=lab.taken(self.name),
            facts=facts,
        )


def _said(found: Survey) -> tuple[Verdict, str]:
    if found.counting is Counting.RIGHT:
        slow = ", but repeated prompts are no faster" if found.timing and found.timing.faster is False else ""
        said = (
            f"cached tokens are counted: {found.full:,} of {found.length:,} in a repeated prompt, {found.floor} in new"
        )
        return Verdict.MEASURED, f"{said} ones{slow}"
    if found.counting is Counting.WRONG:
        return Verdict.MEASURED, f"the count of cached tokens is wrong: {found.why}"
    what = {
        Counting.ZERO: "cached tokens are always counted as 0",
        Counting.MISSING: "cached tokens are not counted",
    }.get(found.counting, "cached tokens are counted in some answers only")
    if found.caching is None or found.timing is None:
        return Verdict.INCONCLUSIVE, f"{what}, and times do not tell whether anything is cached"
    if found.caching:
        return Verdict.INFERRED, f"{what}, though repeated prompts are {found.timing.ratio:.1f} times as fast"
    return Verdict.ABSENT, f"{what}, and repeated prompts take as long as new ones: nothing is cached"


PROBES.add(Usage.name, Usage())
