"""Rules on lifetimes that requests ask for: not on offer, changed on the way, paid for and not needed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, pairs_of
from support.marked import RULES, asks, record, request, turns

from prefixwise.core.finding import Confidence, Severity

FIRST, SERVED = (4, 3000, 0), (4, 0, 3000)


def rules_of(records: list[dict[str, Any]], folder: Path) -> list[str]:
    """Return the rules of all findings, those for information too."""
    return [one.rule for one in lint_records(folder, records).values.findings]


# ttl-unsupported


@pytest.mark.parametrize("ttl", ["2h", "300", "1 h", "1H", 3600])
def test_a_lifetime_that_is_not_on_offer(ttl: Any, tmp_path: Path) -> None:
    body = request("anthropic", ["Is quay 2 open?"], on_system=True)
    body["system"][0]["cache_control"]["ttl"] = ttl
    told = finding(lint_records(tmp_path, [record("anthropic", body, None)]), "ttl-unsupported")
    assert (told.field, told.to_text) == ("/system/0/cache_control/ttl", str(ttl))
    assert (told.confidence, told.severity) == (Confidence.CERTAIN, Severity.MEDIUM)
    assert told.message.endswith("on offer are 5m, 1h.")


def test_a_point_of_bedrock(tmp_path: Path) -> None:
    body = request("bedrock", ["Is quay 2 open?"], on_system=True)
    body["system"][1]["cachePoint"]["ttl"] = "10m"
    told = finding(lint_records(tmp_path, [record("bedrock", body, None)]), "ttl-unsupported")
    assert told.field == "/system/1/cachePoint/ttl"


@pytest.mark.parametrize(
    ("asked", "field"),
    [
        ({"prompt_cache_retention": "1h"}, "/prompt_cache_retention"),
        ({"prompt_cache_options": {"ttl": "7d"}}, "/prompt_cache_options/ttl"),
    ],
)
def test_a_request_to_openai(asked: dict[str, Any], field: str, tmp_path: Path) -> None:
    body = {"model": "gpt-5.6", "input": "Is quay 2 open?", **asked}
    assert finding(lint_records(tmp_path, [{"request": body}]), "ttl-unsupported").field == field


@pytest.mark.parametrize("ttl", ["5m", "1h", None])
def test_lifetimes_on_offer(ttl: str | None, tmp_path: Path) -> None:
    records = asks("anthropic", 3, [None], on_system=ttl or True)
    assert "ttl-unsupported" not in rules_of(records, tmp_path)


@pytest.mark.parametrize("retention", ["24h", "in_memory", "in-memory", "30m"])
def test_retentions_on_offer(retention: str, tmp_path: Path) -> None:
    body = {"model": "gpt-5.1", "input": "Is quay 2 open?", "prompt_cache_retention": retention}
    assert rules_of([{"request": body}], tmp_path) == []


def test_a_lifetime_that_somebody_puts_right_on_the_way(tmp_path: Path) -> None:
    assert "ttl-unsupported" not in rules_of(asks("anthropic", 3, [FIRST, SERVED], on_system="2h"), tmp_path)


def test_a_provider_whose_lifetimes_nobody_knows(tmp_path: Path) -> None:
    records = asks("chat", 3, [None], on_system="2h", model="my-model")
    assert rules_of(records, tmp_path) == []


# ttl-mix, between calls


def changing(counts: list[tuple[int, int, int]], lifetimes: tuple[str, str], gap: float = 20) -> list[dict[str, Any]]:
    records = turns("anthropic", len(counts), counts, gap=gap)
    for number, made in enumerate(records):
        made["request"] = request("anthropic", [f"Message {at} of the talk. " for at in range(2 * number + 1)])
        ttl = lifetimes[number % 2]
        made["request"]["system"][0]["cache_control"] = {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}
    return records


def test_a_conversation_that_asks_for_another_lifetime_each_time(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, changing([(9, 3000, 0)] * 5, ("5m", "1h")))
    mixed = finding(linted, "ttl-mix")
    assert found(linted) == ["ttl-mix"]
    assert pairs_of(mixed) == [(0, 1), (1, 2), (2, 3), (3, 4)]
    assert "asked for 5m before and for 1h now" in mixed.message
    assert mixed.tokens_lost is not None


@pytest.mark.parametrize(
    ("counts", "lifetimes", "gap"),
    [
        ([FIRST, SERVED, SERVED, SERVED], ("5m", "1h"), 20),
        ([FIRST] * 4, ("1h", "1h"), 20),
        ([FIRST] * 4, ("5m", ""), 20),
        ([FIRST, FIRST, SERVED, SERVED], ("5m", "1h"), 20),
        ([FIRST] * 4, ("5m", "1h"), 400),
    ],
    ids=["served all the same", "no change", "the usual one by name and without", "one miss", "after the shorter one"],
)
def test_changes_of_lifetime_that_explain_nothing(
    counts: list[tuple[int, int, int]], lifetimes: tuple[str, str], gap: float, tmp_path: Path
) -> None:
    assert "ttl-mix" not in rules_of(changing(counts, lifetimes, gap), tmp_path)


# ttl-unearned


def by_the_minute(count: int, pause: float = 60, after: float | None = 4000, ttl: str = "1h") -> list[dict[str, Any]]:
    """Return questions behind one text, one longer pause in their middle, and another application much later."""
    records = asks("anthropic", count, [FIRST, SERVED], on_system=ttl)
    start = records[0]["ts"]
    for number, made in enumerate(records):
        made["ts"] = start + 60 * number + (pause if number > count // 2 else 0)
    if after is not None:
        body = request(
            "anthropic", ["Is the museum open?"], system="You know the museum. " + RULES[200:], on_system=True
        )
        records.append({**record("anthropic", body, FIRST), "ts": records[-1]["ts"] + after})
    return records


def test_an_hour_that_no_pause_needs(tmp_path: Path) -> None:
    told = finding(lint_records(tmp_path, by_the_minute(24)), "ttl-unearned")
    assert (told.severity, told.field) == (Severity.LOW, "/system/0/cache_control")
    assert told.evidence == ("the longest of 23 pauses between uses is 120 s",)
    assert "0.75 more of each token" in told.message
    assert "about 2,250 tokens" in told.message


def test_few_uses_are_information(tmp_path: Path) -> None:
    assert finding(lint_records(tmp_path, by_the_minute(9)), "ttl-unearned").severity is Severity.INFO


@pytest.mark.parametrize(
    "records",
    [
        by_the_minute(24, pause=420),
        by_the_minute(24, pause=230),
        by_the_minute(24, after=None),
        by_the_minute(24, after=900),
        by_the_minute(24, ttl="5m"),
        by_the_minute(4),
        asks("anthropic", 24, [None], on_system="1h"),
    ],
    ids=["one pause", "nearly a pause", "log ends", "may come back", "five minutes", "too few", "no usage"],
)
def test_lifetimes_that_may_be_earned(records: list[dict[str, Any]], tmp_path: Path) -> None:
    assert "ttl-unearned" not in rules_of(records, tmp_path)


def test_a_pause_says_which_lifetime_would_have_lasted(tmp_path: Path) -> None:
    for pause, words in (
        (700, "a lifetime of 1h would have lasted, written at 2 times"),
        (4000, "no lifetime on offer"),
    ):
        records = turns("anthropic", 2, [FIRST, (4, 3060, 0)], gap=pause, marked="newest", on_system=True)
        expired = finding(lint_records(tmp_path, records), "ttl-expired")
        assert any(words in clause for clause in expired.evidence)
