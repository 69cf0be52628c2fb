"""Faults that were found in the readers of exports, each kind with the right answer."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest

from prefixwise.core.errors import UserError
from prefixwise.core.request import Mark
from prefixwise.core.usage import counted
from prefixwise.corpus.corpus import Corpus, read_corpus
from prefixwise.corpus.engine_log import Clock, fields_at
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.signs import key_paths

CHAT = {"model": "gpt-4.1", "messages": [{"role": "user", "content": "What is a caisson?"}]}
TOOLS = [{"type": "function", "function": {"name": "depth", "parameters": {"type": "object"}}}]


def read(folder: Path, *files: tuple[str, Any], **options: Any) -> Corpus:
    paths = []
    for name, data in files:
        path = folder / name
        if not isinstance(data, bytes):
            data = b"".join(json.dumps(record).encode() + b"\n" for record in data)
        path.write_bytes(data)
        paths.append(str(path))
    return read_corpus(paths, ReadOptions(**options))


def formats(corpus: Corpus) -> list[str]:
    return [file.format for file in corpus.inputs]


# -- time -------------------------------------------------------------------------------------------------------------


def test_cut_off_strings_full_of_quotes_are_read_once() -> None:
    start = time.process_time()
    key_paths(b'{"a": "' + b'x \\" ' * 100_000)
    fields_at("Req(rid='a', text='" + "word \\' " * 50_000, 3)
    assert time.process_time() - start < 2


# -- plain logs that look like exports --------------------------------------------------------------------------------

AROUND = [
    {"request_id": "r1", "call_type": "chat", "startTime": 1, "endTime": 2},
    {"run_type": "llm", "start_time": 1, "inputs": {}},
    {"type": "GENERATION", "traceId": "t", "startTime": 1},
    {"custom_id": "c1", "response": {}, "error": None},
    {"event": "request.received"},
]


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("place", ["root", "inside"])
def test_a_plain_log_with_the_words_of_an_export_is_a_plain_log(
    tmp_path: Path, around: dict[str, Any], place: str
) -> None:
    body = CHAT | {"tools": TOOLS}
    record = around | (body if place == "root" else {"request": body})
    corpus = read(tmp_path, ("log.jsonl", [record, record]))
    assert formats(corpus) == ["openai-chat"]
    plain = read(tmp_path, ("plain.jsonl", [body, body]))
    assert set(corpus.rows.prompt_tokens) == set(plain.rows.prompt_tokens)


QUOTED = "Received request cmpl-1: prompt: 'a', obj=GenerateReqInput(rid='1')"


def test_prompts_that_quote_an_engines_log_are_no_engines_log(tmp_path: Path) -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": QUOTED}]}
    assert formats(read(tmp_path, ("a.jsonl", [chat, chat]))) == ["openai-chat"]
    assert formats(read(tmp_path, ("a.md", QUOTED.encode()))) == ["markdown"]
    assert formats(read(tmp_path, ("a.csv", f'prompt,model\n"{QUOTED}",m\n'.encode()))) == ["completions in csv"]


# -- exports that do not begin like one -------------------------------------------------------------------------------


def line(uuid: str, parent: str | None, kind: str, content: Any, **message: Any) -> dict[str, Any]:
    said = {"role": kind, "content": content} | message
    return {"parentUuid": parent, "sessionId": "s", "uuid": uuid, "type": kind, "message": said}


SESSION = [
    line("u1", None, "user", "Read it."),
    line("a1", "u1", "assistant", [{"type": "text", "text": "Done."}], id="m1", model="claude-x", usage={}),
]


def test_an_export_is_known_behind_long_short_and_broken_first_lines(tmp_path: Path) -> None:
    long = line("u0", None, "user", "x" * 90_000)
    snapshot = {"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}
    summaries = [{"type": "summary", "summary": "s", "leafUuid": "l"}] * 20
    rest = b'ken": 3}}, "type": "user"}\n' + b"".join(json.dumps(one).encode() + b"\n" for one in SESSION)
    for name, content in (
        ("long", [long, *SESSION]), ("snapshot", [snapshot, long, *SESSION]), ("many", [*summaries, *SESSION]),
        ("rotated", rest),
    ):  # fmt: skip
        corpus = read(tmp_path, (f"{name}.jsonl", content))
        assert formats(corpus) == ["claude-code"], name
        assert len(corpus.rows) == 1


def test_an_engines_log_is_known_by_its_lines_before_any_request(tmp_path: Path) -> None:
    idle = "INFO 03-02 07:00:00 [loggers.py:1] Engine 000: Avg prompt throughput: 0.0 tokens/s\n" * 1500
    request = (
        "INFO 03-02 08:00:00 [logger.py:43] Received request a: prompt: 'Hi', params: SamplingParams(), "
        "prompt_token_ids: [1, 2], lora_request: None.\n"
    )
    corpus = read(tmp_path, ("server.log", (idle + request).encode()))
    assert (formats(corpus), list(corpus.rows.prompt_tokens)) == (["vllm-log"], [2])


def test_a_table_is_known_by_its_columns_not_by_its_first_row(tmp_path: Path) -> None:
    head = "request_id,call_type,startTime,endTime,spend,model,messages\n"
    cell = json.dumps(CHAT["messages"]).replace('"', '""')
    rows = f'r1,completion,1,,0,gpt-4.1,"{cell}"\n\nr2,completion,2,3,0,gpt-4.1,"{cell}"\n'
    corpus = read(tmp_path, ("spend.csv", ("sep=,\n" + head + rows).encode()))
    assert (formats(corpus), len(corpus.rows), corpus.inputs[0].broken) == (["litellm in csv"], 2, 0)


# -- text that looks like JSON ----------------------------------------------------------------------------------------

TEXTS = ["[INST] hello [/INST]", '{"question": 1}', "[1, 2, 3]", "{context} and more", "[1] A source says so."]


@pytest.mark.parametrize("text", TEXTS)
def test_text_that_begins_like_json_is_text(tmp_path: Path, text: str) -> None:
    plain = read(tmp_path, ("plain.jsonl", [{"model": "gpt-4.1", "prompt": text, "response": text}] * 2)).rows
    one = {
        "id": "o", "traceId": "t", "type": "GENERATION", "startTime": 1, "level": "DEFAULT", "model": "gpt-4.1",
        "input": text, "output": text,
    }  # fmt: skip
    langfuse = read(tmp_path, ("langfuse.jsonl", [one, one | {"id": "p"}])).rows
    meta = {"prompt_tokens": 1}
    event = {"timestamp": "2026-03-02T08:00:00", "event": "request.finished", "rid": "r", "obj": {"text": text}}
    sglang = read(tmp_path, ("sglang.log", [event | {"out": {"text": text, "meta_info": meta}}])).rows
    table = read(tmp_path, ("t.csv", 'model,prompt\ngpt-4.1,"{}"\n'.format(text.replace('"', '""')).encode())).rows
    assert langfuse.prompt_tokens[0] == sglang.prompt_tokens[0] == table.prompt_tokens[0] == plain.prompt_tokens[0]
    assert langfuse.answer_tokens[0] == sglang.answer_tokens[0] == plain.answer_tokens[0] > 0


def test_a_text_prompt_may_be_answered_by_a_message(tmp_path: Path) -> None:
    record = {"model": "gpt-4.1", "prompt": "hello", "response": {"role": "assistant", "content": "hi"}}
    assert read(tmp_path, ("log.jsonl", [record, record])).rows.answer_tokens[0] == 1


# -- counts that are none ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("odd", [-3, 2**31, "5", None, float("nan"), True])
def test_a_count_that_is_none_is_absent(odd: Any) -> None:
    assert counted(odd) is None
    found = counted(10, odd, odd, odd)
    assert found is not None
    assert (found.cached_tokens, found.cache_write_tokens, found.output_tokens) == (None, None, None)


def test_whole_numbers_written_as_fractions_count() -> None:
    found = counted(10.0, 7, 2.0, 3)
    assert found is not None
    assert (found.prompt_tokens, found.cached_tokens, found.cache_write_tokens, found.rest_only) == (10, 7, 2, False)


def test_a_prompt_count_below_what_was_cached_is_that_of_the_rest() -> None:
    found = counted(10, 11, 2, 3)
    assert found is not None
    assert (found.prompt_tokens, found.cached_tokens, found.cache_write_tokens, found.rest_only) == (23, 11, 2, True)


# -- whose call a record is of ----------------------------------------------------------------------------------------

SAME = {"request_id": "abc", "request": CHAT}


@pytest.mark.parametrize(
    ("first", "second", "calls"),
    [
        ({"ts": 1}, {"ts": 1}, 1),
        ({"ts": 1}, {"usage": {"prompt_tokens": 9}}, 1),
        ({"ts": 1}, {"ts": 2}, 2),
        ({"tenant": "a"}, {"tenant": "b"}, 2),
        ({"usage": {"prompt_tokens": 9}}, {"usage": {"prompt_tokens": 8}}, 2),
        ({"request": CHAT | {"cache_salt": "a"}}, {"request": CHAT | {"cache_salt": "b"}}, 2),
        ({"request_id": "-"}, {"request_id": "-"}, 2),
        ({"request_id": 0}, {"request_id": 0}, 2),
        ({"request_id": False}, {"request_id": False}, 2),
    ],
)
def test_two_records_are_one_call_where_nothing_that_both_say_differs(
    tmp_path: Path, first: dict[str, Any], second: dict[str, Any], calls: int
) -> None:
    assert len(read(tmp_path, ("log.jsonl", [SAME | first, SAME | second])).rows) == calls


def test_ids_of_plain_logs_are_those_of_a_file(tmp_path: Path) -> None:
    assert len(read(tmp_path, ("a.jsonl", [SAME]), ("b.jsonl", [SAME])).rows) == 2


def test_answers_to_ids_that_several_calls_have_are_left_alone_and_said(tmp_path: Path) -> None:
    def request(text: str) -> dict[str, Any]:
        body = {"model": "gpt-4.1", "messages": [{"role": "user", "content": text}]}
        return {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": body}

    usage = {"usage": {"prompt_tokens": 5}}
    result = {"id": "b", "custom_id": "1", "response": {"status_code": "200", "body": usage}, "error": None}
    corpus = read(tmp_path, ("a.jsonl", [request("x")]), ("b.jsonl", [request("y")]), ("out.jsonl", [result]))
    assert list(corpus.rows.reported_prompt) == [-1, -1]
    assert any("left alone" in fact for fact in corpus.facts)
    alone = read(tmp_path, ("a.jsonl", [request("x")]), ("out.jsonl", [result]))
    assert list(alone.rows.reported_prompt) == [5]


# -- spans ------------------------------------------------------------------------------------------------------------


def span(name: str, **attributes: Any) -> dict[str, Any]:
    values = [{"key": key, "value": {"stringValue": value}} for key, value in attributes.items()]
    return {"spanId": name, "name": name, "startTimeUnixNano": "1", "endTimeUnixNano": "2", "attributes": values}


def otlp(*spans: Any) -> list[Any]:
    return [{"resourceSpans": [{"scopeSpans": [{"spans": list(spans)}]}]}]


MESSAGES = json.dumps([{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}])
CALL = {"gen_ai.request.model": "gpt-4.1", "gen_ai.input.messages": MESSAGES}


def test_spans_around_a_call_are_no_calls_and_one_bad_span_does_not_take_the_others_with_it(tmp_path: Path) -> None:
    agent = span("agent", **CALL, **{"gen_ai.operation.name": "invoke_agent"})
    odd = span("odd", **CALL) | {"status": None, "events": None}
    odd["attributes"].append({"key": "x", "value": None})
    bad = span("bad", **CALL) | {"attributes": "none"}
    corpus = read(tmp_path, ("t.jsonl", otlp(span("call", **CALL), agent, odd, bad)))
    assert (len(corpus.rows), corpus.inputs[0].broken) == (2, 1)


# -- the rest ---------------------------------------------------------------------------------------------------------


def test_lines_that_are_none_of_the_format_are_counted(tmp_path: Path) -> None:
    corpus = read(tmp_path, ("s.jsonl", [*SESSION, {"foo": 1}]))
    assert (len(corpus.rows), corpus.inputs[0].broken) == (1, 1)


def test_an_answer_without_its_prompt_is_left_out_and_said(tmp_path: Path) -> None:
    orphan = line("a9", "gone", "assistant", [{"type": "text", "text": "?"}], id="m9", model="claude-x")
    corpus = read(tmp_path, ("s.jsonl", [*SESSION, orphan]))
    assert corpus.inputs[0].left_out == (("what it answers is not in the file", 1),)


def test_embeddings_are_no_prompts(tmp_path: Path) -> None:
    row = {
        "request_id": "r", "call_type": "aembedding", "startTime": 1, "endTime": 2, "spend": 0, "messages": "some text",
    }  # fmt: skip
    with pytest.raises(UserError, match="no request in the input"):
        read(tmp_path, ("log.jsonl", [row]))


def test_words_of_an_exporter_in_a_prompt_are_not_its_marks(tmp_path: Path) -> None:
    texts = ["what does litellm_truncated mean?", "masked", "Redacted?", "[REDACTED]", "<redacted by policy>"]
    bodies = [{"model": "m", "messages": [{"role": "user", "content": text}]} for text in texts]
    rows = read(tmp_path, ("log.jsonl", bodies)).rows
    assert list(rows.marks) == [0] * 3 + [Mark.REDACTED] * 2


def test_fields_that_a_format_has_no_place_for_are_one_clear_error(tmp_path: Path) -> None:
    log = b"INFO 03-02 08:00:00 [logger.py:43] Received request a: prompt: 'Hi', params: X, prompt_token_ids: [1]\n"
    with pytest.raises(UserError, match="no places of their own") as problem:
        read(tmp_path, ("v.log", log), fields={"tenant": ("x",)})
    assert "--tenant-field" in problem.value.help


def test_lines_out_of_order_at_the_end_of_a_month_do_not_shift_the_year() -> None:
    clock = Clock()
    times = [clock.time(f"INFO {day} [x.py:1] a") for day in ("03-01 00:00:00", "02-29 23:59:59", "03-01 00:00:02")]
    assert [second - times[0] for second in times] == [0, -1, 2]
