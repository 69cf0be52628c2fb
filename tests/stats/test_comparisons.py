"""Two samples, sequential evidence, sharing, lifetimes, lines and formulas."""

import json
import math
import random
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from prefixwise.stats.eprocess import FIRST_PAIRS, CappedProcess
from prefixwise.stats.latency_fit import Prefill, fit_prefill
from prefixwise.stats.sharing import sharing
from prefixwise.stats.survival import survival
from prefixwise.stats.theil_sen import theil_sen
from prefixwise.stats.two_samples import capped_smaller, ks_smaller, mann_whitney_smaller

SMALL = st.lists(st.integers(0, 9).map(float), min_size=1, max_size=9)
DISTINCT = st.lists(st.integers(0, 10**6), min_size=2, max_size=24, unique=True)


@given(DISTINCT, st.data())
def test_ks_is_exact_where_nothing_ties(values, data):
    cut = data.draw(st.integers(1, len(values) - 1))
    first, second = values[:cut], values[cut:]
    theirs = scipy_stats.ks_2samp(first, second, alternative="greater", method="exact")
    ours = ks_smaller(first, second)
    assert ours.statistic == pytest.approx(theirs.statistic)
    assert ours.p == pytest.approx(theirs.pvalue, rel=1e-9)


@given(SMALL, SMALL)
def test_ks_with_ties_is_scipys(first, second):
    theirs = scipy_stats.ks_2samp(first, second, alternative="greater", method="exact")
    assert ks_smaller(first, second).p == pytest.approx(theirs.pvalue, rel=1e-9)


@given(SMALL, SMALL)
def test_mann_whitney_is_scipys(first, second):
    ours = mann_whitney_smaller(first, second)
    wins = sum((a < b) + (a == b) / 2 for a in first for b in second)
    assert ours.statistic == pytest.approx(wins / (len(first) * len(second)))
    if len(set(first + second)) > 1:
        theirs = scipy_stats.mannwhitneyu(first, second, alternative="less", method="asymptotic")
        assert ours.p == pytest.approx(theirs.pvalue, rel=1e-6)


def test_the_capped_test_counts_all_swaps():
    # Five pairs, all sooner: 1 of 32 swaps is as good.
    found = capped_smaller([1, 1.1, 1.2, 1.3, 1.4], [2, 2.2, 2.1, 2.3, 2.4])
    assert found.p == 1 / 32
    assert found.statistic > 0


def test_the_capped_test_is_blind_to_slow_answers():
    rng = random.Random(6)
    first = [rng.lognormvariate(0, 0.1) for _ in range(60)]
    second = [rng.lognormvariate(0.1, 0.1) for _ in range(60)]
    slow = [value * (50 if at % 6 == 0 else 1) for at, value in enumerate(first)]
    assert capped_smaller(slow, second).p < 1e-3
    assert capped_smaller(second, slow).p > 0.9


def test_the_capped_test_keeps_its_level():
    rng = random.Random(7)
    trials, alpha = 600, 0.05
    alarms = 0
    for _ in range(trials):
        first, second = ([rng.lognormvariate(0, 0.3) for _ in range(12)] for _ in range(2))
        alarms += capped_smaller(first, second).p <= alpha
    assert alarms / trials < alpha + 3 * math.sqrt(alpha * (1 - alpha) / trials)


def test_the_e_process_is_a_fair_game():
    """The mean of its value over swaps of a pair is what it was before: for these times in every order of signs."""
    times = [(1.0, 1.3), (0.9, 1.1), (1.2, 1.0), (1.4, 1.1), (0.8, 1.5), (1.05, 0.95)]
    ends = []
    for signs in range(2 ** len(times)):
        process = CappedProcess()
        for at, (a, b) in enumerate(times):
            process.add(*((a, b) if signs >> at & 1 else (b, a)))
        ends.append(process.value)
    assert statistics.fmean(ends) == pytest.approx(1)


def test_the_e_process_waits_then_grows_where_probes_are_sooner():
    process = CappedProcess()
    rng = random.Random(8)
    for _ in range(FIRST_PAIRS):
        assert process.add(0.1, 0.4) == 1
    values = [process.add(rng.lognormvariate(-1, 0.2), rng.lognormvariate(0, 0.2)) for _ in range(40)]
    assert values[-1] > 1000
    with pytest.raises(ValueError, match="not positive"):
        process.add(0.0, 1.0)


def test_the_e_process_seldom_reaches_a_hundred_by_chance():
    rng = random.Random(9)
    runs = 400
    reached = 0
    for _ in range(runs):
        process = CappedProcess()
        reached += any(process.add(rng.lognormvariate(0, 0.3), rng.lognormvariate(0, 0.3)) >= 100 for _ in range(60))
    assert reached / runs <= 0.01 + 3 * math.sqrt(0.01 * 0.99 / runs)


def _sample(rng, n, mean):
    return [rng.lognormvariate(mean, 0.1) for _ in range(n)]


def test_sharing_reads_the_share_of_hits():
    rng = random.Random(10)
    miss, same = _sample(rng, 250, 0), _sample(rng, 250, -1)
    cross = [*_sample(rng, 50, -1), *_sample(rng, 200, 0)]
    found = sharing(miss, same, cross)
    assert found.shows
    assert found.low < 0.2 < found.high
    assert found.ratio == pytest.approx(0.2, abs=0.03)
    nothing = sharing(miss, same, _sample(rng, 250, 0))
    assert abs(nothing.ratio) < 0.02
    assert nothing.high >= 0.0146  # Clopper and Pearson for no hit of 250


def test_without_reuse_of_ones_own_nothing_is_said():
    rng = random.Random(11)
    found = sharing(*(_sample(rng, 60, 0) for _ in range(3)))
    assert not found.shows
    assert (found.low, found.high) == (None, None)


def test_the_limits_of_sharing_cover():
    rng = random.Random(12)
    covered, trials = 0, 400
    for _ in range(trials):
        hits = sum(rng.random() < 0.2 for _ in range(100))
        cross = [*_sample(rng, hits, -1), *_sample(rng, 100 - hits, 0)]
        found = sharing(_sample(rng, 100, 0), _sample(rng, 100, -1), cross)
        covered += found.low <= 0.2 <= found.high
    assert covered / trials > 0.93


def test_a_lifetime_from_single_looks():
    looks = [
        (10, True),
        (10, True),
        (20, True),
        (20, True),
        (30, False),
        (30, True),
        (40, True),
        (40, False),
        (50, False),
    ]
    found = survival(looks)
    assert found.ages == (10, 20, 30, 40, 50)
    assert found.shares == (1, 1, 0.5, 0.5, 0)
    assert (found.last_all, found.first_none) == (20, 50)
    assert found.at(35) == 0.5
    assert found.at(5) is None


@pytest.mark.parametrize(
    ("looks", "last", "first"),
    [([(1, True), (2, True)], 2, None), ([(1, False), (2, False)], None, 1), ([(1, False), (2, True)], None, None)],
)
def test_lifetimes_beyond_the_ages_looked_at(looks, last, first):
    found = survival(looks)
    assert (found.last_all, found.first_none) == (last, first)


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30))
def test_the_curve_falls_and_is_the_most_likely_one(looks):
    found = survival([(float(age), alive) for age, alive in looks])
    assert all(a >= b for a, b in zip(found.shares, found.shares[1:], strict=False))

    def likelihood(shares):
        total = 0.0
        for age, alive in looks:
            p = shares[found.ages.index(age)]
            p = p if alive else 1 - p
            total += math.log(p) if p > 0 else -math.inf
        return total

    best = likelihood(found.shares)
    for tried in range(40):
        rng = random.Random(tried)
        other = sorted((rng.random() for _ in found.ages), reverse=True)
        assert likelihood(other) <= best + 1e-9


def test_a_line_is_not_drawn_away_by_one_point():
    x = [float(one) for one in range(12)]
    y = [3 + 2 * one for one in x]
    y[5] = 1000.0
    line = theil_sen(x, y)
    assert (line.slope, line.intercept) == (2, 3)
    assert 2 in line.interval


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of their interval, where many points share a place
@given(st.lists(st.tuples(st.integers(0, 8), st.integers(-50, 50)), min_size=4, max_size=15))
def test_the_line_is_scipys(points):
    x, y = [float(a) for a, _ in points], [float(b) for _, b in points]
    if len(set(x)) < 2:
        with pytest.raises(ValueError, match="two places"):
            theil_sen(x, y)
        return
    theirs = scipy_stats.theilslopes(y, x, method="joint")
    assert theil_sen(x, y).slope == pytest.approx(theirs.slope)
    assert theil_sen(x, y).intercept == pytest.approx(theirs.intercept)


def test_a_formula_is_found_again():
    truth = Prefill(0.02, 4e-5, 3e-9)
    points = [
        (n, length, truth.seconds(n, length))
        for n, length in ((64, 2112), (512, 512), (2048, 2048), (4096, 8192), (16, 16))
    ]
    found = fit_prefill(points)
    assert found.error < 1e-9
    assert found.prefill.fixed == pytest.approx(truth.fixed)
    assert found.prefill.linear == pytest.approx(truth.linear)
    assert found.prefill.quadratic == pytest.approx(truth.quadratic)


def test_a_formula_has_no_negative_term():
    rng = random.Random(13)
    points = [(n, n, (0.001 + 1e-5 * n) * rng.lognormvariate(0, 0.2)) for n in (32, 64, 128, 256) for _ in range(4)]
    found = fit_prefill(points).prefill
    assert min(found.fixed, found.linear, found.quadratic) >= 0
    assert found.seconds(128, 128) == pytest.approx(0.001 + 1e-5 * 128, rel=0.2)


SHARED = Path(__file__).parents[3] / "shared" / "data" / "timing_audit"


@pytest.mark.skipif(not SHARED.exists(), reason="the recorded audits are not at hand")
@pytest.mark.parametrize(
    ("name", "clock", "p", "sharing_seen"),
    [
        ("clear_sharing", "server", 5.2e-32, True),
        ("clear_sharing", "client", 1.3e-21, True),
        ("no_caching", "server", 0.56, False),
        ("no_caching", "client", 0.41, False),
        ("weak_partial_sharing", "client", 6.5e-5, True),
    ],
)
def test_recorded_audits(name, clock, p, sharing_seen):
    recorded = json.loads((SHARED / f"{name}.json").read_text())
    timed = list(zip(recorded["arm"], recorded[f"{clock}_ms"], strict=True))
    hit, miss = ([time for arm, time in timed if arm == one] for one in "pm")
    assert ks_smaller(hit, miss).p == pytest.approx(p, rel=0.02)
    assert (capped_smaller(hit, miss).p <= 1e-3) is sharing_seen
