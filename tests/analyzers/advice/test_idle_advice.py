"""Renewals and warm-ups: sums done by hand, at $2 a million tokens, $0.20 read and $2.50 written."""

from __future__ import annotations

from typing import Any, cast

import pytest
from support.reading import corpus_of

from prefixwise.analyzers.advice.bill import Accountant
from prefixwise.analyzers.advice.idle import IdleAdvice, break_even_gap, idle_advice, shared_head, with_requests
from prefixwise.caches.hosted import HostedPolicy
from prefixwise.caches.policy import parse_policy
from prefixwise.caches.prices import Price
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import Rows

RULE = "anthropic:model=claude-sonnet-5,minimum=1"
HEAD = list(range(1000))
START = 1_700_000_000


def rows_at(*times: float) -> Rows:
    """Return questions of 200 tokens of their own under one head of 1,000, which is marked for five minutes."""
    records: list[dict[str, Any]] = []
    for number, at in enumerate(times, 1):
        prompt = [*HEAD, *range(10_000 * number, 10_000 * number + 200)]
        body = {"model": "m", "prompt_token_ids": prompt}
        records.append({"request": body, "start_time": START + at, "end_time": START + at + 0.5})
    rows = corpus_of(*records).rows
    return rows.marked(dict.fromkeys(range(len(rows)), ((1000, 300.0),)))


def accountant(rule: str = RULE) -> Accountant:
    return Accountant(cast("HostedPolicy", parse_policy(rule)).as_marked(), [1.0], Rulebook())


def told(rows: Rows, rule: str = RULE) -> IdleAdvice:
    found = idle_advice(rows, accountant(rule))
    assert found is not None
    return found


def test_three_renewals_bridge_fifteen_minutes() -> None:
    """At 270, 540 and 810 s; the last request is renewed as often, since nobody knows that it is the last.

    The second request reads 1,000 tokens for $0.20 a million that it wrote for $2.50; six renewals read 1,000 each.
    """
    found = told(rows_at(0, 900))
    assert (found.gaps, found.median_gap, found.renewals, found.sent) == (1, 900, 3, 6)
    assert found.keep_usd == pytest.approx(1000 * (2.5 - 0.2 - 6 * 0.2) * 1e-6)
    assert found.prefix_tokens == 1000


def test_six_gaps_pay_better_than_one() -> None:
    """Seven requests: six rewrites are saved, 3 renewals after each of seven."""
    found = told(rows_at(*(900.0 * number for number in range(7))))
    assert found.keep_usd == pytest.approx(1000 * (6 * 2.3 - 21 * 0.2) * 1e-6)


def test_an_hour_is_too_long() -> None:
    found = told(rows_at(0, 3600))
    assert (found.renewals, found.keep_usd, found.gaps) == (0, 0.0, 1)
    assert found.break_even == pytest.approx(300 + 11 * 270)  # writing costs 2.30 more than reading: 11 reads of 0.20


def test_nothing_idles() -> None:
    found = told(rows_at(0, 200, 400))
    assert (found.gaps, found.renewals, found.keep_usd, found.bursts) == (0, 0, 0.0, 0)


@pytest.mark.parametrize(
    ("price", "seconds"),
    [
        (Price(provider="p", model="m", input=5.0, cached_read=0.5, write=6.25), 300 + 11 * 270),
        (Price(provider="p", model="m", input=2.0, cached_read=0.5), 300 + 3 * 270),
        (Price(provider="p", model="m", input=2.0), 300),
        (Price(provider="p", model="m", input=2.0, cached_read=0.0), None),
    ],
    ids=["a tenth, and writing charged", "a quarter", "no cheaper at all", "free"],
)
def test_break_even(price: Price, seconds: float | None) -> None:
    assert break_even_gap(300.0, price) == (None if seconds is None else pytest.approx(seconds))


def test_a_warm_up_saves_all_writes_but_its_own() -> None:
    """Three at once write 1,000 tokens each; after a warm-up they read them."""
    found = told(rows_at(0, 0.1, 0.2))
    assert found.bursts == 1
    assert found.warm_usd == pytest.approx(1000 * (3 * 2.5 - 2.5 - 3 * 0.2) * 1e-6)


def test_a_warm_up_before_few_is_paid_for_in_vain() -> None:
    """Two that come one after the other are no burst."""
    assert told(rows_at(0, 1)).bursts == 0
    assert told(rows_at(0, 1)).warm_usd is None


def test_requests_for_the_cache_leave_those_of_the_log_as_they_are() -> None:
    rows = rows_at(0, 900)
    head = shared_head(rows)
    assert head is not None
    more = with_requests(rows, head, [(0, START + 100.0, START + 100.0)], 300.0)
    assert list(more.prompt_tokens) == [1200, 1200, 1000]
    assert list(more.prompt_tokens[:2]) == list(rows.prompt_tokens)
    assert more.markers[2] == ((1000, 300.0),)
    assert len(rows) == 2


def test_without_times_or_prices_nothing_is_said() -> None:
    rows = rows_at(0, 900)
    assert idle_advice(rows, accountant("anthropic:model=claude-of-tomorrow")) is None
    rows.start[0] = float("nan")
    assert idle_advice(rows, accountant()) is None
