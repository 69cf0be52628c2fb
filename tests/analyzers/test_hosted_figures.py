"""Figures of `hitrate` under the rules of providers; the right values are sums done by hand at published prices."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.analyzers.hitrate import HitRate, hit_rate
from prefixwise.analyzers.prompt_cost import Cost
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError

FIXTURE = Path(__file__).parents[2] / "fixtures" / "logs" / "desk-anthropic.jsonl"


def ids(model: str, count: int, start: float, **more: Any) -> dict[str, Any]:
    """A prompt of that many token ids, the same from the start for every one."""
    body = {"model": model, "prompt_token_ids": list(range(count)), **more}
    return {"request": body, "start_time": start, "end_time": start + 1}


def counted(records: list[Any], *rules: str, **more: Any) -> HitRate:
    return hit_rate(corpus_of(*records), rules, **more)


def cost(result: HitRate, rule: str) -> Cost:
    return next(found for found in result.cost.totals if found.rule == rule)


def test_written_and_read_tokens_are_charged_by_the_providers_list() -> None:
    """gpt-5.6: $4 input, $0.40 read, $5 written. 2,000 tokens written, then read."""
    rule = "openai:model=gpt-5.6"
    result = counted([ids("m", 2000, 0.0), ids("m", 2000, 60.0)], rule)
    found = cost(result, rule)
    assert found.without_cache_usd == pytest.approx(4000 * 4e-6)
    assert found.cost_usd == pytest.approx((2000 * 5 + 2000 * 0.4) * 1e-6)
    totals = next(counts for counts in result.totals if counts.rule == rule)
    assert (totals.cached_tokens, totals.written_tokens) == (2000, 2000)


def test_an_hour_costs_twice_the_input_and_a_batch_half_of_everything() -> None:
    """claude-sonnet-5: $2 input, $0.20 read, $2.50 and $4 written."""
    two = [ids("m", 2000, 0.0), ids("m", 2000, 60.0)]
    usual, batch = "anthropic:model=claude-sonnet-5", "anthropic:model=claude-sonnet-5,tier=batch"
    result = counted(two, usual, batch)
    assert cost(result, usual).cost_usd == pytest.approx((2000 * 2.5 + 2000 * 0.2) * 1e-6)
    assert cost(result, batch).cost_usd == pytest.approx((2000 * 2.5 + 2000 * 0.2) * 0.5e-6)
    assert any("no cache markers" in note for note in result.notes)


def test_a_logged_service_tier_is_charged() -> None:
    two = [ids("m", 2000, 0.0, service_tier="flex"), ids("m", 2000, 60.0)]
    for record in two:
        record["request"]["messages"] = [{"role": "user", "content": "one " * 2000}]
        del record["request"]["prompt_token_ids"]
    result = counted(two, "openai:model=gpt-5.6")
    first = result.totals[0].prompt_tokens / 2
    found = cost(result, "openai:model=gpt-5.6")
    assert found.without_cache_usd == pytest.approx(first * 4e-6 * 1.5)
    assert result.totals[0].cached_tokens == 0  # another tier is another cache


def test_storage_is_charged_by_the_hour() -> None:
    """gemini-2.5-pro: $1.25 input, $0.125 read, $4.50 a million tokens an hour."""
    system = {"parts": [{"text": "one two three four five six seven eight nine ten " * 500}]}
    ask = {"systemInstruction": system, "contents": [{"role": "user", "parts": [{"text": "hi"}]}]}
    records = [
        {"request": {"model": "gemini-2.5-pro", **ask}, "start_time": at, "end_time": at + 1} for at in (0.0, 60.0)
    ]
    result = counted(records, "gemini_explicit")
    totals = result.totals[0]
    head, rest = totals.written_tokens or 0, totals.prompt_tokens - (totals.written_tokens or 0) * 2
    assert totals.cached_tokens == head > 4096
    expected = (head * 1.25 + head * 0.125 + rest * 1.25 + head * 4.5) * 1e-6
    assert cost(result, "gemini_explicit").cost_usd == pytest.approx(expected)


def test_a_rule_without_a_price_for_the_model_costs_nothing_known() -> None:
    result = counted([ids("gpt-4o", 2000, 0.0), ids("gpt-4o", 2000, 60.0)], "anthropic", "vllm")
    assert [found.rule for found in result.cost.totals] == ["vllm:block=16", "ceiling"]


def test_figures_lie_between_the_ends_and_every_rule_can_be_asked_for_at_once() -> None:
    result = hit_rate(corpus_of(*FIXTURE.read_bytes().splitlines()), ["all"])
    by_rule = {counts.rule: counts for counts in result.totals}
    assert {"vllm:block=16", "sglang:page=1", "anthropic", "openai_breakpoint", "deepseek", "xai"} <= by_rule.keys()
    assert not {"openrouter", "llamacpp"} & by_rule.keys()
    for counts in result.totals:
        if counts.least is not None and counts.most is not None:
            assert counts.least <= counts.cached_tokens <= max(counts.most, counts.cached_tokens)
            assert counts.most <= by_rule["ceiling"].cached_tokens


def test_the_models_markers_agree_with_the_usage_of_the_log() -> None:
    result = hit_rate(corpus_of(*FIXTURE.read_bytes().splitlines()), ["anthropic"])
    reported, modelled = result.totals[:2]
    assert modelled.cached_tokens == pytest.approx(reported.cached_tokens, rel=0.05)


def test_a_users_file_is_a_rule(tmp_path: Path) -> None:
    file = tmp_path / "ours.toml"
    file.write_text(
        '[systems.ours]\nname = "Ours"\nkind = "hosted"\nprovider = "ours"\nfamily = "block-hash-chain"\n'
        'applies_to = ["*"]\nmin_tokens = 32\ngranularity_tokens = 32\nttl_s = 60\nreadable_after = "filled"\n',
        encoding="utf-8",
    )
    book = Rulebook([str(file)])
    result = counted([ids("m", 100, 0.0), ids("m", 100, 60.0), ids("m", 100, 121.0)], "ours", book=book)
    assert result.totals[0].cached_tokens == 96
    with pytest.raises(UserError):
        counted([ids("m", 100, 0.0)], "ours")
