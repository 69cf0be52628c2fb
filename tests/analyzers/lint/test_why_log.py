"""`why`: every token has one account, every request one line, and a request in full is what its log says of it."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.ferry_desk import RULES, body, clock, talk, usage
from support.logs import logs

from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.why.accounts import Account, accounts
from prefixwise.analyzers.why.examine import examine, row_of
from prefixwise.analyzers.why.lines import Line, why_lines
from prefixwise.analyzers.why.report import why_report
from prefixwise.analyzers.why.request_report import request_values
from prefixwise.analyzers.why.words import gap_words
from prefixwise.caches.policy import parse_policy
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Verdict
from prefixwise.corpus.again import requests_again
from prefixwise.corpus.reader import ReadOptions
from prefixwise.reports.format import FORMATS
from tests.support.linting import lint_files, lint_records, lint_text


def of(linted: Linted, record: int, path: Path, excerpts: Excerpts = Excerpts.MASKED) -> Any:
    """Return what is said of one request of `path`."""
    log = linted.log
    row = row_of(linted, str(path), record)
    found = examine(
        linted,
        row,
        partial(requests_again, [str(path)], log.rows, ReadOptions()),
        excerpts=excerpts,
    )
    return request_values(linted, found, [parse_policy("vllm"), parse_policy("sglang")], excerpts)


# -- accounts ------------------------------------------------------------------------------------------------------


def test_a_clock_explains_what_stands_behind_it_and_the_rest_is_cached_or_new(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(clock, (0, 1_024, 1_024)))
    by = {entry.account: entry for entry in accounts(linted)}
    assert (by[Account.EXPLAINED].rule, by[Account.EXPLAINED].requests) == ("clock-in-prefix", 2)
    assert by[Account.EXPLAINED].tokens == sum(f.tokens_lost.value for f in linted.values.findings if f.tokens_lost)
    assert (by[Account.EXPLAINED].usd or 0) > 0
    assert by[Account.CACHED].tokens == 2_048
    assert by[Account.FIRST_SEEN].tokens >= 1_960


def test_without_usage_nobody_says_that_what_was_seen_before_was_computed(tmp_path: Path) -> None:
    entries = accounts(lint_records(tmp_path, talk(RULES)))
    assert [entry.account for entry in entries] == [Account.FIRST_SEEN, Account.NOT_REPORTED]


def test_a_miss_that_no_rule_explains_is_left_unexplained(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(RULES * 2, (0, 0, 0), 4_200))
    linted = msgspec.structs.replace(linted, claims=[])
    by = {entry.account: entry.tokens for entry in accounts(linted)}
    assert by[Account.UNEXPLAINED] > 3_000


def test_too_little_for_the_cache_is_no_riddle(tmp_path: Path) -> None:
    short = "You are the desk of a ferry line. " * 20
    records = [record | {"usage": usage(200, 0)} for record in talk(short)]
    assert {entry.account for entry in accounts(lint_records(tmp_path, records))} == {
        Account.FIRST_SEEN,
        Account.GRANULARITY,
    }


@settings(max_examples=30, deadline=None)
@given(log=logs())
def test_every_prompt_token_has_one_account(log: Any, tmp_path_factory: pytest.TempPathFactory) -> None:
    linted = lint_text(tmp_path_factory.mktemp("log"), "".join(f"{line}\n" for line in log.lines))
    entries = accounts(linted)
    assert sum(e.tokens for e in entries) == sum(linted.log.prompt(row) for row in range(len(linted.log.rows)))
    assert all(e.tokens > 0 and (e.rule is None) == (e.account is not Account.EXPLAINED) for e in entries)


def test_the_report_names_the_causes_and_how_many_are_left_out(tmp_path: Path) -> None:
    other = "Another desk, that of a mountain railway. " * 300
    records = [*talk(clock, (0, 0, 0)), *talk(other, (0, 0, 0))]
    records[4]["request"]["model"] = "gpt-4o-mini"
    linted = lint_records(tmp_path, records)
    assert len(linted.values.findings) > 1
    report = why_report(linted, top=1)
    text = FORMATS.get("text").render(report, width=80, colour=False)
    assert report.values.causes[0].rule in text
    assert f"--top {len(linted.values.findings)}" in text
    assert max(map(len, text.splitlines())) <= 80
    assert report.exit_code == 0
    assert len(report.values.causes) == 1


# -- lines ---------------------------------------------------------------------------------------------------------


def test_one_line_a_request_in_order_of_start(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, list(reversed(talk(clock, (0, 1_024, None)))))
    lines = [line.removeprefix(str(tmp_path)) for line in why_lines(linted)]
    assert lines[0].startswith("/log.jsonl#2  first of its application  ")
    assert lines[0].endswith("tokens  cached 0\n")
    assert lines[1].startswith("/log.jsonl#1  continues #2 (+20 s)  keeps ")
    assert "  cached 1,024  clock-in-prefix /messages/0/content:" in lines[1]
    assert "  cached –  clock-in-prefix " in lines[2]


def test_a_line_that_no_rule_speaks_of_says_how_the_texts_stand(tmp_path: Path) -> None:
    again = [*talk(RULES)[:2], {"request": body(RULES, "What is the fare?")}]
    lines = list(why_lines(lint_records(tmp_path, again)))
    assert lines[1].endswith("  extends\n")
    assert "resembles #1" in lines[2]
    assert lines[2].endswith("  shared_prefix\n")


def test_json_lines_have_the_fields_that_the_page_promises(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(clock, (0, 0, 0)))
    objects = [json.loads(line) for line in why_lines(linted, json=True)]
    page = (Path(__file__).parents[3] / "docs" / "why.md").read_text(encoding="utf-8")
    for name in Line.__struct_fields__:
        assert f"`{name}`" in page
        assert all(name in found for found in objects)
    assert objects[1]["reasons"][0]["rule"] == "clock-in-prefix"
    assert objects[1]["compared_with"]["record"] == 0


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (2.25, "2.2 s"),
        (9, "9 s"),
        (98.4, "98 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7_300, "2 h"),
        (1e6, "12 d"),
    ],
)
def test_gaps_are_short(seconds: float, words: str) -> None:
    assert gap_words(seconds) == words


# -- one request ---------------------------------------------------------------------------------------------------


def test_a_request_in_full(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(clock, (0, 1_024, 1_024)))
    told = of(linted, 2, tmp_path / "log.jsonl")
    assert (told.relation, told.seconds, told.verdict) == ("conversation", 20.0, Verdict.BREAKS)
    assert told.compared_with is not None
    assert told.compared_with.record == 1
    assert told.spot is not None
    assert (told.spot.after_field, told.spot.before_field) == ("/messages/0/content",) * 2
    assert told.spot.text_before.endswith("09:14:1")
    assert told.spot.before_text.startswith("1. You")
    assert sum(part.tokens for part in told.parts) == told.prompt_tokens
    assert sum(part.kept_tokens for part in told.parts) == told.kept_tokens
    assert [finding.rule for finding in told.findings] == ["clock-in-prefix"]
    assert len(told.findings[0].occurrences) == 2
    assert told.usage.agrees is True
    assert {rule.rule for rule in told.rules} == {"vllm:block=16", "sglang:page=1"}
    assert told.rules[1].kept_tokens == told.kept_tokens


def test_a_request_that_is_fine_says_so(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(RULES, (0, 1_900, 1_900)))
    told = of(linted, 1, tmp_path / "log.jsonl")
    assert told.summary == "Nothing is wrong with this request: it repeats all of #0 and goes on."
    assert (told.findings, told.spot, told.usage.agrees) == ((), None, True)


def test_the_first_of_its_application_says_so(tmp_path: Path) -> None:
    told = of(lint_records(tmp_path, talk(RULES)), 0, tmp_path / "log.jsonl")
    assert told.summary.startswith("The first request of its application")
    assert (told.relation, told.compared_with, told.rules, told.usage.agrees) == ("none", None, (), None)


def test_a_miss_that_the_text_does_not_explain_says_so(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(RULES * 2, (0, 0, 0), 4_200))
    linted = msgspec.structs.replace(linted, claims=[], values=msgspec.structs.replace(linted.values, findings=()))
    told = of(linted, 1, tmp_path / "log.jsonl")
    assert told.usage.agrees is False
    assert told.summary.startswith("The text does not explain the miss")


def test_what_differs_beside_the_text_is_listed_and_masked(tmp_path: Path) -> None:
    records = talk(RULES)
    key = "sk-ant-REDACTEDREDACTEDREDACTED000"
    records[1]["request"] |= {"prompt_cache_key": key, "parallel_tool_calls": False, "model": "gpt-4o-mini"}
    told = of(lint_records(tmp_path, records), 1, tmp_path / "log.jsonl")
    settings_of = {(s.kind, s.name): (s.before, s.after) for s in told.settings}
    assert settings_of["model", "model"] == ("gpt-4o", "gpt-4o-mini")
    assert settings_of["parameter", "parallel_tool_calls"] == (None, "false")
    assert settings_of["namespace", "cache_key"] == (None, "[masked:key]")
    shown = of(lint_records(tmp_path, records), 1, tmp_path / "log.jsonl", Excerpts.FULL)
    assert ("namespace", "cache_key", None, key) in [(s.kind, s.name, s.before, s.after) for s in shown.settings]


def test_excerpts_show_nothing_forty_characters_or_all(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, talk(clock))
    path = tmp_path / "log.jsonl"
    none, some, every = (of(linted, 1, path, mode).spot for mode in Excerpts)
    assert (none.text_before, none.after_text) == ("", "")
    assert len(some.after_text) == 40
    assert every.after_text.endswith("in every answer. ")


def test_another_application_that_begins_alike_is_named(tmp_path: Path) -> None:
    ids = list(range(100, 400))
    records = [{"request": {"model": "m", "prompt": ids}}, {"request": {"model": "m", "prompt": [*ids[:200], 1, 2]}}]
    told = of(lint_records(tmp_path, records), 1, tmp_path / "log.jsonl")
    assert (told.relation, told.kept_tokens) == ("prefix", 200)
    assert "another one begins with the same text" in told.summary


def test_a_request_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    text = "".join(json.dumps(record) + "\n" for record in talk(RULES)) + "[1, 2\n"
    linted = lint_text(tmp_path, text)
    assert row_of(linted, "", 1) == row_of(linted, str(path), 1)
    for name, record, what in (
        (str(path), 9, "there is no record 9"),
        (str(path), 3, "is broken"),
        ("x", 0, "of no file"),
    ):
        with pytest.raises(UserError, match=what):
            row_of(linted, name, record)
    (tmp_path / "b.jsonl").write_bytes(path.read_bytes())
    with pytest.raises(UserError, match="several files"):
        row_of(lint_files([str(path), str(tmp_path / "b.jsonl")]), "", 0)


@given(turn=st.integers(0, 2), width=st.sampled_from([60, 80, 120]))
@settings(max_examples=9, deadline=None)
def test_a_report_fits_its_terminal(turn: int, width: int, tmp_path_factory: pytest.TempPathFactory) -> None:
    from prefixwise.analyzers.why.request_report import request_report

    folder = tmp_path_factory.mktemp("log")
    linted = lint_records(folder, talk(clock, (0, 0, 0)))
    again = [str(folder / "log.jsonl")]
    found = examine(linted, turn, partial(requests_again, again, linted.log.rows, ReadOptions()))
    report = request_report(linted, found, [parse_policy("vllm")])
    text = FORMATS.get("text").render(report, width=width, colour=False)
    assert max(map(len, text.splitlines())) <= width
