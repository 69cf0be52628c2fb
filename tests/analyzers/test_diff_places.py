"""Where two prompts part: by hand, by property, and on the logs that are handed out beside the repository."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.reading import read, read_one

from prefixwise.analyzers.diff import Difference, Verdict, difference, kept_units
from prefixwise.analyzers.values.hunks import common_prefix

CASES = Path(__file__).parents[3] / "shared" / "cases"


def of(folder: Path, first: Any, second: Any) -> Difference:
    return difference(read_one(folder, first), read_one(folder, second))


def chat(*messages: tuple[str, Any], **body: Any) -> dict[str, Any]:
    return {"model": "gpt-4o", **body, "messages": [{"role": role, "content": content} for role, content in messages]}


HELLO = chat(("system", "Be kind."), ("user", "Hello there"))


def test_a_longer_conversation_extends_and_keeps_all_but_the_opening_of_the_reply(tmp_path: Path) -> None:
    longer = chat(("system", "Be kind."), ("user", "Hello there"), ("assistant", "Hi"), ("user", "Bye"))
    found = of(tmp_path, HELLO, longer)
    assert found.verdict is Verdict.EXTENDS
    assert found.kept_tokens == found.first_tokens  # the reply's opening is that of the assistant's turn
    assert (found.first_field, found.second_field) == (None, "/messages/2")
    found = of(tmp_path, longer, HELLO)
    assert found.verdict is Verdict.PREFIX
    assert (found.first_field, found.second_field) == ("/messages/2", None)


def test_a_next_user_turn_without_an_answer_extends(tmp_path: Path) -> None:
    found = of(tmp_path, HELLO, chat(("system", "Be kind."), ("user", "Hello there"), ("user", "Anyone?")))
    assert found.verdict is Verdict.EXTENDS
    assert found.kept_tokens == found.first_tokens - 2  # start is common, then user is not assistant


@pytest.mark.parametrize(
    ("second", "field", "offset", "role"),
    [
        (chat(("system", "Be kinder."), ("user", "Hello there")), "/messages/0/content", 7, "system"),
        (chat(("system", "Be kind."), ("user", "Hello, there")), "/messages/1/content", 5, "user"),
        (chat(("system", "be kind."), ("user", "Hello there")), "/messages/0/content", 0, "system"),
        (chat(("system", "Be kind."), ("user", "Hello there\n")), "/messages/1/content", 11, "user"),
        (chat(("system", "Be kind."), ("user", "Hello\u200b there")), "/messages/1/content", 5, "user"),
        (
            chat(("system", "Be kind."), ("user", [{"type": "text", "text": "Hello you"}])),
            "/messages/1/content/0/text",
            6,
            "user",
        ),
    ],
)
def test_a_changed_text_is_named_by_field_and_character(
    tmp_path: Path, second: Any, field: str, offset: int, role: str
) -> None:
    found = of(tmp_path, HELLO, second)
    assert found.verdict is Verdict.BREAKS
    assert (found.second_field, found.char_offset, found.role) == (field, offset, role)
    assert found.first_text[:offset] == found.second_text[:offset]


def test_a_changed_role_is_named_by_its_message(tmp_path: Path) -> None:
    found = of(tmp_path, HELLO, chat(("developer", "Be kind."), ("user", "Hello there")))
    assert (found.verdict, found.second_field, found.char_offset) == (Verdict.BREAKS, "/messages/0", None)
    assert found.kept_tokens == 1


def test_a_changed_tool_comes_before_a_changed_message(tmp_path: Path) -> None:
    def tool(name: str) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "parameters": {}}}

    first = {**HELLO, "tools": [tool("find"), tool("fetch")]}
    second = {**chat(("system", "Be bold.")), "tools": [tool("find"), tool("forget")]}
    found = of(tmp_path, first, second)
    assert (found.first_field, found.second_field, found.kind) == (*("/tools/1/function/name",) * 2, "tools")
    assert (found.first_text, found.second_text, found.char_offset) == ("fetch", "forget", 1)


def test_key_order_of_a_tool_is_a_difference_and_that_of_a_body_is_not(tmp_path: Path) -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {"a": 1, "b": 2}}}
    flipped = {"type": "function", "function": {"name": "f", "parameters": {"b": 2, "a": 1}}}
    assert of(tmp_path, {**HELLO, "tools": [tool]}, {**HELLO, "tools": [flipped]}).verdict is Verdict.BREAKS
    reordered = {key: HELLO[key] for key in reversed(HELLO)}
    assert of(tmp_path, HELLO, {**reordered, "temperature": 0.3, "stream": True}).verdict is Verdict.IDENTICAL


def test_what_is_not_text_is_told_beside_the_verdict(tmp_path: Path) -> None:
    found = of(tmp_path, HELLO, {**HELLO, "model": "gpt-4", "cache_salt": "s", "reasoning_effort": "low"})
    assert found.verdict is Verdict.IDENTICAL
    assert (found.same_model, found.same_namespace, found.parameters) == (False, False, ("reasoning_effort",))


def test_cache_markers_are_no_difference(tmp_path: Path) -> None:
    block = {"type": "text", "text": "Be kind."}
    body = {"model": "claude-opus-5", "messages": [{"role": "user", "content": "Hi"}]}
    marked = {**body, "system": [{**block, "cache_control": {"type": "ephemeral"}}]}
    assert of(tmp_path, {**body, "system": [block]}, marked).verdict is Verdict.IDENTICAL


def test_token_ids_are_compared_one_by_one_and_not_with_text(tmp_path: Path) -> None:
    found = of(tmp_path, {"prompt": [1, 2, 3, 4]}, {"prompt": [1, 2, 9, 4]})
    assert (found.verdict, found.kept_tokens, found.char_offset) == (Verdict.BREAKS, 2, None)
    with pytest.raises(ValueError, match="cannot be compared"):
        of(tmp_path, {"prompt": [1, 2]}, {"prompt": "text"})


def test_whole_units_are_kept_without_the_last_token(tmp_path: Path) -> None:
    ids = list(range(33))
    same = of(tmp_path, {"prompt": ids[:32]}, {"prompt": ids[:32]})
    assert [kept_units(same, unit) for unit in (1, 16, 31, 32)] == [31, 1, 1, 0]
    longer = of(tmp_path, {"prompt": ids[:32]}, {"prompt": ids})
    assert [kept_units(longer, unit) for unit in (1, 16, 32)] == [32, 2, 1]


def test_an_empty_prompt_keeps_nothing(tmp_path: Path) -> None:
    found = of(tmp_path, {"prompt": "Hi"}, {"prompt": ""})
    assert found.verdict is Verdict.PREFIX
    assert kept_units(found, 1) == 0


@given(head=st.text(), a=st.text(), b=st.text())
def test_common_prefix_is_what_a_loop_counts(head: str, a: str, b: str) -> None:
    first, second = head + a, head + b
    count = 0
    while count < min(len(first), len(second)) and first[count] == second[count]:
        count += 1
    assert common_prefix(first, second) == common_prefix(second, first) == count


# -- the cases beside the repository ------------------------------------------------------------------------------

_VERDICTS = {
    "extends": {Verdict.EXTENDS},
    "identical": {Verdict.IDENTICAL},
    "prefix_of_previous": {Verdict.PREFIX},
    "breaks": {Verdict.BREAKS},
    "ttl_gap": {Verdict.EXTENDS, Verdict.IDENTICAL},
    "param_break": {Verdict.EXTENDS, Verdict.IDENTICAL},
}
# Shapes that this reader does not take: transcripts, source files, usage exports.
# A string and a list of one text block are the same tokens; only a cache over bytes tells the two shapes apart.
_SAME_TOKENS = ("R18-shape-flip-compatible-gateway",)
_FORMATS = (
    "openai_chat_jsonl",
    "openai_responses_jsonl",
    "anthropic_messages_jsonl",
    "gemini_jsonl",
    "litellm_spend_logs_jsonl",
)


def _pairs() -> list[Any]:
    found = []
    for file in sorted(CASES.glob("*/expected.json")):
        case = json.loads(file.read_text())
        if case["input"]["format"] in _FORMATS:
            found += [
                pytest.param(file.parent, case, pair, id=f"{case['id']}-{pair['from']}-{pair['to']}")
                for pair in case["pairs"]
            ]
    return found or [pytest.param(CASES, {}, {}, marks=pytest.mark.skip(reason="the cases are not in this checkout"))]


def _place(found: Difference) -> str:
    """Return where two prompts part: the field, or what holds both fields where their shapes differ."""
    first, second = found.first_field, found.second_field
    if first is None or second is None:
        return first or second or ""
    keys = zip(first.split("/"), second.split("/"), strict=False)
    return "/".join(a for a, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], keys))


def _related(field: str, other: str) -> bool:
    """Say whether one pointer is the other or stands above it."""
    a, b = field.split("/"), other.split("/")
    return a[: len(b)] == b or b[: len(a)] == a


@pytest.mark.parametrize(("folder", "case", "pair"), _pairs())
def test_a_shared_case_parts_where_it_says(folder: Path, case: dict[str, Any], pair: dict[str, Any]) -> None:
    requests, broken, _ = read(folder / case["input"]["files"][0])
    assert not broken
    found = difference(requests[pair["from"]], requests[pair["to"]])
    if case["id"] in _SAME_TOKENS:
        assert found.verdict is Verdict.EXTENDS
        return
    assert found.verdict in _VERDICTS[pair["verdict"]]
    field = pair.get("field")
    if pair["verdict"] != "breaks" or field is None:
        return
    assert _related(field, _place(found))
    is_text = field.endswith(("/text", "/content", "/arguments", "/id", "/instructions"))
    if pair.get("char_offset") is not None and is_text and found.char_offset is not None:
        assert abs(found.char_offset - pair["char_offset"]) <= 8
