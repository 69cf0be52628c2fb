"""What changed prompts cost: sums done by hand."""

from __future__ import annotations

import pytest

from prefixwise.analyzers.static.lock import Lock, LockedPrompt
from prefixwise.analyzers.static.lock_cost import change_costs, cost_table
from prefixwise.analyzers.static.lock_report import lock_report
from prefixwise.caches.prices import Price

PRICE = Price(provider="p", model="m", input=2.0, cached_read=0.2, write=2.5)


def lock(*segments: str, path: str = "a.md") -> Lock:
    tokens = sum(int(one.split()[0]) for one in segments)
    return Lock("o200k_base", (LockedPrompt(path, 0, "1", tokens, segments),))


THEN = lock("100 aa", "200 bb", "300 cc")


def test_a_value_moved_up() -> None:
    """The first 100 tokens stay; 500 are written once, and are computed in each of 1,000 calls instead of read."""
    (cost,) = change_costs(lock("100 aa"), THEN, 1000, PRICE)
    assert (cost.before, cost.after, cost.once_tokens, cost.month_tokens) == (600, 100, 500, 500_000)
    assert cost.once_usd == pytest.approx(500 * 2.5e-6)
    assert cost.month_usd == pytest.approx(500_000 * 1.8e-6)


def test_text_added_in_front_of_the_rest() -> None:
    """40 more tokens are read in each call, and what stands behind them is written once."""
    (cost,) = change_costs(lock("100 aa", "40 dd", "200 bb", "300 cc"), THEN, 1000, PRICE)
    assert (cost.once_tokens, cost.month_tokens) == (500, -40_000)
    assert cost.month_usd == pytest.approx(40_000 * 0.2e-6)


def test_without_calls_or_a_price_nothing_is_made_up() -> None:
    (cost,) = change_costs(lock("100 aa"), THEN)
    assert (cost.once_tokens, cost.once_usd, cost.month_tokens, cost.month_usd) == (500, None, None, None)
    assert [column.name for column in cost_table([cost], None).columns] == ["prompt", "before", "after", "once_tokens"]
    (cost,) = change_costs(lock("100 aa"), THEN, 10)
    assert (cost.month_tokens, cost.month_usd) == (5000, None)


def test_what_did_not_change_or_is_new_costs_nothing() -> None:
    assert change_costs(THEN, THEN, 1000, PRICE) == ()
    assert change_costs(lock("1 zz", path="new.md"), THEN, 1000, PRICE) == ()
    assert change_costs(THEN, None, 1000, PRICE) == ()


def test_the_report_of_a_lock_says_it() -> None:
    report = lock_report(lock("100 aa"), THEN, (), 1000, PRICE)
    assert [block.name for block in report.blocks] == ["prompts", "change_costs"]
    assert report.values.changes[0].month_tokens == 500_000
    assert [block.name for block in lock_report(THEN, THEN, ()).blocks] == ["prompts"]
