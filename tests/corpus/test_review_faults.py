"""Faults that a review found, each with its right value."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.reading import corpus_of

from prefixwise.caches.policy import parse_policy
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.parquet import trace_bytes

KEY = b"k" * 32


def _lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@pytest.mark.parametrize("blocks", [[], [{"type": "thinking"}], [{"type": "tool_result", "content": []}]])
def test_an_odd_system_block_costs_no_more_than_its_record(blocks: list[Any]) -> None:
    body = {"model": "claude-opus-5", "system": blocks, "messages": [{"role": "user", "content": "Hi"}]}
    corpus = corpus_of(_lines(body, {**body, "system": "Be kind."}))
    assert len(corpus.rows) + sum(file.broken for file in corpus.inputs) == 2
    assert len(corpus.rows) >= 1


def test_a_log_with_end_times_only_keeps_its_answers() -> None:
    said = "It leaves at nine from the east pier, every day but Sunday, until October."
    ask, more = {"role": "user", "content": "When?"}, {"role": "user", "content": "And on Sunday?"}
    reply = {"role": "assistant", "content": said}
    records = [
        {
            "end_time": 10,
            "request": {"model": "gpt-4o", "messages": [ask]},
            "response": {"choices": [{"message": reply}]},
        },
        {"end_time": 20, "request": {"model": "gpt-4o", "messages": [ask, reply, more]}},
    ]
    rows = corpus_of(_lines(*records)).rows
    assert parse_policy("sglang").replay(rows).matched[1] == rows.prompt_tokens[0] + rows.answer_tokens[0]


def test_the_order_of_trace_files_changes_no_figure(tmp_path: Path) -> None:
    ids = [list(range(32)), [*range(32), 40, 41]]
    corpora = [corpus_of(_lines({"model": "m", "prompt": prompt})) for prompt in ids]
    paths = []
    for name, corpus, share in (("a", corpora[0], False), ("b", corpora[1], False), ("s", corpora[0], True)):
        assert corpus.index is not None
        path = tmp_path / f"{name}.parquet"
        path.write_bytes(trace_bytes(corpus.index, KEY, 16, share))
        paths.append(str(path))
    joined, apart, shared = paths
    totals = {
        sum(parse_policy("vllm:block=16").replay(read_corpus(order).rows).matched)
        for order in ([joined, apart, shared], [joined, shared, apart], [shared, joined, apart])
    }
    assert totals == {32}


TOOL = {"name": "find", "description": "Find it.", "input_schema": {"type": "object"}}
MARKED = [{"type": "text", "text": "Where is it?", "cache_control": {"type": "ephemeral"}}]
CHAT = {
    "model": "assistant",
    "messages": [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}],
}
MESSAGES = {"model": "assistant", "tools": [TOOL], "messages": [{"role": "user", "content": MARKED}]}


@pytest.mark.parametrize("before", [[], [CHAT], [{**CHAT, "tools": [{"type": "function", "function": TOOL}]}]])
def test_what_a_record_holds_does_not_hang_on_the_line_before_it(before: list[Any]) -> None:
    alone, rows = corpus_of(_lines(MESSAGES)).rows, corpus_of(_lines(*before, MESSAGES)).rows
    last = len(rows) - 1
    assert rows.prompt_tokens[last] == alone.prompt_tokens[0]
    assert rows.markers[last] == alone.markers[0]


def test_a_request_that_a_message_quotes_is_text() -> None:
    quoted = json.dumps(
        {"model": "gpt-4o", "messages": [{"role": "system", "content": "x"}], "tools": [{"function": {}}]}
    )
    body = {"model": "gpt-4o", "messages": [{"role": "user", "content": quoted}, {"role": "user", "content": "Why?"}]}
    corpus = corpus_of(_lines(body, body))
    assert [(file.records, file.broken, file.record_path) for file in corpus.inputs] == [(2, 0, "")]


def test_parameters_are_compared_by_value_and_markers_are_none() -> None:
    one = {**MESSAGES, "thinking": {"type": "enabled", "budget_tokens": 9}, "tool_choice": None}
    other = {**MESSAGES, "thinking": {"budget_tokens": 9, "type": "enabled"}, "cache_control": {"type": "ephemeral"}}
    rows = corpus_of(_lines(one, other)).rows
    assert rows.param_set[0] == rows.param_set[1]
    assert rows.param_sets[rows.param_set[0]] == (("thinking", b'{"budget_tokens":9,"type":"enabled"}'),)


def test_an_automatic_marker_stands_behind_the_last_message() -> None:
    plain = {**MESSAGES, "messages": [{"role": "user", "content": "Where is it?"}]}
    rows = corpus_of(_lines({**plain, "cache_control": {"type": "ephemeral", "ttl": "1h"}}, plain)).rows
    opening = 3  # start, role, message
    assert rows.markers == {0: ((rows.prompt_tokens[0] - opening, 3600.0),)}


def test_a_trace_keeps_parameters_media_and_addresses(tmp_path: Path) -> None:
    image = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
    bodies = [
        {**CHAT, "reasoning_effort": effort, "messages": [{"role": "user", "content": [image]}]}
        for effort in ("low", "high", "low")
    ]
    corpus = corpus_of(_lines({}, *bodies))
    assert corpus.index is not None
    for share in (False, True):
        path = tmp_path / f"{share}.parquet"
        path.write_bytes(trace_bytes(corpus.index, KEY, 0, share))
        back = read_corpus([str(path)]).rows
        assert list(back.record) == [1, 2, 3]
        assert back.bands == corpus.rows.bands
        assert len(back.bands) == 3
        sets = [back.param_sets[number] for number in back.param_set]
        assert sets[0] == sets[2] != sets[1]
        assert [name for name, _ in sets[0]] == ["reasoning_effort"]
        assert b"low" not in path.read_bytes()


def test_a_mooncake_trace_keeps_the_lengths_of_its_answers() -> None:
    line = {"timestamp": 0, "input_length": 700, "output_length": 42, "hash_ids": [1, 2]}
    assert list(corpus_of(_lines(line)).rows.reported_output) == [42]


def test_one_odd_usage_field_does_not_take_the_others_with_it() -> None:
    usage = {"prompt_tokens": 600, "input_tokens": "n/a", "prompt_tokens_details": {"cached_tokens": 512}}
    rows = corpus_of(_lines({"request": CHAT, "usage": {**usage, "completion_tokens": [1]}})).rows
    assert (rows.reported_prompt[0], rows.reported_cached[0], rows.reported_output[0]) == (600, 512, -1)


def test_counts_are_as_exact_as_their_least_exact_request() -> None:
    bare = {"model": "gpt-4o", "prompt": "Once upon a time"}
    corpus = corpus_of(_lines(bare, {**CHAT, "model": "gpt-4o"}, bare))
    assert corpus.tokenizers["gpt-4o"][0].value == "exact text, assumed template"
    assert corpus_of(_lines(bare)).tokenizers["gpt-4o"][0].value == "exact"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"type": "tool_result", "tool_use_id": "a", "content": "x"},
         {"type": "tool_result", "tool_use_id": "a", "content": "x", "is_error": True}),
        ({"type": "tool_use", "id": "a", "name": "f", "input": {"cachePoint": 1}},
         {"type": "tool_use", "id": "a", "name": "f", "input": {"cachePoint": 2}}),
    ],
)  # fmt: skip
def test_no_part_of_what_the_model_is_told_is_left_out(one: dict[str, Any], other: dict[str, Any]) -> None:
    bodies = [{**MESSAGES, "messages": [{"role": "user", "content": [block]}]} for block in (one, other)]
    rows = corpus_of(_lines(*bodies)).rows
    assert rows.node[0] != rows.node[1]
