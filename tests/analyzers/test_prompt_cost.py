"""What prompts cost; the right values are sums done by hand at published prices."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.analyzers.hitrate import hit_rate
from prefixwise.analyzers.hitrate_report import hit_rate_report
from prefixwise.analyzers.prompt_cost import Cost, PromptCost
from prefixwise.caches.rulebook import Rulebook


def record(model: str, count: int, usage: dict[str, Any] | None = None, **around: Any) -> dict[str, Any]:
    """A prompt of that many token ids, the same from the start for every one."""
    body = {"model": model, "prompt_token_ids": list(range(count))}
    return {"request": body, **({} if usage is None else {"usage": usage}), **around}


def cost_of(records: list[Any], *rules: str, book: Rulebook | None = None) -> PromptCost:
    return hit_rate(corpus_of(*records), rules or ("vllm:block=16",), book=book).cost


def by_rule(costs: tuple[Cost, ...]) -> dict[str, Cost]:
    return {cost.rule: cost for cost in costs}


def day(*moment: int) -> str:
    return datetime(*moment, tzinfo=UTC).isoformat()  # type: ignore[misc, arg-type]


def test_what_a_rule_saves_at_the_read_price() -> None:
    """gpt-4.1: $2.00 input, $0.50 read. Two prompts of 64 tokens; blocks of 16 give the second one 48."""
    costs = by_rule(cost_of([record("gpt-4.1", 64), record("gpt-4.1", 64)]).totals)
    vllm, ceiling = costs["vllm:block=16"], costs["ceiling"]
    assert vllm.requests == 2
    assert vllm.without_cache_usd == pytest.approx(128 * 2e-6)
    assert vllm.cost_usd == pytest.approx((80 * 2 + 48 * 0.5) * 1e-6)
    assert vllm.saved_usd == pytest.approx(48 * 1.5e-6)
    assert ceiling.cost_usd == pytest.approx((64 * 2 + 64 * 0.5) * 1e-6)
    assert "reported" not in costs


def test_reported_writes_are_charged_by_their_lifetime() -> None:
    """claude-sonnet-4-5: $3 input, $0.30 read, $3.75 and $6 written."""
    usage = {
        "input_tokens": 1000,
        "cache_read_input_tokens": 50_000,
        "cache_creation_input_tokens": 9000,
        "cache_creation": {"ephemeral_5m_input_tokens": 8000, "ephemeral_1h_input_tokens": 1000},
    }
    reported = by_rule(cost_of([record("claude-sonnet-4-5-20250929", 64, usage)]).totals)["reported"]
    assert reported.without_cache_usd == pytest.approx(60_000 * 3e-6)
    assert reported.cost_usd == pytest.approx((1000 * 3 + 50_000 * 0.3 + 8000 * 3.75 + 1000 * 6) * 1e-6)
    only_written = {"input_tokens": 0, "cache_read_input_tokens": 0, "cache_creation_input_tokens": 10_000}
    reported = by_rule(cost_of([record("claude-sonnet-4-5", 64, only_written)]).totals)["reported"]
    assert reported.saved_usd == pytest.approx(-10_000 * 0.75e-6)


def test_each_request_pays_the_price_of_its_day() -> None:
    """gemini-3.8-flash: $0.75 until 2026-12-31, $1.50 from 2027-01-01."""
    late = record("gemini-3.8-flash", 64, timestamp=day(2026, 12, 31, 23, 59))
    new = record("gemini-3.8-flash", 64, timestamp=day(2027, 1, 1))
    found = cost_of([late, new, record("gemini-3.8-flash", 64)])
    assert by_rule(found.totals)["ceiling"].without_cache_usd == pytest.approx((64 * 0.75 * 2 + 64 * 1.5) * 1e-6)
    (model,) = found.models
    assert [price.input for price in model.prices] == [0.75, 1.5]


def test_a_long_prompt_pays_the_price_of_its_length() -> None:
    """gpt-5.6: above 272,000 tokens $8 input, $0.80 read, $10 written."""
    usage = {
        "prompt_tokens": 300_000,
        "prompt_tokens_details": {"cached_tokens": 100_000, "cache_write_tokens": 50_000},
    }
    short = {"prompt_tokens": 272_000, "prompt_tokens_details": {"cached_tokens": 0}}
    reported = by_rule(cost_of([record("gpt-5.6", 64, usage), record("gpt-5.6", 64, short)]).totals)["reported"]
    assert reported.cost_usd == pytest.approx(0.15 * 8 + 0.1 * 0.8 + 0.05 * 10 + 0.272 * 4)


def test_models_add_up_and_what_has_no_price_is_named() -> None:
    records = [
        record("gpt-4.1", 64),
        record("gpt-4o", 32),
        record("llama-3", 64),
        record("llama-3", 64),
        record("x", 64),
    ]
    found = cost_of(records)
    assert found.unpriced == (("llama-3", 2), ("x", 1))
    assert {model.model: by_rule(model.costs)["ceiling"].without_cache_usd for model in found.models} == {
        "gpt-4.1": pytest.approx(64 * 2e-6),
        "gpt-4o": pytest.approx(32 * 2.5e-6),
    }
    total = by_rule(found.totals)["ceiling"]
    assert (total.requests, total.without_cache_usd) == (2, pytest.approx((64 * 2 + 32 * 2.5) * 1e-6))


def test_without_any_price_there_is_no_money(tmp_path: Path) -> None:
    corpus = corpus_of(record("llama-3", 64))
    result = hit_rate(corpus)
    assert (result.cost.totals, result.cost.models) == ((), ())
    report = hit_rate_report(corpus, result)
    assert not [block for block in report.blocks if block.name in ("cost", "prices")]
    assert any("No price is known for llama-3" in note for note in report.notes)


def test_a_request_before_the_first_known_price_has_none(tmp_path: Path) -> None:
    file = tmp_path / "own.toml"
    file.write_text('[[prices]]\nprovider = "ours"\nmodel = "llama-3"\nfrom = 2026-06-01\ninput = 1.0\n', "utf-8")
    records = [record("llama-3", 64, timestamp=day(2026, 5, 31)), record("llama-3", 64, timestamp=day(2026, 6, 1))]
    found = cost_of(records, book=Rulebook([str(file)]))
    assert by_rule(found.totals)["ceiling"].requests == 1
    assert found.unpriced == (("llama-3", 1),)


def test_estimated_tokens_are_priced_as_they_were_calibrated() -> None:
    """claude-opus-5: $5 input. Estimates are 17 tokens a prompt, usage says 34 (see test_hitrate_figures)."""
    body = {
        "model": "claude-opus-5",
        "max_tokens": 1,
        "messages": [{"role": "user", "content": " ".join(["word"] * 10)}],
    }
    usage = {"input_tokens": 34, "cache_read_input_tokens": 0}
    corpus = corpus_of({"request": body, "usage": usage}, {"request": body})
    result = hit_rate(corpus, ("sglang",))
    assert by_rule(result.cost.totals)["sglang:page=1"].without_cache_usd == pytest.approx(2 * 34 * 5e-6)
    assert by_rule(result.cost.totals)["sglang:page=1"].saved_usd == pytest.approx(2 * 16 * 4.5e-6)
    (table,) = (block for block in hit_rate_report(corpus, result).blocks if block.name == "cost")
    assert "estimates" in table.note


def test_the_prices_come_with_their_source() -> None:
    corpus = corpus_of(record("gpt-4.1-2025-04-14", 64))
    report = hit_rate_report(corpus, hit_rate(corpus))
    (table,) = (block for block in report.blocks if block.name == "prices")
    ((model, given, read, source),) = table.rows
    assert (model, given, read) == ("gpt-4.1-2025-04-14 as gpt-4.1", 2.0, 0.5)
    assert source == "LiteLLM 1.110.2, price file, 2026-11-20, secondary"
    assert report.values.cost.models[0].prices[0].sources[0].id == "litellm-2026-11-20"


def test_more_written_than_there_was_costs_no_more_than_the_prompt() -> None:
    usage = {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 500}}
    reported = by_rule(cost_of([record("gpt-5.6", 64, usage)]).totals)["reported"]
    assert reported.cost_usd == pytest.approx((60 * 0.4 + 40 * 5) * 1e-6)
