"""`prefixwise why` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.command import HOSTILE, lines

RULES = "You are the desk of a ferry line. " + "Name the quay, the time and the fare in every answer. " * 40


def talk(word: str = "quay") -> list[dict[str, Any]]:
    """Return a conversation with a clock in its system prompt, and one of another application."""
    said = [("user", f"Which {word}?"), ("assistant", "Quay 4."), ("user", "Thanks!")]
    found = []
    for turn in range(2):
        system = {"role": "system", "content": f"It is 09:14:0{turn} {word}. {RULES}"}
        messages = [system, *({"role": role, "content": text} for role, text in said[: 1 + 2 * turn])]
        found.append({"request": {"model": "gpt-4o", "messages": messages}, "ts": 1_767_225_600 + 30 * turn})
    other = [{"role": "user", "content": f"Translate this {word}: a ferry is a ship"}]
    return [*found, {"request": {"model": "gpt-4o", "messages": other}, "ts": 1_767_225_700}]


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "requests.jsonl"
    path.write_bytes(lines(*talk()))
    return path


def test_the_causes_of_a_log(run: Any, log: Path) -> None:
    out = run(["why", log], env={"COLUMNS": "80"}).check(0).out
    assert out.startswith("Where the prompt tokens of 3 requests went\n")
    assert "clock-in-prefix" in out
    assert "prefixwise why --request 'requests.jsonl#1'" in " ".join(out.split())
    assert max(map(len, out.splitlines())) <= 80
    document = run(["why", log, "--json", "--top", "1"]).check(0).json()
    assert document["values"]["of"] == "log"
    assert sum(entry["tokens"] for entry in document["values"]["accounts"]) == document["values"]["prompt_tokens"]
    for form in ("concise", "csv", "markdown"):
        assert "clock-in-prefix" in run(["why", log, "--output-format", form]).check(0).out


def test_all_requests_as_lines_and_as_json(run: Any, log: Path) -> None:
    shown = run(["why", log, "--all"]).check(0).out.splitlines()
    assert [line.split("  ")[0] for line in shown] == [f"requests.jsonl#{n}" for n in range(3)]
    assert "continues #0 (+30 s)  keeps" in shown[1]
    assert "clock-in-prefix /messages/0/content:" in shown[1]
    told = [json.loads(line) for line in run(["why", log, "--all", "--json"]).check(0).out.splitlines()]
    assert [line["relation"] for line in told] == ["none", "conversation", "none"]
    log.write_bytes(log.read_bytes() + b"[1, 2\n")
    assert "1 broken record left out" in run(["why", log, "--all"]).check(0).err
    assert run(["why", log, "--all", "-q"]).check(0).err == ""
    assert run(["why", "-", "--all"], input=log.read_bytes()).check(0).out.splitlines()[0].startswith("-#0  first")


@pytest.mark.parametrize("address", ["requests.jsonl#1", "#1", "1"])
def test_one_request(run: Any, log: Path, address: str) -> None:
    args = ["why", "--request", address] if address.startswith("r") else ["why", log, "--request", address]
    out = run(args, env={"COLUMNS": "100"}).check(0).out
    assert out.startswith("requests.jsonl#1: clock-in-prefix\n")
    for title in ("Where they part", "What survived", "What the log reports", "Findings", "Where its tokens went"):
        assert f"\n{title}\n" in out
    assert "fix:" in out


def test_the_first_request_and_one_that_is_not_there(run: Any, log: Path) -> None:
    assert "The first request of its application" in run(["why", "--request", f"{log}#2"]).check(0).out
    assert "there is no record 7" in run(["why", "--request", f"{log}#7"]).check(2).err


def test_a_repro_is_a_log_that_lint_reads(run: Any, log: Path, tmp_path: Path) -> None:
    first = run(["why", "--request", "requests.jsonl#1", "--repro", "miss", "--seed", "3"]).check(0)
    again = run(["why", "--request", "requests.jsonl#1", "--repro", "json", "--seed", "3", "--json"]).check(0).json()
    assert (again["seed"], again["values"]["repro"]["folder"]) == (3, "json")
    assert "Written to miss: before.json, after.json, log.jsonl, README.md." in first.out
    run(["why", "--request", "requests.jsonl#1", "--repro", "again", "--seed", "3"], env={"PYTHONHASHSEED": "5"}).check(
        0
    )
    run(["why", "--request", "requests.jsonl#1", "--repro", "else"]).check(0)
    names = ["README.md", "after.json", "before.json", "log.jsonl"]
    files = {
        folder: [(tmp_path / folder / name).read_bytes() for name in names] for folder in ("miss", "again", "else")
    }
    assert sorted(path.name for path in (tmp_path / "miss").iterdir()) == names
    assert files["miss"] == files["again"] != files["else"]
    found = run(["lint", "miss/log.jsonl", "--json"]).check(1).json()["findings"]
    assert [finding["rule"] for finding in found] == ["clock-in-prefix"]
    assert (
        "break" in run(["diff", "miss/before.json", "miss/after.json", "--json"]).check(0).json()["values"]["verdict"]
    )
    refused = run(["why", "--request", "requests.jsonl#1", "--repro", "miss"]).check(2)
    assert "not empty" in refused.err
    assert [(tmp_path / "miss" / name).read_bytes() for name in names] == files["miss"]


def test_a_request_that_is_fine_has_no_repro(run: Any, log: Path, tmp_path: Path) -> None:
    assert "nothing to reproduce" in run(["why", "--request", f"{log}#0", "--repro", "none"]).check(2).err
    assert not (tmp_path / "none").exists()


def test_hostile_text_reaches_no_terminal_and_no_file(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.jsonl"
    path.write_bytes(lines(*talk(HOSTILE)))
    for args in (["--all"], [], ["--request", "#1"], ["--request", "#1", "--excerpts", "full"]):
        run(["why", path, *args]).check(0)
    run(["why", path, "--request", "#1", "--repro", "out"]).check(0)
    assert b"\x1b" not in (tmp_path / "out" / "README.md").read_bytes()


def test_two_runs_are_byte_identical_whatever_the_hash_seed(run: Any, log: Path) -> None:
    for args in (["--all"], ["--json"], ["--request", "#1", "--json"]):
        seen = {run(["why", log, *args], env={"PYTHONHASHSEED": seed}).check(0).out for seed in ("0", "4242")}
        assert len(seen) == 1
