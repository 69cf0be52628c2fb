"""Tools that are reordered, come and go, say something else, or have their keys in another order."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, pairs_of
from support.talks import APIS, NAMES, body, record, talk, tool, tools

from prefixwise.core.finding import Level, Severity, Where

NAME_FIELDS = {
    "chat": "/tools/{}/function/name",
    "responses": "/tools/{}/name",
    "anthropic": "/tools/{}/name",
    "gemini": "/tools/0/functionDeclarations/{}/name",
    "bedrock": "/toolConfig/tools/{}/toolSpec/name",
}
TOOL_FIELDS = {
    api: field.removesuffix("/name").removesuffix("/function").removesuffix("/toolSpec")
    for api, field in NAME_FIELDS.items()
}


def three(api: str, *lists: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [body(api, turn, given) for turn, given in enumerate(lists)]


@pytest.mark.parametrize("api", APIS)
def test_another_order_is_named_with_the_first_name_that_moved(api: str, tmp_path: Path) -> None:
    lists = (tools(api), tools(api, "find_quay", "fares", "book_seat", "next_ferry"), tools(api))
    linted = lint_records(tmp_path, talk(api, *three(api, *lists), hits="-"))
    moved = finding(linted, "tools-reordered")
    assert found(linted) == ["tools-reordered"]
    assert pairs_of(moved) == [(0, 1), (1, 2)]
    assert moved.field == NAME_FIELDS[api].format(1)
    assert (moved.from_text, moved.to_text, moved.char_offset) == ("next_ferry", "fares", 0)
    assert (moved.severity, moved.where, moved.fix.safety) == (Severity.CRITICAL, Where.TOOLS, "safe")
    assert moved.tokens_lost is not None
    assert moved.tokens_lost.value > 5_000


@pytest.mark.parametrize("api", APIS)
def test_a_tool_that_drops_out_and_comes_back_is_one_cause(api: str, tmp_path: Path) -> None:
    lists = (tools(api), tools(api), tools(api, "find_quay", "book_seat", "fares"), tools(api))
    linted = lint_records(tmp_path, talk(api, *three(api, *lists), hits="-h--"))
    gone = finding(linted, "tools-set-changed")
    assert found(linted) == ["tools-set-changed"]
    assert pairs_of(gone) == [(1, 2), (2, 3)]
    assert gone.field == NAME_FIELDS[api].format(1)
    assert (gone.from_text, gone.to_text) == ("next_ferry", "book_seat")
    assert "`next_ferry` is gone (place 2); later in the conversation the list is as it was" in gone.message
    assert [occurrence.field for occurrence in gone.occurrences] == [gone.field] * 2


def test_a_tool_appended_at_the_end_is_named_with_its_place(tmp_path: Path) -> None:
    lists = (tools("chat", *NAMES[:3]), tools("chat"), tools("chat"))
    added = finding(lint_records(tmp_path, talk("chat", *three("chat", *lists), hits="--h")), "tools-set-changed")
    assert (added.field, added.char_offset) == ("/tools/3/function/name", None)
    assert (added.from_text, added.to_text) == (None, "fares")
    assert "`fares` is new (place 4)" in added.message


def test_tools_that_all_vanish_are_named_where_they_were(tmp_path: Path) -> None:
    requests = [body("anthropic", 0, tools("anthropic")), body("anthropic", 1)]
    gone = finding(lint_records(tmp_path, talk("anthropic", *requests, hits="-")), "tools-set-changed")
    assert (gone.field, gone.from_text, gone.to_text) == ("/tools/0/name", "find_quay", None)


@pytest.mark.parametrize("api", APIS)
def test_a_description_that_says_something_else_is_found_to_the_character(api: str, tmp_path: Path) -> None:
    said = "Agents at hand: {}. Ask them by name, and give them the whole question."
    lists = [[tool(api, "fares"), tool(api, "ask", said.format(agents))] for agents in ("atlas, tides", "tides, atlas")]
    linted = lint_records(tmp_path, talk(api, *three(api, *lists), hits="-"))
    drift = finding(linted, "tool-schema-drift")
    assert found(linted) == ["tool-schema-drift"]
    inner = {"chat": "/function", "bedrock": "/toolSpec"}.get(api, "")
    assert drift.field == TOOL_FIELDS[api].format(1) + inner + "/description"
    assert drift.char_offset == len("Agents at hand: ")
    assert "`ask`" in drift.message
    assert "another order" in drift.message


@pytest.mark.parametrize(
    ("before", "after", "field"),
    [
        ({"enum": ["a", "b"]}, {"enum": ["b", "a"]}, "/parameters/enum/0"),
        ({"enum": ["a"]}, {"enum": ["a", "b"]}, "/parameters/enum"),
        ({"maximum": 4}, {"maximum": 4.0}, "/parameters/maximum"),
        ({"type": "object"}, {"type": "object", "required": ["a"]}, "/parameters/required"),
        ({"type": "object", "required": ["a"]}, {"type": "object"}, "/parameters/required"),
    ],
)
def test_drift_is_said_of_the_innermost_value(before: Any, after: Any, field: str, tmp_path: Path) -> None:
    lists = [[tool("responses", "fares", schema=schema)] for schema in (before, after)]
    linted = lint_records(tmp_path, talk("responses", *three("responses", *lists), hits="-"))
    assert found(linted) == ["tool-schema-drift"]
    assert finding(linted, "tool-schema-drift").field == "/tools/0" + field


def test_a_clock_in_a_description_is_a_clock(tmp_path: Path) -> None:
    lists = [[tool("chat", "fares", f"Fares as of 2026-03-11 09:14:{n:02d}, in euros.")] for n in range(3)]
    linted = lint_records(tmp_path, talk("chat", *three("chat", *lists), hits="-"))
    assert found(linted) == ["clock-in-prefix"]


@pytest.mark.parametrize("api", APIS)
def test_another_order_of_keys_is_found_though_the_values_are_equal(api: str, tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "day": {"type": "string"}}}
    turned = {"properties": schema["properties"], "type": "object"}
    lists = [[tool(api, "fares"), tool(api, "find_quay", schema=one)] for one in (schema, turned, schema)]
    linted = lint_records(tmp_path, talk(api, *three(api, *lists), hits="-"))
    keys = finding(linted, "schema-key-order")
    assert found(linted) == ["schema-key-order"]
    assert keys.field is not None
    assert keys.field.startswith(TOOL_FIELDS[api].format(1))
    assert (keys.from_text, keys.to_text) == ("type, properties", "properties, type")
    assert (keys.severity, keys.fix.safety) == (Severity.CRITICAL, "safe")


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_keys_of_an_answer_schema_count_too(api: str, tmp_path: Path) -> None:
    schemas = [{"type": "object", "title": "t"}, {"title": "t", "type": "object"}]
    formats = [{"type": "json_schema", "name": "fare", "schema": schema} for schema in schemas]
    fields = [{"text": {"format": one}} if api == "responses" else {"response_format": one} for one in formats]
    linted = lint_records(tmp_path, talk(api, *(body(api, n, **more) for n, more in enumerate(fields)), hits="-"))
    keys = finding(linted, "schema-key-order")
    assert found(linted) == ["schema-key-order"]
    assert keys.field == ("/text/format/schema" if api == "responses" else "/response_format/schema")


def test_built_in_tools_go_by_their_type(tmp_path: Path) -> None:
    search, files = {"type": "web_search"}, {"type": "file_search", "vector_store_ids": ["v"]}
    linted = lint_records(tmp_path, talk("responses", *three("responses", [search, files], [files, search]), hits="-"))
    moved = finding(linted, "tools-reordered")
    assert (moved.field, moved.from_text, moved.to_text) == ("/tools/0/type", "web_search", "file_search")
    built_in = finding(
        lint_records(
            tmp_path,
            talk(
                "gemini",
                *(
                    body("gemini", n, tools=given)
                    for n, given in enumerate(([{"googleSearch": {}}], [{"googleSearch": {}}, {"codeExecution": {}}]))
                ),
                hits="-",
            ),
        ),
        "tools-set-changed",
    )
    assert (built_in.field, built_in.to_text) == ("/tools/1", "codeExecution")


# What must stay silent.


def marked(api: str) -> list[dict[str, Any]]:
    given = tools(api)
    given[-1] = given[-1] | {"cache_control": {"type": "ephemeral"}}
    return given


QUIET = {
    "equal tools": [tools("chat")] * 3,
    "a marker that moves": [tools("anthropic"), marked("anthropic"), tools("anthropic")],
    "a deferred tool": [tools("anthropic"), [*tools("anthropic"), tool("anthropic", "lift") | {"defer_loading": True}]],
}


@pytest.mark.parametrize("name", QUIET)
def test_nothing_is_said_of(name: str, tmp_path: Path) -> None:
    api = "chat" if name == "equal tools" else "anthropic"
    assert found(lint_records(tmp_path, talk(api, *three(api, *QUIET[name]), hits="-h"))) == []


def test_a_hit_behind_the_difference_says_that_it_is_none(tmp_path: Path) -> None:
    lists = (tools("chat"), tools("chat", *reversed(NAMES)))
    assert found(lint_records(tmp_path, talk("chat", *three("chat", *lists), hits="-h"))) == []


def test_a_prompt_too_short_to_be_cached_is_information(tmp_path: Path) -> None:
    requests = [
        {"model": "gpt-4.1", "tools": given, "messages": [{"role": "user", "content": text} for text in said]}
        for given, said in ((tools("chat"), ["Hello"]), (tools("chat", *reversed(NAMES)), ["Hello", "Again"]))
    ]
    linted = lint_records(tmp_path, [{"request": request} for request in requests])
    assert found(linted) == []
    assert finding(linted, "tools-reordered").severity is Severity.INFO


def conversations(*lists: list[list[dict[str, Any]]], at_once: bool = False) -> list[dict[str, Any]]:
    """Return conversations, each about something else, one after another or side by side."""
    records = []
    for number, given in enumerate(lists):
        requests = [body("chat", turn, one, number) for turn, one in enumerate(given)]
        start = 7 * number if at_once else 1_000 * number
        records += talk("chat", *requests, start=start)
    return sorted(records, key=lambda record: record["ts"])


OLD, NEW = tools("chat", *NAMES[:3]), tools("chat")


def test_a_list_that_changes_once_for_everybody_is_a_deployment(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, conversations([OLD, OLD, NEW], [OLD, OLD, NEW], [OLD, OLD, NEW], at_once=True))
    assert found(linted) == []
    changed = finding(linted, "tools-set-changed")
    assert changed.level is Level.INFO
    assert "a deployment" in " ".join(changed.evidence)


def test_a_list_that_differs_between_old_and_new_conversations_is_a_deployment(tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, conversations([OLD, OLD], [OLD, OLD], [NEW, NEW], [NEW, NEW]))) == []


def test_a_list_that_grows_in_one_conversation_is_no_deployment(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, conversations([OLD, OLD, NEW, NEW]))
    assert found(linted) == ["tools-set-changed"]


def test_a_list_that_grows_in_each_conversation_is_no_deployment(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, conversations([OLD, NEW, NEW], [OLD, NEW, NEW], [OLD, NEW, NEW]))
    assert found(linted) == ["tools-set-changed"]
    assert len(finding(linted, "tools-set-changed").occurrences) == 3


def test_two_lists_side_by_side_are_an_experiment(tmp_path: Path) -> None:
    lists = ([OLD, OLD], [NEW, NEW], [OLD, OLD], [NEW, NEW], [OLD, OLD])
    assert found(lint_records(tmp_path, conversations(*lists, at_once=True))) == []


def test_two_orders_side_by_side_cost_little(tmp_path: Path) -> None:
    turned = tools("chat", *reversed(NAMES))
    linted = lint_records(tmp_path, conversations([NEW], [turned], [NEW], [turned], [NEW], [turned], at_once=True))
    assert found(linted) == ["tools-reordered"]
    assert finding(linted, "tools-reordered").severity is Severity.LOW


def test_an_order_of_its_own_for_each_call_is_found_without_sessions(tmp_path: Path) -> None:
    orders = [[*NAMES[n:], *NAMES[:n]] for n in range(4)] + [[*reversed(NAMES)]]
    linted = lint_records(tmp_path, conversations(*([tools("chat", *order)] for order in orders)))
    assert found(linted) == ["tools-reordered"]
    assert len(finding(linted, "tools-reordered").occurrences) == 4
    assert finding(linted, "tools-reordered").level is Level.ERROR


def test_other_tools_after_a_compaction_are_no_finding(tmp_path: Path) -> None:
    full = body("chat", 3, OLD) | {"metadata": {"session_id": "s"}}
    short = body("chat", 0, NEW) | {"metadata": {"session_id": "s"}}
    short["messages"][1:] = [{"role": "user", "content": "Summary of the conversation so far: ferries."}]
    assert "tools-set-changed" not in found(lint_records(tmp_path, talk("chat", full, short, hits="-")))


def test_two_applications_are_not_compared(tmp_path: Path) -> None:
    other = [tool("chat", "tides"), tool("chat", "wind")]
    linted = lint_records(tmp_path, conversations([OLD, OLD], [other, other]))
    assert [one.rule for one in linted.values.findings] == []


def test_the_way_back_belongs_to_the_cause_though_it_was_served(tmp_path: Path) -> None:
    lists = (OLD, NEW, NEW, OLD)
    records = talk("chat", *three("chat", *lists), hits="--hh")
    gone = finding(lint_records(tmp_path, records), "tools-set-changed")
    assert pairs_of(gone) == [(0, 1), (2, 3)]
    alone = finding(lint_records(tmp_path, records[:3]), "tools-set-changed")
    assert gone.tokens_lost is not None
    assert alone.tokens_lost is not None
    assert gone.tokens_lost.value == alone.tokens_lost.value


def test_what_a_log_caches_counts_for_more_than_what_the_facts_say(tmp_path: Path) -> None:
    said = ["Hello", "Good day.", "Which quay?", "Four.", "Thanks!"]
    records = []
    for turn, names in enumerate((NAMES, NAMES, NAMES[::-1])):
        messages = [{"role": "user", "content": text} for text in said[: 2 * turn + 1]]
        request = {"model": "gpt-4.1", "tools": tools("chat", *names), "messages": messages}
        records.append(record("chat", request, turn, (0, 640, 0)[turn]))
        records[-1]["response"]["usage"]["prompt_tokens"] = 700 + 20 * turn
    assert found(lint_records(tmp_path, records)) == ["tools-reordered"]
