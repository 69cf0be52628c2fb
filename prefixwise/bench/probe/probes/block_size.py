"""The block size: cached tokens over shared tokens are a staircase, and its steps are blocks."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from functools import reduce
from typing import ClassVar

from prefixwise.bench.probe.finding import Finding, Verdict
from prefixwise.bench.probe.lab import Lab, Unit
from prefixwise.bench.probe.plan import Plan, Role
from prefixwise.bench.probe.probe import PROBES, Probe, Size

_STEPS = 12
"""Places on the staircase. Twelve random multiples have a common divisor too many in one run of some 4,000."""
_DISTINCT = 3
_BISECTIONS = 12
_CHECKS = 4


class BlockSize(Probe):
    """Prompts that share so many tokens and no more; the size is what divides all that the server counts.

    It is confirmed at two steps that it predicts, one token below and one token on each. Never assumed to be 16: vLLM
    has 16, SGLang 1 or 64, OpenAI 128, some hybrid models 1,600 or 3,584.
    """

    name: ClassVar[str] = "block-size"
    title: ClassVar[str] = "Block size"
    figure: ClassVar[str] = "block_size"
    place: ClassVar[int] = 2
    by_timing: ClassVar[bool] = False

    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""
        stairs = 2 * _STEPS * 2  # primed and read, at two lengths
        return Size(stairs + 2 * (_BISECTIONS + _CHECKS), stairs * plan.longest)

    async def find(self, lab: Lab) -> Finding:
        """Return the size, or what is in the way of it."""
        length = lab.possible(lab.plan.length)
        seen = await self._stairs(lab, length)
        while len({cached for _, cached in seen}) < _DISTINCT and 2 * length <= lab.plan.longest:
            length = lab.possible(2 * length)
            seen = await self._stairs(lab, length)
        values = sorted({cached for _, cached in seen})
        if len(values) < _DISTINCT:
            said = (
                f"prompts of {length:,} tokens have {len(values)} different counts of cached tokens, too few for steps"
            )
            return self.nothing(Verdict.INCONCLUSIVE, said)
        step = reduce(math.gcd, [b - values[0] for b in values[1:]])
        offset = values[0] % step
        checked = await self._confirm(lab, length, seen, step, offset)
        return self._finding(lab, step, offset, checked, values)

    def _finding(self, lab: Lab, step: int, offset: int, checked: tuple[int, int], values: Sequence[int]) -> Finding:
        right, of = checked
        confirmed = of == _CHECKS == right
        counts = f"{len(values)} different counts"
        how = f"all {of} predicted places of its steps are right" if confirmed else f"{right} of {of} places are right"
        return Finding(
            probe=self.name,
            verdict=Verdict.MEASURED if confirmed else Verdict.INCONCLUSIVE,
            said=f"blocks of {step} token{'s' * (step > 1)}: they divide {counts}, and {how}",
            value=float(step),
            low=float(step) if confirmed else None,
            high=float(step) if confirmed else None,
            unit="tokens",
            by=lab.survey.by,
            requests=lab.taken(self.name),
            assumed=("what stands in front of the words is equally long in all prompts",),
            facts={"offset": offset, "smallest_cached": values[0], "largest_cached": values[-1]},
        )

    async def _stairs(self, lab: Lab, length: int) -> list[tuple[int, int]]:
        """Return (words' tokens shared, cached tokens) of prompts that share more and more."""
        rng = random.Random(f"{lab.plan.seed}/{length}")  # noqa: S311 - not for secrets
        most = length - lab.tail
        found = []
        for at in range(_STEPS):
            low, high = most * at // _STEPS, most * (at + 1) // _STEPS
            shared = _shared(lab, rng.randint(low, high))
            if shared <= most and (cached := await self._read(lab, length, shared)) is not None:
                found.append((shared, cached))
        return [(shared, cached) for shared, cached in found if cached > lab.survey.floor]

    async def _read(self, lab: Lab, length: int, shared: int) -> int | None:
        async def work(unit: Unit) -> None:
            await unit.prime(unit.forked(length, shared, 0))
            await unit.settle()
            await unit.send(Role.READ, unit.forked(length, shared, 1))

        rows = await lab.unit(f"{self.name}/{length}/{shared}", work)
        return rows[-1].cached if rows[-1].ok else None

    async def _confirm(
        self, lab: Lab, length: int, seen: Sequence[tuple[int, int]], step: int, offset: int
    ) -> tuple[int, int]:
        """Return how many of how many predicted counts came true.

        A count c of k shared words' tokens says that c <= lead + k < c + step, where `lead` stands for the tokens in
        front of the words. What is left of it is halved until it is known; then two steps are predicted.
        """
        low = max(cached - shared for shared, cached in seen)
        high = min(cached - shared + step - 1 for shared, cached in seen)
        most = length - lab.tail
        while low < high:
            middle = (low + high + 1) // 2
            edge = _edge(lab, step, offset, middle, most)
            cached = None if edge is None else await self._read(lab, length, edge - middle)
            if edge is None or cached is None:
                return 0, 0
            low, high = (middle, high) if cached >= edge else (low, middle - 1)
        if low > high:
            return 0, 1  # counts contradict each other
        least = min(cached for _, cached in seen)
        edges = [_edge(lab, step, offset, low, place) for place in (most, most // 2, most - step)]
        right = of = 0
        for edge in list(dict.fromkeys(one for one in edges if one is not None and one - step >= least))[:2]:
            for shared, expected in ((edge - low, edge), (edge - low - 1, edge - step)):
                cached = await self._read(lab, length, shared)
                of += 1
                right += cached == expected
        return right, of


def _edge(lab: Lab, step: int, offset: int, lead: int, most: int) -> int | None:
    """Return the last step that a prompt can reach with `most` words' tokens shared; None where there is none."""
    edge = offset + (lead + most - offset) // step * step
    while edge - lead - 1 > 0:
        if all(_shared(lab, edge - lead - less) == edge - lead - less for less in (0, 1)):
            return edge
        edge -= step
    return None


def _shared(lab: Lab, tokens: int) -> int:
    """Return the smallest number of tokens from `tokens` on that words come to."""
    return lab.possible(lab.words.around + tokens) - lab.words.around


PROBES.add(BlockSize.name, BlockSize())
