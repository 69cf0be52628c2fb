"""What usage says of lifetimes: logs whose cache is known, because the test made it up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.analyzers.advice.lifetimes import Lifetimes, lifetimes, looks
from prefixwise.analyzers.advice.report import steps
from prefixwise.caches.policy import parse_policy
from prefixwise.stats.survival import Survival

RULE = "anthropic:model=claude-sonnet-5,minimum=1"


def twice(number: int, gap: float, *, read: bool, key: str = "k", at: float | None = None) -> list[dict[str, Any]]:
    """Return a prompt of its own, 1,000 tokens, sent twice; the second time it was read, or not."""
    prompt = list(range(2000 * number, 2000 * number + 1000))
    start = 1_700_000_000 + (10_000 * number if at is None else at)
    records = []
    for when, cached in ((start, 0), (start + gap, 1000 if read else 0)):
        usage = {"prompt_tokens": 1000, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": cached}}
        body = {"model": "m", "prompt": prompt, "prompt_cache_key": key}
        records.append({"request": body, "start_time": when, "end_time": when + 0.01, "usage": usage})
    return records


def told(records: Sequence[dict[str, Any]]) -> Lifetimes:
    found = lifetimes(corpus_of(*records).rows, parse_policy(RULE))
    assert found is not None
    return found


def test_alive_at_a_hundred_seconds_and_gone_at_six_hundred() -> None:
    records = [one for n in range(40) for one in twice(n, 100 if n % 2 else 600, read=bool(n % 2))]
    found = told(records)
    assert found.looks == 40
    assert (found.survival.last_all, found.survival.first_none) == (100, 600)
    assert found.survival.at(100) == 1
    assert found.survival.at(599) == 1
    assert found.survival.at(600) == 0
    assert found.spill == ()  # none came within a minute


def test_misses_within_a_minute_are_spill() -> None:
    """40 came again after 30 s, 10 of them in vain."""
    records = [one for n in range(40) for one in twice(n, 30, read=n % 4 > 0)]
    (spill,) = told(records).spill
    assert (spill.least, spill.requests, spill.missed) == (1, 40, 10)
    assert 0.12 < spill.interval.low < 0.25 < spill.interval.high < 0.42


def test_rates_and_keys_part() -> None:
    """One key is asked ten times a minute and misses half, the other twice a minute and misses nothing."""
    records = [one for n in range(40) for one in twice(n, 1, read=True, key="quiet")]
    for n in range(40, 240):
        records += twice(n, 1, read=n % 2 == 0, key="busy", at=9e6 + 12 * (n - 40))
    found = told(records)
    rates = {spill.least: (spill.requests, spill.missed) for spill in found.spill}
    assert rates[1] == (42, 1)  # forty of the quiet key, and the first two of the busy one
    assert rates[5] == (198, 99)
    assert [(key.key, key.requests, key.missed) for key in found.keys] == [("busy", 200, 100), ("quiet", 40, 0)]


def test_too_few_say_nothing() -> None:
    assert lifetimes(corpus_of(*twice(0, 30, read=True)).rows, parse_policy(RULE)) is None


def test_what_was_still_being_written_is_no_look() -> None:
    first, second = twice(0, 30, read=False)
    first["end_time"] = second["start_time"] + 5
    assert list(looks(corpus_of(first, second).rows, parse_policy(RULE))) == []


def test_the_age_is_that_of_the_last_use() -> None:
    first, second = twice(0, 1000, read=True)
    between = {**second, "start_time": first["start_time"] + 700, "end_time": first["start_time"] + 701}
    ages = [look.age for look in looks(corpus_of(first, between, second).rows, parse_policy(RULE))]
    assert ages == [pytest.approx(700), pytest.approx(300)]


def test_steps_of_a_curve() -> None:
    curve = Survival((10.0, 20.0, 30.0, 40.0), (1.0, 1.0, 0.5, 0.5), 20.0, None)
    assert steps(curve) == [(10.0, 20.0, 1.0), (30.0, 40.0, 0.5)]
