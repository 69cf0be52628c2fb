"""Copies of logs with repairs: what is counted is what is written, and nothing else in a record changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.linting import lint_files, lint_records

from prefixwise.analyzers.fixes.fixed_log import LogMender, LogRepairs
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.rule import RULES
from prefixwise.caches.policy import parse_policy
from prefixwise.core.errors import UserError
from prefixwise.core.request import Request
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.corpus import read_corpus
from prefixwise.corpus.reader import ReadOptions

CASES = Path(__file__).parents[3] / "fixtures" / "cases"
SYSTEM = "You answer questions on ferry timetables. Say which quay, and what to do when a crossing is cancelled. " * 4


def mender(linted: Linted) -> LogMender:
    corpus = linted.log.corpus
    paths = [file.path for file in corpus.inputs]
    return LogMender(linted, linted.values.findings, lambda: requests_again(paths, corpus.rows, ReadOptions()))


def copied(folder: Path, linted: Linted) -> tuple[LogRepairs, list[bytes], Path]:
    made = mender(linted)
    repairs = made.repairs()
    lines = list(made.lines())
    path = folder / "copy.jsonl"
    path.write_bytes(b"".join(lines))
    return repairs, lines, path


def served(path: Path) -> tuple[int, int]:
    rows = read_corpus([str(path)]).rows
    return sum(rows.prompt_tokens), sum(parse_policy("vllm").replay(rows).matched)


def clocked(minutes: Sequence[int] = (14, 15, 16, 18), **more: Any) -> list[dict[str, Any]]:
    """A conversation under a clock, in a wrapper with fields that nobody knows."""
    log: list[dict[str, Any]] = []
    messages: list[Mapping[str, Any]] = []
    for turn, minute in enumerate(minutes):
        messages = [*messages, {"role": "user", "content": f"Question {turn}: when does it leave?", "x-seen": [turn]}]
        head = {"role": "system", "content": f"Now it is 2026-03-11 09:{minute}. {SYSTEM}", "weight": 1.50}
        body = {"model": "gpt-4o", "novel": {"b": 1, "a": [2.0]}, "messages": [head, *messages], "seed": 7, **more}
        log.append({"trace": f"t{turn}", "request": body, "status": 200, "usage": None})
        messages = [*messages, {"role": "assistant", "content": f"Answer {turn}: é 😀."}]
    return log


@pytest.mark.parametrize(
    "case",
    """
    accents-decomposed-vllm adapter-by-call-sglang arguments-written-anew-responses cache-salt-random-vllm
    format-asked-once-openai markers-pile-up-anthropic answers-stripped-of-markup-gemini
    models-by-length-openai tools-plan-mode-anthropic
    """.split(),  # noqa: SIM905 - one a line would be a page
)
def test_what_is_counted_is_what_is_written(tmp_path: Path, case: str) -> None:
    path = next(path for path in (CASES / case).iterdir() if path.name != "expected.json")
    linted = lint_files([str(path)])
    repairs, lines, copy = copied(tmp_path, linted)
    assert [gain.rule for gain in repairs.gains]
    assert served(copy) == (repairs.after.prompt_tokens, repairs.after.cached_tokens)
    assert served(path) == (repairs.before.prompt_tokens, repairs.before.cached_tokens)
    originals = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == len(originals)
    assert [json.loads(line).keys() for line in lines] == [json.loads(line).keys() for line in originals]


def test_only_what_is_repaired_changes_and_in_its_own_bytes(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    texts = [json.dumps(record, ensure_ascii=number % 2 > 0, indent=None) for number, record in enumerate(clocked())]
    odd = b'\n{"note": "no request"}\r\nnot json at all\n'
    log.write_bytes(texts[0].encode() + b"\r\n" + odd + "\n".join(texts[1:]).encode())
    _, lines, _ = copied(tmp_path, lint_files([str(log)]))
    assert b"".join(lines[1:4]) == odd
    assert lines[0].endswith(b"\r\n")
    assert not lines[-1].endswith(b"\n")
    for text, line in zip(texts, [lines[0], *lines[4:]], strict=True):
        before, after = json.loads(text), json.loads(line)
        assert after["request"].pop("messages") != before["request"].pop("messages")
        assert json.dumps(after) == json.dumps(before)
        head, _, rest = line.decode().rstrip("\r\n").partition('"messages": ')
        assert text.startswith(head)
        assert text.endswith(rest[rest.rindex("]") :])


def test_a_repair_that_lowers_the_hit_rate_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule = RULES.get("clock-in-prefix")

    def worse(_self: object, request: Request, _claims: Sequence[object]) -> Request:
        section = request.sections[-1]
        first = json.dumps({"role": "system", "content": f"{request.record} {SYSTEM}"}).encode()
        items = [first, *map(bytes, section.raw_items())]
        return type(request)(
            *[
                (type(section)(section.kind, section.pointer, items),) if name == "sections" else getattr(request, name)
                for name in request.__struct_fields__
            ]
        )

    linted = lint_records(tmp_path, clocked())
    monkeypatch.setattr(type(rule), "repair", worse)
    repairs, lines, _ = copied(tmp_path, linted)
    assert [(gain.rule, gain.kept) for gain in repairs.gains] == [("clock-in-prefix", False)]
    assert repairs.refused[0].after.hit_rate < repairs.refused[0].before.hit_rate
    assert repairs.after == repairs.before
    assert b"".join(lines) == (tmp_path / "log.jsonl").read_bytes()


def test_repairs_of_several_rules_add_up(tmp_path: Path) -> None:
    tools = [{"type": "function", "function": {"name": name, "description": SYSTEM * 8}} for name in ("quay", "fare")]
    records = clocked((14, 15, 16, 17, 18, 19))
    for number, record in enumerate(records):
        record["request"]["tools"] = tools[::-1] if number in (2, 3) else tools
    repairs, _, copy = copied(tmp_path, lint_records(tmp_path, records))
    assert {gain.rule for gain in repairs.gains} == {"clock-in-prefix", "tools-reordered"}
    assert all(gain.after.hit_rate > gain.before.hit_rate for gain in repairs.gains)
    assert [gain.before for gain in repairs.gains[1:]] == [gain.after for gain in repairs.gains[:-1]]
    assert served(copy) == (repairs.after.prompt_tokens, repairs.after.cached_tokens)


def test_a_body_that_is_written_as_a_string_stays_one(tmp_path: Path) -> None:
    records = [{**record, "request": json.dumps(record["request"])} for record in clocked()]
    repairs, lines, copy = copied(tmp_path, lint_records(tmp_path, records))
    assert all(isinstance(json.loads(line)["request"], str) for line in lines)
    assert served(copy) == (repairs.after.prompt_tokens, repairs.after.cached_tokens)
    assert repairs.after.hit_rate > repairs.before.hit_rate


@pytest.mark.parametrize("case", ["arguments-key-order-langfuse", "batch-file-user-first-openai"])
def test_other_formats_are_one_clear_line(case: str) -> None:
    path = next(path for path in (CASES / case).iterdir() if path.name != "expected.json")
    linted = lint_files([str(path)])
    with pytest.raises(UserError, match="a copy is made of JSON Lines"):
        mender(linted)


def test_a_list_of_bodies_is_no_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(clocked(), indent=1), encoding="utf-8")
    linted = lint_files([str(path)])
    with pytest.raises(UserError, match="a copy is made of JSON Lines"):
        mender(linted)


def test_records_beside_the_standard_are_mended_and_keep_what_they_hold_elsewhere(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    odd = r'"novel": [NaN, "\ud83d", 1E5, 12345678901234567890123], "novel": {}'
    lines = [json.dumps(record).replace('"status": 200', odd) for record in clocked()]
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    repairs, _, copy = copied(tmp_path, lint_files([str(path)]))
    written = copy.read_bytes().splitlines(keepends=True)
    assert repairs.after.cached_tokens > repairs.before.cached_tokens
    assert len(written) == len(lines)
    assert written[0].startswith(b"\xef\xbb\xbf")
    assert all(odd.encode() in line for line in written)
    assert [line.endswith(b"\r\n") for line in written] == [True, True, True, False]
