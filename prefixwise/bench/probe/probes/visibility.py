"""The visibility delay: how long after an answer its prompt can be read."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import ClassVar

from prefixwise.bench.probe.finding import Finding, Verdict
from prefixwise.bench.probe.lab import Lab, Unit
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.probe.probe import PROBES, Probe, Size

_FIRST_S = 0.05
_FINER = 2


class Visibility(Probe):
    """Prompts of their own, each read once at a delay, which doubles until all are found; then the gap is halved."""

    name: ClassVar[str] = "visibility"
    title: ClassVar[str] = "Visibility delay"
    figure: ClassVar[str] = "visible_s"
    place: ClassVar[int] = 4

    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""
        delays = len(_delays(plan.settle)) + _FINER
        requests = 2 * delays * plan.replicates
        return Size(requests, requests * plan.length, 3 * plan.replicates * plan.settle)

    async def find(self, lab: Lab) -> Finding:
        """Return the bracket: the longest delay at which none was found, the shortest at which all were."""
        missed: float | None = None
        mixed = False
        for delay in _delays(lab.plan.settle):
            rows = await self._read(lab, delay)
            share = _share(lab, rows)
            if share == 1:
                return await self._finer(lab, missed, _oldest(rows), mixed)
            missed, mixed = (_youngest(rows), mixed) if share == 0 else (missed, True)
        said = f"not every prompt could be read after {lab.plan.settle:g} s"
        return self.nothing(Verdict.INCONCLUSIVE, said)

    async def _finer(self, lab: Lab, missed: float | None, found: float, mixed: bool) -> Finding:
        for _ in range(_FINER):
            if missed is None or mixed:
                break
            rows = await self._read(lab, (missed + found) / 2)
            share = _share(lab, rows)
            missed = _youngest(rows) if share == 0 else missed
            found = _oldest(rows) if share == 1 else found
            mixed = 0 < share < 1
        low = 0.0 if missed is None else missed
        after = f"{1000 * found:,.0f} ms after its answer"
        if mixed:
            said = f"all prompts could be read {after}, and some, not all, before"
        elif missed is None:
            said = f"a prompt can be read at once, {after}"
        else:
            said = f"a prompt can be read {after}, not {1000 * low:,.0f} ms after it"
        return Finding(
            probe=self.name,
            verdict=Verdict.INCONCLUSIVE if mixed else self.verdict(lab),
            said=said,
            value=found,
            low=low,
            high=found,
            unit="seconds",
            by=lab.survey.by,
            requests=lab.taken(self.name),
            assumed=("time is counted from the last byte of the first answer to the first byte of the next request",),
        )

    async def _read(self, lab: Lab, delay: float) -> list[Row]:
        async def work(unit: Unit) -> None:
            prompt = unit.text(lab.survey.length)
            await unit.prime(prompt)
            await asyncio.sleep(delay)
            await unit.send(Role.READ, prompt)

        units = [await lab.unit(f"{self.name}/{delay:.6g}/{at}", work) for at in range(lab.plan.replicates)]
        return [rows[-1] for rows in units]


def _delays(longest: float) -> list[float]:
    delays = [0.0]
    while (delay := delays[-1] * 2 or _FIRST_S) < longest:
        delays.append(delay)
    return [*delays, longest]


def _share(lab: Lab, rows: Sequence[Row]) -> float:
    """Return the share of reads that were hits; one half where nothing tells."""
    hits = [hit for row in rows if (hit := lab.hit(row)) is not None]
    return sum(hits) / len(hits) if hits else 0.5


def _youngest(rows: Sequence[Row]) -> float:
    return min(row.age or 0.0 for row in rows)


def _oldest(rows: Sequence[Row]) -> float:
    return max(row.age or 0.0 for row in rows)


PROBES.add(Visibility.name, Visibility())
