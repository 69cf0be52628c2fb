"""What `prefixwise/lint` promises, on small logs whose answers can be seen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, pairs_of

from prefixwise.core.finding import Level, Per, Severity, Verdict
from prefixwise.core.request import Ref

RULES = "You are the desk of a ferry line. " + "Name the quay, the time and the fare in every answer. " * 40


def body(system: str, *said: str, **more: Any) -> dict[str, Any]:
    """Return a chat in which user and assistant take turns."""
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(said)]
    return {"model": "gpt-4o", "messages": [{"role": "system", "content": system}, *messages], **more}


def clocked(second: int, *said: str) -> dict[str, Any]:
    return body(f"{RULES[:200]} It is 2026-03-11 09:14:{second:02d}. {RULES[200:]}", *said)


QUESTIONS = ("When does the last ferry leave?", "At 21:30 from quay 4.", "And on Sundays?", "At 20:00.", "Thank you!")


def chat(make: Any) -> list[dict[str, Any]]:
    """Return the three requests of one conversation."""
    return [{"request": make(n, *QUESTIONS[: 2 * n + 1]), "ts": 1_770_000_000 + 20 * n} for n in range(3)]


def test_a_clock_is_found_in_every_pair_with_its_place(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, chat(clocked))
    clock = finding(linted, "clock-in-prefix")
    assert found(linted) == ["clock-in-prefix"]
    assert pairs_of(clock) == [(0, 1), (1, 2)]
    assert clock.field == "/messages/0/content"
    assert clock.char_offset == len(f"{RULES[:200]} It is 2026-03-11 09:14:0")
    assert (clock.from_text, clock.to_text) == ("2026-03-11 09:14:00", "2026-03-11 09:14:01")
    assert clock.severity is Severity.CRITICAL
    assert clock.level is Level.ERROR
    assert clock.tokens_lost is not None
    assert clock.tokens_lost.per is Per.CALL


def test_cost_is_what_stands_behind_the_break_and_never_more_than_was_uncached(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, chat(clocked))
    clock = finding(linted, "clock-in-prefix")
    rows, pairs = linted.log.rows, linted.pairs
    behind = sum(rows.prompt_tokens[pair.before] - pair.kept for pair in pairs)
    assert clock.tokens_lost is not None
    assert clock.tokens_lost.value == behind
    # gpt-4o: 2.50 USD a million tokens of input, 1.25 of cached input (litellm 2026-11-20).
    assert clock.usd_lost == pytest.approx(behind * 1.25e-6)

    reporting = chat(clocked)
    for record in reporting:
        record["response"] = {"usage": {"prompt_tokens": 500, "prompt_tokens_details": {"cached_tokens": 200}}}
    assert finding(lint_records(tmp_path, reporting), "clock-in-prefix").tokens_lost.value == 2 * 300


def test_where_usage_shows_a_hit_nothing_is_blamed(tmp_path: Path) -> None:
    records = chat(clocked)
    tokens = lint_records(tmp_path, records).log.rows.prompt_tokens
    for record, count in zip(records, tokens, strict=True):
        details = {"cached_tokens": count - 10}
        record["response"] = {"usage": {"prompt_tokens": count, "prompt_tokens_details": details}}
    assert found(lint_records(tmp_path, records)) == []


def test_a_text_that_the_exporter_cut_is_not_a_changed_text(tmp_path: Path) -> None:
    whole = [{"request": body(RULES, *QUESTIONS[: 2 * n + 1])} for n in range(3)]
    whole[1]["request"]["messages"][0]["content"] = RULES[:600] + "... (truncated)"
    assert found(lint_records(tmp_path, whole)) == []


def test_every_pair_is_listed_with_verdict_and_kept_tokens(tmp_path: Path) -> None:
    records = [{"request": body(RULES, *QUESTIONS[: 2 * n + 1])} for n in (0, 1, 1, 0)]
    linted = lint_records(tmp_path, records)
    path = str(tmp_path / "log.jsonl")
    assert [(pair.before.record, pair.after.record, pair.verdict) for pair in linted.values.pairs] == [
        (0, 1, Verdict.EXTENDS),
        (1, 2, Verdict.IDENTICAL),
        (2, 3, Verdict.PREFIX),
    ]
    assert linted.values.pairs[0].after == Ref(path, 1, 2)
    assert linted.values.pairs[0].kept_tokens == linted.log.rows.prompt_tokens[0]


def test_findings_stay_the_same_under_shifted_lines_and_new_values(tmp_path: Path) -> None:
    first = finding(lint_records(tmp_path, chat(clocked)), "clock-in-prefix")
    later = [{"request": body("Something else entirely.", "Hello?"), "ts": 1_700_000_000}]
    later += chat(lambda n, *said: clocked(n + 20, *said))
    assert finding(lint_records(tmp_path, later), "clock-in-prefix").fingerprint == first.fingerprint
