"""Intervals and tests of one sample, against published values, brute force and scipy."""

import itertools
import math
import random
import statistics

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from prefixwise.stats.binomial import at_least, at_most, clopper_pearson
from prefixwise.stats.bootstrap import bootstrap
from prefixwise.stats.medians import median_interval, sign_rank, sign_test
from prefixwise.stats.quantiles import nearest_rank, quantile, quantile_floor, quantile_interval
from prefixwise.stats.signed_rank import hodges_lehmann, hodges_lehmann_interval, signed_rank, wilcoxon
from prefixwise.stats.spread import pairs_needed, robust_deviation, standing_apart

NUMBERS = st.floats(-1e6, 1e6, allow_nan=False)
WHOLE = st.integers(-6, 6)


@pytest.mark.parametrize(("n", "k"), [(5, 0), (6, 1), (9, 2), (12, 3), (20, 6), (30, 10), (50, 18)])
def test_ranks_of_the_median_interval(n, k):
    assert sign_rank(n) == k


def test_the_median_interval_and_its_exact_coverage():
    # Twelve values, the third from each end: 1 - 2 (1 + 12 + 66) / 4096.
    values = [5, 1, 9, 3, 12, 7, 2, 8, 4, 11, 6, 10]
    found = median_interval(values)
    assert (found.low, found.high) == (3, 10)
    assert found.coverage == 1 - 158 / 4096
    assert median_interval([1.0] * 5) is None


def test_the_median_interval_covers_as_often_as_it_says():
    rng = random.Random(1)
    trials = 4000
    covered = sum(0 in median_interval([rng.expovariate(1) - math.log(2) for _ in range(9)]) for _ in range(trials))
    exact = median_interval([float(one) for one in range(9)]).coverage
    assert abs(covered / trials - exact) < 4 * math.sqrt(exact * (1 - exact) / trials)


@given(st.lists(WHOLE, max_size=9))
def test_the_sign_test_counts_the_flips_that_are_as_lopsided(values):
    moved = [value for value in values if value]
    lopsided = abs(sum(1 if value > 0 else -1 for value in moved))
    flips = list(itertools.product((1, -1), repeat=len(moved)))
    expected = sum(abs(sum(signs)) >= lopsided for signs in flips) / len(flips)
    assert sign_test(values) == pytest.approx(expected)


@given(st.integers(0, 60), st.data(), st.floats(0.001, 0.999))
def test_binomial_tails(n, data, p):
    k = data.draw(st.integers(-1, n + 1))
    assert at_most(k, n, p) == pytest.approx(scipy_stats.binom.cdf(k, n, p), rel=1e-9, abs=1e-15)
    assert at_least(k, n, p) == pytest.approx(scipy_stats.binom.sf(k - 1, n, p), rel=1e-9, abs=1e-15)


def test_small_tails_keep_their_accuracy():
    assert at_least(60, 60, 0.01) == pytest.approx(1e-120, rel=1e-9)
    assert at_most(0, 60, 0.99) == pytest.approx(1e-120, rel=1e-9)


@pytest.mark.parametrize(
    ("hits", "n", "low", "high"),
    [(36, 250, 0.103, 0.194), (0, 10, 0.0, 0.3085), (10, 10, 0.6915, 1.0), (7, 250, 0.0113, 0.0568)],
)
def test_clopper_and_pearson(hits, n, low, high):
    found = clopper_pearson(hits, n)
    assert (found.low, found.high) == (pytest.approx(low, abs=6e-4), pytest.approx(high, abs=6e-4))
    theirs = scipy_stats.binomtest(hits, n).proportion_ci(method="exact")
    assert (found.low, found.high) == (pytest.approx(theirs.low), pytest.approx(theirs.high))


@pytest.mark.parametrize("wrong", [(-1, 3), (4, 3)])
def test_impossible_counts_are_refused(wrong):
    with pytest.raises(ValueError, match="of 3 trials"):
        clopper_pearson(*wrong)


@given(st.lists(NUMBERS, min_size=1, max_size=30), st.floats(0, 1))
def test_quantiles_are_those_of_definition_seven(values, q):
    assert quantile(values, q) == pytest.approx(scipy_stats.mstats.mquantiles(values, [q], 1, 1)[0], abs=1e-6)


def test_failures_are_the_slowest_of_all():
    assert nearest_rank([1, 2, 3, 4], 0.5) == 2
    assert nearest_rank([1, 2, 3, 4], 0.5, failures=4) == 4
    assert nearest_rank([1, 2, 3, 4], 0.5, failures=5) == math.inf
    assert nearest_rank([], 0.5, failures=1) == math.inf


@pytest.mark.parametrize(("q", "one", "two"), [(0.9, 29, 36), (0.95, 59, 72), (0.99, 299, 368)])
def test_how_many_values_a_quantile_needs(q, one, two):
    assert quantile_floor(q) == one
    assert quantile_floor(q, two_sided=True) == two
    assert quantile_interval(range(two - 1), q) is None
    assert quantile_interval(range(two), q).high == two - 1


def test_the_interval_of_a_quantile_covers_as_often_as_it_says():
    rng = random.Random(2)
    truth, trials = -math.log(0.1), 3000
    samples = ([rng.expovariate(1) for _ in range(60)] for _ in range(trials))
    covered = sum(truth in quantile_interval(sample, 0.9) for sample in samples)
    exact = quantile_interval(range(60), 0.9).coverage
    assert exact >= 0.95
    assert abs(covered / trials - exact) < 4 * math.sqrt(exact * (1 - exact) / trials)


# n and the rank of Walsh averages at 95 %, from tables of the signed-rank statistic (its critical value plus one).
@pytest.mark.parametrize(("n", "rank"), [(5, 0), (6, 1), (7, 3), (8, 4), (10, 9), (15, 26), (20, 53), (25, 90)])
def test_ranks_of_the_signed_rank_interval(n, rank):
    assert signed_rank(n) == rank


def test_the_normal_approximation_meets_the_exact_ranks():
    import prefixwise.stats.signed_rank as module

    exact = signed_rank(module.EXACT_UP_TO)
    mean, deviation = module._moments(module.EXACT_UP_TO)
    assert abs(exact - (mean - 1.959964 * deviation)) < 2


@given(st.lists(NUMBERS, min_size=1, max_size=12))
def test_the_centre_is_the_median_of_all_averages(values):
    averages = [(values[i] + values[j]) / 2 for i in range(len(values)) for j in range(i, len(values))]
    assert hodges_lehmann(values) == statistics.median(averages)


def test_the_signed_rank_interval_covers_symmetric_values_as_often_as_it_says():
    rng = random.Random(3)
    trials = 3000
    covered = sum(0 in hodges_lehmann_interval([rng.gauss(0, 1) for _ in range(12)]) for _ in range(trials))
    exact = hodges_lehmann_interval([float(one) for one in range(12)]).coverage
    assert 0.95 <= exact < 0.96
    assert abs(covered / trials - exact) < 4 * math.sqrt(exact * (1 - exact) / trials)
    assert hodges_lehmann_interval([1.0] * 5) is None


@given(st.lists(WHOLE, max_size=9))
def test_wilcoxon_counts_the_flips_that_are_as_extreme(values):
    moved = [value for value in values if value]
    ranks = scipy_stats.rankdata([abs(value) for value in moved]) if moved else []
    half = sum(ranks) / 2
    seen = abs(sum(rank for rank, value in zip(ranks, moved, strict=True) if value > 0) - half)
    flips = list(itertools.product((0, 1), repeat=len(moved)))
    sums = [sum(rank for rank, up in zip(ranks, signs, strict=True) if up) for signs in flips]
    assert wilcoxon(values) == pytest.approx(min(1.0, sum(abs(one - half) >= seen for one in sums) / len(flips)))


def test_wilcoxon_of_many_values_is_scipys():
    rng = random.Random(4)
    values = [rng.gauss(0.15, 1) for _ in range(300)]
    theirs = scipy_stats.wilcoxon(values, correction=True, mode="approx").pvalue
    assert wilcoxon(values) == pytest.approx(theirs, rel=1e-9)


def test_the_bootstrap_draws_items_and_repeats_itself():
    items = [(value, value) for value in range(30)]

    def mean(drawn):
        return statistics.fmean(value for pair in drawn for value in pair)

    found = bootstrap(items, mean, seed=5, resamples=2000)
    assert found == bootstrap(items, mean, seed=5, resamples=2000)
    # The mean of 30 of the numbers 0 to 29 has a standard deviation of 8.655 / sqrt(30) = 1.58.
    assert found.low == pytest.approx(14.5 - 1.96 * 1.58, abs=0.25)
    assert found.high == pytest.approx(14.5 + 1.96 * 1.58, abs=0.25)
    with pytest.raises(ValueError, match="no item"):
        bootstrap([], mean, seed=1)


@pytest.mark.parametrize(("sd", "n"), [(0.07, 12), (0.10, 24), (0.15, 54), (0.21, 106), (0.30, 216)])
def test_pairs_for_five_percent(sd, n):
    assert pairs_needed(sd) == n


def test_a_wider_interval_takes_fewer_pairs():
    assert pairs_needed(0.10, 0.1) == 6


def test_what_stands_apart():
    # Median 4, absolute deviations 3 2 1 0 1 2 96: their median is 2, a robust deviation 2.9652.
    values = [1, 2, 3, 4, 5, 6, 100]
    assert robust_deviation(values) == pytest.approx(2.9652)
    assert standing_apart(values) == [6]
    assert standing_apart([1, 1, 1, 9]) == []
    assert standing_apart([]) == []
