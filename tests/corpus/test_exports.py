"""Exports of gateways, tracers, engines and clients: what one reader must get right beside the common workload."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import zstandard

from prefixwise.core.errors import UserError
from prefixwise.core.request import Mark
from prefixwise.corpus.call import FAILED, fate
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.engine_log import Clock, fields_at, literal_at
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.signs import key_paths

T0 = 1_772_438_400.0  # 2026-03-02 08:00:00 UTC


def read(tmp_path: Path, **files: bytes) -> Corpus:
    paths = []
    for name, data in files.items():
        path = tmp_path / name.replace("__", ".")
        path.write_bytes(data)
        paths.append(str(path))
    return read_corpus(paths)


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def marks(corpus: Corpus) -> list[Mark]:
    return list(corpus.rows.marks)


# -- which format a file is of ----------------------------------------------------------------------------------------


def test_places_of_values_are_the_same_whole_and_cut_off() -> None:
    record = {"a": {"b": [1, {"c": "x{[,:"}]}, "d": 'quote " and \\', "e": {}}
    data = json.dumps(record).encode()
    whole = {"a", "a/b", "a/b/*/c", "d", "e"}
    assert key_paths(data) == whole
    indented = json.dumps([record, record], indent=1).encode()
    assert key_paths(indented) == whole
    assert key_paths(data, frozenset({"a"})) == {"a", "a/b", "d", "e"}
    for end in range(1, len(indented)):
        assert key_paths(indented[:end]) <= whole


def test_a_record_that_is_no_request_names_the_nearest_format_and_what_it_lacks(tmp_path: Path) -> None:
    good = {"request_id": "a", "call_type": "x", "startTime": 1, "endTime": 2, "messages": [], "spend": 0}
    with pytest.raises(UserError, match="no request could be read"):
        read(tmp_path, a__jsonl=lines({"request_id": "a", "startTime": 1, "call_type": "completion"}))
    with pytest.raises(UserError, match="nearest is litellm, which also has endTime"):
        read(tmp_path, a__jsonl=lines({"request_id": "a", "startTime": 1, "call_type": "completion"}))
    with pytest.raises(UserError, match="store_prompts_in_spend_logs"):
        read(tmp_path, b__jsonl=lines(good))


# -- what became of a call --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "said", [("429",), (400,), ("RateLimitError",), ("ValidationException",), (None, "invalid key")]
)
def test_a_refused_call_was_never_computed(said: tuple[Any, ...]) -> None:
    assert fate(*said) is FAILED


@pytest.mark.parametrize(
    "said", [(499,), ("499", "ClientDisconnected"), ("CancelledError()",), (None,), (), ("",), (504,)]
)
def test_a_call_that_was_given_up_had_been_sent(said: tuple[Any, ...]) -> None:
    assert fate(*said) is None


def spend(**given: Any) -> dict[str, Any]:
    return {
        "request_id": "r1", "call_type": "acompletion", "startTime": "2026-03-02T08:00:00Z", "model": "gpt-4.1",
        "endTime": "2026-03-02T08:00:02Z", "messages": [{"role": "user", "content": "What is a caisson?"}],
        "response": {}, "metadata": {}, "cache_hit": "False", "status": "success",
    } | given  # fmt: skip


def test_refused_calls_and_hits_of_the_gateway_are_left_out_and_counted(tmp_path: Path) -> None:
    refused = {"error_information": {"error_code": "429", "error_class": "RateLimitError"}, "status": "failure"}
    corpus = read(
        tmp_path,
        log__jsonl=lines(
            spend(),
            spend(request_id="r2", status="failure", metadata=refused),
            spend(request_id="r3", cache_hit="True"),
            spend(request_id="r4", status="failure", metadata={}),
        ),
    )
    assert corpus.inputs[0].left_out == (("answered by the gateway's own cache", 1), ("failed", 1))
    assert marks(corpus) == [0, Mark.ABORTED]
    assert corpus.inputs[0].records == 4


def test_records_of_one_call_are_joined_and_fill_each_other_in(tmp_path: Path) -> None:
    usage = {"usage_object": {"prompt_tokens": 12, "completion_tokens": 3}}
    answer = {"choices": [{"message": {"role": "assistant", "content": "A watertight chamber."}}]}
    corpus = read(
        tmp_path,
        log__jsonl=lines(spend(endTime=None), spend(metadata=usage, response=answer), spend(request_id="r9")),
    )
    rows = corpus.rows
    assert corpus.inputs[0].joined == 1
    assert list(rows.reported_prompt) == [12, -1]
    assert rows.end[0] == T0 + 2
    assert rows.answer_tokens[0] > 0


def test_one_id_with_another_prompt_is_another_call(tmp_path: Path) -> None:
    other = spend(messages=[{"role": "user", "content": "What is a cofferdam?"}])
    assert len(read(tmp_path, log__jsonl=lines(spend(), other)).rows) == 2


def test_text_that_the_exporter_cut_or_blotted_out_is_marked(tmp_path: Path) -> None:
    cut = "Chapter one ... (litellm_truncated skipped 5121 chars) ... the end"
    corpus = read(
        tmp_path,
        log__jsonl=lines(
            spend(messages=[{"role": "user", "content": cut}]),
            spend(request_id="r2", messages=[{"role": "user", "content": "redacted-by-litellm"}]),
            spend(request_id="r3", messages=[{"role": "user", "content": "Write [REDACTED] for each name."}]),
        ),
    )
    assert marks(corpus) == [Mark.CUT, Mark.REDACTED, 0]


def test_json_columns_of_a_database_export_are_unpacked(tmp_path: Path) -> None:
    row = spend(messages=json.dumps(spend()["messages"]), metadata="{}", response="{}", proxy_server_request="{}")
    plain = read(tmp_path, a__jsonl=lines(spend()))
    assert list(read(tmp_path, b__jsonl=lines(row)).rows.prompt_tokens) == list(plain.rows.prompt_tokens)


# -- Claude Code -----------------------------------------------------------------------------------------------------


def line(uuid: str, parent: str | None, kind: str, content: Any, second: int, **message: Any) -> dict[str, Any]:
    said = {"role": kind, "content": content} | message
    return {
        "parentUuid": parent, "isSidechain": False, "sessionId": "s1", "uuid": uuid, "type": kind,
        "timestamp": f"2026-03-02T08:00:{second:02d}.000Z", "message": said,
    }  # fmt: skip


def answer(uuid: str, parent: str, block: dict[str, Any], second: int, name: str, **more: Any) -> dict[str, Any]:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 7, "output_tokens": 9}
    given = {"id": name, "model": "claude-opus-4-6", "usage": usage, "stop_reason": "tool_use"} | more
    return line(uuid, parent, "assistant", [block], second, **given)


def test_lines_of_one_answer_are_one_call_and_parallel_results_are_all_in_the_next(tmp_path: Path) -> None:
    transcript = lines(
        line("u1", None, "user", "Read both files.", 0),
        answer("a1", "u1", {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}}, 2, "m1"),
        answer("a2", "a1", {"type": "tool_use", "id": "t2", "name": "Read", "input": {"path": "b"}}, 3, "m1"),
        line("u2", "a1", "user", [{"type": "tool_result", "tool_use_id": "t1", "content": "alpha file"}], 4),
        line("u3", "a2", "user", [{"type": "tool_result", "tool_use_id": "t2", "content": "beta file"}], 5),
        answer("a3", "u3", {"type": "text", "text": "Both are short."}, 7, "m2"),
    )
    rows = read(tmp_path, session__jsonl=transcript).rows
    assert len(rows) == 2
    assert list(rows.reported_prompt) == [112, 112]
    assert (rows.start[0], rows.end[0], rows.start[1], rows.end[1]) == (T0, T0 + 3, T0 + 5, T0 + 7)
    same = [
        {"role": "user", "content": "Read both files."},
        {"role": "assistant", "content": [
            {"type": "tool_use", "id": "t1", "name": "Read", "input": {"path": "a"}},
            {"type": "tool_use", "id": "t2", "name": "Read", "input": {"path": "b"}},
        ]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": "alpha file"},
            {"type": "tool_result", "tool_use_id": "t2", "content": "beta file"},
        ]},
    ]  # fmt: skip
    body = {"model": "claude-opus-4-6", "max_tokens": 9, "messages": same}
    assert rows.prompt_tokens[1] == read(tmp_path, plain__jsonl=lines(body, body)).rows.prompt_tokens[0]


def test_an_interrupted_answer_is_marked_and_a_clients_own_message_is_no_call(tmp_path: Path) -> None:
    transcript = lines(
        line("u1", None, "user", "Tell me everything.", 0),
        answer("a1", "u1", {"type": "text", "text": "Well,"}, 2, "m1", stop_reason=None),
        line("u2", "a1", "user", "[Request interrupted by user]", 3),
        answer("a2", "u2", {"type": "text", "text": "No response requested."}, 4, "m2", model="<synthetic>"),
    )
    corpus = read(tmp_path, session__jsonl=transcript)
    assert marks(corpus) == [Mark.ABORTED | Mark.PARTIAL]


# -- Codex -----------------------------------------------------------------------------------------------------------


def entry(kind: str, second: int, **payload: Any) -> dict[str, Any]:
    return {"timestamp": f"2026-03-02T08:00:{second:02d}.000Z", "type": kind, "payload": payload}


def count(second: int, total: int, last: int) -> dict[str, Any]:
    usage = {"input_tokens": last, "cached_input_tokens": last // 2, "output_tokens": 4}
    info = {"total_token_usage": {"input_tokens": total}, "last_token_usage": usage}
    return entry("event_msg", second, type="token_count", info=info)


def test_each_new_count_ends_a_call_and_a_repeated_one_does_not(tmp_path: Path) -> None:
    rollout = lines(
        entry("session_meta", 0, id="c1", cwd="/w", instructions="You are a careful coder."),
        entry("turn_context", 0, model="gpt-5.5-codex", cwd="/w"),
        entry("response_item", 1, type="message", role="user", content=[{"type": "input_text", "text": "List files."}]),
        entry("response_item", 2, type="function_call", name="shell", arguments="{}", call_id="k1"),
        count(3, 100, 100),
        entry("response_item", 4, type="function_call_output", call_id="k1", output="a.py"),
        entry("response_item", 5, type="message", role="assistant", content=[{"type": "output_text", "text": "a.py"}]),
        count(6, 220, 120),
        count(7, 220, 120),
        entry("response_item", 8, type="message", role="user", content=[{"type": "input_text", "text": "Stop."}]),
        entry("event_msg", 9, type="turn_aborted", reason="interrupted"),
    )
    corpus = read(tmp_path, rollout__jsonl=rollout)
    rows = corpus.rows
    assert list(rows.reported_prompt) == [100, 120, -1]
    assert list(rows.reported_cached) == [50, 60, -1]
    assert list(rows.start) == [T0 + 1, T0 + 4, T0 + 8]
    assert marks(corpus)[2] == Mark.ABORTED | Mark.PARTIAL
    assert rows.prompt_tokens[0] < rows.prompt_tokens[1] < rows.prompt_tokens[2]


# -- engines' text logs ----------------------------------------------------------------------------------------------


def test_python_literals_in_a_log_line_become_json() -> None:
    assert literal_at("x='it\\'s \\n é'", 2) == (json.dumps("it's \n é", ensure_ascii=False).encode(), 14)
    assert literal_at("[1, 2, 3], [4]", 0) == (b"[1, 2, 3]", 9)
    assert literal_at("None, 'a'", 0)[0] == b""
    text = """Req(rid='a, b=1)', text="(it's)", ids=[1, 2], p={'k': [1, {'z': "="}], 'm': None}, end=True) tail"""
    fields, end = fields_at(text, 3)
    nested = """{'k': [1, {'z': "="}], 'm': None}"""
    assert fields == {"rid": "'a, b=1)'", "text": '"(it\'s)"', "ids": "[1, 2]", "p": nested, "end": "True"}
    assert text[end:] == " tail"
    assert fields_at(fields["p"], 0)[0] == {"k": """[1, {'z': "="}]""", "m": "None"}


def test_times_without_a_year_go_on_over_new_year() -> None:
    clock = Clock()
    first = clock.time("INFO 12-31 23:59:59 [x.py:1] a")
    assert clock.time("(APIServer pid=7) INFO 01-01 00:00:01 [x.py:1] b") - first == 2
    assert Clock().time("[2026-03-02 08:00:00,250] c") == T0 + 0.25
    assert Clock().time("no time here") != Clock().time("no time here")


def test_a_vllm_log_joins_prompts_answers_and_aborts(tmp_path: Path) -> None:
    log = (
        "INFO 03-02 08:00:00 [logger.py:43] Received request chatcmpl-1: prompt: 'Say: prompt_token_ids: [9]', "
        "params: SamplingParams(n=1), prompt_token_ids: [1, 2, 3, 4], lora_request: None.\n"
        "INFO 03-02 08:00:01 [logger.py:43] Received request chatcmpl-2: prompt: 'Hi', params: SamplingParams(n=1), "
        "prompt_token_ids: None, lora_request: LoRARequest(lora_name='desk', lora_int_id=1).\n"
        "INFO 03-02 08:00:02 [async_llm.py:9] Aborted request chatcmpl-2.\n"
        "INFO 03-02 08:00:03 [logger.py:80] Generated response chatcmpl-1: output: 'Yes', output_token_ids: [5, 6], "
        "finish_reason: stop\n"
    )
    corpus = read(tmp_path, server__log=log.encode())
    rows = corpus.rows
    assert corpus.inputs[0].format == "vllm-log"
    assert list(rows.prompt_tokens) == [4, 1]
    assert [rows.end[0] - rows.start[0], rows.end[1] - rows.start[1]] == [3, 1]
    assert marks(corpus) == [0, Mark.ABORTED]
    assert [rows.namespaces[number].adapter for number in rows.namespace] == [None, "desk"]


def test_an_sglang_log_tells_what_was_cut_and_what_never_finished(tmp_path: Path) -> None:
    meta = "{'id': 'r1', 'prompt_tokens': 3, 'cached_tokens': 1, 'completion_tokens': 2, 'e2e_latency': 1.5}"
    first = "obj=GenerateReqInput(rid='r1', text=None, input_ids=[7, 8, 9], lora_path=None)"
    log = (
        f"[2026-03-02 08:00:00] Receive: {first}\n"
        "[2026-03-02 08:00:00] Receive: obj=GenerateReqInput(rid='r2', text='a' ... 'b', input_ids=None)\n"
        f"[2026-03-02 08:00:02] Finish: {first}, out={{'text': 'ok', 'output_ids': [1, 2], 'meta_info': {meta}}}\n"
    )
    corpus = read(tmp_path, server__log=log.encode())
    rows = corpus.rows
    assert (list(rows.prompt_tokens), list(rows.reported_cached)) == ([3, 1], [1, -1])
    assert (rows.start[0], rows.end[0]) == (T0, T0 + 2)
    assert marks(corpus) == [0, Mark.ABORTED | Mark.CUT]


# -- tables and compression ------------------------------------------------------------------------------------------


def test_a_table_takes_columns_by_option_and_counts_from_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('who;ask;prompt_tokens;cached_tokens\nardent;"Say ""hi""; now";40;16\nlumen;Go;;\n')
    options = ReadOptions(record_path=("ask",), fields={"tenant": ("who",)})
    rows = read_corpus([str(path)], options).rows
    assert [rows.tenants[number] for number in rows.tenant] == ["ardent", "lumen"]
    assert list(rows.reported_cached) == [16, -1]
    with pytest.raises(UserError, match="no request could be read"):
        read_corpus([str(path)])


def test_an_export_in_a_table_is_read_as_that_export(tmp_path: Path) -> None:
    row = spend(end_user="ardent")
    head = ",".join(row)
    cells = [value if isinstance(value, str) else json.dumps(value) for value in row.values()]
    quoted = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    corpus = read(tmp_path, spend__csv=f"{head}\n{quoted}\n".encode())
    assert corpus.inputs[0].format == "litellm in csv"
    assert corpus.rows.tenants[corpus.rows.tenant[0]] == "ardent"


def test_zstd_and_gzip_are_unpacked_and_damage_is_one_clear_error(tmp_path: Path) -> None:
    data = lines(spend(), spend(request_id="r2"))
    packed = zstandard.ZstdCompressor().compress(data)
    two_frames = packed + zstandard.ZstdCompressor().compress(lines(spend(request_id="r3")))
    assert len(read(tmp_path, a__jsonl__zst=two_frames).rows) == 3
    assert len(read(tmp_path, b__jsonl__gz=gzip.compress(data)).rows) == 2
    with pytest.raises(UserError, match="cannot be read"):
        read(tmp_path, c__jsonl__zst=packed[:40] + b"\0" * 20)


# -- results without requests ----------------------------------------------------------------------------------------


def test_batch_results_alone_hold_no_prompt(tmp_path: Path) -> None:
    result = {"id": "b1", "custom_id": "c1", "response": {"status_code": 200, "body": {}}, "error": None}
    with pytest.raises(UserError, match="no request in the input") as problem:
        read(tmp_path, output__jsonl=lines(result))
    assert problem.value.exit_code == 3
