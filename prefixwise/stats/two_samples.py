"""Are the values of one sample smaller than those of another? Three tests, each one-sided."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from statistics import median

import msgspec

from prefixwise.stats.exact_sums import swap_p


class Test(msgspec.Struct, frozen=True):
    """A test's statistic and its p value."""

    statistic: float
    p: float


def ks_smaller(first: Sequence[float], second: Sequence[float]) -> Test:
    """Test whether `first` is stochastically smaller, by Kolmogorov and Smirnov's D+.

    D+ is the largest amount by which the distribution of `first` runs ahead of that of `second`: a lower bound on the
    share of `first` that is different. p is exact without ties and an upper bound with them (Hodges 1958).

    Raises:
        ValueError: A sample is empty.
    """
    m, n = _sizes(first, second)
    ahead, behind = sorted(first), sorted(second)
    lead = max(
        (bisect_right(ahead, value) * n - bisect_right(behind, value) * m for value in {*first, *second}), default=0
    )
    return Test(lead / (m * n), _paths_that_reach(lead, m, n))


def _paths_that_reach(lead: int, m: int, n: int) -> float:
    """Return the share of orders of two samples in which the first is once ahead by `lead` / (m n) or more."""
    if lead <= 0:
        return 1.0
    if m == n:  # by reflection
        return math.comb(2 * n, n - lead // n) / math.comb(2 * n, n)
    staying = [0] * (n + 1)  # paths to (i, j) that never reach the lead, for one i after the other
    for i in range(m + 1):
        for j in range(n + 1):
            if i * n - j * m >= lead:
                staying[j] = 0
            elif i == 0:
                staying[j] = 1
            elif j:
                staying[j] += staying[j - 1]
    return 1.0 - staying[n] / math.comb(m + n, n) if staying[n] else 1.0


def mann_whitney_smaller(first: Sequence[float], second: Sequence[float]) -> Test:
    """Test whether `first` tends to be smaller, by Mann and Whitney's U; normal, corrected for ties and continuity.

    The statistic is the share of pairs in which the first is smaller, ties counted half (the area under the ROC
    curve).

    Raises:
        ValueError: A sample is empty.
    """
    m, n = _sizes(first, second)
    behind = sorted(second)
    wins = 0.0
    for value in first:
        after = bisect_right(behind, value)
        equal = after - bisect_right(behind, math.nextafter(value, -math.inf))
        wins += n - after + equal / 2
    total = m + n
    ties = sum(t**3 - t for t in Counter([*first, *second]).values())
    variance = m * n / 12 * (total + 1 - ties / (total * (total - 1)))
    if variance <= 0:
        return Test(wins / (m * n), 1.0)
    z = (wins - m * n / 2 - 0.5) / math.sqrt(variance)
    return Test(wins / (m * n), math.erfc(z / math.sqrt(2)) / 2)


def capped_smaller(first: Sequence[float], second: Sequence[float]) -> Test:
    """Test whether pairs have a smaller first value, on log values cut off above at the pooled median.

    Cutting off leaves what a cache can do (answers that come sooner) and takes away what slow answers do to a mean.
    The cap does not depend on which value of a pair is which, so swapping them is fair where there is no difference,
    and p is exact: all swaps are counted.

    Args:
        first: Positive times, each in the same block as the one of `second` at its place.
        second: Positive times.

    Returns:
        The mean difference of the capped logs, second minus first, and p.

    Raises:
        ValueError: The samples are empty, or not of one length, or a time is not positive.
    """
    _sizes(first, second)
    logs = capped_logs([*first, *second])
    differences = [b - a for a, b in zip(logs[: len(first)], logs[len(first) :], strict=True)]
    return Test(math.fsum(differences) / len(differences), swap_p(differences))


def capped_logs(times: Sequence[float]) -> list[float]:
    """Return the logarithms of times, cut off above at their median. Raises ValueError for what is not positive."""
    if any(value <= 0 for value in times):
        raise ValueError("a time is not positive")
    cap = math.log(median(times))
    return [min(math.log(value), cap) for value in times]


def _sizes(first: Sequence[float], second: Sequence[float]) -> tuple[int, int]:
    if not first or not second:
        raise ValueError("a sample is empty")
    return len(first), len(second)
