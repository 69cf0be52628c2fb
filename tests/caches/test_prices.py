"""Prices by model, day and length; right values are the published figures and sums done by hand."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime

import pytest

from prefixwise.caches.prices import Price, PriceList, Tier
from prefixwise.caches.rulebook import Rulebook


@pytest.fixture(scope="module")
def book() -> Rulebook:
    return Rulebook()


@pytest.mark.parametrize(
    ("model", "provider", "found"),
    [
        ("gpt-4.1", "openai", ("openai", "gpt-4.1")),
        ("gpt-4.1-2025-04-14", "openai", ("openai", "gpt-4.1")),
        ("openai/gpt-4o", "openai", ("openai", "gpt-4o")),
        ("claude-sonnet-4-5-20250929", "anthropic", ("anthropic", "claude-sonnet-4-5")),
        ("claude-sonnet-4-5@20250929", "anthropic", ("anthropic", "claude-sonnet-4-5")),
        ("global.anthropic.claude-opus-5", "anthropic", ("bedrock", "global.anthropic.claude-opus-5")),
        ("grok-4.6", "openai", ("xai", "grok-4.6")),  # told by the name; the log only speaks OpenAI's protocol
        ("kimi-k3", "", ("moonshot", "kimi-k3")),  # its maker's list, not a reseller's
        ("kimi-k3", "fireworks", ("fireworks", "kimi-k3")),
        ("accounts/fireworks/models/gpt-oss-120b", "", ("fireworks", "gpt-oss-120b")),
        ("openai/gpt-oss-120b", "groq", ("groq", "openai/gpt-oss-120b")),
        ("gpt-oss-120b", "", None),  # only resellers list it, and the log does not say which
        ("azure/gpt-4.1", "openai", None),  # Azure's prices are not known
        ("gpt-4.1", "azure", None),
        ("us.anthropic.claude-opus-5", "anthropic", None),  # another price than the global endpoint's
        ("gpt-4.1-turbo", "openai", None),
        ("ft:gpt-4.1-2025-04-14:acme::x", "openai", None),  # fine-tuned models cost otherwise
        ("claude-opus-5-5x", "anthropic", None),
        ("deepseek", "", None),
        ("", "", None),
    ],
)
def test_a_price_is_found_for_certain_or_not_at_all(
    model: str, provider: str, found: tuple[str, str] | None, book: Rulebook
) -> None:
    prices = book.price_list(model, provider)
    assert (None if prices is None else (prices.provider, prices.model)) == found


def at(*moment: int) -> float:
    return datetime(*moment, tzinfo=UTC).timestamp()  # type: ignore[misc, arg-type]


def test_the_price_of_a_day(book: Rulebook) -> None:
    flash = book.price_list("gemini-3.8-flash", "gemini")
    assert flash is not None
    last, first = flash.at(at(2026, 12, 31, 23, 59, 59)), flash.at(at(2027, 1, 1))
    assert last is not None
    assert first is not None
    assert (last.input, last.storage_hour, first.input, first.storage_hour) == (0.75, 0.5, 1.5, 1.0)
    undated = flash.at(math.nan)  # what held when the list was read, not what was announced
    assert undated is not None
    assert undated.input == 0.75


def test_no_price_before_the_first_one_that_is_known() -> None:
    dated = PriceList("p", "m", (Price(provider="p", model="m", input=1.0, start=date(2026, 3, 1)),))
    assert dated.at(at(2026, 2, 28, 23, 59, 59)) is None
    assert dated.at(at(2026, 3, 1)) is not None


def test_long_prompts_pay_their_tier(book: Rulebook) -> None:
    found = book.price_list("gpt-5.6", "openai")
    assert found is not None
    price = found.prices[0]
    assert [tier.tokens for tier in price.above] == [272_000]
    long = price.in_tier(0)
    assert (long.input, long.read, long.written, long.written_long, long.output) == (8.0, 0.8, 10.0, 20.0, 20.0)
    assert price.in_tier(-1) is price
    only_input = Price(provider="p", model="m", input=1.0, cached_read=0.5, above=(Tier(10, 3.0),)).in_tier(0)
    assert (only_input.input, only_input.read) == (3.0, 0.5)


def test_cost_in_usd() -> None:
    plain = Price(provider="p", model="m", input=2.0, cached_read=0.5)
    assert plain.cost(1_000_000, 400_000) == pytest.approx(0.6 * 2.0 + 0.4 * 0.5)
    assert plain.cost(1_000_000, 0, 500_000, 100_000) == pytest.approx(2.0)  # no fee on writes
    fees = Price(provider="p", model="m", input=3.0, cached_read=0.3, write=3.75, write_1h=6.0)
    # 100 k uncached, 500 k read, 300 k written for 5 min, 100 k for 1 h
    assert fees.cost(1_000_000, 500_000, 400_000, 100_000) == pytest.approx(0.3 + 0.15 + 1.125 + 0.6)
    assert Price(provider="p", model="m", input=3.0).cost(1_000_000, 500_000) == pytest.approx(3.0)
    # One write and one read cost 1.35 units, one write and nine reads 2.15 (OpenAI's guide of 2026-09-26).
    breakpoint_price = Price(provider="p", model="m", input=1.0, cached_read=0.1, write=1.25)
    write, read = breakpoint_price.cost(1e6, 0, 1e6), breakpoint_price.cost(1e6, 1e6)
    assert (write + read, write + 9 * read) == (pytest.approx(1.35), pytest.approx(2.15))


def test_a_price_read_alone_is_the_one_read_with_all_others() -> None:
    everything = Rulebook()
    for prices in everything.prices.all():
        assert Rulebook().prices.get(prices.provider, prices.model) == prices
        assert everything.prices.get(prices.provider, prices.model) == prices
