"""Charts made of characters: bars, floating bars, sparklines, tree guides. Strings only, no colour."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_LEVELS = "▁▂▃▄▅▆▇█"
_GUIDES = 12
"""Levels of a tree that are drawn; deeper rows show the innermost ones."""


def bar(value: float, top: float, width: int) -> str:
    """Return a bar for `value` on a scale from 0 to `top`, at least a sliver for anything above zero."""
    if value <= 0 or top <= 0:
        return ""
    eighths = max(1, round(min(1.0, value / top) * width * 8))
    full, rest = divmod(eighths, 8)
    return "█" * full + (_EIGHTHS[rest] if rest else "")


def floating_bars(start: float, steps: Sequence[float], end: float, width: int) -> list[str]:
    """Return the bars of a waterfall: start, each step where the running total stands, end.

    Totals are solid, losses light (`░`), gains dark (`▓`), so that the chart reads without colour.
    """
    levels = [_finite(start)]
    for step in steps:
        levels.append(levels[-1] + _finite(step))
    low, high = min(0.0, _finite(end), *levels), max(0.0, _finite(end), *levels)

    def span(a: float, b: float, character: str) -> str:
        if a == b:
            return ""
        left, right = (round((edge - low) / (high - low) * width) for edge in sorted((a, b)))
        if left == right:
            left, right = (left - 1, left) if left >= width else (left, left + 1)
        return " " * left + character * (right - left)

    moves = [span(a, b, "▓" if b > a else "░") for a, b in itertools.pairwise(levels)]
    return [span(0, levels[0], "█"), *moves, span(0, _finite(end), "█")]


def sparkline(values: Sequence[float | None], width: int) -> str:
    """Return one character a point (neighbours averaged where there are more than `width`), a gap for None."""
    points = [_mean(bucket) for bucket in _buckets(values, width)]
    known = [point for point in points if point is not None]
    if not known:
        return ""
    low, span = min(known), max(known) - min(known)
    return "".join(
        " " if point is None else _LEVELS[round((point - low) / span * 7)] if span else _LEVELS[3] for point in points
    )


def sample(count: int, most: int) -> list[int]:
    """Return at most `most` indexes of `count` points, evenly spread, both ends among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(index * (count - 1) / (most - 1)) for index in range(most)})


def guides(depths: Sequence[int]) -> list[str]:
    """Return what to draw before each label of a tree whose rows have these depths (0 is a root)."""
    drawn: list[str] = []
    open_levels: set[int] = set()  # levels at which another sibling follows further down
    for depth in reversed(depths):
        open_levels = {level for level in open_levels if level <= depth}
        stem = ["│ " if level in open_levels else "  " for level in range(1, depth)]
        branch = ["├ " if depth in open_levels else "└ "] if depth > 0 else []
        shown = stem + branch
        hidden = len(shown) > _GUIDES
        drawn.append(("⋯ " if hidden else "") + "".join(shown[-_GUIDES:]))
        open_levels.add(depth)
    return drawn[::-1]


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0


def _buckets(values: Sequence[float | None], width: int) -> list[Sequence[float | None]]:
    count = min(len(values), max(1, width))
    edges = [round(index * len(values) / count) for index in range(count + 1)] if count else []
    return [values[a:b] for a, b in itertools.pairwise(edges)]


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None and math.isfinite(value)]
    return sum(known) / len(known) if known else None
