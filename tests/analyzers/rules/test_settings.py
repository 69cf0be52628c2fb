"""Model, effort, choice of tools and answer format that change inside a conversation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, pairs_of
from support.talks import MODELS, body, talk, tools

from prefixwise.core.finding import Confidence, Finding, Level, Severity, Where


def turns(api: str, *settings: dict[str, Any]) -> list[dict[str, Any]]:
    return [body(api, turn, **more) for turn, more in enumerate(settings)]


def checked(api: str, rule: str, folder: Path, *settings: dict[str, Any], hits: str = "-") -> Finding:
    """Return the finding of the rule, which must be the only one above info."""
    linted = lint_records(folder, talk(api, *turns(api, *settings), hits=hits))
    assert found(linted) == [rule]
    return finding(linted, rule)


THINKING = {"type": "enabled", "budget_tokens": 4096}

# API, rule, settings of two turns, pointer, texts, offset
CHANGES: list[tuple[str, str, dict[str, Any], dict[str, Any], str, str | None, str | None, int | None]] = [
    ("responses", "effort-or-thinking-changed", {"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "high"}},
     "/reasoning/effort", "low", "high", 0),
    ("responses", "effort-or-thinking-changed", {"text": {"verbosity": "low"}}, {"text": {"verbosity": "lower"}},
     "/text/verbosity", "low", "lower", 3),
    ("chat", "effort-or-thinking-changed", {"reasoning_effort": "low"}, {}, "/reasoning_effort", "low", None, None),
    ("chat", "effort-or-thinking-changed", {}, {"verbosity": "high"}, "/verbosity", None, "high", None),
    ("anthropic", "effort-or-thinking-changed", {}, {"thinking": THINKING}, "/thinking/type", None, "enabled", None),
    ("anthropic", "effort-or-thinking-changed", {"thinking": THINKING}, {"thinking": THINKING | {"budget_tokens": 9}},
     "/thinking/budget_tokens", "4096", "9", None),
    ("anthropic", "effort-or-thinking-changed", {}, {"output_config": {"effort": "low"}}, "/output_config/effort",
     None, "low", None),
    ("bedrock", "effort-or-thinking-changed", {}, {"additionalModelRequestFields": {"thinking": THINKING}},
     "/additionalModelRequestFields/thinking/type", None, "enabled", None),
    ("gemini", "effort-or-thinking-changed", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
     {"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}},
     "/generationConfig/thinkingConfig/thinkingBudget", "0", "512", None),
    ("anthropic", "tool-choice-changed", {"tool_choice": {"type": "any"}}, {"tool_choice": {"type": "auto"}},
     "/tool_choice/type", "any", "auto", 1),
    ("anthropic", "tool-choice-changed", {}, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}},
     "/tool_choice/disable_parallel_tool_use", None, "true", None),
    ("chat", "tool-choice-changed", {}, {"parallel_tool_calls": False}, "/parallel_tool_calls", None, "false", None),
    ("chat", "response-format-changed", {}, {"response_format": {"type": "json_object"}}, "/response_format", None,
     '{"type":"json_object"}', None),
    ("responses", "response-format-changed", {"text": {"format": {"type": "json_object"}}}, {}, "/text/format",
     '{"type":"json_object"}', None, None),
    ("anthropic", "response-format-changed", {}, {"output_config": {"format": {"type": "json_schema"}}},
     "/output_config/format/type", None, "json_schema", None),
    ("gemini", "response-format-changed", {}, {"generationConfig": {"responseSchema": {"type": "OBJECT"}}},
     "/generationConfig/responseSchema/type", None, "OBJECT", None),
]  # fmt: skip


@pytest.mark.parametrize(("api", "rule", "before", "after", "field", "from_text", "to_text", "offset"), CHANGES)
def test_a_setting_is_named_where_it_stands(
    api: str,
    rule: str,
    before: dict[str, Any],
    after: dict[str, Any],
    field: str,
    from_text: str | None,
    to_text: str | None,
    offset: int | None,
    tmp_path: Path,
) -> None:
    changed = checked(api, rule, tmp_path, before, before, after, hits="-h-")
    assert pairs_of(changed) == [(1, 2)]
    assert (changed.field, changed.from_text, changed.to_text) == (field, from_text, to_text)
    assert changed.char_offset == offset
    assert changed.where is Where.PARAMS
    assert changed.level is Level.WARNING
    assert any("were read from the cache" in clause for clause in changed.evidence)


@pytest.mark.parametrize(
    ("api", "before", "after"),
    [
        ("anthropic", {}, {"thinking": {"type": "disabled"}}),
        ("anthropic", {"output_config": {"effort": "high"}}, {}),
        ("anthropic", {"tool_choice": {"type": "auto"}}, {}),
        ("anthropic", {"tool_choice": {"type": "auto", "disable_parallel_tool_use": False}}, {}),
        ("chat", {"parallel_tool_calls": True}, {}),
        ("chat", {"verbosity": "medium"}, {}),
        ("chat", {"tool_choice": "auto"}, {"tool_choice": "none"}),
        ("chat", {"temperature": 1, "seed": 4}, {"temperature": 0, "max_tokens": 9, "user": "u"}),
        ("responses", {"reasoning": {"effort": "low"}}, {"reasoning": {"summary": "auto", "effort": "low"}}),
        ("responses", {"previous_response_id": "a"}, {"previous_response_id": "b", "truncation": "auto"}),
        ("responses", {"text": {"format": {"type": "text"}}}, {}),
        ("gemini", {}, {"generationConfig": {"thinkingConfig": {"includeThoughts": True}, "temperature": 0}}),
    ],
)
@pytest.mark.parametrize("hits", ["-h-", "?"])
def test_what_is_no_change_to_a_cache(api: str, before: Any, after: Any, hits: str, tmp_path: Path) -> None:
    rules = found(lint_records(tmp_path, talk(api, *turns(api, before, before, after), hits=hits)))
    assert not {rule for rule in rules if rule.endswith("-changed")}


@pytest.mark.parametrize(("api", "rule", "before", "after"), [change[:4] for change in CHANGES])
def test_a_hit_says_that_it_cost_nothing(api: str, rule: str, before: Any, after: Any, tmp_path: Path) -> None:
    assert rule not in found(lint_records(tmp_path, talk(api, *turns(api, before, before, after), hits="-h")))


@pytest.mark.parametrize(("api", "rule", "before", "after"), [change[:4] for change in CHANGES])
def test_without_usage_only_facts_accuse(api: str, rule: str, before: Any, after: Any, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(api, *turns(api, before, after)))
    assert [one.rule for one in linted.values.findings] == [rule]
    unknown = api == "gemini" or (api, rule) == ("anthropic", "response-format-changed")
    assert (rule in found(linted)) is not unknown


def test_going_back_to_a_warm_setting_is_no_second_finding(tmp_path: Path) -> None:
    low, high = {"reasoning": {"effort": "low"}}, {"reasoning": {"effort": "high"}}
    first = [(1, 2)]
    assert (
        pairs_of(checked("responses", "effort-or-thinking-changed", tmp_path, low, low, high, low, hits="?")) == first
    )
    linted = lint_records(tmp_path, talk("responses", *turns("responses", low, low, high, low), gap=90_000))
    assert pairs_of(finding(linted, "effort-or-thinking-changed")) == [(1, 2), (2, 3)]


def test_only_the_messages_count_where_tools_and_system_are_kept(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk("anthropic", *turns("anthropic", {}, {}, {"thinking": THINKING}), hits="-hs"))
    changed = finding(linted, "effort-or-thinking-changed")
    rows = linted.log.rows
    assert changed.tokens_lost is not None
    assert changed.tokens_lost.value < rows.prompt_tokens[1] - 0.9 * rows.system_end[1]
    assert "tools and system text are kept" in changed.message


def test_messages_that_were_never_cached_cannot_be_lost(tmp_path: Path) -> None:
    records = talk("anthropic", *turns("anthropic", {}, {}, {"tool_choice": {"type": "none"}}), hits="-ss")
    for record in records:  # only the system text is marked
        usage = record["response"]["usage"]
        usage["input_tokens"] += usage["cache_creation_input_tokens"]
        usage["cache_creation_input_tokens"] = 0
    assert "tool-choice-changed" not in found(lint_records(tmp_path, records))


def test_a_setting_that_changes_for_all_conversations_is_a_deployment(tmp_path: Path) -> None:
    low, high = {"reasoning_effort": "low"}, {"reasoning_effort": "high"}
    records = []
    for topic in range(3):
        requests = [body("chat", turn, topic=topic, **more) for turn, more in enumerate((low, low, high, high))]
        records += talk("chat", *requests, start=5 * topic)
    records.sort(key=lambda record: record["ts"])
    linted = lint_records(tmp_path, records)
    assert found(linted) == []
    assert finding(linted, "effort-or-thinking-changed").severity is Severity.INFO


def test_what_no_fact_supports_is_only_possible(tmp_path: Path) -> None:
    switch = [{"chat_template_kwargs": {"enable_thinking": value}} for value in (True, True, False)]
    requests = [body("chat", turn, **more) | {"model": "my-model"} for turn, more in enumerate(switch)]
    missed = finding(lint_records(tmp_path, talk("chat", *requests, hits="-h-")), "effort-or-thinking-changed")
    assert (missed.severity, missed.confidence) == (Severity.LOW, Confidence.POSSIBLE)
    assert found(lint_records(tmp_path, talk("chat", *requests))) == []


# The model.


def modelled(*models: str, api: str = "chat") -> list[dict[str, Any]]:
    return [body(api, turn, tools(api)) | {"model": model} for turn, model in enumerate(models)]


def test_a_fallback_for_one_turn_is_one_finding(tmp_path: Path) -> None:
    linted = lint_records(
        tmp_path, talk("chat", *modelled("gpt-4.1", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1"), hits="-h-h")
    )
    changed = finding(linted, "model-changed")
    assert found(linted) == ["model-changed"]
    assert pairs_of(changed) == [(1, 2)]
    assert (changed.field, changed.char_offset, changed.confidence) == ("/model", 7, Confidence.CERTAIN)


@pytest.mark.parametrize("hits", ["-h-h", "?"])
def test_going_back_to_the_model_is_free_while_its_entry_is_warm(hits: str, tmp_path: Path) -> None:
    requests = modelled("gpt-4.1", "gpt-4.1", "gpt-4.1-mini", "gpt-4.1")
    assert pairs_of(finding(lint_records(tmp_path, talk("chat", *requests, hits=hits)), "model-changed")) == [(1, 2)]


def test_going_back_after_many_turns_costs_what_was_said_between(tmp_path: Path) -> None:
    requests = modelled("gpt-4.1", "gpt-4.1-mini", "gpt-4.1-mini", "gpt-4.1-mini", "gpt-4.1")
    changed = finding(lint_records(tmp_path, talk("chat", *requests, hits="--hh-")), "model-changed")
    assert pairs_of(changed) == [(0, 1), (3, 4)]
    assert "which has only its older part" not in changed.message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpt-4o", "gpt-4o-2024-08-06"),
        ("azure/gpt-4.1", "gpt-4.1-2025-04-14"),
        ("openai/gpt-4o", "azure/gpt-4o"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
        ("gemini-2.0-flash", "gemini-2.0-flash-001"),
        ("claude-3-7-sonnet-latest", "claude-3-7-sonnet-20250219"),
    ],
)
def test_two_names_of_one_model_are_no_change(one: str, other: str, tmp_path: Path) -> None:
    for models in ((one, other, one), (other, one, other)):
        assert found(lint_records(tmp_path, talk("chat", *modelled(*models)))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"),
        ("gpt-4o", "gpt-4o-mini"),
        ("claude-sonnet-4-20250514", "claude-sonnet-4-5-20250929"),
    ],
)
def test_two_snapshots_are_two_models(one: str, other: str, tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, talk("chat", *modelled(one, other)))) == ["model-changed"]


def test_a_fallback_that_only_the_answer_names_is_found(tmp_path: Path) -> None:
    records = talk("anthropic", *(body("anthropic", turn) for turn in range(4)), hits="-h-h")
    for record, model in zip(records, ("claude-a", "claude-a", "claude-b", "claude-a"), strict=True):
        record["response"]["model"] = model
    changed = finding(lint_records(tmp_path, records), "model-changed")
    assert pairs_of(changed) == [(1, 2)]
    assert (changed.field, changed.from_text, changed.to_text) == ("record:/response/model", "claude-a", "claude-b")


def test_a_sub_agent_on_another_model_is_a_conversation_of_its_own(tmp_path: Path) -> None:
    main = talk("chat", *modelled(MODELS["chat"], MODELS["chat"]))
    side = {"model": "gpt-4.1-mini", "messages": [{"role": "system", "content": "Find files."}]}
    asked = [{"role": "user", "content": "Where is the timetable?"}, {"role": "assistant", "content": "In docs."}]
    sides = [
        {"ts": main[0]["ts"] + 5, "request": side | {"messages": side["messages"] + asked[:1]}},
        {"ts": main[0]["ts"] + 9, "request": side | {"messages": side["messages"] + asked + asked[:1]}},
    ]
    assert found(lint_records(tmp_path, [main[0], *sides, main[1]])) == []
