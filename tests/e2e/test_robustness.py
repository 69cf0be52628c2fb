"""Hostile, damaged and absurd input: no traceback, no hang, the right exit code, nothing raw on a terminal."""

from __future__ import annotations

import copy
import fcntl
import gzip
import json
import os
import resource
import socket
import stat
import sys
import termios
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

# -- damaged and foreign files ------------------------------------------------------------------------------

DAMAGED = {
    "empty.jsonl": (b"", 3),
    "binary.bin": (bytes(range(256)) * 20, 2),
    "zeros.jsonl": (b"\0" * 1000, 2),
    "cut.jsonl": (b'{"messages": [{"role": "user", "content": "Wh', 2),
    "numbers.jsonl": (b"1\n2\n3.5\n", 2),
    "empty-objects.jsonl": (b"{}\n{}\n", 2),
    "magic.parquet": (b"PAR1", 2),
    "empty.jsonl.gz": (gzip.compress(b""), 3),
    "cut.jsonl.gz": (gzip.compress(os.urandom(4000))[:2000], 2),
    "twice.jsonl.gz": (gzip.compress(gzip.compress(b"{}")), 2),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_a_damaged_file_is_one_line(name: str, run: Any, tmp_path: Path) -> None:
    data, code = DAMAGED[name]
    (tmp_path / name).write_bytes(data)
    assert name in run(["hitrate", name]).check(code).err


@pytest.mark.parametrize(
    ("command", "name"), [("tokens", "empty.jsonl"), ("diff", "cut.jsonl"), ("trace", "cut.jsonl")]
)
def test_every_command_says_so(command: str, name: str, run: Any, tmp_path: Path) -> None:
    data, code = DAMAGED[name]
    (tmp_path / name).write_bytes(data)
    more = {"tokens": [], "diff": [name], "trace": ["--share", "-o", "x.parquet"]}[command]
    assert name in run([command, name, *more]).check(code).err
    assert not (tmp_path / "x.parquet").exists()


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_marked_encodings_read_alike(encoding: str, run: Any, good: Path) -> None:
    good.write_bytes(good.read_bytes().decode().encode(encoding))
    assert run(["hitrate", good, "--json"]).check(0).json()["values"]["requests"] == 5


def test_a_record_cut_off_at_the_end_is_skipped_and_counted(run: Any, good: Path) -> None:
    good.write_bytes(good.read_bytes()[:-50])
    document = run(["hitrate", good, "--json"]).check(0).json()
    assert (document["values"]["requests"], document["inputs"][0]["broken"]) == (4, 1)


def test_a_line_of_100_mb_that_is_cut_off_is_one_line(run: Any, tmp_path: Path) -> None:
    head = b'{"messages": [{"role": "user", "content": "'
    (tmp_path / "big.jsonl").write_bytes(head + b"lorem ipsum " * (100_000_000 // 12))
    run(["hitrate", "big.jsonl"]).check(2)


def test_a_line_of_10_mb_is_read(run: Any, tmp_path: Path, e2e: Any) -> None:
    records = [e2e.chat(f"Question {number} " + "lorem ipsum " * 40) for number in range(8_000)]
    (tmp_path / "big.json").write_bytes(json.dumps(records).encode())
    assert run(["hitrate", "big.json", "--json"]).check(0).json()["values"]["requests"] == 8_000


# -- records of the wrong shape -----------------------------------------------------------------------------

BODIES: dict[str, dict[str, Any]] = {
    "openai-chat": {
        "model": "gpt-4o",
        "messages": [
            {"role": "system", "content": "You answer."},
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:image/png;base64,aGk="}}]},
            {"role": "assistant", "content": None,
             "tool_calls": [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "a", "content": "r"},
        ],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}],
        "user": "ann",
        "metadata": {"session_id": "s"},
    },
    "anthropic-messages": {
        "model": "claude-sonnet-4-5",
        "system": [{"type": "text", "text": "sys", "cache_control": {"type": "ephemeral"}}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "hi"}]},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "f", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "r"}]},
        ],
        "tools": [{"name": "f", "input_schema": {}}],
        "metadata": {"user_id": "ann"},
    },
    "openai-responses": {
        "model": "gpt-5",
        "instructions": "Be brief.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "1", "output": "x"},
            {"type": "reasoning", "summary": []},
        ],
        "tools": [{"type": "function", "name": "f"}],
    },
    "gemini": {
        "model": "gemini-2.5",
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [{"role": "user", "parts": [{"text": "hi"}, {"inlineData": {"mimeType": "a", "data": "aGk="}}]}],
        "tools": [{"functionDeclarations": [{"name": "f"}]}],
    },
}  # fmt: skip
WRONG: list[Any] = [
    None, 0, -1, 1.5, True, "", "s", [], {}, [1], [None], [[]], {"a": 1}, [{"a": 1}], 10**30, 1e300, [[[["deep"]]]],
    [{"type": []}], [{"type": None}], [{"type": "text", "text": 5}], [{"type": "image_url", "image_url": 5}],
    [{"type": "tool_result", "content": 5}], [{"type": "image", "source": 5}], [{"cache_control": 5, "text": "x"}],
]  # fmt: skip


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of everything inside `value`."""
    if at:
        yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*at, key))


def mutants(body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield `body` with every place of it replaced by every wrong value."""
    for path in places(body):
        for value in WRONG:
            mutant = holder = copy.deepcopy(body)
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = value
            yield mutant


@pytest.mark.parametrize(("api", "command"), [*((api, "hitrate") for api in BODIES), ("openai-chat", "tokens")])
def test_wrongly_shaped_records_are_skipped_and_counted(
    api: str, command: str, run: Any, tmp_path: Path, e2e: Any
) -> None:
    records = [BODIES[api], *mutants(BODIES[api]), BODIES[api]]
    (tmp_path / "x.jsonl").write_bytes(e2e.lines(*records))
    document = run([command, "x.jsonl", "--json"]).check(0).json()
    assert document["inputs"][0]["records"] == len(records)
    requests = document["values"]["requests"]
    assert (len(requests) if command == "tokens" else requests) >= 2


def test_absurd_usage_never_gives_an_impossible_rate(run: Any, tmp_path: Path, e2e: Any) -> None:
    usages: list[Any] = [
        5, "x", None, [], {}, {"prompt_tokens": "12"}, {"prompt_tokens": -5}, {"prompt_tokens": 10**30},
        {"prompt_tokens": 1e308}, {"prompt_tokens": 1.7}, {"prompt_tokens": 100, "prompt_tokens_details": 5},
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": 500}},
        {"prompt_tokens": 100, "prompt_tokens_details": {"cached_tokens": -3}},
        {"prompt_tokens": 0, "prompt_tokens_details": {"cached_tokens": 0}},
        {"input_tokens": 1e308, "cache_read_input_tokens": 1e308},
    ]  # fmt: skip
    (tmp_path / "x.jsonl").write_bytes(e2e.lines(*({"request": e2e.chat(), "response": {"usage": u}} for u in usages)))
    document = run(["hitrate", "x.jsonl", "--json"]).check(0).json()
    assert document["values"]["requests"] == len(usages)
    rates = [rule["hit_rate"] for rule in document["values"]["rules"]]
    assert all(rate is None or 0 <= rate <= 1 for rate in rates), rates


TIMES = ["1e300", "-1e300", "-1", "NaN", "Infinity", "1e999", "null", "true", "[]", "{}", '"abc"', '"inf"', '"1e400"',
         '"9999-12-31T23:59:59+00:00"', '"99999-01-01T00:00:00Z"', '"0001-01-01T00:00:00+14:00"', "1" * 30]  # fmt: skip


def test_absurd_times_do_no_harm(run: Any, tmp_path: Path, e2e: Any) -> None:
    body = json.dumps(e2e.chat())
    text = "".join(f'{{"start_time": {t}, "end_time": {t}, "latency_ms": {t}, "request": {body}}}\n' for t in TIMES)
    (tmp_path / "x.jsonl").write_text(text)
    assert run(["hitrate", "x.jsonl", "--json"]).check(0).json()["values"]["requests"] == len(TIMES)


def test_a_time_of_400_digits_does_no_harm(run: Any, tmp_path: Path, e2e: Any) -> None:
    text = f'{{"start_time": {"1" * 400}, "request": {json.dumps(e2e.chat())}}}\n'
    (tmp_path / "x.jsonl").write_text(text + text)
    run(["hitrate", "x.jsonl"]).check(0)


def test_deep_nesting_costs_one_record(run: Any, tmp_path: Path, e2e: Any) -> None:
    deep = 100_000
    nest = "[" * deep + "]" * deep
    body = json.dumps(e2e.chat())[:-1]
    records = [nest, "[" * deep, '{"a":' * deep + "1" + "}" * deep, f'{body}, "extra": {nest}}}',
               f'{{"messages": [{{"role": "user", "content": {nest}}}]}}', f'{body}, "tools": [{nest}]}}',
               f'{{"request": {body}}}, "response": {nest}}}']  # fmt: skip
    (tmp_path / "x.jsonl").write_bytes(e2e.GOOD + "\n".join(records).encode() + b"\n" + e2e.GOOD)
    assert run(["hitrate", "x.jsonl", "--json"]).check(0).json()["values"]["requests"] >= 10
    (tmp_path / "x.jsonl").write_text(nest)
    run(["hitrate", "x.jsonl"]).check(2)


def test_odd_json_does_no_harm(run: Any, tmp_path: Path) -> None:
    odd = [
        '{"model": 1, "model": "gpt-4o", "messages": [], "messages": [{"role": "user", "role": "x", "content": "a"}]}',
        '{"messages": [{"role": "user", "content": ' + "1" * 5000 + '}], "n": ' + "9" * 5000 + "}",
        '{"prompt": [1, 2, 99999999999]}', '{"prompt": [-1, 2]}', '{"prompt": [1.5]}', '{"prompt": [true]}',
        '{"prompt": [NaN]}', '{"prompt": [[1, 2], [3]]}', "[4294967295, 1]", '{"messages": []}', '{"messages": [{}]}',
        '{"\\ud800": 1, "messages": [{"role": "\\udfff", "content": "\\ud83d"}]}',
    ]  # fmt: skip
    (tmp_path / "x.jsonl").write_text("\n".join(odd) + "\n")
    run(["hitrate", "x.jsonl", "--by", "model"]).check(0)


# -- hostile text -------------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path: Path, e2e: Any) -> Path:
    """Return a log with escape sequences in every value and key, under a name that has them too."""
    evil = e2e.HOSTILE
    body = {"model": "gpt-4o" + evil, "user": evil, "prompt_cache_key": evil, "messages": [
        {"role": "system" + evil, "content": evil * 20}, {"role": "user", "content": evil, "name": evil},
        {"role": "assistant", "content": [{"type": evil, evil: evil}],
         "tool_calls": [{"id": evil, "function": {"name": evil, "arguments": evil}}]}]}  # fmt: skip
    record = {"tenant": evil, "session_id": evil, "replica": evil, evil: {"a": 1}, "request": body}
    other = copy.deepcopy(record)
    other["tenant"] = "other"
    other["request"]["messages"][1]["content"] = "different" + evil
    path = tmp_path / "log\x1b[31m\x1b]0;t\x07\u202e.jsonl"
    path.write_bytes(e2e.lines(record, other, record, {evil: 1}, {evil: [evil]}))
    return path


@pytest.mark.parametrize("form", ["text", "json", "csv", "markdown"])
def test_nothing_raw_reaches_the_output(form: str, run: Any, hostile: Path) -> None:
    shape = ["--output-format", form]
    by = ["--by", "model", "--by", "tenant", "--by", "session", "--by", "replica", "--by", "family"]
    run(["hitrate", hostile, *by, *shape]).check(0)
    if form in ("text", "markdown"):
        run(["diff", f"{hostile}#0", f"{hostile}#1", "--excerpts", "full", *shape]).check(0)
        run(["tokens", f"{hostile}#0", "--blocks", "--excerpts", "full", *shape]).check(0)


def test_nothing_raw_reaches_an_error(run: Any, hostile: Path) -> None:
    run(["hitrate", hostile, "--strict"]).check(2)
    run(["tokens", f"{hostile}#3"]).check(2)


TEXTS = {
    "spaces": " " * 1_000_000, "carriage returns": "\r" * 100_000, "one word": "a" * 300_000,
    "mixed white space": " \n\t" * 30_000, "no-break spaces": "\u00a0" * 300_000, "joiners": "\u200d" * 100_000,
    "emoji": "\U0001f600" * 100_000, "marks": "e" + "\u0301" * 100_000, "zeros": "\0" * 300_000,
    "lone surrogates": "\ud800" * 50_000, "special tokens": "<|endoftext|><|im_start|>" * 5_000,
}  # fmt: skip


def test_monotonous_text_is_counted(run: Any, tmp_path: Path, e2e: Any) -> None:
    records = [e2e.chat(text) for text in TEXTS.values()]
    (tmp_path / "x.jsonl").write_bytes(e2e.lines(*records))
    result = run(["hitrate", "x.jsonl", "--json"], timeout=30).check(0)
    assert result.json()["values"]["requests"] == len(records)


@pytest.mark.parametrize("text", ["\n" * 1_000_000, '  "key": 1,\n' * 50_000], ids=len)
def test_a_million_lines_take_no_longer_than_a_million_characters(text: str, run: Any, tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text(json.dumps({"model": "gpt-4o", "prompt": text}) + "\n")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run(["hitrate", "x.jsonl"], timeout=60).check(0)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 4  # of CPU, however busy the machine


# -- files that are not what they seem ----------------------------------------------------------------------


def test_kinds_of_files(run: Any, tmp_path: Path, good: Path) -> None:
    (tmp_path / "a#b.jsonl").write_bytes(good.read_bytes())
    (tmp_path / "x#2").write_bytes(good.read_bytes())
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "up").symlink_to("..")
    (tmp_path / "folder" / "log.jsonl").write_bytes(good.read_bytes())
    run(["diff", "a#b.jsonl#4", "x#2#1"]).check(0)
    assert run(["hitrate", "folder", "--json"]).check(0).json()["values"]["requests"] == 5


def test_a_socket_is_one_line(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("s")
        run(["hitrate", "s"]).check(2, 3)


@pytest.mark.parametrize("args", [["hitrate", "{}"], ["tokens", "{}"], ["hitrate", "good.jsonl", "--report", "json={}"],
                                  ["trace", "good.jsonl", "--share", "-o", "{}"]])  # fmt: skip
def test_a_name_too_long_is_one_line(args: list[str], run: Any, good: Path) -> None:
    run([arg.format("x" * 5000) for arg in args]).check(2, 3)


@pytest.mark.parametrize("args", [["hitrate", "locked/x.jsonl"], ["hitrate", "locked"],
                                  ["hitrate", "x.jsonl"], ["hitrate", "good.jsonl", "--report", "json=locked/r.json"],
                                  ["trace", "good.jsonl", "--share", "-o", "locked/x.parquet"]])  # fmt: skip
def test_what_may_not_be_read_or_written_is_one_line(args: list[str], run: Any, tmp_path: Path, good: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir()
    for path in (locked / "x.jsonl", tmp_path / "x.jsonl"):
        path.write_bytes(good.read_bytes())
        path.chmod(0)
    locked.chmod(0)
    try:
        result = run(args, ordinary_user=True)
    finally:
        locked.chmod(0o755)
    if result.code == 2:  # a report that cannot be written comes after the document
        result = type(result)(2, "", result.err)
    assert "ermission" in result.check(2).err


def test_one_file_under_two_names_is_counted_once(run: Any, good: Path, tmp_path: Path) -> None:
    (tmp_path / "link.jsonl").symlink_to("good.jsonl")
    args = ["hitrate", "good.jsonl", "./good.jsonl", good, tmp_path, "link.jsonl", "--json"]
    assert run(args).check(0).json()["values"]["requests"] == 5


def _close_when_read(writer: int) -> None:
    """Close a pipe when all that was written has been taken out; it is gone if it closes before that."""
    while int.from_bytes(fcntl.ioctl(writer, termios.FIONREAD, bytes(4)), sys.byteorder):
        time.sleep(0.02)
    os.close(writer)


@pytest.mark.parametrize("command", ["tokens", "diff"])
def test_a_named_pipe_is_read(command: str, run: Any, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"  # what `prefixwise diff <(one) <(other)` hands over
    os.mkfifo(pipe)
    writer = os.open(pipe, os.O_RDWR)  # both ends, so that nobody waits for anybody
    os.write(writer, b"A prompt from a pipe.\n")
    closer = threading.Thread(target=_close_when_read, args=[writer])
    closer.start()
    (tmp_path / "other.md").write_text("A prompt from a file.\n")
    try:
        run([command, pipe, *(["other.md"] if command == "diff" else [])], timeout=30).check(0)
    finally:
        closer.join()


def test_hundreds_of_files(run: Any, tmp_path: Path, e2e: Any) -> None:
    (tmp_path / "logs").mkdir()
    for number in range(300):
        record = {"model": "gpt-4o", "messages": [{"role": "user", "content": f"hi {number}"}]}
        (tmp_path / "logs" / f"{number}.jsonl").write_bytes(e2e.lines(record))
    result = run(["hitrate", "logs"]).check(0)
    assert "300 files" in result.out
    assert len(result.out) < 10_000


# -- traces and files that are written -----------------------------------------------------------------------


@pytest.fixture
def trace(run: Any, tmp_path: Path, good: Path) -> Path:
    """Return the trace of the good log."""
    run(["trace", good, "--share", "-q", "-o", "t.parquet"]).check(0)
    return tmp_path / "t.parquet"


def test_damaged_and_foreign_traces_are_one_line(run: Any, trace: Path, tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet as parquet

    table = parquet.read_table(trace)
    meta = table.schema.metadata
    newer = {b"prefixwise": meta[b"prefixwise"].replace(b'"schema_version":1', b'"schema_version":9')}
    other = {b"prefixwise": meta[b"prefixwise"].replace(b"prefixwise/trace", b"prefixwise/other")}

    def swap(name: str, values: Any) -> Any:
        column = table.column_names.index(name)
        return table.set_column(column, name, values).replace_schema_metadata(meta)

    (tmp_path / "cut.parquet").write_bytes(trace.read_bytes()[:200])
    tables = {
        "foreign": pyarrow.table({"a": [1, 2]}),
        "lacking": table.drop_columns(["block_ends"]),
        "uneven": swap("block_ids", pyarrow.array([[1]] * 5)),
        "newer": table.replace_schema_metadata(newer),
        "other": table.replace_schema_metadata(other),
    }
    wrong = {}
    for name, made in tables.items():
        parquet.write_table(made, tmp_path / f"{name}.parquet")
    for name in ("cut", *tables):
        try:
            run(["hitrate", f"{name}.parquet"]).check(2)
        except AssertionError as problem:
            wrong[name] = str(problem)[:200]
    assert not wrong


def test_an_empty_trace_never_aborts(run: Any, trace: Path, tmp_path: Path) -> None:
    import pyarrow.parquet as parquet

    parquet.write_table(parquet.read_table(trace).slice(0, 0), tmp_path / "none.parquet")
    assert [run(["hitrate", "none.parquet"]).code for _ in range(3)] == [3] * 3


def test_traces_and_logs_do_not_mix(run: Any, trace: Path, good: Path) -> None:
    run(["hitrate", trace, good]).check(2)
    run(["tokens", trace]).check(2)


def test_without_pyarrow_a_trace_is_one_line_and_nothing_is_made(run: Any, good: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text("import sys\nsys.modules['pyarrow'] = None\n")
    env = {"PYTHONPATH": str(tmp_path / "site")}
    (tmp_path / "t.parquet").write_bytes(b"PAR1")
    assert "prefixwise[data]" in run(["hitrate", "t.parquet"], env=env).check(2).err
    assert "prefixwise[data]" in run(["trace", good, "-o", "x.parquet"], env=env).check(2).err
    assert not (tmp_path / "x.parquet").exists()
    assert not (tmp_path / "config").exists(), "a secret was made for a trace that cannot be written"


def test_a_trace_never_takes_the_place_of_a_pipe_or_device(run: Any, good: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"  # stands for /dev/null, which a test must not put at risk
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        run(["trace", good, "--share", "-o", pipe]).check(0, 2)
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.lstat().st_mode)


def test_a_trace_goes_where_a_link_leads(run: Any, good: Path, tmp_path: Path) -> None:
    (tmp_path / "link.parquet").symlink_to("target.parquet")
    run(["trace", good, "--share", "-o", "link.parquet"]).check(0)
    assert (tmp_path / "link.parquet").is_symlink()
    assert (tmp_path / "target.parquet").read_bytes()[:4] == b"PAR1"


@pytest.mark.parametrize("args", [["trace", "good.jsonl", "--share", "-o", "./good.jsonl"],
                                  ["hitrate", "good.jsonl", "--report", "json=./good.jsonl"]])  # fmt: skip
def test_an_input_is_never_overwritten(args: list[str], run: Any, good: Path) -> None:
    before = good.read_bytes()
    run(args).check(2)
    assert good.read_bytes() == before


def test_a_trace_on_standard_output_is_refused_or_written_there(run: Any, good: Path, tmp_path: Path) -> None:
    run(["trace", good, "--share", "-o", "-"])
    assert not (tmp_path / "-").exists()
