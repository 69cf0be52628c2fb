"""Rules on time and on what no text explains: pauses, waves of calls, misses of the server."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, lint_text, pairs_of
from support.marked import APIS, RULES, START, asks, record, request, turns

from prefixwise.core.finding import Confidence, Level, Severity, Verdict, Where

WARM = [(4, 3000, 0), (4, 60, 3000), (4, 60, 3060)]


def after_a_pause(api: str, pause: float, last: tuple[int, int, int] | None, **given: Any) -> list[dict[str, Any]]:
    """Return three turns and, after a pause, a fourth."""
    records = turns(api, 4, [*WARM, last], marked="newest", on_system=given.pop("ttl", True), **given)
    records[3]["ts"] = records[2]["ts"] + pause
    return records


# ttl-expired


@pytest.mark.parametrize("api", APIS)
def test_a_pause_longer_than_the_cache_lives(api: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, after_a_pause(api, 700, (4, 3200, 0)))
    expired = finding(linted, "ttl-expired")
    assert found(linted) == ["ttl-expired"]
    assert (pairs_of(expired), expired.where, expired.severity) == ([(2, 3)], Where.TRANSPORT, Severity.MEDIUM)
    assert "12 min passed" in expired.message
    assert "lives 5 min" in expired.message
    assert expired.tokens_lost is not None
    assert expired.tokens_lost.value == 3124
    assert linted.values.pairs[-1].verdict is Verdict.TTL_GAP


@pytest.mark.parametrize(
    ("pause", "last"),
    [(700, (4, 60, 3120)), (200, (4, 60, 3120)), (700, None)],
    ids=["served all the same", "no pause", "failed"],
)
def test_pauses_that_cost_nothing(pause: float, last: tuple[int, int, int] | None, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, after_a_pause("anthropic", pause, last))
    assert "ttl-expired" not in found(linted) or last is None


def test_the_lifetime_that_was_asked_for_counts(tmp_path: Path) -> None:
    records = after_a_pause("anthropic", 700, (4, 3200, 0), ttl="1h")
    assert found(lint_records(tmp_path, records)) == []
    records = after_a_pause("anthropic", 4000, (4, 3200, 0), ttl="1h")
    assert "lives 60 min" in finding(lint_records(tmp_path, records), "ttl-expired").message


def test_a_very_large_context_is_severe(tmp_path: Path) -> None:
    counts = [(4, 60_000, 0), (4, 60, 60_000), (4, 60_000, 0)]
    records = turns("anthropic", 3, counts, marked="newest", on_system=True)
    records[2]["ts"] += 900
    expired = finding(lint_records(tmp_path, records), "ttl-expired")
    assert (expired.severity, expired.confidence) == (Severity.HIGH, Confidence.CERTAIN)


def test_what_other_conversations_keep_alive_does_not_hide_it(tmp_path: Path) -> None:
    counts = [(4, 6000, 0), (4, 60, 6000), (4, 4000, 2100)]
    records = turns("anthropic", 3, counts, marked="newest", on_system=True, long=100)
    records[2]["ts"] += 900
    assert found(lint_records(tmp_path, records)) == ["ttl-expired"]


def test_calls_that_were_given_up_are_no_uses(tmp_path: Path) -> None:
    """A transcript with an interrupted answer: the pause is counted from the last one that came."""
    lines = []

    def line(number: int, kind: str, at: str, message: dict[str, Any]) -> None:
        parent = f"u{number - 1}" if number else None
        around = {"sessionId": "s", "type": kind, "uuid": f"u{number}", "parentUuid": parent, "timestamp": at}
        lines.append({**around, "message": message})

    def answer(number: int, counts: tuple[int, int, int], stop: str | None) -> dict[str, Any]:
        split = {"ephemeral_5m_input_tokens": counts[1], "ephemeral_1h_input_tokens": 0}
        reported = {"input_tokens": counts[0], "cache_creation_input_tokens": counts[1], "cache_creation": split}
        reported |= {"cache_read_input_tokens": counts[2], "output_tokens": 5}
        content = [{"type": "text", "text": f"Answer {number}."}]
        message = {"id": f"m{number}", "role": "assistant", "model": "claude-opus-4-6", "usage": reported}
        return {**message, "content": content, "stop_reason": stop}

    line(0, "user", "2026-10-06T08:00:00Z", {"role": "user", "content": "Look at the lift."})
    line(1, "assistant", "2026-10-06T08:00:09Z", answer(1, (4, 30_000, 0), "end_turn"))
    line(2, "user", "2026-10-06T08:05:50Z", {"role": "user", "content": "Go on."})
    line(3, "assistant", "2026-10-06T08:05:58Z", answer(3, (4, 0, 0), None))
    line(4, "user", "2026-10-06T08:06:00Z", {"role": "user", "content": "[Request interrupted by user]"})
    line(5, "user", "2026-10-06T08:06:10Z", {"role": "user", "content": "Go on, slowly."})
    line(6, "assistant", "2026-10-06T08:06:20Z", answer(6, (4, 30_200, 0), "end_turn"))
    linted = lint_text(tmp_path, "".join(json.dumps(one) + "\n" for one in lines))
    expired = finding(linted, "ttl-expired")
    assert "6 min passed" in expired.message


def test_single_questions_too_far_apart(tmp_path: Path) -> None:
    records = asks("anthropic", 5, [(12, 2990, 0)], on_system=True)
    for number, made in enumerate(records):
        made["ts"] = START + 420 * number
    linted = lint_records(tmp_path, records)
    expired = finding(linted, "ttl-expired")
    assert found(linted) == ["ttl-expired"]
    assert len(expired.occurrences) == 4


@pytest.mark.parametrize(("pause", "confidence"), [(2400, Confidence.LIKELY), (400, Confidence.POSSIBLE)])
def test_a_lifetime_that_is_a_range(pause: float, confidence: Confidence, tmp_path: Path) -> None:
    records = turns("chat", 3, [(3000, 0, 0), (300, 0, 2944), (3200, 0, 0)], model="gpt-4o")
    records[2]["ts"] += pause
    assert finding(lint_records(tmp_path, records), "ttl-expired").confidence is confidence


def test_openai_is_asked_for_another_retention(tmp_path: Path) -> None:
    counts = [(3000, 0, 0), (300, 0, 2944), (3200, 0, 0)]
    records = turns("chat", 3, counts, model="gpt-5.6", prompt_cache_options={"ttl": "12h"})
    records[2]["ts"] += 7200
    assert "ttl-expired" not in found(lint_records(tmp_path, records))


def test_without_usage_only_a_documented_lifetime_accuses(tmp_path: Path) -> None:
    records = turns("anthropic", 3, [None], marked="newest", on_system=True)
    records[2]["ts"] += 900
    assert finding(lint_records(tmp_path, records), "ttl-expired").confidence is Confidence.POSSIBLE
    openai = turns("chat", 3, [None], model="gpt-4o")
    openai[2]["ts"] += 90_000
    assert found(lint_records(tmp_path, openai)) == []


def test_an_unknown_provider_has_no_lifetime(tmp_path: Path) -> None:
    records = turns("chat", 3, [(3000, 0, 0), (300, 0, 2944), (3200, 0, 0)], model="my-model")
    records[2]["ts"] += 90_000
    linted = lint_records(tmp_path, records)
    assert found(linted) == []
    assert [one.rule for one in linted.values.findings] == ["server-side"]


# stampede


def wave(count: int, step: float, counts: tuple[int, int, int] | None, **around: Any) -> list[dict[str, Any]]:
    records = asks("anthropic", count, [counts], on_system=True)
    return [{**made, "ts": START + step * number, **around} for number, made in enumerate(records)]


def test_calls_that_start_before_the_first_is_answered(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, wave(4, 0.2, (12, 2990, 0), latency_ms=4000))
    stampede = finding(linted, "stampede")
    assert found(linted) == ["stampede"]
    assert (pairs_of(stampede), stampede.level) == ([(0, 1), (0, 2), (0, 3)], Level.WARNING)
    assert stampede.tokens_lost is not None
    assert 3 * 2500 < stampede.tokens_lost.value <= 3 * 3002


def test_waves_that_are_none(tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, wave(2, 0.2, (12, 2990, 0), latency_ms=4000))) == []
    assert found(lint_records(tmp_path, wave(4, 0.2, (12, 0, 2990), latency_ms=4000))) == []  # warm
    first = wave(1, 0, (12, 2990, 0), latency_ms=4000)
    later = [{**made, "ts": made["ts"] + 6} for made in wave(4, 0.2, (12, 0, 2990), latency_ms=4000)]
    assert found(lint_records(tmp_path, first + later)) == []  # one was sent first
    engine = [
        {
            "ts": START + 0.2 * number,
            "latency_ms": 4000,
            "request": {"model": "my-model", "messages": [{"role": "system", "content": RULES}]},
            "response": {"usage": {"prompt_tokens": 3000, "prompt_tokens_details": {"cached_tokens": 0}}},
        }
        for number in range(4)
    ]
    assert found(lint_records(tmp_path, engine)) == []


def test_without_usage_a_cold_wave_is_possible(tmp_path: Path) -> None:
    cold = wave(4, 0.2, None, latency_ms=4000)
    assert finding(lint_records(tmp_path, cold), "stampede").confidence is Confidence.POSSIBLE
    warmed = [record("anthropic", request("anthropic", ["Hello?"], on_system=True), None, at=-60), *cold]
    assert found(lint_records(tmp_path, warmed)) == []


# server-side


def test_a_miss_that_nothing_explains_is_not_the_texts(tmp_path: Path) -> None:
    counts = [(3000, 0, 0), (300, 0, 2944), (3200, 0, 0), (300, 0, 3072)]
    linted = lint_records(tmp_path, turns("chat", 4, counts, model="gpt-4o"))
    (miss,) = linted.values.findings
    assert (miss.rule, miss.severity, pairs_of(miss)) == ("server-side", Severity.INFO, [(1, 2)])
    assert miss.message.startswith("Not your text")


def test_an_implicit_cache_promises_nothing(tmp_path: Path) -> None:
    records = []
    for number in range(3):
        said = [
            {"role": ("user", "model")[at % 2], "parts": [{"text": f"Message {at}."}]} for at in range(2 * number + 1)
        ]
        body = {"model": "gemini-2.5-pro", "systemInstruction": {"parts": [{"text": RULES * 3}]}, "contents": said}
        reported = {"promptTokenCount": 9000 + number, "cachedContentTokenCount": 0, "candidatesTokenCount": 5}
        records.append({"ts": START + 20 * number, "request": body, "response": {"usageMetadata": reported}})
    linted = lint_records(tmp_path, records)
    assert found(linted) == []
    assert "promises no hits" in finding(linted, "server-side").message


def test_where_the_vendor_names_a_change_the_text_is_not_acquitted(tmp_path: Path) -> None:
    records = turns("anthropic", 3, [*WARM[:2], (4, 3200, 0)], marked="newest", on_system=True)
    reason = {"type": "system_changed", "cache_missed_input_tokens": 3060}
    records[2]["response"]["diagnostics"] = {"cache_miss_reason": reason}
    assert [one.rule for one in lint_records(tmp_path, records).values.findings] == []
