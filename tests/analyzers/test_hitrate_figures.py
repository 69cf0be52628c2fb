"""Hit rates of small logs, by hand and by sums."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import naive
from support.logs import Log, logs
from support.reading import corpus_of

from prefixwise.analyzers.hitrate import Counts, HitRate, hit_rate
from prefixwise.caches.policy import Reason
from prefixwise.core.errors import UserError
from prefixwise.corpus.rows import GROUPS


def by_rule(counts: tuple[Counts, ...]) -> dict[str, Counts]:
    return {count.rule: count for count in counts}


def counted(records: list[Any], *rules: str, by: tuple[str, ...] = ()) -> HitRate:
    return hit_rate(corpus_of(*records), rules, by)


# The ids are given, so every figure below can be counted on paper: blocks of 4, prompts of 10, 12 and 9 tokens.
A = list(range(10))
B = [*range(10), 50, 51]
C = [*range(6), 60, 61, 62]


def record(ids: list[int], model: str = "m", **around: Any) -> dict[str, Any]:
    return {"request": {"model": model, "prompt_token_ids": ids}, **around}


def test_totals_of_three_prompts_counted_on_paper() -> None:
    result = counted([record(A), record(B), record(C), record(A)], "vllm:block=4", "sglang", "vllm:block=3")
    totals = by_rule(result.totals)
    assert totals["ceiling"].cached_tokens == 0 + 10 + 6 + 10
    assert totals["vllm:block=4"].cached_tokens == 0 + 8 + 4 + 8
    assert totals["sglang:page=1"].cached_tokens == 0 + 10 + 6 + 9
    assert totals["vllm:block=3"].cached_tokens == 0 + 9 + 6 + 9
    assert {count.prompt_tokens for count in result.totals} == {10 + 12 + 9 + 10}
    assert {count.requests for count in result.totals} == {4}
    assert totals["vllm:block=4"].hit_rate == 20 / 41
    assert totals["vllm:block=4"].without_answers is None
    assert "reported" not in totals


def test_models_share_nothing_and_namespaces_only_under_the_ceiling() -> None:
    salted = record(A)
    salted["request"] = {**salted["request"], "cache_salt": "s"}
    totals = by_rule(counted([record(A), record(A, "other"), salted], "vllm:block=4", "sglang").totals)
    assert totals["ceiling"].cached_tokens == 10
    assert totals["vllm:block=4"].cached_tokens == 0
    assert totals["sglang:page=1"].cached_tokens == 0


def test_the_same_rule_given_twice_is_one_line() -> None:
    rules = [count.rule for count in counted([record(A)], "vllm", "vllm:block=16", "vllm:outputs=yes").totals]
    assert rules == ["vllm:block=16", "ceiling"]


def test_answers_are_counted_with_and_without() -> None:
    first = {
        "request": {"model": "gpt-4o", "prompt": "one two"},
        "response": {"choices": [{"text": " three four five"}]},
        "start_time": 1,
        "end_time": 2,
    }
    second = {"request": {"model": "gpt-4o", "prompt": "one two three four five six"}, "start_time": 3}
    totals = by_rule(counted([first, second], "sglang", "sglang:outputs=no").totals)
    # " five" was the last sampled token and has no KV; the prompt of two is all there is without answers.
    assert (totals["sglang:page=1"].cached_tokens, totals["sglang:page=1"].without_answers) == (4, 2)
    assert (totals["sglang:page=1,outputs=no"].cached_tokens, totals["sglang:page=1,outputs=no"].without_answers) == (
        2,
        None,
    )
    assert (totals["ceiling"].cached_tokens, totals["ceiling"].without_answers) == (4, 2)


@settings(max_examples=60, deadline=None)
@given(log=logs(), fields=st.lists(st.sampled_from(sorted(GROUPS)), min_size=1, max_size=2, unique=True))
def test_totals_are_those_of_the_naive_caches_and_groups_sum_to_them(log: Log, fields: list[str]) -> None:
    result = hit_rate(corpus_of(log.data), ["vllm:block=4", "sglang"], fields)
    totals = by_rule(result.totals)
    # Only models without a public tokenizer are weighted, and "m-ids" comes as ids, so nothing is.
    assert totals["vllm:block=4"].cached_tokens == sum(naive.vllm(log.served, 4))
    assert totals["sglang:page=1"].cached_tokens == sum(naive.sglang(log.served, 1))
    assert totals["ceiling"].cached_tokens == sum(naive.longest(log.served)[0])
    if any(request.answer for request in log.served):
        assert totals["vllm:block=4"].without_answers == sum(naive.vllm(log.served, 4, outputs=False))
        assert totals["ceiling"].without_answers == sum(naive.longest(log.served, outputs=False)[0])
    said = [r["usage"] for r in log.records if "usage" in r]
    if said:
        reported = totals["reported"]
        assert reported.requests == len(said)
        assert reported.prompt_tokens == sum(usage["prompt_tokens"] for usage in said)
        assert reported.cached_tokens == sum(usage["prompt_tokens_details"]["cached_tokens"] for usage in said)
    else:
        assert "reported" not in totals
    for field in fields:
        for rule, total in totals.items():
            parts = [by_rule(group.counts)[rule] for group in result.by[field] if rule in by_rule(group.counts)]
            for figure in ("requests", "prompt_tokens", "cached_tokens", "without_answers"):
                if getattr(total, figure) is not None:
                    assert sum(getattr(part, figure) for part in parts) == getattr(total, figure), (field, rule, figure)


def test_groups_are_named_and_come_with_most_tokens_first() -> None:
    records = [record(A, tenant="small"), record(B, tenant="big"), record(C, tenant="big"), record(A)]
    groups = counted(records, "sglang", by=("tenant",)).by["tenant"]
    assert [group.name for group in groups] == ["big", "small", "(no tenant)"]
    assert [by_rule(group.counts)["sglang:page=1"].cached_tokens for group in groups] == [10 + 6, 0, 9]
    with pytest.raises(UserError, match="cannot group by"):
        counted(records, by=("colour",))


# -- what the log reports, in each API's own accounting ----------------------------------------------------------

HI = [{"role": "user", "content": "Hi"}]
REPORTED: dict[str, tuple[dict[str, Any], tuple[int, int]]] = {
    "OpenAI Chat: all input, of it cached": (
        {
            "request": {"model": "gpt-4o", "messages": HI},
            "response": {"usage": {"prompt_tokens": 2006, "prompt_tokens_details": {"cached_tokens": 1920}}},
        },
        (2006, 1920),
    ),
    "Responses: all input, of it cached and written": (
        {
            "request": {"model": "gpt-5.6", "input": HI},
            "response": {
                "usage": {
                    "input_tokens": 3000,
                    "input_tokens_details": {"cached_tokens": 2048, "cache_write_tokens": 900},
                }
            },
        },
        (3000, 2048),
    ),
    "Anthropic: the rest, plus read, plus written": (
        {
            "request": {"model": "claude-opus-5", "max_tokens": 9, "messages": HI},
            "response": {
                "usage": {"input_tokens": 21, "cache_read_input_tokens": 188086, "cache_creation_input_tokens": 456}
            },
        },
        (188563, 188086),
    ),
    "Gemini: all input, of it cached": (
        {
            "request": {"model": "gemini-3-pro", "contents": [{"role": "user", "parts": [{"text": "Hi"}]}]},
            "response": {"usageMetadata": {"promptTokenCount": 4100, "cachedContentTokenCount": 4096}},
        },
        (4100, 4096),
    ),
    "DeepSeek: hit and miss": (
        {
            "request": {"model": "deepseek-chat", "messages": HI},
            "usage": {"prompt_tokens": 1500, "prompt_cache_hit_tokens": 1408, "prompt_cache_miss_tokens": 92},
        },
        (1500, 1408),
    ),
    "Bedrock Converse: the rest, plus read, plus written": (
        {
            "request": {"model": "us.anthropic.claude-opus-5", "max_tokens": 9, "messages": HI},
            "usage": {"inputTokens": 10, "cacheReadInputTokens": 1000, "cacheWriteInputTokens": 200},
        },
        (1210, 1000),
    ),
    "vLLM with nothing cached: zero is not absent": (
        {
            "request": {"model": "llama", "messages": HI},
            "usage": {"prompt_tokens": 40, "prompt_tokens_details": {"cached_tokens": 0}},
        },
        (40, 0),
    ),
}


@pytest.mark.parametrize("api", REPORTED)
def test_reported_figures_follow_the_apis_own_accounting(api: str) -> None:
    logged, (prompt, cached) = REPORTED[api]
    reported = by_rule(counted([logged]).totals)["reported"]
    assert (reported.requests, reported.prompt_tokens, reported.cached_tokens) == (1, prompt, cached)


def test_reported_figures_of_several_apis_add_up_and_leave_out_who_says_nothing() -> None:
    silent = {"request": {"model": "gpt-4o", "messages": HI}, "usage": {"prompt_tokens": 999}}
    mixed = [REPORTED["DeepSeek: hit and miss"][0], silent, REPORTED["OpenAI Chat: all input, of it cached"][0]]
    reported = by_rule(counted(mixed).totals)["reported"]
    assert (reported.requests, reported.prompt_tokens, reported.cached_tokens) == (2, 3506, 3328)
    assert reported.hit_rate == 3328 / 3506


# -- calibration ------------------------------------------------------------------------------------------------


def claude(text: str, tokens: int | None = None) -> dict[str, Any]:
    around = {} if tokens is None else {"usage": {"input_tokens": tokens, "cache_read_input_tokens": 0}}
    return {
        "request": {"model": "claude-opus-5", "max_tokens": 1, "messages": [{"role": "user", "content": text}]},
        **around,
    }


def test_an_estimate_is_scaled_to_what_the_usage_says() -> None:
    """Each prompt is counted as start, user, message, 10 words, end, and 3 to open the reply: 17 tokens."""
    text = " ".join(["word"] * 10)
    result = counted([claude(text, 34), claude(text, 51), claude(text)], "sglang")
    (model,) = result.models
    assert model.exactness.value == "estimated"
    assert model.calibrated_on == 2
    assert model.factor == model.reported_over_counted == (34 + 51) / (17 + 17)
    totals = by_rule(result.totals)
    assert totals["sglang:page=1"].prompt_tokens == round(3 * 17 * 2.5)
    assert totals["sglang:page=1"].cached_tokens == round(2 * 16 * 2.5)
    assert totals["ceiling"].cached_tokens == round(2 * 17 * 2.5)
    assert totals["reported"].prompt_tokens == 85


def test_exact_counts_are_not_scaled_but_compared() -> None:
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": " ".join(["word"] * 10)}]}
    result = counted([{"request": body, "usage": {"prompt_tokens": 34}}], "sglang")
    (model,) = result.models
    assert (model.factor, model.reported_over_counted) == (1.0, 2.0)
    assert by_rule(result.totals)["sglang:page=1"].prompt_tokens == 17


def test_each_model_is_scaled_by_its_own_factor() -> None:
    text = " ".join(["word"] * 10)
    other = claude(text, 17)
    other["request"] = {**other["request"], "model": "claude-haiku-5"}
    result = counted([claude(text, 34), other], by=("model",))
    tokens = {group.name: by_rule(group.counts)["ceiling"].prompt_tokens for group in result.by["model"]}
    assert tokens == {"claude-opus-5": 34, "claude-haiku-5": 17}
    assert by_rule(result.totals)["ceiling"].prompt_tokens == 51


# -- prefixes and losses ----------------------------------------------------------------------------------------


def test_the_most_shared_prefixes_do_not_count_a_token_twice() -> None:
    """Four prompts share 6 tokens, three of those share 10: 3 x 6 saved, then 2 x 4 more."""
    result = counted([record(A), record(B), record(C), record([*A, 77])], "sglang")
    found = sorted((prefix.tokens, prefix.requests, prefix.saved_tokens) for prefix in result.prefixes)
    assert found == [(6, 4, 3 * 6), (10, 3, 2 * 4)]
    ceiling = by_rule(result.totals)["ceiling"].cached_tokens
    assert sum(prefix.saved_tokens for prefix in result.prefixes) == ceiling == 10 + 6 + 10


def test_a_prefix_is_not_shared_between_models_of_one_vocabulary() -> None:
    body = {"model": "gpt-4o", "prompt": "alpha beta gamma " * 30}
    result = counted([body, {**body, "model": "gpt-4o-mini"}], "sglang")
    assert by_rule(result.totals)["ceiling"].cached_tokens == 0
    assert not result.prefixes


@settings(max_examples=60, deadline=None)
@given(log=logs())
def test_shared_prefixes_are_real_and_save_no_more_than_there_is(log: Log) -> None:
    result = hit_rate(corpus_of(log.data))
    for prefix in result.prefixes:
        assert prefix.requests >= 2
        assert 0 < prefix.saved_tokens <= (prefix.requests - 1) * prefix.tokens
        holders: dict[tuple[str, tuple[int, ...]], int] = {}
        for request in log.served:
            if len(request.prompt) >= prefix.tokens:
                head = (request.model, request.prompt[: prefix.tokens])
                holders[head] = holders.get(head, 0) + 1
        assert prefix.requests in holders.values()


def test_the_request_that_lost_most_is_named_with_where_it_parted_from_which() -> None:
    body = {"model": "gpt-4o", "prompt": "alpha beta gamma " * 30}
    changed = {**body, "prompt": "alpha beta DELTA " + "alpha beta gamma " * 29}
    salted = {**body, "cache_salt": "other"}
    result = counted([body, body, changed, salted], "sglang")
    isolated, parted = sorted(
        (lost for lost in result.lost if lost.prompt_tokens - lost.cached_tokens > 1), key=lambda lost: -lost.at.record
    )
    assert (str(parted.at), str(parted.nearest)) == ("-#2", "-#0")
    assert (parted.parts_after, parted.cached_tokens, parted.reason) == (2, 2, Reason.FIRST_SEEN)
    assert parted.then.startswith(" DELTA")
    assert (str(isolated.at), str(isolated.nearest)) == ("-#3", "-#0")
    assert (isolated.cached_tokens, isolated.reason) == (0, Reason.ISOLATED)


def test_nothing_is_lost_by_the_first_of_its_kind() -> None:
    assert not counted([record(A), record([100, 101])], "sglang").lost
