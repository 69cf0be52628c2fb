"""Two hit-rate results held against each other; the right values are differences done by hand."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import pytest
from support.reading import corpus_of

from prefixwise.analyzers.accounts.accounted import accounted
from prefixwise.analyzers.hitrate import hit_rate
from prefixwise.analyzers.hitrate_compare import FIGURES, HitRateComparison, compared_hit_rates, figures
from prefixwise.analyzers.hitrate_compare_report import hit_rate_comparison_report
from prefixwise.analyzers.hitrate_values import HitRateValues, hit_rate_values
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.condition import parse_condition
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts


def sent(prompt: list[int], tenant: str, model: str = "gpt-4.1") -> dict[str, Any]:
    return {"request": {"model": model, "prompt": prompt}, "tenant": tenant}


# Blocks of 4. Then: 8 of 10 tokens of a's second prompt are served, nothing of b's: 8 of 40 in all. Now: 8 of each of
# a's two later prompts, 16 of 40.
A, B, C = list(range(10)), list(range(100, 110)), list(range(200, 210))
OLD = [sent(A, "a"), sent(A, "a"), sent(B, "b"), sent(C, "b")]
NEW = [sent(A, "a"), sent(A, "a"), sent(A, "a"), sent(C, "b")]


def values(records: list[dict[str, Any]], *rules: str, by: tuple[str, ...] = ("tenant",)) -> HitRateValues:
    """Return the values as a file would bring them back."""
    corpus, book = corpus_of(*records), Rulebook()
    result, found = hit_rate(corpus, rules, by, book=book), accounted(corpus, rules, by, book)
    document = msgspec.json.encode(hit_rate_values(corpus, result, Excerpts.MASKED, found))
    return msgspec.json.decode(document, type=HitRateValues)


def compared(old: list[dict[str, Any]], new: list[dict[str, Any]]) -> HitRateComparison:
    return compared_hit_rates(values(old, "vllm:block=4"), values(new, "vllm:block=4"))


def test_rates_and_their_difference() -> None:
    found = compared(OLD, NEW)
    rate = found.rate("vllm:block=4")
    assert rate is not None
    assert (rate.hit_rate.old, rate.hit_rate.new) == (0.2, 0.4)
    assert rate.hit_rate.change == pytest.approx(0.2)
    assert (rate.cached_tokens.change, rate.prompt_tokens.change, rate.requests.new) == (8, 0, 4)
    ceiling = found.rate("ceiling")
    assert ceiling is not None
    assert (ceiling.hit_rate.old, ceiling.hit_rate.new) == (0.25, 0.5)
    assert found.rate("reported") is None


def test_groups_add_up_to_the_change() -> None:
    """a: 8 of 20, then 16 of 30; b: nothing of 20, then of 10."""
    a, b = compared(OLD, NEW).by["tenant"]
    assert (a.name, a.share.old, a.share.new) == ("a", 0.5, 0.75)
    assert (a.hit_rate.old, a.hit_rate.new) == (0.4, pytest.approx(16 / 30))
    assert a.contribution == pytest.approx(0.4 - 0.2)
    assert (b.name, b.contribution) == ("b", 0.0)


def test_a_group_that_only_one_result_has() -> None:
    gone = compared(OLD, [sent(C, "b"), sent(C, "b")]).by["tenant"]
    assert [(one.name, one.hit_rate.new, pytest.approx(one.contribution)) for one in gone] == [
        ("b", 0.4, 0.4),
        ("a", None, -0.2),
    ]


def test_accounts_as_shares() -> None:
    found = {one.account: (one.share.old, one.share.new, one.tokens.change) for one in compared(OLD, NEW).accounts}
    assert found == {"cached": (0.2, 0.4, 8), "granularity": (0.05, 0.1, 2), "first_seen": (0.75, 0.5, -10)}


def test_cost_of_a_million_tokens() -> None:
    """gpt-4.1: $2 a million, $0.50 read. Then 32 + 8 read, now 24 + 16 read."""
    found = compared(OLD, NEW)
    cost = next(one for one in found.cost if one.rule == "vllm:block=4")
    assert cost.usd.old == pytest.approx((32 * 2 + 8 * 0.5) * 1e-6)
    assert cost.usd_per_million.new == pytest.approx((24 * 2 + 16 * 0.5) / 40)
    assert figures(found)["cost_ratio"] == pytest.approx(56 / 68)
    assert figures(found)["cost_usd_change"] == pytest.approx(-12e-6)


def test_without_a_price_for_all_no_ratio() -> None:
    mixed = [*NEW, sent(A, "a", model="a model nobody lists")]
    found = compared(OLD, mixed)
    assert figures(found)["cost_ratio"] is None
    assert figures(found)["hit_rate_change"] is not None


@pytest.mark.parametrize(
    ("condition", "met"),
    [
        ("hit_rate_change>=-0.01", False),
        ("hit_rate_change>=-20%", True),
        ("hit_rate>=0.2", True),
        ("cached_tokens_change<0", True),
        ("reported_hit_rate_change>=0", False),
    ],
)
def test_conditions(condition: str, met: bool) -> None:
    """The other way round: the hit rate falls from 0.4 to 0.2; there is no usage, so nothing is reported."""
    report = hit_rate_comparison_report(compared(NEW, OLD), [parse_condition(condition, FIGURES)])
    assert report.requirements[0].met is met
    assert report.exit_code == (0 if met else 1)


@pytest.mark.parametrize("number", ["-", "-.", "1-", "--1", "-1-1"])
def test_what_is_no_number(number: str) -> None:
    with pytest.raises(UserError, match="cannot read the condition"):
        parse_condition(f"hit_rate>={number}", FIGURES)


def test_a_number_below_zero() -> None:
    assert parse_condition("hit_rate >= -1.5%", FIGURES).wanted == -0.015


def test_rules_of_only_one_result() -> None:
    found = compared_hit_rates(values(OLD, "vllm:block=4", "sglang"), values(NEW, "vllm:block=2", "sglang"))
    assert found.rule == "sglang:page=1"
    assert (found.only_old, found.only_new) == (("vllm:block=4",), ("vllm:block=2",))
    assert found.accounts == ()  # they are of the first rule of each
    assert any("only the new result has vllm:block=2" in note for note in hit_rate_comparison_report(found).notes)
    with pytest.raises(UserError, match="no rule in common"):
        compared_hit_rates(values(OLD, "sglang"), values(NEW, "vllm"))


def test_a_longer_log_is_told() -> None:
    notes = hit_rate_comparison_report(compared(OLD, NEW * 3)).notes
    assert any("3 times the prompt tokens" in note for note in notes)
    assert not hit_rate_comparison_report(compared(OLD, NEW)).notes


def test_every_figure_has_a_value_or_none() -> None:
    found = figures(compared(OLD, NEW))
    assert tuple(found) == FIGURES
    assert all(value is None or math.isfinite(value) for value in found.values())
