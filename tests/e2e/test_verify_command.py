"""`prefixwise verify` as a user runs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from support.command import Run, chat, lines
from support.serving import QUICK, Serving, serving


@pytest.fixture(scope="module")
def sim() -> Iterator[Serving]:
    with serving(QUICK) as running:
        yield running


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.jsonl"
    path.write_bytes(lines(*(chat(text) for text in ("When?", "Where?", "When?", "Why?"))))
    return path


def verify(log: Path, url: str, *more: object) -> tuple[object, ...]:
    return ("verify", log, "--target", url, "--protocol", "prefixwise", "--model", "sim", "--no-progress", *more)


def test_a_log_comes_out_as_predicted_to_the_token(run: Run, sim: Serving, log: Path) -> None:
    document = run(verify(log, sim.url, "--metrics", "auto", "--json")).check(0).json()
    Draft202012Validator(run(("schema", "verify")).check(0).json()).validate(document)
    values = document["values"]
    assert [one["cached"] == one["expected"] > 0 for one in values["requests"]] == [False, True, True, True]
    assert (values["compared"], values["equal"], values["first"], values["tolerance"]) == (4, 4, None, 0)
    assert values["rule"] == "vllm:block=16,capacity=12500"
    assert values["counters"]["agrees"] is True


def test_a_request_that_is_off_fails_the_command_and_is_named(run: Run, sim: Serving, log: Path) -> None:
    done = run(verify(log, sim.url, "--under", "vllm:block=128")).check(1)
    assert "The first request that is off is" in done.out
    assert "log.jsonl#1" in done.out


def test_usage_that_is_missing_is_inconclusive(run: Run, log: Path) -> None:
    with serving(QUICK, faults=["usage=missing"]) as silent:
        done = run(verify(log, silent.url)).check(4)
    assert "absent is not zero" in done.out + done.err


def test_a_trace_cannot_be_verified(run: Run, sim: Serving, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_bytes(lines({"timestamp": 0, "input_length": 10, "hash_ids": [1]}))
    assert "no text to send" in run(verify(trace, sim.url)).check(2).err
