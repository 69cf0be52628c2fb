"""The paired experiment without a server: its order, labels, estimates and verdicts."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prefixwise.bench.ttft.estimate import Pair, controls_agree, estimate, noise_floor
from prefixwise.bench.ttft.labels import Label, expected_cached, label
from prefixwise.bench.ttft.looks import look, next_look
from prefixwise.bench.ttft.schedule import Arm, Design, schedule
from prefixwise.bench.ttft.verdict import Evidence, Verdict, count, judge

DESIGNS = st.builds(
    lambda items, repeats, controls, more: Design(items, repeats, controls, repeats + more),
    st.integers(1, 25),
    st.integers(1, 3),
    st.integers(0, 10),
    st.integers(0, 9),
)


@given(DESIGNS, st.integers(0, 10**6))
def test_every_request_is_sent_once_and_each_pair_in_time(design, seed):
    order = schedule(design, seed)
    assert order == schedule(design, seed)
    assert Counter(slot.arm for slot in order) == Counter(
        {Arm.COLD: design.items, Arm.WARM: design.items * design.repeats}
        | ({Arm.CONTROL: design.controls} if design.controls else {})
    )
    place = {slot: at for at, slot in enumerate(order)}
    assert len(place) == len(order)
    for item in range(design.items):
        cold = place[next(slot for slot in order if slot.item == item and slot.arm is Arm.COLD)]
        warm = [at for slot, at in place.items() if slot.item == item and slot.arm is Arm.WARM]
        repeats = [slot.repeat for slot in order if slot.item == item and slot.arm is Arm.WARM]
        assert repeats == list(range(design.repeats))
        assert cold < min(warm)
        assert max(warm) - cold <= design.lag


def test_orders_differ_by_seed_and_lags_within_one():
    design = Design()
    order = schedule(design, 1)
    assert order != schedule(design, 2)
    place = {(slot.item, slot.arm): at for at, slot in enumerate(order)}
    lags = {place[item, Arm.WARM] - place[item, Arm.COLD] for item in range(design.items)}
    assert len(lags) > 3


def test_cold_and_warm_requests_are_mixed():
    """No arm comes early: over many seeds both stand in the first half about as often."""
    share = []
    for seed in range(60):
        order = schedule(Design(items=30, controls=0), seed)
        share.append(sum(slot.arm is Arm.WARM for slot in order[: len(order) // 2]) / 30)
    assert 0.40 < sum(share) / len(share) <= 0.5


@pytest.mark.parametrize("wrong", [(0, 1, 1, 8), (3, 0, 1, 8), (3, 1, -1, 8), (3, 3, 1, 2)])
def test_designs_without_an_order_are_refused(wrong):
    with pytest.raises(ValueError, match="no order"):
        Design(*wrong)


@pytest.mark.parametrize(
    ("arm", "cached", "header", "found"),
    [
        (Arm.COLD, 0, 0, Label.COLD_OK),
        (Arm.COLD, 9, 12, Label.COLD_OK),
        (Arm.COLD, 16, 12, Label.CONTAMINATED),
        (Arm.CONTROL, 512, 0, Label.CONTAMINATED),
        (Arm.WARM, 1008, 0, Label.WARM_OK),
        (Arm.WARM, 900, 0, Label.PARTIAL),
        (Arm.WARM, 16, 0, Label.PARTIAL),
        (Arm.WARM, 0, 0, Label.MISSED),
        (Arm.WARM, 9, 12, Label.MISSED),
        (Arm.WARM, None, 0, Label.UNKNOWN),
        (Arm.COLD, None, 0, Label.UNKNOWN),
    ],
)
def test_labels(arm, cached, header, found):
    assert label(arm, cached, expected=1008, header=header) is found


@pytest.mark.parametrize(
    ("shared", "length", "block", "cached"),
    [(1024, 1088, 16, 1024), (1030, 1088, 16, 1024), (1024, 1024, 16, 1008), (1024, 1024, 1, 1023), (100, 164, 128, 0)],
)
def test_expected_cached_tokens(shared, length, block, cached):
    assert expected_cached(shared, length, block) == cached


def pairs_of(speedup, n=30, sigma=0.1, seed=1, stalls=0.0):
    rng = random.Random(seed)

    def time(base):
        return base * rng.lognormvariate(0, sigma) * (10 if rng.random() < stalls else 1)

    return [Pair(time(1.0), time(1.0 / speedup)) for _ in range(n)]


def test_an_estimate_of_pairs_worked_out_by_hand():
    # Ratios 2, 2, 4, 4, 4, 8: their median is 4, and six pairs give the smallest and largest as interval.
    found = estimate([Pair(2, 1), Pair(4, 2), Pair(4, 1), Pair(8, 2), Pair(12, 3), Pair(8, 1)])
    assert found.speedup == pytest.approx(4)
    assert (found.interval.low, found.interval.high) == (pytest.approx(2), pytest.approx(8))
    assert found.saved_s == 4.5  # of 1 2 3 6 9 7
    assert found.saved_percent == pytest.approx(75)
    assert found.sign_p == pytest.approx(2 / 64)
    assert found.relative_width == pytest.approx(3 / 4)


def test_stalled_requests_do_not_move_the_estimate():
    calm, stalled = estimate(pairs_of(5, 200)), estimate(pairs_of(5, 200, stalls=0.03))
    assert stalled.speedup == pytest.approx(calm.speedup, rel=0.03)
    assert stalled.apart >= 5
    assert stalled.without == pytest.approx(stalled.speedup, rel=0.02)
    assert 5 in stalled.interval


def test_too_few_pairs_have_no_interval():
    found = estimate(pairs_of(3, 5))
    assert found.interval is None
    assert found.relative_width is None
    with pytest.raises(ValueError, match="no pair"):
        estimate([])


def test_the_noise_floor_is_the_far_end_of_what_cold_requests_differ_by():
    controls = [Pair(math.exp(x), 1.0) for x in (-0.02, -0.01, 0.0, 0.01, 0.05, 0.08)]
    assert noise_floor(controls) == pytest.approx(math.exp(0.08) - 1)
    assert controls_agree(controls) is True
    assert controls_agree([Pair(1.2, 1.0)] * 8) is False
    assert noise_floor(controls[:5]) is None


def evidence(pairs, warm, cold=None, noise=0.03, agree=True):
    return Evidence(
        estimate=estimate(pairs) if pairs else None,
        cold_labels=count(cold or [Label.COLD_OK] * 40),
        warm_labels=count(warm),
        noise=noise,
        controls_agree=agree,
    )


HIT, MISS, SILENT = [Label.WARM_OK] * 30, [Label.MISSED] * 30, [Label.UNKNOWN] * 30
COLD_SILENT = [Label.UNKNOWN] * 40


@pytest.mark.parametrize(
    ("given", "verdict"),
    [
        (evidence(pairs_of(3), HIT), Verdict.CONFIRMED),
        (evidence(pairs_of(1.0, sigma=0.01), HIT), Verdict.NO_GAIN),
        (evidence(pairs_of(1.06, sigma=0.05), HIT), Verdict.INCONCLUSIVE),
        (evidence(pairs_of(3, 5), HIT[:5]), Verdict.INCONCLUSIVE),
        (evidence(pairs_of(1.0, sigma=0.01), MISS), Verdict.NONE),
        (evidence(pairs_of(3), MISS), Verdict.CONTRADICTORY),
        (evidence(pairs_of(1.0, sigma=0.3), MISS), Verdict.INCONCLUSIVE),
        (evidence(pairs_of(1.0, sigma=0.01), HIT, [Label.CONTAMINATED] * 40), Verdict.CONTRADICTORY),
        (evidence(pairs_of(3), HIT, [Label.COLD_OK] * 35 + [Label.CONTAMINATED] * 5), Verdict.INVALID),
        (evidence(pairs_of(3), HIT[:26] + MISS[:4]), Verdict.INVALID),
        (evidence(pairs_of(3), HIT[:29] + MISS[:1]), Verdict.CONFIRMED),
        (evidence(pairs_of(3), [Label.PARTIAL] * 30), Verdict.INCONCLUSIVE),
        (evidence(pairs_of(3), SILENT, COLD_SILENT), Verdict.INFERRED),
        (evidence(pairs_of(1.2), SILENT, COLD_SILENT, noise=0.3), Verdict.INCONCLUSIVE),
        (evidence(pairs_of(3), SILENT, COLD_SILENT, agree=False), Verdict.INCONCLUSIVE),
        (evidence(pairs_of(3), SILENT, COLD_SILENT, noise=None, agree=None), Verdict.INCONCLUSIVE),
        (evidence([], [Label.FAILED] * 3, [Label.FAILED] * 3), Verdict.INCONCLUSIVE),
    ],
)
def test_verdicts(given, verdict):
    judged = judge(given)
    assert judged.verdict is verdict
    assert judged.reason


@pytest.mark.parametrize("seed", range(25))
def test_nothing_is_confirmed_where_nothing_is(seed):
    assert judge(evidence(pairs_of(1.0, 20, seed=seed), HIT)).verdict is not Verdict.CONFIRMED


def test_looks_share_the_chance_to_err():
    found = look(pairs_of(4, 30, sigma=0.02))
    assert found.enough
    assert found.estimate.interval.confidence == pytest.approx(1 - 0.05 / 6)
    assert not look(pairs_of(4, 30, sigma=0.4)).enough
    assert [next_look(done) for done in (0, 10, 119, 120)] == [10, 20, 120, None]
