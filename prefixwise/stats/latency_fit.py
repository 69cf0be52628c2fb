"""Prefill time as a formula of how much is computed, fitted to measured times."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

import msgspec


class Prefill(msgspec.Struct, frozen=True):
    """t = fixed + linear * n + quadratic * n * (L - n / 2), in seconds.

    n is the number of tokens computed and L the length of the prompt, of which the first L - n come from the cache:
    each of the n tokens looks back at L - n / 2 others on average.
    """

    fixed: float
    linear: float
    quadratic: float

    def seconds(self, computed: int, length: int) -> float:
        """Return the time that the formula gives."""
        return self.fixed + self.linear * computed + self.quadratic * computed * (length - computed / 2)


class Fit(msgspec.Struct, frozen=True):
    """A formula, and how far the measured times are from it: the median of |measured / formula - 1|."""

    prefill: Prefill
    error: float
    points: int


def fit_prefill(points: Sequence[tuple[int, int, float]]) -> Fit:
    """Return the formula with the least relative squared error through points (tokens computed, length, seconds).

    Relative, since the spread of times grows with them. A term that would be negative is left out.

    Raises:
        ValueError: There are fewer than three points, they lie at fewer than two places, or a time is not positive.
    """
    if len(points) < 3 or len({(n, length) for n, length, _ in points}) < 2:
        raise ValueError("a fit needs three points at two places")
    if any(seconds <= 0 for _, _, seconds in points):
        raise ValueError("a time is not positive")
    candidates = [used for used in ((0, 1, 2), (0, 1), (0, 2), (1, 2), (0,), (1,), (2,)) if _solvable(points, used)]
    fits = [fitted for used in candidates if (fitted := _least_squares(points, used)) is not None]
    best = min(fits, key=lambda fitted: (_squares(points, fitted), fitted))
    prefill = Prefill(*best)
    errors = [abs(seconds / prefill.seconds(n, length) - 1) for n, length, seconds in points]
    return Fit(prefill, median(errors), len(points))


def _terms(n: int, length: int) -> tuple[float, float, float]:
    return 1.0, float(n), n * (length - n / 2)


def _solvable(points: Sequence[tuple[int, int, float]], used: tuple[int, ...]) -> bool:
    places = {tuple(_terms(n, length)[term] for term in used) for n, length, _ in points}
    return len(places) >= len(used)


def _squares(points: Sequence[tuple[int, int, float]], fitted: tuple[float, float, float]) -> float:
    prefill = Prefill(*fitted)
    return math.fsum((prefill.seconds(n, length) / seconds - 1) ** 2 for n, length, seconds in points)


def _least_squares(
    points: Sequence[tuple[int, int, float]], used: tuple[int, ...]
) -> tuple[float, float, float] | None:
    """Return the best coefficients of the terms in use, the others 0; None where one is negative or none is best."""
    scale = [max(_terms(n, length)[term] for n, length, _ in points) or 1.0 for term in range(3)]
    rows = [[_terms(n, length)[term] / scale[term] / seconds for term in used] for n, length, seconds in points]
    matrix = [[math.fsum(row[a] * row[b] for row in rows) for b in range(len(used))] for a in range(len(used))]
    solved = _solve(matrix, [math.fsum(row[a] for row in rows) for a in range(len(used))])
    if solved is None or any(value < 0 for value in solved):
        return None
    found = [0.0, 0.0, 0.0]
    for term, value in zip(used, solved, strict=True):
        found[term] = value / scale[term]
    return found[0], found[1], found[2]


def _solve(matrix: list[list[float]], right: list[float]) -> list[float] | None:
    """Solve a small symmetric system by elimination with pivots; None where it has no single solution."""
    size = len(right)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    largest = max(abs(value) for row in matrix for value in row)
    for column in range(size):
        pivot = max(range(column, size), key=lambda at: abs(rows[at][column]))
        if abs(rows[pivot][column]) <= 1e-13 * largest:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        for below in range(column + 1, size):
            factor = rows[below][column] / rows[column][column]
            rows[below] = [a - factor * b for a, b in zip(rows[below], rows[column], strict=True)]
    solution = [0.0] * size
    for column in range(size - 1, -1, -1):
        known = math.fsum(rows[column][at] * solution[at] for at in range(column + 1, size))
        solution[column] = (rows[column][size] - known) / rows[column][column]
    return solution
