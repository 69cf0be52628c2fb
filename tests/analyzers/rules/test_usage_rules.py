"""Rules on usage that is missing, doubled or counted two ways, and on what an engine's blocks leave over."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, lint_text
from support.marked import RULES, asks, turns

from prefixwise.analyzers.lint.figures import doubled_in
from prefixwise.core.finding import Confidence, Level, Severity, Where

WORDS = ("quays", "boats", "tides")
ANSWER = {"choices": [{"message": {"role": "assistant", "content": "Yes, it does."}}]}


def gpt(number: int, reported: dict[str, Any] | None, **around: Any) -> dict[str, Any]:
    said = [{"role": "system", "content": RULES}, {"role": "user", "content": f"Is quay {number} open?"}]
    answer = ANSWER if reported is None else {**ANSWER, "usage": reported}
    return {"request": {"model": "gpt-4o", "messages": said}, "response": answer, **around}


def chat_usage(prompt: int, cached: int | None) -> dict[str, Any]:
    details = {} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}}
    return {"prompt_tokens": prompt, "completion_tokens": 5, **details}


def langfuse(details: dict[str, Any], provider: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "id": "o1",
        "traceId": "t1",
        "type": "GENERATION",
        "startTime": "2026-02-03T09:00:00Z",
        "endTime": "2026-02-03T09:00:04Z",
        "model": "claude-sonnet-4-5",
        "input": [{"role": "user", "content": "Is quay 2 open?"}],
        "output": {"role": "assistant", "content": "Yes."},
        "usageDetails": details,
        "metadata": {} if provider is None else {"provider_usage": provider},
    }


CLAUDE = {"input_tokens": 130, "cache_read_input_tokens": 9702, "cache_creation_input_tokens": 288, "output_tokens": 14}
PARTS = {"cache_read_input_tokens": 9702, "cache_creation_input_tokens": 288, "output": 14}

# usage-double-counted


@pytest.mark.parametrize(
    ("details", "provider", "is_doubled"),
    [
        ({"input": 10120, **PARTS, "total": 20124}, CLAUDE, True),
        ({"input": 10120, **PARTS}, CLAUDE, True),
        ({"input": 130, **PARTS, "total": 10134}, CLAUDE, False),
        ({"input": 10120, **PARTS, "total": 10134}, CLAUDE, False),
        ({"input": 10120, **PARTS, "total": 20124}, None, False),
        ({"input": 10120, "cache_read_input_tokens": 0, "output": 14}, {**CLAUDE, "cache_read_input_tokens": 0}, False),
    ],
    ids=["sum", "no total", "right", "whole and said so", "nothing to hold it against", "nothing cached"],
)
def test_an_exporter_against_the_provider(
    details: dict[str, Any], provider: dict[str, Any] | None, is_doubled: bool, tmp_path: Path
) -> None:
    linted = lint_records(tmp_path, [langfuse(details, provider)])
    assert found(linted) == ["usage-double-counted"] * is_doubled
    if is_doubled:
        doubled = finding(linted, "usage-double-counted")
        assert (doubled.field, doubled.where, doubled.confidence) == (
            "record:/usageDetails",
            Where.USAGE,
            Confidence.CERTAIN,
        )


def test_the_calls_of_all_applications_are_one_finding(tmp_path: Path) -> None:
    records = [langfuse({"input": 10120, **PARTS}, CLAUDE) | {"id": f"o{n}"} for n in range(3)]
    for number, made in enumerate(records):
        made["input"][0]["content"] = f"{number} is another matter altogether."
    (doubled,) = lint_records(tmp_path, records).values.findings
    assert len(doubled.occurrences) == 3


def test_a_total_that_adds_what_it_holds() -> None:
    details = {"prompt_tokens_details": {"cached_tokens": 900}}
    wrong = {"response": {"usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1910, **details}}}
    right = {"response": {"usage": {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010, **details}}}
    doubled = doubled_in(json.dumps(wrong).encode())
    assert doubled is not None
    assert (doubled.pointer, doubled.input, doubled.cached) == ("/response/usage", 1000, 900)
    assert doubled_in(json.dumps(right).encode()) is None


def test_figures_written_as_text_and_records_of_any_shape() -> None:
    record = langfuse({"input": 10120, **PARTS})
    record["metadata"] = json.dumps({"provider_usage": CLAUDE})
    assert doubled_in(json.dumps(record).encode()) is not None
    for odd in (b"[]", b"{", b'"x"', b'{"usage": {"input": -1, "cached_tokens": "9"}}', b"[" * 5000):
        assert doubled_in(odd) is None


def test_an_input_that_includes_what_its_api_counts_apart(tmp_path: Path) -> None:
    counts = [(6100, 3050, 0), (3100, 60, 3000), (3160, 60, 3060), (3220, 60, 3120)]
    counts = [(4 + written + read, written, read) for _, written, read in counts]
    records = turns("anthropic", 4, counts, marked="newest", on_system=True)
    doubled = finding(lint_records(tmp_path, records), "usage-double-counted")
    assert len(doubled.occurrences) == 4
    assert doubled.field == "record:/response/usage"
    honest = turns("anthropic", 4, [(4, w, r) for _, w, r in counts], marked="newest", on_system=True)
    assert found(lint_records(tmp_path, honest)) == []


# usage-convention-mixed


def test_two_conventions_in_one_application(tmp_path: Path) -> None:
    whole = len(RULES) // 5  # about what the prompts hold
    exact = lint_records(tmp_path, [gpt(0, None)]).log.rows.prompt_tokens[0]
    assert exact > whole
    cached = exact // 128 * 128
    wholes = [gpt(n, chat_usage(exact, cached)) for n in range(4)]
    rests = [gpt(n, chat_usage(exact - cached, cached)) for n in range(4, 8)]
    mixed = finding(lint_records(tmp_path, wholes + rests), "usage-convention-mixed")
    assert (len(mixed.occurrences), mixed.level) == (4, Level.WARNING)
    assert found(lint_records(tmp_path, wholes + rests[:2])) == []
    assert found(lint_records(tmp_path, wholes)) == []


# usage-missing


def test_some_calls_report_and_others_do_not(tmp_path: Path) -> None:
    records = [gpt(n, chat_usage(2900, 2816 * bool(n))) for n in range(6)] + [gpt(n, None) for n in range(6, 10)]
    missing = finding(lint_records(tmp_path, records), "usage-missing")
    assert (len(missing.occurrences), missing.severity) == (4, Severity.MEDIUM)
    assert missing.field == "record:/response/usage"
    assert found(lint_records(tmp_path, records[:8])) == []  # two may be chance


def test_requests_without_answers_report_nothing_by_nature(tmp_path: Path) -> None:
    records = [gpt(n, chat_usage(2900, 2816 * bool(n))) for n in range(6)] + [gpt(n, None) for n in range(6, 10)]
    for made in records[6:]:
        del made["response"]
    assert found(lint_records(tmp_path, records)) == []


def test_a_log_without_figures_is_worth_knowing_only(tmp_path: Path) -> None:
    (missing,) = lint_records(tmp_path, [gpt(n, None) for n in range(12)]).values.findings
    assert (missing.rule, missing.level) == ("usage-missing", Level.INFO)
    (silent,) = lint_records(tmp_path, [gpt(n, chat_usage(2900, None)) for n in range(12)]).values.findings
    assert "never mentions the cache" in silent.message
    assert lint_records(tmp_path, [gpt(n, None) for n in range(4)]).values.findings == ()


def test_lines_of_one_answer_are_one_call(tmp_path: Path) -> None:
    def line(number: int, text: str) -> dict[str, Any]:
        message = {
            "id": "m1",
            "role": "assistant",
            "model": "claude-opus-4-6",
            "content": [{"type": "text", "text": text}],
        }
        around = {"sessionId": "s", "type": "assistant", "requestId": "r1"}
        around |= {"uuid": f"u{number}", "parentUuid": f"u{number - 1}"}
        return {**around, "timestamp": "2026-10-06T08:00:09Z", "message": message | {"usage": CLAUDE}}

    first = {"sessionId": "s", "type": "user", "uuid": "u0", "parentUuid": None, "timestamp": "2026-10-06T08:00:00Z"}
    lines = [first | {"message": {"role": "user", "content": "Look."}}, line(1, "I look."), line(2, "Done.")]
    linted = lint_text(tmp_path, "".join(json.dumps(one) + "\n" for one in lines))
    assert len(linted.log.rows) == 1
    assert found(linted) == []


# block-remainder


def engine(system: str, count: int, prompt: int, cached: int, first: int = 0) -> list[dict[str, Any]]:
    return [
        {
            "request": {
                "model": "house/hybrid-9b",
                "messages": [
                    {"role": "system", "content": system},
                    {"role": "user", "content": f"{n} {WORDS[n % 3]} at {n * n}?"},
                ],
            },
            "response": {"usage": chat_usage(prompt, cached if n > first else 0)},
        }
        for n in range(first, first + count)
    ]


def test_what_is_shared_is_less_than_a_block(tmp_path: Path) -> None:
    shown = engine(RULES, 5, 2900, 2112)  # 2 x 1,056
    shown[2]["response"]["usage"] = chat_usage(2900, 1056)
    short = engine("You translate notices of a ferry line. " * 90, 6, 800, 0)
    block = finding(lint_records(tmp_path, shown + short), "block-remainder")
    assert (block.severity, block.where, len(block.occurrences)) == (Severity.LOW, Where.ENGINE, 5)
    assert "1,056" in block.message
    assert found(lint_records(tmp_path, short)) == []  # nothing shows the block


def test_blocks_of_a_few_tokens_leave_nothing_to_speak_of(tmp_path: Path) -> None:
    shown = engine(RULES, 5, 2900, 2096)
    shown[2]["response"]["usage"] = chat_usage(2900, 16)
    short = engine("Be kind.", 6, 30, 0)
    assert found(lint_records(tmp_path, shown + short)) == []


def test_a_provider_is_no_engine(tmp_path: Path) -> None:
    records = asks("anthropic", 6, [(12, 2990, 0), (12, 0, 2990)], on_system=True)
    assert found(lint_records(tmp_path, records)) == []
