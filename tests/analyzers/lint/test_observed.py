"""What a record shows beside its text: what it asks of its cache, the vendor's diagnosis, two bodies in one record."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.linting import lint_records, lint_text
from support.marked import RULES, asks, record, request, turns

from prefixwise.analyzers.lint.diagnoses import diagnoses
from prefixwise.analyzers.lint.gateways import lost_markers_in
from prefixwise.analyzers.lint.vendor import Diagnosis, diagnosis_in
from prefixwise.core.finding import Where

REASON = {"type": "tools_changed", "cache_missed_input_tokens": 321}
SAID = {"diagnostics": {"cache_miss_reason": REASON}}


# The vendor's diagnosis.


@pytest.mark.parametrize(
    "answer",
    [
        {"id": "m", "content": [], **SAID},
        {"message": {"content": [], **SAID}},
        {"response": {"body": SAID}},
        [{"type": "message_start", "message": SAID}, {"type": "message_delta", "delta": {}}],
        {"response_body": json.dumps({"content": [], **SAID})},
    ],
)
def test_a_diagnosis_is_found_where_answers_hold_it(answer: Any) -> None:
    assert diagnosis_in(json.dumps(answer).encode()) == Diagnosis("tools_changed", 321)


@pytest.mark.parametrize(
    ("said", "diagnosis"),
    [
        ({"type": "cache_miss", "reason": "input_changed", "cache_missed_tokens": 5}, Diagnosis("input_changed", 5)),
        ({"type": "cache_hit"}, None),
        ({"type": "unavailable"}, Diagnosis("unavailable")),
        ({"type": "cache_miss", "reason": None}, None),
        ({"type": "cache_miss", "reason": "input_changed", "cache_missed_tokens": "5"}, Diagnosis("input_changed")),
    ],
)
def test_a_diagnosis_of_openai(said: dict[str, Any], diagnosis: Diagnosis | None) -> None:
    assert diagnosis_in(json.dumps({"output": [], "prompt_cache_diagnostics": said}).encode()) == diagnosis


@pytest.mark.parametrize(
    "raw",
    [
        b'{"diagnostics": {"cache_miss_reason": null}}',
        b'{"diagnostics": null, "content": "cache_miss_reason"}',
        b'{"content": [{"type": "text", "text": "diagnostics cache_miss_reason tools_changed"}]}',
        b'{"diagnostics": {"cache_miss_reason": ',
        b"[" * 3000 + b"cache_miss_reason",
        b'"cache_miss_reason"',
    ],
)
def test_words_of_a_text_are_no_diagnosis(raw: bytes) -> None:
    assert diagnosis_in(raw) is None


def test_a_transcript_tells_what_the_vendor_said(tmp_path: Path) -> None:
    around = {"sessionId": "s", "timestamp": "2026-10-06T08:00:00Z"}
    message = {
        "id": "m1",
        "role": "assistant",
        "model": "claude-opus-4-6",
        "content": [{"type": "text", "text": "Yes."}],
    }
    lines = [
        {**around, "type": "user", "uuid": "u0", "parentUuid": None, "message": {"role": "user", "content": "Look."}},
        {**around, "type": "assistant", "uuid": "u1", "parentUuid": "u0", "message": message},
        {**around, "type": "assistant", "uuid": "u2", "parentUuid": "u1", "message": {**message, **SAID}},
    ]
    linted = lint_text(tmp_path, "".join(json.dumps(line) + "\n" for line in lines))
    assert linted.log.of(0).diagnosis == Diagnosis("tools_changed", 321)


# Our answers against the vendor's.


def said(made: dict[str, Any], word: str) -> dict[str, Any]:
    made["response"]["diagnostics"] = {"cache_miss_reason": {"type": word, "cache_missed_input_tokens": 3000}}
    return made


def test_answers_are_held_against_the_vendors(tmp_path: Path) -> None:
    records = turns("anthropic", 6, [(4, 3000, 0), (4, 60, 3000), (4, 3100, 0)], marked="newest", on_system=True)
    for number, made in enumerate(records[2:]):
        made["request"]["system"][0]["text"] = f"It is now 09:1{number}:0{number}. {RULES}"
        said(made, "system_changed")
    said(records[1], "previous_message_not_found")
    said(records[5], "tools_changed")
    linted = lint_records(tmp_path, records)
    found = diagnoses(linted.log, linted.claims)
    assert found is not None
    assert found.words == (("system_changed", 3), ("previous_message_not_found", 1), ("tools_changed", 1))
    assert (found.compared, found.agreed, found.share) == (4, 3, 0.75)
    (other,) = found.others
    assert (other.record.record, other.said, other.area, other.missed_tokens) == (5, "tools_changed", Where.TOOLS, 3000)
    assert other.ours == (("clock-in-prefix", Where.SYSTEM),)


def test_a_log_without_the_vendors_word(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, asks("anthropic", 3, [(12, 2990, 0), (12, 0, 2990)], on_system=True))
    assert diagnoses(linted.log, linted.claims) is None


# What a request asks of its cache, and where its head ends.


def test_options_of_openai(tmp_path: Path) -> None:
    bodies = [
        {"model": "gpt-5.6", "input": "Hi.", "prompt_cache_options": {"mode": "explicit", "ttl": "12h"}},
        {"model": "gpt-5.1", "input": "Hi.", "prompt_cache_retention": "in_memory"},
        {"model": "gpt-5.1", "input": 'He wrote "prompt_cache_retention": "24h" there.'},
        {"model": "gpt-5.6", "input": "Hi.", "prompt_cache_options": {"mode": "odd", "ttl": 5}},
    ]
    log = lint_records(tmp_path, [{"request": body} for body in bodies]).log
    seen = [(log.of(row).mode, log.of(row).retention) for row in range(4)]
    assert seen == [("explicit", "12h"), ("", "in_memory"), ("", ""), ("", "")]


@pytest.mark.parametrize(("api", "head"), [("anthropic", "/system"), ("bedrock", "/system"), ("chat", "/messages/0")])
def test_where_the_head_ends(api: str, head: str, tmp_path: Path) -> None:
    records = [record(api, request(api, ["Hi."]), None), record(api, request(api, ["Hi."]), None)]
    log = lint_records(tmp_path, records).log
    assert log.outlines.head_ends == [head, head]


# Two bodies in one record.


@pytest.mark.parametrize(
    ("names", "is_lost"),
    [
        (("client_request", "upstream_request"), True),
        (("inbound", "outbound"), True),
        (("original_request", "body"), True),
        (("request", "provider_request"), True),
        (("first", "second"), False),
        (("upstream_request", "client_request"), False),
    ],
)
def test_which_body_is_the_clients(names: tuple[str, str], is_lost: bool) -> None:
    marked, plain = request("anthropic", ["Hi."], {0}, on_system=True), request("anthropic", ["Hi."])
    lost = lost_markers_in(json.dumps({names[0]: marked, names[1]: plain}).encode())
    assert (lost is not None) == is_lost
    if lost is not None:
        assert (lost.client, lost.upstream, lost.sent, lost.kept) == ("/" + names[0], "/" + names[1], 2, 0)


def test_bodies_written_as_text_and_broken_records() -> None:
    marked, plain = request("anthropic", ["Hi."], {0}), request("anthropic", ["Hi."])
    record = {"proxy_server_request": json.dumps(marked), "raw_request": {"body": plain}}
    assert lost_markers_in(json.dumps(record).encode()) is not None
    for odd in (
        b'{"messages',
        b'[{"messages": []}, {"messages": []}]',
        b'{"a": {"messages": 5}, "b": {"messages": 6}}',
    ):
        assert lost_markers_in(odd) is None
