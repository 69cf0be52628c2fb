"""Breaks in prompts that are too short to be cached: they are told, and cost nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, lint_records

from prefixwise.core.finding import Finding, Severity


def clocked(model: str, reported: list[int | None], cached: int = 0) -> list[dict[str, Any]]:
    """Return calls of one application whose system prompt tells the time, with the prompt tokens that are reported."""
    records = []
    for minute, tokens in enumerate(reported):
        system = f"It is 2026-03-17T09:{14 + minute}:07Z. " + "Name the quay in every answer. " * 30
        body = {
            "model": model,
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": f"Boat {minute}?"}],
        }
        usage = {"prompt_tokens": tokens, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": cached}}
        response = {"model": model, "choices": [{"message": {"role": "assistant", "content": "At noon."}}]}
        if tokens is not None:
            response["usage"] = usage
        records.append({"ts": f"2026-03-17T09:{14 + minute}:08Z", "request": body, "response": response})
    return records


def clock(tmp_path: Path, records: list[dict[str, Any]]) -> Finding:
    return finding(lint_records(tmp_path, records), "clock-in-prefix")


def test_openai_caches_nothing_below_1024_tokens(tmp_path: Path) -> None:
    told = clock(tmp_path, clocked("gpt-4.1", [216, 216, 1023, 216]))
    assert told.severity is Severity.INFO
    assert (told.tokens_lost, told.usd_lost) == (None, None)
    assert told.evidence[0].startswith("the prompts have 1,023 tokens at most, and fewer than 1,024 are never cached")


@pytest.mark.parametrize(
    "records",
    [
        clocked("gpt-4.1", [1024, 1024, 1024, 1024]),
        clocked("gpt-4.1", [None, None, None, None]),
        clocked("gpt-4.1", [216, 216, 216, 216], cached=128),
        clocked("my-own-vllm-model", [216, 216, 216, 216]),
    ],
    ids=["long enough", "unknown length", "shown to be cached", "an engine"],
)
def test_nothing_is_excused_that_may_be_cached(tmp_path: Path, records: list[dict[str, Any]]) -> None:
    told = clock(tmp_path, records)
    assert told.severity is not Severity.INFO
    assert told.tokens_lost is not None


def test_only_the_calls_that_are_long_enough_count(tmp_path: Path) -> None:
    mixed = clock(tmp_path, clocked("gpt-4.1", [1100, 1100, 1100, 216, 216]))
    alone = clock(tmp_path, clocked("gpt-4.1", [1100, 1100, 1100]))
    assert mixed.severity is not Severity.INFO
    assert len(mixed.occurrences) == 4
    assert mixed.tokens_lost is not None
    assert alone.tokens_lost is not None
    assert mixed.tokens_lost.value == alone.tokens_lost.value
