"""The shortest prompt that is cached: by doubling, then by halving what lies between."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.bench.probe.finding import By, Finding, Verdict
from prefixwise.bench.probe.lab import Lab, Unit
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.probe.probe import PROBES, Probe, Size
from prefixwise.bench.probe.timing import calibration

_FIRST = 32
_FINE = 128
"""The bracket is halved until it is one part in so many of its upper end."""
_PAIRS = 8
_SHORTEST_TIMED = 256


class Minimum(Probe):
    """Prompts are sent twice; the bracket ends at the longest that never hit and the shortest that always did.

    What is documented and what is seen differ in the wild: 1,024 tokens by one provider's page were 2,048.
    """

    name: ClassVar[str] = "minimum"
    title: ClassVar[str] = "Shortest cached prompt"
    figure: ClassVar[str] = "minimum"
    place: ClassVar[int] = 3

    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""
        rounds = plan.longest.bit_length() + _FINE.bit_length()
        requests = rounds * plan.replicates * 2
        return Size(requests, requests * plan.longest // 2)

    async def find(self, lab: Lab) -> Finding:
        """Return the bracket."""
        return await (self._by_usage(lab) if lab.survey.by is By.USAGE else self._by_timing(lab))

    async def _by_usage(self, lab: Lab) -> Finding:
        missed: int | None = None
        hit: int | None = None
        mixed = False
        length = lab.possible(max(_FIRST, lab.words.around + 8))
        while hit is None and length <= lab.plan.longest:
            share = await self._share(lab, length)
            missed, hit = (length, hit) if share == 0 else (missed, length if share == 1 else hit)
            mixed = mixed or 0 < share < 1
            length = lab.possible(2 * length)
        while missed is not None and hit is not None and hit - missed > max(1, hit // _FINE):
            middle = lab.possible((missed + hit) // 2)
            share = await self._share(lab, middle) if middle < hit else 1.0
            if middle >= hit or 0 < share < 1:
                mixed = mixed or middle < hit
                break
            missed, hit = (middle, hit) if share == 0 else (missed, middle)
        return self._finding(lab, missed, hit, mixed)

    async def _share(self, lab: Lab, length: int) -> float:
        """Return the share of repeated prompts of this length that were hits."""
        found = [await self._again(lab, length, at) for at in range(lab.plan.replicates)]
        hits = [rows[-1].cached or 0 for rows in found if rows[-1].ok]
        return sum(cached > lab.survey.floor for cached in hits) / len(hits) if hits else 0.5

    async def _again(self, lab: Lab, length: int, at: int) -> list[Row]:
        async def work(unit: Unit) -> None:
            prompt = unit.text(length)
            await unit.prime(prompt)
            await unit.settle()
            await unit.send(Role.READ, prompt)

        return await lab.unit(f"{self.name}/{length}/{at}", work)

    def _finding(self, lab: Lab, missed: int | None, hit: int | None, mixed: bool) -> Finding:
        if hit is None:
            said = f"no prompt of up to {lab.plan.longest:,} tokens was cached every time"
        elif missed is None:
            said = f"prompts of {hit:,} tokens are cached, and shorter ones cannot be made: no minimum is seen"
        else:
            said = f"prompts of {hit:,} tokens are cached, of {missed:,} are not"
        return Finding(
            probe=self.name,
            verdict=Verdict.MEASURED if hit is not None and not mixed else Verdict.INCONCLUSIVE,
            said=f"{said}; between, some are and some are not" if mixed else said,
            value=None if hit is None else float(hit),
            low=None if missed is None else missed + 1.0,
            high=None if hit is None else float(hit),
            unit="tokens",
            by=lab.survey.by,
            requests=lab.taken(self.name),
            assumed=(
                "a whole prompt is sent again: a block and a token more is the least that a cache of blocks finds",
            ),
        )

    async def _by_timing(self, lab: Lab) -> Finding:
        """Return the shortest length at which repeated prompts are faster; below, too little is saved to be seen."""
        length = lab.possible(max(_SHORTEST_TIMED, lab.words.around + 8))
        while length <= lab.plan.longest:
            units = [await self._again(lab, length, at) for at in range(_PAIRS)]
            pairs = [(a, b) for rows in units if (a := rows[0].seconds) and (b := rows[-1].seconds)]
            made = calibration(pairs)
            if made is not None and made.faster:
                said = f"prompts of {length:,} tokens are cached; shorter ones save too little for times to tell"
                return Finding(
                    probe=self.name,
                    verdict=Verdict.INFERRED,
                    said=said,
                    high=float(length),
                    unit="tokens",
                    by=By.TIMING,
                    requests=lab.taken(self.name),
                )
            length = lab.possible(2 * length)
        return self.nothing(Verdict.INCONCLUSIVE, "no length shows a difference that times can tell")


PROBES.add(Minimum.name, Minimum())
