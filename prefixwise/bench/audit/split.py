"""How an audit may err: what its false alarms are split among, so that together they stay below one in a thousand."""

from __future__ import annotations

import msgspec

ALPHA = 1e-3
"""Chance that anything at all is called a leak by its times in an audit in which nobody shares anything."""

SEQUENTIAL = 0.1
"""Share of it for the test that is looked at after every pair: its evidence has to reach 10,000 instead of 1,000, which
takes some pairs more. The rest is for the test at the end, which finds what is small or seldom."""

LIMIT_ALPHA = 0.05
"""Chance that the upper limit of what is shared is too low, in each comparison."""

ISOLATED = 0.05
"""Share of one's own reuse of which it has to be shown that others get less."""

CONTROL = 1000.0
"""Evidence of one's own reuse without which nothing is said of others'."""


class Split(msgspec.Struct, frozen=True):
    """What of the chance to err each part of an audit has.

    Attributes:
        alpha: Of all together.
        comparisons: Tenant pairs and circumstances that are tested.
        sequential: Of each comparison's evidence, at any time: it has to reach `threshold`.
        final: Of the tests at the end, together: Holm's procedure over comparisons, Bonferroni's over clocks.
    """

    alpha: float
    comparisons: int
    sequential: float
    final: float

    @property
    def threshold(self) -> float:
        """The evidence that makes a leak (Ville's inequality)."""
        return 1 / self.sequential


def split(comparisons: int, alpha: float = ALPHA) -> Split:
    """Return the split for so many comparisons. Raises ValueError for none."""
    if comparisons < 1:
        raise ValueError("an audit compares something")
    return Split(alpha, comparisons, alpha * SEQUENTIAL / comparisons, alpha * (1 - SEQUENTIAL))


def holm(p_values: list[float], alpha: float) -> list[bool]:
    """Return which hypotheses are rejected so that any wrong one is with a chance of at most `alpha` (Holm 1979)."""
    order = sorted(range(len(p_values)), key=p_values.__getitem__)
    rejected = [False] * len(p_values)
    for done, at in enumerate(order):
        if p_values[at] > alpha / (len(p_values) - done):
            break
        rejected[at] = True
    return rejected
