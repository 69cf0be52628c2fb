from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from prefixwise.reports.charts import bar, floating_bars, guides, sample, sparkline

NUMBERS = st.floats(-1e9, 1e9)


def test_bars_are_in_proportion_and_never_vanish() -> None:
    assert bar(10, 10, 4) == "████"
    assert bar(5, 10, 4) == "██"
    assert bar(0.001, 10, 4) == "▏"
    assert bar(0, 10, 4) == bar(1, 0, 4) == ""


def test_a_waterfall_floats_where_the_total_stands() -> None:
    assert floating_bars(8, [-4, 2], 6, 8) == ["████████", "    ░░░░", "    ▓▓", "██████"]
    assert floating_bars(0, [], 0, 8) == ["", ""]
    assert floating_bars(float("nan"), [float("inf"), 0], 4, 4) == ["", "", "", "████"]


@given(NUMBERS, st.lists(NUMBERS, max_size=5), NUMBERS, st.integers(1, 40))
def test_waterfall_bars_stay_inside(start: float, steps: list[float], end: float, width: int) -> None:
    bars = floating_bars(start, steps, end, width)
    assert len(bars) == len(steps) + 2
    assert all(len(line) <= width for line in bars)
    assert all(line.strip() for line, step in zip(bars[1:-1], steps, strict=True) if abs(step) > 1)


def test_a_sparkline_shows_gaps_and_shape() -> None:
    assert sparkline([0, 1, None, 7], 10) == "▁▂ █"
    assert sparkline([3, 3], 10) == "▄▄"
    assert sparkline([], 10) == sparkline([None], 10) == ""
    assert sparkline([0, float("nan"), 1], 10) == "▁ █"
    assert len(sparkline(list(range(1000)), 40)) == 40


@given(st.integers(0, 500), st.integers(2, 20))
def test_a_sample_keeps_both_ends(count: int, most: int) -> None:
    indexes = sample(count, most)
    assert len(indexes) <= max(most, 0) or count <= most
    assert indexes == sorted(set(indexes))
    if count:
        assert (indexes[0], indexes[-1]) == (0, count - 1)


def test_tree_guides() -> None:
    assert guides([0, 1, 2, 1, 2, 0, 1]) == ["", "├ ", "│ └ ", "└ ", "  └ ", "", "└ "]
    assert guides([]) == []
    assert guides([20])[0].startswith("⋯ ")
