"""What rows of a load come to, worked out by hand; the plan's arrivals and limits."""

from __future__ import annotations

import math
from itertools import pairwise
from statistics import fmean

import pytest

from prefixwise.bench.load.plan import Plan, Row, parse_slo
from prefixwise.bench.load.result import LoadResult, Times, good, result, times
from prefixwise.bench.load.run import Client
from prefixwise.core.errors import UserError

CALM = Client(late=(0.0,) * 100, cpu=0.1)


def plan_of(**more: object) -> Plan:
    given = {"run": "r", "target": "t", "protocol": "vllm", "model": "m", "concurrency": 2, "prefix": 100, "suffix": 20}
    return Plan(**{**given, **more})


def row(number: int, **more: object) -> Row:
    given = {"group": 0, "ttft": 0.1, "total": 0.4, "decode": 0.3, "prompt": 120, "cached": 0, "output": 4, "reads": 9}
    return Row(number=number, **{**given, **more})


def named(found: LoadResult, name: str) -> Times:
    return next(one for one in found.times if one.name == name)


def test_rates_are_over_the_whole_time_and_tokens_over_tokens() -> None:
    rows = [row(0, at=0.0, first=True), row(1, at=0.4, cached=96), row(2, at=0.8, cached=96), row(3, at=1.2, cached=48)]
    found = result(plan_of(), rows, CALM)
    assert found.seconds == pytest.approx(1.6)
    assert found.answered_per_s == pytest.approx(4 / 1.6)
    assert found.output_per_s == pytest.approx(16 / 1.6)
    assert found.hit_rate == pytest.approx(240 / 480)
    assert found.possible == pytest.approx(300 / 480)
    assert named(found, "tpot").at(0.5).value == pytest.approx(0.1)
    assert not found.bound
    assert not found.held_back


def test_absent_is_not_zero() -> None:
    rows = [row(0, cached=96), row(1, cached=None)]
    assert result(plan_of(), rows, CALM).hit_rate is None
    assert result(plan_of(), [row(0, output=None)], CALM).output_per_s is None
    assert row(0, output=None).tpot is None
    assert row(0, output=1).tpot is None


def test_failed_requests_stay_in_every_denominator() -> None:
    rows = [row(number) for number in range(6)] + [row(9, ok=False, status=503, ttft=None, error="busy")] * 2
    found = result(plan_of(slo=(("ttft", 0.2),)), rows, CALM)
    assert (found.success.number, found.success.of) == (6, 8)
    assert (found.good.number, found.good.of) == (6, 8)
    assert 0.75 in found.good.interval
    assert found.errors == {"busy": 2}
    # Six answered in 0.1 s and two never: the median is 0.1 s, and there is no p90.
    middle = named(found, "ttft").at(0.5)
    assert (middle.value, middle.with_failures) == (0.1, 0.1)


def test_with_failures_a_quantile_may_have_no_end() -> None:
    found = times("ttft", [0.1] * 30, failures=10)
    assert (found.at(0.9).value, found.at(0.9).with_failures) == (0.1, None)
    assert times("ttft", [0.1] * 30, failures=0).at(0.9).with_failures == 0.1


@pytest.mark.parametrize(("q", "needs"), [(0.9, 29), (0.95, 59), (0.99, 299)])
def test_a_quantile_takes_so_many_values(q: float, needs: int) -> None:
    assert times("ttft", [0.1] * (needs - 1), 0).at(q).value is None
    assert times("ttft", [0.1] * needs, 0).at(q).value == 0.1
    assert times("ttft", [0.1], 0).at(q).needs == needs


def test_a_request_is_good_from_when_it_was_due() -> None:
    limits = plan_of(concurrency=0, rate=1.0, slo=(("ttft", 0.2), ("total", 1.0)))
    assert good(row(0, due=0.0, at=0.05), limits)
    assert not good(row(0, due=0.0, at=0.3), limits)  # sent late: it waited 0.4 s for its first token
    assert good(row(0, at=0.3), limits)
    assert not good(row(0, ttft=None), limits)
    assert not good(row(0, total=1.1), limits)
    assert not good(row(0, ok=False), limits)
    assert not good(row(0, output=None), plan_of(slo=(("tpot", 9.0),)))


def test_both_times_to_first_token_are_told() -> None:
    rows = [row(number, due=0.1 * number, at=0.5 * number) for number in range(7)]
    found = result(plan_of(concurrency=0, rate=10.0), rows, CALM)
    assert named(found, "ttft").at(0.5).value == pytest.approx(0.1)
    assert named(found, "ttft_from_schedule").at(0.5).value == pytest.approx(0.1 + 0.4 * 3)
    assert found.due_per_s == pytest.approx(10)
    assert found.sent_per_s == pytest.approx(2)
    assert found.bound


@pytest.mark.parametrize("client", [Client(late=(0.0,) * 90 + (0.02,) * 10, cpu=0.1), Client(late=(), cpu=0.95)])
def test_a_busy_client_says_so(client: Client) -> None:
    assert result(plan_of(), [row(0)], client).bound


def test_answers_in_one_piece_are_seen() -> None:
    assert result(plan_of(), [row(number, reads=1) for number in range(5)], CALM).held_back
    assert not result(plan_of(), [row(number, reads=1, output=1) for number in range(5)], CALM).held_back


def test_the_steady_state_leaves_out_the_first_wave_and_the_last() -> None:
    # Two at a time: both begin at 0, each takes 1 s but the last, which is alone from 5 s on.
    starts = [0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0, 4.0, 4.0, 5.0]
    slow = [0.9, 0.9, *[0.1] * 9]
    rows = [row(n, at=at, total=1.0, ttft=ttft) for n, (at, ttft) in enumerate(zip(starts, slow, strict=True))]
    steady = result(plan_of(), rows, CALM).steady
    assert steady.seconds == pytest.approx(5.0)
    assert steady.ttft == 0.1
    assert steady.per_second == pytest.approx(2.0)


def test_a_run_that_was_continued_has_the_time_of_its_parts() -> None:
    rows = [row(0, at=0.0), row(1, at=0.6, total=0.4), row(2, part=1, at=0.0), row(3, part=1, at=0.1, total=0.4)]
    found = result(plan_of(), rows, CALM)
    assert found.parts == 2
    assert found.seconds == pytest.approx(1.0 + 0.5)


def test_arrivals_are_a_poisson_process_of_the_rate() -> None:
    plan = plan_of(rate=50.0)
    due = plan.arrivals(4000)
    gaps = [b - a for a, b in pairwise(due)]
    assert due == plan.arrivals(4000) != plan_of(rate=50.0, seed=1).arrivals(4000)
    # Exponential gaps: mean and deviation are both 1/50, and exp(-1) of them are longer than that.
    assert fmean(gaps) == pytest.approx(0.02, rel=0.08)
    assert math.sqrt(fmean([(gap - 0.02) ** 2 for gap in gaps])) == pytest.approx(0.02, rel=0.1)
    assert sum(gap > 0.02 for gap in gaps) / len(gaps) == pytest.approx(math.exp(-1), abs=0.03)


def test_every_request_is_in_the_order_once() -> None:
    order = plan_of(groups=5, each=7).order
    assert sorted(order) == sorted([group for group in range(5) for _ in range(7)])
    assert order != sorted(order)


def test_limits_are_read() -> None:
    assert parse_slo("ttft=500ms, tpot=40ms,total=2.5s") == (("ttft", 0.5), ("tpot", 0.04), ("total", 2.5))
    assert parse_slo("ttft=0.5") == (("ttft", 0.5),)
    assert parse_slo("") == ()
    for wrong in ("ttft", "ttft=5m", "speed=5s", "ttft=-1s", "ttft=1s,,"):
        with pytest.raises(UserError, match="no limit of a time"):
            parse_slo(wrong)
