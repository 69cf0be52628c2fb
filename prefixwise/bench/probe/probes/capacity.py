"""The room of a cache, and who goes when it is full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from prefixwise.bench.probe.finding import By, Finding, Verdict
from prefixwise.bench.probe.lab import Lab, Unit
from prefixwise.bench.probe.plan import Plan, Role, Row
from prefixwise.bench.probe.probe import PROBES, Probe, Size

_MISSES = 3
"""Full misses in a row, reading from the newest on, after which everything older is taken to be gone."""

_ROOMY = 16
"""Prompts that have to fit for the order of eviction to show."""
_GROUP, _NEW = 0.35, 0.5
"""Shares of the room that the two groups take, and what is written over them: a fifth of the room too much."""
_SAMPLES = 2
_OFTEN = 4


class Capacity(Probe):
    """Writes more than fits, reads from the newest to the oldest and adds up what is still counted as cached.

    Parts count: an engine frees the end of a prompt first. Reading what is gone writes it anew and pushes out another,
    which is why it stops after three misses. The order is told by two groups that are written one after the other, of
    which one is used again before both are too much.
    """

    name: ClassVar[str] = "capacity"
    title: ClassVar[str] = "Room and eviction"
    figure: ClassVar[str] = "capacity"
    place: ClassVar[int] = 6

    def default(self, plan: Plan) -> bool:
        """Return whether it was said how much to write: that is what it costs."""
        return plan.fill > 0

    def size(self, plan: Plan) -> Size:
        """Return what it may cost at most."""
        requests = 2 * (plan.fill // plan.length + 1)
        order = int(2 * 2.2 * plan.fill / plan.length) + 8 * _SAMPLES
        return Size(requests + order, (requests + order) * plan.length)

    async def find(self, lab: Lab) -> Finding:
        """Return how many tokens are kept, and in which order they go."""
        length = self._length(lab)
        if lab.plan.fill < 2 * length:
            return self.nothing(Verdict.INCONCLUSIVE, "it was not said how much to write: --fill TOKENS")
        if lab.survey.primes > 1:
            return self.nothing(Verdict.INCONCLUSIVE, "there are several caches, and no request says which it reaches")
        number = lab.plan.fill // length
        filled = await lab.unit(f"{self.name}/fill", lambda unit: self._fill(lab, unit, number))
        shares = self._shares(lab, filled)
        kept = sum(shares) * (lab.survey.full or length)
        whole = len(shares) == number and sum(share > 0 for share in shares) == number
        order = "unclear" if whole or sum(shares) < _ROOMY else await self._order(lab, sum(shares))
        return self._finding(lab, kept, whole, order)

    def _length(self, lab: Lab) -> int:
        """Return the length of a prompt: one that ends within a block, so that reading it again cuts no block in two.

        A radix tree that cuts a node where a repeated prompt parts from itself takes the front of it for new.
        """
        survey = lab.survey
        return lab.possible(survey.full + (survey.length - survey.full) // 2 + 1) if survey.full else survey.length

    def _finding(self, lab: Lab, kept: float, whole: bool, order: str) -> Finding:
        room = (
            f"at least {kept:,.0f} tokens, all that was written, are kept" if whole else f"{kept:,.0f} tokens are kept"
        )
        told = "" if order == "unclear" else f"; what goes first is {_ORDERS[order]}"
        return Finding(
            probe=self.name,
            verdict=self.verdict(lab) if kept else Verdict.INCONCLUSIVE,
            said=f"{room}{told}",
            value=kept,
            low=max(0.0, kept - self._length(lab)),
            high=None if whole else kept + self._length(lab),
            unit="tokens",
            by=lab.survey.by,
            requests=lab.taken(self.name),
            assumed=("nobody else writes meanwhile",),
            facts={"eviction": order, "prompt_tokens": self._length(lab)},
        )

    async def _fill(self, lab: Lab, unit: Unit, number: int) -> None:
        """Write so many prompts, then read from the newest on until several in a row are gone."""
        made = [unit.text(self._length(lab), at) for at in range(number)]
        for at, prompt in enumerate(made):
            await unit.send(Role.PRIME, prompt)
            if at % 16 == 0:
                lab.say(f"written {at * self._length(lab):,} of {lab.plan.fill:,} tokens")
        gone = 0
        for prompt in reversed(made):
            gone = 0 if lab.hit(await unit.send(Role.READ, prompt)) else gone + 1
            if gone == _MISSES:
                break

    def _shares(self, lab: Lab, rows: Sequence[Row]) -> list[float]:
        """Return how much of each prompt that was read was still there."""
        return [_share(lab, row) for row in rows if row.role is Role.READ]

    async def _order(self, lab: Lab, fits: float) -> str:
        """Return which of the orders known by name explains who was pushed out."""
        group, new = int(_GROUP * fits), int(_NEW * fits)
        recent = await lab.unit(f"{self.name}/recent", lambda unit: self._push(lab, unit, group, new, often=False))
        often = await lab.unit(f"{self.name}/often", lambda unit: self._push(lab, unit, group, new, often=True))
        lives = (_lives(lab, recent), _lives(lab, often))
        return next((name for name, expected in _EXPECTED.items() if lives in expected), "other")

    async def _push(self, lab: Lab, unit: Unit, group: int, new: int, *, often: bool) -> None:
        """Write group A and group B, use A again, write new prompts over both, and read the oldest of either.

        `often`: each of A is sent several times at once, before B is written; else A is used again after that.
        """
        length = self._length(lab)
        first = [unit.text(length, at) for at in range(group)]
        second = [unit.text(length, group + at) for at in range(group)]
        sent = [prompt for prompt in first for _ in range(_OFTEN if often else 1)]
        for prompt in [*sent, *second, *([] if often else first)]:
            await unit.send(Role.PRIME, prompt)
        for at in range(new):
            await unit.send(Role.PRIME, unit.text(length, 2 * group + at))
        for a, b in zip(first[:_SAMPLES], second[:_SAMPLES], strict=True):
            await unit.send(Role.READ, a)
            await unit.send(Role.READ, b)


_ORDERS = {
    "lru": "what was used longest ago",
    "fifo": "what was written first",
    "lfu": "what was used least often",
    "other": "neither the oldest, nor the least recently or least often used",
}
_EXPECTED = {
    "lru": [((True, False), (False, True))],
    "fifo": [((False, True), (False, True))],
    # What the probe has read twice before may not give way to what is written once.
    "lfu": [((True, False), (True, False)), ((False, False), (True, False))],
}
"""Whether the oldest prompts of groups A and B live, where A was used again after B was written, and before."""


def _share(lab: Lab, row: Row) -> float:
    """Return how much of a prompt was still cached."""
    if lab.survey.by is By.USAGE and lab.survey.full:
        return min(1.0, (row.cached or 0) / lab.survey.full) if lab.hit(row) else 0.0
    return float(lab.hit(row) is True)


def _lives(lab: Lab, rows: Sequence[Row]) -> tuple[bool, bool]:
    """Return whether most of the oldest prompts of either group are still there."""
    shares = [_share(lab, row) for row in rows if row.role is Role.READ]
    first, second = shares[::2], shares[1::2]
    return sum(first) > len(first) / 2, sum(second) > len(second) / 2


PROBES.add(Capacity.name, Capacity())
