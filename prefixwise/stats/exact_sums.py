"""Exact permutation tests of a sum: every assignment is counted, none is drawn.

Values are rounded to a grid first, by a rule that does not know which value is whose, so the p value is exact for the
rounded sum. Counts of all sums at once are the digits of one large number, to which an item adds a shifted copy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

_STEPS = 8000
"""Steps of the grid that all absolute values together are."""

_SUBSET_STEPS = 700


def swap_p(differences: Sequence[float]) -> float:
    """Return the share of signs, over all of them, that give the differences a sum as large as theirs or larger.

    Where each difference is as likely to have the other sign it is the one-sided p value of "their sum is not above
    zero". It is never below 1 / 2^n for n differences that are not 0, and 1 without any.
    """
    total = math.fsum(abs(one) for one in differences)
    if total == 0:
        return 1.0
    grid = total / _STEPS
    steps = [(round(abs(one) / grid), one > 0) for one in differences]
    moved = [size for size, _ in steps if size]
    width = len(moved) + 1
    counts = 1
    for size in moved:
        counts += counts << (size * width)
    reached = sum(size for size, rising in steps if rising)
    return _total(counts >> (reached * width), width) / (1 << len(moved))


def subset_tails(values: Sequence[float], chosen: Sequence[bool]) -> tuple[float, float]:
    """Return the shares of choices of as many values whose sum is as small as that of those `chosen`, and as large.

    Where any choice was as likely, the first is the one-sided p value of "the chosen ones are not smaller", the second
    that of "they are not larger". The cost grows with the cube of the number of values that are not the largest: less
    than a second for 250 of them.

    Raises:
        ValueError: The two are not of one length, or nothing or everything is chosen.
    """
    picked = sum(chosen)
    if len(values) != len(chosen) or not 0 < picked < len(values):
        raise ValueError("some of the values have to be chosen, and some not")
    top = max(values)
    total = math.fsum(top - one for one in values)
    if total == 0:
        return 1.0, 1.0
    below = [round((top - one) * _SUBSET_STEPS / total) for one in values]
    moved = [size for size in below if size]
    alike = len(values) - len(moved)  # they only fill up a choice, so they are counted by a formula
    octets, row = len(moved) // 8 + 1, sum(moved) + 1
    most = min(picked, len(moved))
    mask = (1 << ((most + 1) * row * octets * 8)) - 1
    counts = 1
    for size in moved:
        counts = (counts + (counts << ((row + size) * octets * 8))) & mask
    table = counts.to_bytes((most + 1) * row * octets, "little")
    reached = sum(size for size, one in zip(below, chosen, strict=True) if one)
    small = large = 0
    for taken in range(max(0, picked - alike), most + 1):
        ways = math.comb(alike, picked - taken)
        start, at, end = (octets * (taken * row + place) for place in (0, reached, row))
        small += ways * _total(int.from_bytes(table[at:end], "little"), octets * 8)
        large += ways * _total(int.from_bytes(table[start : at + octets], "little"), octets * 8)
    every = math.comb(len(values), picked)
    return small / every, large / every


def _total(digits: int, width: int) -> int:
    """Return the sum of digits of `width` bits each; it has to be below the largest digit."""
    return digits % ((1 << width) - 1)
