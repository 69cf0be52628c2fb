"""The simulations behind the statistics of `bench ttft`, with few runs and wide limits."""

import math
import random
import statistics

import pytest

from benchmarks import reproduce
from benchmarks.simulated_runs import TRUTH, blocks, chain, linear, mixed, noisy, paired, steady, step, times


def test_pairing_keeps_what_blocks_lose_under_drift():
    block = reproduce.cell("block", linear, 150)
    pairs = reproduce.cell("paired", linear, 150)
    # Cold runs at 1.05 times the base on average, warm at 1.15: the ratio of those is 0.913.
    assert block.bias == pytest.approx(math.log(1.05 / 1.15), abs=0.02)
    assert block.coverage < 0.6
    assert abs(pairs.bias) < 0.02
    assert pairs.coverage > 0.9


def test_a_cell_is_of_logarithms():
    found = reproduce.Cell.of([(TRUTH * math.e, True), (TRUTH / math.e, False), (TRUTH * math.e, True)])
    assert found.bias == pytest.approx(1 / 3)
    assert (found.error, found.coverage) == (pytest.approx(1), 2 / 3)
    assert found.error_deviation == pytest.approx(0, abs=1e-9)


def test_distances_count_standard_errors_of_both_simulations():
    found = reproduce.Cell(bias=0.0, deviation=0.04, error=0.04, error_deviation=0.02, coverage=0.95)
    published = reproduce.Published(-0.85, 4.0, 0.95)
    away, error, coverage = reproduce.distances(found, published, 400)
    assert away == pytest.approx((0.85 - 0.05) / (4 * math.sqrt(2 / 400)))
    assert (error, coverage) == (0, 0)


def test_orders_hold_every_request_once():
    rng = random.Random(1)
    for order in (blocks, mixed, paired):
        made = order(9, rng)
        assert sorted(made) == [(item, warm) for item in range(9) for warm in (False, True)]
    places = {one: at for at, one in enumerate(paired(40, rng))}
    assert all(0 < places[item, True] - places[item, False] <= 8 for item in range(40))


def test_drifts_and_noise_are_what_the_page_says():
    rng = random.Random(2)
    assert linear(rng, 11)[::10] == [1, pytest.approx(1.2)]
    assert sorted(set(step(rng, 100))) == [1, 1.25]
    logs = [math.log(one) for one in chain(rng, 40_000)]
    assert statistics.pstdev(logs) == pytest.approx(0.15, rel=0.1)
    assert statistics.correlation(logs[1:], logs[:-1]) == pytest.approx(0.9, abs=0.02)
    taken = [noisy(rng, 1.0) for _ in range(20_000)]
    assert statistics.median(taken) == pytest.approx(1, abs=0.02)
    assert [len(times(paired(7, rng), rng, steady))] == [7]


def test_a_short_page_has_every_part_and_few_figures_off(capsys):
    text, off = reproduce.page(40)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Why requests are paired and mixed",
        "## How often the intervals hold the truth",
        "## Why not the bootstrap",
        "## Why not means",
        "## False alarms",
    ]
    assert len(off) <= 3
    assert capsys.readouterr().out.count("\n") == 12 + 7


def test_the_page_in_the_docs_is_one_of_these():
    text = reproduce.PAGE.read_text(encoding="utf-8")
    assert text.startswith(reproduce.HEAD)
    assert "not explained" not in text
    assert "2,000 runs" in text
