"""A tree as an icicle: each row a bar under the one that holds it, as wide as its share of the whole. SVG with text.

What is a row's own stands in a strong colour at the right end of its bar, where nothing stands below it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from markupsafe import Markup

from prefixwise.core.excerpt import visible

_STEP = 26
_GAP = 2
_MOST_LEVELS = 18
_NAMED = 2.5
"""Percent of the width from which a bar has its name in it."""


class Bar(NamedTuple):
    """One row of a tree: its level, what it is called, how wide it is, how much of that is its own, a mark."""

    level: int
    label: str
    value: float
    own: float
    marked: bool


def icicle(bars: Sequence[Bar]) -> Markup:
    """Return the picture of a tree whose rows are in order; levels further down than fits are left to its table."""
    whole = sum(bar.value for bar in bars if bar.level == 0)
    if whole <= 0:
        return Markup("")
    ends = [0.0]
    """By level, where the next bar of that level begins."""
    drawn, deepest = [], 0
    for bar in bars:
        if bar.level >= len(ends):
            continue  # below what is not drawn
        left, width = ends[bar.level], 100 * max(0.0, bar.value) / whole
        ends[bar.level] = left + width
        del ends[bar.level + 1 :]
        if bar.level + 1 < _MOST_LEVELS:
            ends.append(left)
        deepest = max(deepest, bar.level)
        drawn.append(_drawn(bar, left, width))
    height = (deepest + 1) * _STEP
    return Markup('<svg class="icicle" width="100%" height="{}" aria-hidden="true">{}</svg>').format(
        height, Markup("").join(drawn)
    )


def _drawn(bar: Bar, left: float, width: float) -> Markup:
    """Return a bar whose name is cut at its edge."""
    name = Markup("")
    if width >= _NAMED:
        name = Markup('<text x="5" y="{}">{}</text>').format(_STEP - _GAP - 8, visible(bar.label))
    part = 100 * min(1.0, max(0.0, bar.own) / bar.value) if bar.value > 0 else 0.0
    own = Markup('<rect class="own" x="{:.3f}%" width="{:.3f}%" height="100%"/>').format(100 - part, part)
    rim = Markup('<rect class="rim" width="100%" height="100%"/>') if bar.marked else Markup("")
    return Markup(
        '<svg x="{:.3f}%" y="{}" width="{:.3f}%" height="{}">'
        '<rect class="span" width="100%" height="100%"/>{}{}{}<title>{}</title></svg>'
    ).format(left, bar.level * _STEP, max(width, 0.1), _STEP - _GAP, own if part else "", rim, name, visible(bar.label))
