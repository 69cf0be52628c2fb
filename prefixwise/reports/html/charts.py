"""Charts as SVG: bars of table rows, floating bars, lines. Shapes only, coloured by the page's style."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

from markupsafe import Markup

_WIDTH, _HEIGHT = 640, 200
PARTS = 10
"""Kinds of parts that the style tells apart."""
_LETTER = 5
"""Percent of a bar that a letter needs."""
_COLOURS = 6
"""Kinds of lines that the style tells apart."""


def bar(value: float, top: float) -> Markup:
    """Return a bar on a scale from 0 to `top`, at least a sliver for anything above zero."""
    share = min(1.0, value / top) * 100 if value > 0 and top > 0 else 0.0
    return _svg([(0.0, max(share, 0.5) if share else 0.0, "total")])


def parts(shares: Sequence[float], letters: Sequence[str]) -> Markup:
    """Return parts of one bar, each a share of the whole and with its letter where there is room for it."""
    drawn, left = [], 0.0
    for number, (share, letter) in enumerate(zip(shares, letters, strict=True)):
        width = 100 * min(1.0, max(0.0, _finite(share)))
        if not width:
            continue
        drawn.append(f'<rect class="p{number % PARTS}" x="{left:.2f}%" width="{width:.2f}%" height="16"/>')
        if width >= _LETTER:
            drawn.append(f'<text class="t{number % PARTS}" x="{left + width / 2:.2f}%" y="12">{letter}</text>')
        left += width
    return Markup(f'<svg class="parts" width="240" height="16" aria-hidden="true">{"".join(drawn)}</svg>')  # noqa: S704 - numbers and letters


def floating_bars(start: float, steps: Sequence[float], end: float) -> list[Markup]:
    """Return the bars of a waterfall: start, each step where the running total stands, end."""
    levels = list(itertools.accumulate(map(_finite, steps), initial=_finite(start)))
    low, high = min(0.0, _finite(end), *levels), max(0.0, _finite(end), *levels)
    scale = 100 / (high - low) if high > low else 0.0

    def drawn(a: float, b: float, kind: str) -> Markup:
        left, right = sorted(((a - low) * scale, (b - low) * scale))
        return _svg([(left, max(right - left, 0.5) if a != b else 0.0, kind)])

    moves = [drawn(a, b, "gain" if b > a else "loss") for a, b in itertools.pairwise(levels)]
    return [drawn(0, levels[0], "total"), *moves, drawn(0, _finite(end), "total")]


def lines(points: Sequence[float], values: Sequence[Sequence[float | None]]) -> Markup:
    """Return a line for each of `values` over `points`; a missing value is a gap."""
    known = [value for line in values for value in line if value is not None and math.isfinite(value)]
    xs = [_finite(point) for point in points]
    if not known or not xs:
        return Markup("")
    left, right, low, high = min(xs), max(xs), min(0.0, *known), max(known)
    across, up = (right - left) or 1.0, (high - low) or 1.0
    paths = []
    for number, line in enumerate(values):
        spots = [
            None
            if value is None or not math.isfinite(value)
            else (_WIDTH * (x - left) / across, _HEIGHT * (1 - (value - low) / up))
            for x, value in zip(xs, line, strict=True)
        ]
        paths += [_path(run, number % _COLOURS) for run in _runs(spots)]
    view = f'viewBox="-6 -6 {_WIDTH + 12} {_HEIGHT + 12}"'
    return Markup(f'<svg class="lines" {view} width="{_WIDTH}" aria-hidden="true">{"".join(paths)}</svg>')  # noqa: S704 - numbers


def _runs(spots: Sequence[tuple[float, float] | None]) -> Iterator[list[tuple[float, float]]]:
    """Yield the stretches between gaps."""
    for known, run in itertools.groupby(spots, key=lambda spot: spot is not None):
        if known:
            yield [spot for spot in run if spot is not None]


def _path(spots: list[tuple[float, float]], colour: int) -> str:
    dots = "".join(f'<circle class="s{colour}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>' for x, y in spots)
    corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in spots)
    return f'<polyline class="s{colour}" fill="none" points="{corners}"/>{dots}'


def _svg(bars: Sequence[tuple[float, float, str]]) -> Markup:
    """Return bars (left, width, kind) of a row that is 100 wide."""
    drawn = "".join(f'<rect class="{kind}" x="{x:.2f}" width="{w:.2f}" height="10"/>' for x, w, kind in bars if w)
    view = 'viewBox="0 0 100 10" preserveAspectRatio="none" width="160" height="12"'
    return Markup(f'<svg class="bar" {view} aria-hidden="true">{drawn}</svg>')  # noqa: S704 - numbers and our words


def _finite(value: float) -> float:
    return value if math.isfinite(value) else 0.0
