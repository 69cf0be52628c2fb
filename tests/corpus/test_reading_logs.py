"""Where bodies stand in files, and what stands around them."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.bodies import ANTHROPIC, BODIES, CHAT, COMPLETION, EXPECTED
from support.reading import corpus_of, read, read_bytes, read_one, said

from prefixwise.core.errors import UserError
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import Usage
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.sources import find_files

WRAPS: dict[str, Any] = {
    "bare": lambda body: body,
    "/request": lambda body: {"id": 1, "request": body, "status": 200},
    "/body": lambda body: {"body": body},
    "nested": lambda body: {"http": {"request": {"body": body}}},
    "as a JSON string": lambda body: {"request_body": json.dumps(body)},
    "nested JSON string": lambda body: {"log": {"request": json.dumps(body)}},
    "beside a string that looks like one": lambda body: {"note": "{not json", "request": body},
}
SHAPES: dict[str, Any] = {
    "JSONL": lambda records: "\n".join(map(json.dumps, records)),
    "JSONL with blank lines and CRLF": lambda records: "\r\n\r\n".join(map(json.dumps, records)) + "\r\n\r\n",
    "array": json.dumps,
    "pretty array": lambda records: json.dumps(records, indent=2),
    "array, a record a line": lambda records: "[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n",
    "pretty documents": lambda records: "\n".join(json.dumps(r, indent=2) for r in records),
}


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("api", BODIES)
def test_a_body_is_found_wherever_it_stands(tmp_path: Path, api: str, wrap: str) -> None:
    request = read_one(tmp_path, WRAPS[wrap](BODIES[api]))
    assert request.api == api
    assert said(request) == EXPECTED[api]
    assert request.model == BODIES[api]["model"]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("count", [1, 2, 5])
def test_records_are_found_in_lines_arrays_and_documents(tmp_path: Path, shape: str, count: int) -> None:
    records = [{"request": {"model": "m", "prompt": f"prompt {n}"}} for n in range(count)]
    requests, broken, _ = read_bytes(tmp_path, SHAPES[shape](records).encode())
    assert not broken
    assert [said(request)[0][2][0] for request in requests] == [f"prompt {n}" for n in range(count)]
    assert [request.record for request in requests] == list(range(count))


@pytest.mark.parametrize(
    ("name", "recode"),
    [
        ("log.jsonl.gz", gzip.compress),
        ("log.jsonl", gzip.compress),
        ("log.jsonl", lambda data: b"\xef\xbb\xbf" + data),
        ("log.jsonl.gz", lambda data: gzip.compress(b"\xef\xbb\xbf" + data)),
        ("log.jsonl", lambda data: data.decode().encode("utf-16")),
        ("log.jsonl", lambda data: b"\xfe\xff" + data.decode().encode("utf-16-be")),
        ("log.jsonl", lambda data: data.decode().encode("utf-32")),
    ],
)
def test_compression_and_byte_order_marks_are_taken_off(tmp_path: Path, name: str, recode: Any) -> None:
    lines = [json.dumps({"prompt": f"Grüße {n} 👋"}, ensure_ascii=False) for n in range(3)]
    requests, broken, _ = read_bytes(tmp_path, recode("\n".join(lines).encode()), name)
    assert not broken
    assert [said(request)[0][2][0] for request in requests] == [f"Grüße {n} 👋" for n in range(3)]


def test_damaged_compression_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(b'{"prompt": "x"}\n' * 1000)[:-20])
    with pytest.raises(UserError, match="cannot be read"):
        read_corpus([str(tmp_path / "log.jsonl.gz")])


@pytest.mark.parametrize(
    ("path", "wrap"),
    [
        (("observations", "*", "input"), lambda bodies: {"observations": [{"input": b} for b in bodies], "n": 1}),
        (("*",), lambda bodies: bodies),
        (("data", "*"), lambda bodies: {"data": bodies}),
        (("pages", "*", "calls", "*", "req"), lambda bodies: {"pages": [{"calls": [{"req": b}]} for b in bodies]}),
    ],
)
def test_a_record_path_with_stars_gives_every_element(tmp_path: Path, path: tuple[str, ...], wrap: Any) -> None:
    bodies = [{**CHAT, "messages": [{"role": "user", "content": f"n {n}"}]} for n in range(3)]
    for options in ({"record_path": path}, {}):
        requests, broken, _ = read_bytes(tmp_path, json.dumps(wrap(bodies)).encode(), "log.json", **options)
        assert not broken
        assert [said(request)[-1][2][0] for request in requests] == ["n 0", "n 1", "n 2"]


def test_a_record_path_looks_nowhere_else(tmp_path: Path) -> None:
    record = {"request": CHAT, "copy": COMPLETION}
    assert read_one(tmp_path, record).api == "openai-chat"
    assert read_one(tmp_path, record, record_path=("copy",)).api == "completions"
    _, broken, _ = read_bytes(tmp_path, json.dumps(record).encode(), record_path=("body",))
    assert "/body" in broken[0].reason


def test_an_input_format_reads_a_body_that_two_apis_could_have(tmp_path: Path) -> None:
    body = {"model": "alias", "messages": [{"role": "user", "content": "Hi"}]}
    assert read_one(tmp_path, body).api == "openai-chat"
    assert read_one(tmp_path, body, input_format="anthropic-messages").api == "anthropic-messages"


# -- mixed files ------------------------------------------------------------------------------------------------


def test_every_api_in_one_file_is_read_as_its_own(tmp_path: Path) -> None:
    for order in (list(BODIES), list(reversed(BODIES)), ["openai-chat", "anthropic-messages", "openai-chat"]):
        data = "\n".join(json.dumps({"request": BODIES[api]}) for api in order).encode()
        requests, broken, _ = read_bytes(tmp_path, data)
        assert not broken
        assert [request.api for request in requests] == order
        for request in requests:
            assert said(request) == EXPECTED[request.api]


def test_a_system_prompt_is_kept_when_the_first_body_of_a_log_has_none(tmp_path: Path) -> None:
    """Without a system prompt and behind an alias, a Messages body looks like Chat Completions."""
    bare = {"model": "alias", "max_tokens": 5, "messages": [{"role": "user", "content": "Hi"}]}
    data = f"{json.dumps(bare)}\n{json.dumps({**bare, 'system': 'Be kind.'})}\n".encode()
    requests, _, _ = read_bytes(tmp_path, data)
    assert ["Be kind."] in [parts for _, _, parts in said(requests[1])]


def test_tool_calls_are_kept_when_the_first_body_of_a_log_is_a_messages_body(tmp_path: Path) -> None:
    data = f"{json.dumps(ANTHROPIC)}\n{json.dumps(CHAT)}\n".encode()
    requests, _, _ = read_bytes(tmp_path, data)
    assert said(requests[1]) == EXPECTED["openai-chat"]


# -- broken records ---------------------------------------------------------------------------------------------

GOOD = b'{"prompt": "fine"}'


@pytest.mark.parametrize(
    "bad",
    [
        b"{",
        b"not json",
        b'{"prompt": "cut',
        b'{"a": 1}',
        b"[]",
        b"null",
        b"17",
        b'{"messages": "x"}',
        b'{"messages": [1, 2]}',
        b'{"prompt": {"a": 1}}',
        b'{"contents": 5}',
        b"\x00\x01\x02",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"prompt": []}',
    ],
)
@pytest.mark.parametrize("at", [0, 1, 3])
def test_a_broken_line_is_counted_with_its_line_and_skipped(tmp_path: Path, bad: bytes, at: int) -> None:
    lines = [GOOD] * 4
    lines.insert(at, bad)
    (tmp_path / "log.jsonl").write_bytes(b"\n".join(lines) + b"\n")
    corpus = read_corpus([str(tmp_path / "log.jsonl")])
    assert len(corpus.rows) == 4
    assert [(broken.record, broken.line) for broken in corpus.broken] == [(at, at + 1)]
    assert corpus.broken[0].reason
    with pytest.raises(UserError, match=f"line {at + 1}"):
        read_corpus([str(tmp_path / "log.jsonl")], ReadOptions(strict=True))


def test_broken_lines_at_the_head_of_a_log_do_not_hide_the_rest(tmp_path: Path) -> None:
    for bad in (b"{", b"=== log opened ===", b'{"prompt": "cut'):
        (tmp_path / "log.jsonl").write_bytes(b"\n".join([bad, bad, bad, GOOD, GOOD]))
        corpus = read_corpus([str(tmp_path / "log.jsonl")])
        assert len(corpus.rows) == 2
        assert [broken.line for broken in corpus.broken] == [1, 2, 3]


def test_a_value_that_is_no_object_is_called_what_it_is(tmp_path: Path) -> None:
    for bad, name in ((b"17", "number"), (b"true", "truth value"), (b"null", "null"), (b'[{"a": 1}]', "list")):
        _, broken, _ = read_bytes(tmp_path, GOOD + b"\n" + bad + b"\n")
        assert name in broken[0].reason


def test_a_file_without_a_request_says_so(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b"\n \n")
    with pytest.raises(UserError, match="no request") as nothing:
        read_corpus([str(tmp_path / "log.jsonl")])
    assert nothing.value.exit_code == 3
    (tmp_path / "log.jsonl").write_bytes(b'{"a": 1}\n{"b": 2}\n')
    with pytest.raises(UserError, match="no request could be read") as broken:
        read_corpus([str(tmp_path / "log.jsonl")])
    assert broken.value.exit_code == 2


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b'{"prompt": "a\\ud83d b"}', "a\ufffd b"),
        (b'{"prompt": "a\\udc00\\ud83d b"}', "a\ufffd\ufffd b"),
        (b'{"prompt": "a b", "temperature": NaN}', "a b"),
        (b'{"prompt": "a b", "temperature": -Infinity}', "a b"),
        (b'{"prompt": "a\x01 b"}', "a\x01 b"),
        (b'{"prompt": "a\xff b"}', "a\ufffd b"),
        (b'{"prompt": "a\\ud83d\\ude00 b"}', "a😀 b"),
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_near_json_is_repaired(tmp_path: Path, raw: bytes, text: str, at: int) -> None:
    lines = [GOOD, GOOD]
    lines[at] = raw
    requests, broken, _ = read_bytes(tmp_path, b"\n".join(lines))
    assert not broken
    assert said(requests[at])[0][2] == [text]


def test_a_file_of_nothing_but_near_json_is_read(tmp_path: Path) -> None:
    requests, broken, _ = read_bytes(tmp_path, b'{"prompt": "a", "t": NaN}\n' * 3)
    assert not broken
    assert [request.line for request in requests] == [1, 2, 3]


# -- around the body --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("around", "start", "end"),
    [
        ({"ts": 1_700_000_000}, 1_700_000_000.0, math.nan),
        ({"timestamp": 1_700_000_000_123}, 1_700_000_000.123, math.nan),
        ({"time": 1_700_000_000_123_456}, 1_700_000_000.123456, math.nan),
        ({"created_at": "2023-11-14T22:13:20Z"}, 1_700_000_000.0, math.nan),
        (
            {"startTime": "2023-11-14T23:13:20.5+01:00", "endTime": "2023-11-14T22:13:25"},
            1_700_000_000.5,
            1_700_000_005.0,
        ),
        ({"start_time": "1700000000", "latency_ms": 1500}, 1_700_000_000.0, 1_700_000_001.5),
        ({"end_time": 1_700_000_003, "duration_s": 3}, 1_700_000_000.0, 1_700_000_003.0),
        ({"ts": 0}, 0.0, math.nan),
        ({"start_time": 0, "end_time": 2}, 0.0, 2.0),
        ({"start_time": 5, "latency_ms": 0}, 5.0, 5.0),
        ({"ts": "soon"}, math.nan, math.nan),
        ({"ts": None, "timestamp": 1_700_000_000}, 1_700_000_000.0, math.nan),
        ({}, math.nan, math.nan),
    ],
)
def test_times_are_read_as_they_are_written(tmp_path: Path, around: dict[str, Any], start: float, end: float) -> None:
    request = read_one(tmp_path, {**around, "request": CHAT})
    assert request.start == pytest.approx(start, abs=1e-5, nan_ok=True)
    assert request.end == pytest.approx(end, abs=1e-5, nan_ok=True)


@given(seconds=st.floats(1e9, 4e9), unit=st.sampled_from([1, 10**3, 10**6, 10**9]))
def test_a_number_written_as_a_string_is_the_same_time(seconds: float, unit: int) -> None:
    number = int(seconds * unit)
    assert epoch_seconds(str(number)) == epoch_seconds(number) == pytest.approx(number / unit)


def test_a_time_in_ms_that_could_be_a_date_is_a_number() -> None:
    assert epoch_seconds("1764011501230") == pytest.approx(1_764_011_501.23)


def test_names_around_a_body_are_found(tmp_path: Path) -> None:
    record = {
        "request": {**CHAT, "user": "in-body"},
        "customer_id": "ann",
        "thread_id": "t1",
        "pod": "p3",
        "ttft_ms": 80,
    }
    request = read_one(tmp_path, record)
    assert (request.tenant, request.session, request.replica, request.ttft) == ("ann", "t1", "p3", pytest.approx(0.08))
    assert read_one(tmp_path, {"model": "outer", "request": {"prompt": "x"}}).model == "outer"


def test_values_at_other_places_are_taken_from_the_pointers(tmp_path: Path) -> None:
    record = {
        "request": CHAT,
        "tenant": "wrong",
        "meta": {
            "who": "ann",
            "chat": 7,
            "llm": "gpt-4",
            "from": "2023-11-14T22:13:20Z",
            "to": 1_700_000_009,
            "gpu": "g1",
            "iso": "z",
        },
    }
    places = {
        "tenant": "who",
        "session": "chat",
        "model": "llm",
        "start": "from",
        "end": "to",
        "replica": "gpu",
        "salt": "iso",
    }
    fields = {field: ("meta", key) for field, key in places.items()}
    request = read_one(tmp_path, record, fields=fields)
    assert (request.tenant, request.session, request.model, request.replica) == ("ann", "7", "gpt-4", "g1")
    assert (request.start, request.end) == (1_700_000_000.0, 1_700_000_009.0)
    assert (request.namespace.salt, request.namespace.cache_key) == ("z", "key")
    elsewhere = read_one(tmp_path, {"request": CHAT, "tenant": "kept"}, fields=fields)
    assert (elsewhere.tenant, elsewhere.model) == ("kept", "gpt-4o")


OPENAI_USAGE = {"prompt_tokens": 100, "completion_tokens": 7, "prompt_tokens_details": {"cached_tokens": 64}}


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        (OPENAI_USAGE, Usage(100, 64, None, 7)),
        ({"prompt_tokens": 100, "completion_tokens": 7}, Usage(100, None, None, 7)),
        ({"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 0}}, Usage(100, 0, None, None)),
        ({"prompt_tokens": 100, "prompt_tokens_details": None}, Usage(100, None, None, None)),
        (
            {"prompt_tokens": 100, "prompt_cache_hit_tokens": 80, "prompt_cache_miss_tokens": 20},
            Usage(100, 80, None, None),
        ),
        ({"prompt_tokens": 100, "cached_tokens": 30}, Usage(100, 30, None, None)),
        (
            {
                "input_tokens": 100,
                "output_tokens": 7,
                "input_tokens_details": {"cached_tokens": 64, "cache_write_tokens": 20},
            },
            Usage(100, 64, 20, 7),
        ),
        (
            {"input_tokens": 5, "cache_read_input_tokens": 90, "cache_creation_input_tokens": 5, "output_tokens": 7},
            Usage(100, 90, 5, 7),
        ),
        (
            {"input_tokens": 5, "cache_read_input_tokens": 0, "cache_creation_input_tokens": None},
            Usage(5, 0, None, None),
        ),
        (
            {
                "promptTokenCount": 100,
                "cachedContentTokenCount": 60,
                "candidatesTokenCount": 4,
                "thoughtsTokenCount": 3,
            },
            Usage(100, 60, None, 7),
        ),
        ({"promptTokenCount": 100, "candidatesTokenCount": 4}, Usage(100, None, None, 4)),
        (
            {"inputTokens": 5, "cacheReadInputTokens": 90, "cacheWriteInputTokens": 5, "outputTokens": 7},
            Usage(100, 90, 5, 7),
        ),
        ({"prompt_tokens": 100.0, "prompt_tokens_details": {"cached_tokens": 64.0}}, Usage(100, 64, None, None)),
        ({"prompt_tokens": -1}, None),
        ({"total_tokens": 5}, None),
        ({"prompt_tokens": "many"}, None),
        (None, None),
        ([], None),
    ],
)
def test_usage_of_each_api_is_brought_to_one_accounting(tmp_path: Path, usage: Any, expected: Usage | None) -> None:
    key = "usageMetadata" if isinstance(usage, dict) and "promptTokenCount" in usage else "usage"
    for record in ({"request": COMPLETION, key: usage}, {"request": COMPLETION, "response": {"id": 1, key: usage}}):
        assert read_one(tmp_path, record).usage == expected


def test_usage_inside_the_answer_counts_when_that_beside_the_body_is_null(tmp_path: Path) -> None:
    record = {"request": COMPLETION, "usage": None, "response": {"usage": OPENAI_USAGE}}
    assert read_one(tmp_path, record).usage == Usage(100, 64, None, 7)


def test_usage_in_logged_stream_events_and_in_response_headers_counts(tmp_path: Path) -> None:
    events = [
        {"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 90}}},
        {"type": "message_delta", "usage": {"output_tokens": 7}},
    ]
    assert read_one(tmp_path, {"request": COMPLETION, "response": events}).usage == Usage(95, 90, None, 7)
    headers = {"fireworks-prompt-tokens": "100", "fireworks-cached-prompt-tokens": "64"}
    for record in (
        {"request": COMPLETION, "response_headers": headers, "usage": {"prompt_tokens": 100}},
        {"request": COMPLETION, "response": {"headers": headers, "usage": {"prompt_tokens": 100}}},
    ):
        assert read_one(tmp_path, record).usage == Usage(100, 64)


def test_an_answer_under_its_second_name_counts_when_the_first_is_null(tmp_path: Path) -> None:
    record = {
        "request": COMPLETION,
        "response": None,
        "response_body": {"usage": OPENAI_USAGE, "choices": [{"text": "hi"}]},
    }
    assert read_one(tmp_path, record).usage == Usage(100, 64, None, 7)


def test_an_answer_as_a_json_string_is_read_like_a_body_as_a_json_string(tmp_path: Path) -> None:
    answer = {"usage": OPENAI_USAGE, "choices": [{"text": "hi there you"}]}
    record = {"request": json.dumps(COMPLETION), "response": json.dumps(answer)}
    assert read_one(tmp_path, record).usage == Usage(100, 64, None, 7)
    rows = corpus_of(record).rows
    assert rows.answer_tokens[0] == 2


# -- prompt files, folders, standard input ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "kind"), [("a.md", "markdown"), ("a.txt", "text"), ("a.prompt", "text"), ("README", "text")]
)
def test_a_prompt_file_is_one_prompt_even_when_it_begins_like_json(tmp_path: Path, name: str, kind: str) -> None:
    text = "{{ name }}\nBe kind.\n" if name != "README" else "Be kind.\n"
    (tmp_path / name).write_text(text)
    requests, _, reading = read(tmp_path / name)
    assert (reading.format, reading.mode) == (kind, "prompt")
    assert said(requests[0]) == [("prompt", None, [text])]


def test_folders_globs_and_standard_input_give_the_same_requests(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "b.jsonl").write_bytes(GOOD)
    (tmp_path / "deep" / "a.json").write_bytes(b"[" + GOOD + b"]")
    (tmp_path / "notes.txt").write_text("not a log")
    folder = read_corpus([str(tmp_path)])
    assert [Path(file.path).name for file in folder.inputs] == ["b.jsonl", "a.json"]
    assert len(read_corpus([str(tmp_path / "**" / "*.json*")]).rows) == 2
    assert len(read_corpus([str(tmp_path / "b.jsonl"), str(tmp_path / "b.jsonl")]).rows) == 1
    assert len(corpus_of(GOOD).rows) == 1
    with pytest.raises(UserError) as missing:
        read_corpus([str(tmp_path / "none.jsonl")])
    assert missing.value.exit_code == 3


def test_a_folder_gives_its_logs_and_not_what_the_tool_itself_wrote(tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").write_text(json.dumps(CHAT) + "\n")
    (tmp_path / "baseline.json").write_text('{\n "schema": "prefixwise/baseline",\n "schema_version": 1\n}')
    (tmp_path / "other.json").write_text('{"schema": "someone/else"}')
    assert [Path(name).name for name in find_files([str(tmp_path)])] == ["calls.jsonl", "other.json"]
    assert find_files([str(tmp_path / "baseline.json")])  # what is named is read
