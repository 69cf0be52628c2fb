"""How long something lives, where each was looked at once: alive or gone, never the moment of its end."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Survival(msgspec.Struct, frozen=True):
    """What looks at several ages say of a lifetime.

    Attributes:
        ages: Ages looked at, ascending.
        shares: Share alive at each, made to fall with age.
        last_all: The oldest age below which every look found all alive; None where the youngest did not.
        first_none: The youngest age from which on every look found none; None where the oldest found one.
    """

    ages: tuple[float, ...]
    shares: tuple[float, ...]
    last_all: float | None
    first_none: float | None

    def at(self, age: float) -> float | None:
        """Return the share alive at the oldest age looked at up to `age`; None below the first."""
        below = [share for looked, share in zip(self.ages, self.shares, strict=True) if looked <= age]
        return below[-1] if below else None


def survival(looks: Iterable[tuple[float, bool]]) -> Survival:
    """Return the most likely falling curve through looks of (age, alive).

    Each thing is looked at once, since a look may prolong its life. The curve is the maximum-likelihood estimate from
    such "current status" data: pools of neighbours that fall (Ayer et al. 1955).

    Raises:
        ValueError: There is no look.
    """
    counts: dict[float, list[int]] = {}
    for age, alive in looks:
        seen = counts.setdefault(age, [0, 0])
        seen[0] += alive
        seen[1] += 1
    if not counts:
        raise ValueError("a lifetime needs a look")
    ages = sorted(counts)
    pools: list[tuple[int, int, int]] = []  # alive, looks, ages in the pool
    for age in ages:
        pools.append((counts[age][0], counts[age][1], 1))
        while len(pools) > 1 and pools[-1][0] * pools[-2][1] > pools[-2][0] * pools[-1][1]:
            after, before = pools.pop(), pools.pop()
            pools.append((before[0] + after[0], before[1] + after[1], before[2] + after[2]))
    shares = tuple(alive / looked for alive, looked, number in pools for _ in range(number))
    whole = [counts[age][0] == counts[age][1] for age in ages]
    gone = [counts[age][0] == 0 for age in ages]
    last = next((at for at, all_alive in enumerate(whole) if not all_alive), len(ages))
    first = next((at for at in range(len(ages), 0, -1) if not gone[at - 1]), 0)
    return Survival(tuple(ages), shares, ages[last - 1] if last else None, ages[first] if first < len(ages) else None)
