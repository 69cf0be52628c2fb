"""What is imported when: heavy packages only where they are used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = {"torch", "transformers", "tokenizers", "huggingface_hub", "pandas", "scipy"}
PROGRAM = """
import atexit, sys
atexit.register(lambda: print("MODULES", *{name.partition(".")[0] for name in sys.modules}, file=sys.stderr))
from prefixwise.__main__ import main
main()
"""


def imported(folder: Path, e2e: Any, *args: str) -> set[str]:
    """Return the top-level packages that a run has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *args],
        env=e2e.environment(folder),
        cwd=folder,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stderr.decode().rpartition("MODULES")[2].split())


@pytest.mark.parametrize("args", [["--help"], ["trace", "--help"], ["generate", "--help"]])
def test_help_imports_nothing_heavy(args: list[str], tmp_path: Path, e2e: Any) -> None:
    modules = imported(tmp_path, e2e, *args)
    assert "typer" in modules
    assert not modules & (HEAVY | {"pyarrow", "numpy", "rich", "tiktoken", "msgspec", "httpx", "jinja2"})


def test_a_log_is_counted_without_what_only_other_work_needs(tmp_path: Path, e2e: Any) -> None:
    (tmp_path / "chat.jsonl").write_bytes(e2e.lines(e2e.chat(), e2e.chat("And back?")))
    modules = imported(tmp_path, e2e, "hitrate", "chat.jsonl")
    assert "tiktoken" in modules
    assert not modules & (HEAVY | {"pyarrow", "numpy", "httpx", "jinja2"})


def test_price_lists_are_read_only_where_they_may_hold_a_model(tmp_path: Path, e2e: Any) -> None:
    for model, wanted in (("llama-3.1-8b", False), ("gpt-4.1", True)):
        body = {"model": model, "prompt_token_ids": [1, 2, 3]}
        (tmp_path / "log.jsonl").write_bytes(e2e.lines({"request": body}))
        assert ("tomllib" in imported(tmp_path, e2e, "hitrate", "log.jsonl")) is wanted


def test_importtime_agrees_about_help(run: Any, tmp_path: Path, e2e: Any) -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "prefixwise", "--help"],
        env=e2e.environment(tmp_path),
        capture_output=True,
        timeout=30,
        check=False,
    )
    names = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.decode().splitlines()}
    assert "typer" in names
    assert not names & (HEAVY | {"pyarrow", "numpy", "rich"})
