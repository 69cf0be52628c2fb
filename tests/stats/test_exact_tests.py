"""Exact permutation tests against counting by hand, and units that are fair coins."""

import math
import random
from itertools import combinations, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prefixwise.stats.eprocess import CappedProcess
from prefixwise.stats.exact_sums import subset_tails, swap_p
from prefixwise.stats.fair_units import fair_units


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=9))
def test_signs_are_counted_as_by_hand(values):
    wanted = sum(values)
    reached = [
        sum(s * abs(v) for s, v in zip(signs, values, strict=True)) for signs in product((-1, 1), repeat=len(values))
    ]
    found = swap_p([float(one) for one in values])
    # Rounding to the grid may part sums that are equal, and moves nothing else.
    least = (1 + sum(one > wanted for one in reached)) / len(reached)
    assert least <= found <= sum(one >= wanted for one in reached) / len(reached)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=9), st.data())
def test_choices_are_counted_as_by_hand(values, data):
    picked = data.draw(st.integers(1, len(values) - 1))
    own = data.draw(st.permutations([True] * picked + [False] * (len(values) - picked)))
    wanted = sum(v for v, one in zip(values, own, strict=True) if one)
    sums = [sum(choice) for choice in combinations(values, picked)]
    small, large = subset_tails([float(one) for one in values], own)
    least = (1 + sum(one < wanted for one in sums)) / len(sums)
    assert least <= small <= sum(one <= wanted for one in sums) / len(sums)
    least = (1 + sum(one > wanted for one in sums)) / len(sums)
    assert least <= large <= sum(one >= wanted for one in sums) / len(sums)


def test_the_smallest_p_values_are_those_of_one_order():
    assert swap_p([1.0] * 12) == 2**-12
    assert subset_tails([1.0] * 8 + [2.0] * 8, [True] * 8 + [False] * 8) == (1 / math.comb(16, 8), 1.0)
    assert swap_p([0.0, 0.0]) == 1
    with pytest.raises(ValueError, match="some of the values"):
        subset_tails([1.0, 2.0], [True, True])


def test_250_differences_are_as_the_normal_distribution_has_them():
    rng = random.Random(3)
    differences = [rng.gauss(0.17, 1) for _ in range(250)]
    z = sum(differences) / math.sqrt(sum(one * one for one in differences))
    assert swap_p(differences) == pytest.approx(math.erfc(z / math.sqrt(2)) / 2, rel=0.1)


@given(st.lists(st.booleans(), max_size=70))
def test_units_hold_as_many_of_each_and_nobody_twice(kinds):
    units = list(fair_units(kinds))
    used = [place for unit in units for place in (*unit.probes, *unit.controls)]
    assert len(used) == len(set(used))
    assert all(kinds[place] for unit in units for place in unit.probes)
    assert not any(kinds[place] for unit in units for place in unit.controls)
    assert all(len(unit.probes) == len(unit.controls) for unit in units)


def test_hardly_anything_of_a_long_order_is_left_over():
    rng = random.Random(4)
    kinds = [True] * 250 + [False] * 250
    rng.shuffle(kinds)
    units = list(fair_units(kinds))
    assert sum(unit.pairs for unit in units) > 220
    assert len(units) > 140


@settings(max_examples=40)
@given(st.integers(2, 9), st.data())
def test_given_which_places_meet_every_way_round_is_as_likely(size, data):
    """All orders of so many probes, told apart by which places meet only: each unit is a coin, and no two agree."""
    probes = data.draw(st.integers(1, size - 1))
    shapes = {}
    for places in combinations(range(size), probes):
        units = list(fair_units([place in places for place in range(size)]))
        shape = tuple(frozenset((*unit.probes, *unit.controls)) for unit in units)
        ways = tuple(min((*unit.probes, *unit.controls)) in unit.probes for unit in units)
        shapes.setdefault(shape, []).append(ways)
    for shape, ways in shapes.items():
        counted = {way: ways.count(way) for way in product((False, True), repeat=len(shape))}
        assert len(set(counted.values())) == 1


def test_a_unit_of_two_pairs_counts_once():
    """Its two sides can only be exchanged together, so evidence of it is fair under that exchange."""
    process = CappedProcess()
    for _ in range(4):
        process.add(1.0, 1.1)
    two = [process_with(process, order) for order in ((1.0, 0.9, 1.2, 1.3), (1.2, 1.3, 1.0, 0.9))]
    assert sum(two) / 2 == pytest.approx(process.value)
    with pytest.raises(ValueError, match="as many probes"):
        process.add_unit((1.0,), (1.0, 2.0))


def process_with(before, times):
    process = CappedProcess()
    for _ in range(before.pairs):
        process.add(1.0, 1.1)
    return process.add_unit(times[:2], times[2:])
