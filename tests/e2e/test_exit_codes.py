"""Exit codes of DESIGN section 8, and the one line that says what is wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

USAGE = [
    ["nonsense"],
    ["hitrate"],
    ["hitrate", "good.jsonl", "--\x1b]0;title\x07\u202e"],
    ["hitrate", "good.jsonl", "--output-format", "xml"],
    ["hitrate", "good.jsonl", "--input-format", "xml"],
    ["hitrate", "good.jsonl", "--tenant-field", "a/b"],
    ["hitrate", "good.jsonl", "--record-path", "/nothing/here"],
    ["trace", "good.jsonl"],
    ["trace", "good.jsonl", "-o", "x.parquet", "--key-file", "good.jsonl"],
    ["tokens", "good.jsonl#5"],
    ["diff", "good.jsonl", "good.jsonl"],
]
WRONG = [
    *(("--under", rule) for rule in (":", "vllm:block", "vllm:block=0",
                                     "vllm:page=16", "vllm:block=16,block=32")),
    *(("--require", condition) for condition in ("hit_rate>=", "hit_rate>=1..2", "foo>=1",
                                                 "\x1b[31m>=1")),
    *(("--by", field) for field in ("", "model,tenant")),
]  # fmt: skip
REPORTS = ["json", "xml=x", "json=no-folder/x.json", "json=folder", "json=-"]
MISSING = ["nothing.jsonl", "*.nothing", "folder", "loop", "nothing\x1b[31m\u202e.jsonl", ""]


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, good: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.jsonl").write_bytes(b"")
    (tmp_path / "loop").symlink_to("loop")


@pytest.mark.parametrize("args", USAGE, ids=lambda args: " ".join(args).encode("ascii", "replace").decode()[:60])
def test_wrong_use_is_2(args: list[str], run: Any) -> None:
    result = run(args)
    result.check(2)
    assert len(result.err) < 1500


@pytest.mark.parametrize(("option", "value"), WRONG, ids=ascii)
def test_a_wrong_value_is_2(option: str, value: str, run: Any) -> None:
    assert option in run(["hitrate", "good.jsonl", option, value]).check(2).err


@pytest.mark.parametrize(("option", "value"), [("--under", "vllm:block=0"), ("--require", "foo>=1"), ("--by", "x")])
def test_a_wrong_value_is_found_before_anything_is_read(option: str, value: str, run: Any) -> None:
    run(["hitrate", "empty.jsonl", option, value]).check(2)


@pytest.mark.parametrize("spec", REPORTS)
def test_a_report_that_has_no_place_is_2_before_anything_is_read(spec: str, run: Any) -> None:
    run(["hitrate", "empty.jsonl", "--report", spec]).check(2)


@pytest.mark.parametrize("second", ["./r.out", "folder/../r.out"])
def test_two_reports_for_one_file_are_2(second: str, run: Any) -> None:
    run(["hitrate", "empty.jsonl", "--report", "json=r.out", "--report", f"csv={second}"]).check(2)


@pytest.mark.parametrize("path", MISSING, ids=ascii)
def test_no_input_is_3(path: str, run: Any) -> None:
    run(["hitrate", path]).check(3)


@pytest.mark.parametrize("command", ["tokens", "diff"])
@pytest.mark.parametrize("path", ["nothing.md", "good.jsonl#x"])
def test_no_input_is_3_for_one_prompt(command: str, path: str, run: Any) -> None:
    run([command, path, *(["good.jsonl#0"] if command == "diff" else [])]).check(3)


def test_one_missing_file_among_others_is_not_no_input_at_all(run: Any) -> None:
    assert "nothing.jsonl" in run(["hitrate", "good.jsonl", "nothing.jsonl"]).check(2).err


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_code_does_not_depend_on_the_format(form: str, run: Any) -> None:
    args = ["hitrate", "good.jsonl", "-q", "--output-format", form]
    assert run([*args, "--require", "hit_rate >= 10 %"]).check(0).out
    assert run([*args, "--require", "hit_rate>=99%"]).check(1).out


def test_a_requirement_on_a_figure_the_log_does_not_have_is_not_met(run: Any) -> None:
    run(["hitrate", "good.jsonl", "-q", "--require", "reported_hit_rate>=0"]).check(1)


def test_strict_makes_a_broken_record_2(run: Any, good: Path) -> None:
    good.write_bytes(good.read_bytes() + b'{"messages": 5}\n')
    run(["hitrate", good]).check(0)
    assert "line 6" in run(["hitrate", good, "--strict"]).check(2).err


@pytest.mark.parametrize("command", [[], ["hitrate"], ["diff"], ["tokens"], ["trace"]])
def test_help_is_0(command: list[str], run: Any) -> None:
    assert "Exit codes" in run([*command, "-h"]).check(0).out
