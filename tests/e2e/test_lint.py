"""`prefixwise lint` as a command: the document, the paths in it, the exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FINDING_KEYS = [
    "rule", "code", "severity", "level", "confidence", "mode", "where", "path", "span", "record", "pair",
    "occurrences", "field", "char_offset", "from_text", "to_text", "flow", "tokens_lost", "usd_lost", "evidence",
    "message", "fix", "fingerprint", "also_rules",
]  # fmt: skip
RULES = "You are the desk of a ferry line. " + "Name the quay, the time and the fare in every answer. " * 40
SAID = ("When does the last ferry leave?", "At 21:30 from quay 4.", "And on Sundays?", "At 20:00.", "Thank you!")


def body(system: str, *said: str) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(said)]
    return {"model": "gpt-4o", "messages": [{"role": "system", "content": system}, *messages]}


def chat() -> list[dict[str, Any]]:
    """Return a conversation with a clock in its system prompt."""
    return [{"request": body(f"It is 09:14:0{n}. {RULES}", *SAID[: 2 * n + 1]), "ts": 20 * n} for n in range(3)]


def test_the_document_has_every_key_in_order_and_the_same_bytes_twice(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in chat()))
    first = run(["lint", log, "--json"], env={"PYTHONHASHSEED": "1"}).check(1)
    assert run(["lint", log, "--json"], env={"PYTHONHASHSEED": "2"}).check(1).out == first.out
    document = first.json()
    assert list(document)[:7] == [
        "schema", "schema_version", "tool", "inputs", "findings", "pairs", "suppressed",
    ]  # fmt: skip
    assert list(document["findings"][0]) == FINDING_KEYS
    assert document["summary"] == {
        "by_rule": {"clock-in-prefix": 1},
        "by_level": {"error": 1, "warning": 0, "info": 0},
    }


def test_standard_input_gives_what_the_file_gives(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in chat()))
    from_file = run(["lint", log, "--json"]).check(1).json()
    from_stdin = run(["lint", "-", "--json"], input=log.read_bytes()).check(1).json()
    assert json.dumps(from_stdin["findings"]) == json.dumps(from_file["findings"]).replace("log.jsonl", "-")


def test_paths_below_the_current_folder_are_relative(run: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in chat()))
    document = run(["lint", log, "--json"]).check(1).json()
    assert document["inputs"][0]["path"] == document["findings"][0]["path"] == "log.jsonl"


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 1),
        (["--fail-on", "never"], 0),
        (["--ignore", "clock-in-prefix"], 0),
        (["--select", "PW1"], 1),
        (["--select", "model-changed"], 0),
    ],
)
def test_exit_codes(run: Any, tmp_path: Path, options: list[str], code: int) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in chat()))
    run(["lint", log, *options]).check(code)


def test_an_unknown_rule_is_refused_with_the_nearest_name(run: Any, tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(json.dumps(body("Hello.", "Hi")) + "\n")
    assert "clock-in-prefix" in run(["lint", tmp_path / "log.jsonl", "--select", "clock-in-prefx"]).check(2).err


def test_a_trace_is_refused(run: Any, tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"timestamp": 0, "input_length": 512, "output_length": 1, "hash_ids": [1]}\n')
    assert "no text" in run(["lint", trace]).check(2).err
