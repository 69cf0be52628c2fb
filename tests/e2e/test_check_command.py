"""`prefixwise check` as a user runs it: exit codes, streams, formats; and the pytest plug-in."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

SOURCE = """
import datetime, os, subprocess, sys
PLAIN = "You answer questions about the ferries of Greyfell Bay. " * 3
def day():
    print("noise")
    return [{"role": "system", "content": PLAIN + f"Today is {datetime.date.today()}."}]
def sorted_set(): return PLAIN + ", ".join(sorted({"a", "b", "c"}))
def constant(): return PLAIN
def broken():
    print("the key is sk-abcdefghijklmnopqrstuvwx", file=sys.stderr)
    raise ValueError("\\x1b[31mno\\n::error::way")
def hang(): subprocess.run([sys.executable, "-c", "import time; time.sleep(4.5)"])
"""
LITTLE = ("--knob", "clock", "--knob", "hash-seed")


@pytest.fixture(autouse=True)
def _app(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text(SOURCE, encoding="utf-8")


def test_a_moving_prompt_is_1_and_the_place_is_shown(run: Any) -> None:
    shown = run(["check", "app:day", *LITTLE]).check(1)
    assert "/messages/0/content" in shown.out
    assert "+1 d, +40 d" in shown.out
    assert "no sandbox" in shown.out + shown.err
    assert "noise" not in shown.out + shown.err


def test_a_stable_prompt_is_0_and_a_short_one_1(run: Any) -> None:
    assert "is stable" in run(["check", "app.py:sorted_set", *LITTLE]).check(0).out
    run(["check", "app:sorted_set", *LITTLE, "--min-tokens", "20"]).check(0)
    short = run(["check", "app:sorted_set", *LITTLE, "--min-tokens", "1024", "--json"]).check(1).json()
    assert short["requirements"][0]["met"] is False


def test_nothing_tested_is_3_and_says_why(run: Any) -> None:
    result = run(["check", "app:constant", "--knob", "clock", "--knob", "zone"])
    assert result.code == 3
    assert "nothing asked the clock" in result.out


def test_an_error_is_2_and_one_line_with_the_builders_stderr_masked(run: Any) -> None:
    result = run(["check", "app:broken"]).check(2)
    assert "app.py:" in result.err
    assert "in broken" in result.err
    assert "[masked:key]" in result.err
    assert "sk-abc" not in result.err
    run(["check", "nothing_like_it:build"]).check(2)
    run(["check", "app"]).check(2)
    run(["check", "app:day", "--knob", "clokc"]).check(2)
    run(["check", "app:day", "--call", "{"]).check(2)
    run(["check", "app:day", "--python", "no-such-python"]).check(2)
    assert "--timeout" in run(["check", "app:hang", "--timeout", "0.5"]).check(2).err


def test_the_document_is_what_its_schema_says_and_comes_out_the_same(run: Any) -> None:
    first = run(["check", "app:day", *LITTLE, "--json", "--report", "markdown=check.md"]).check(1)
    assert first.out == run(["check", "app:day", *LITTLE, "--json"]).check(1).out
    schema = json.loads(run(["schema", "check"]).check(0).out)
    Draft202012Validator(schema).validate(first.json())
    values = first.json()["values"]
    assert values["verdict"] == "moved"
    assert values["stable_tokens"] < values["tokens"]
    for form in ("csv", "concise", "markdown"):
        assert run(["check", "app:day", *LITTLE, "--output-format", form]).check(1).out


def test_the_active_environment_is_the_one_that_runs(run: Any, tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\necho used >> {tmp_path}/used\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    run(["check", "app:sorted_set", "--knob", "hash-seed"], env={"VIRTUAL_ENV": str(tmp_path / "venv")}).check(0)
    assert (tmp_path / "used").exists()


def test_ctrl_c_ends_the_builder_too(tmp_path: Path, e2e: Any) -> None:
    source = f"\ndef slow():\n    import time\n    time.sleep(2)\n    open({str(tmp_path / 'alive')!r}, 'w')\n"
    (tmp_path / "app.py").write_text(SOURCE + source, encoding="utf-8")
    process = subprocess.Popen(
        e2e.command(["check", "app:slow"]), cwd=tmp_path, env=e2e.environment(tmp_path), stderr=subprocess.PIPE
    )
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=10)
    assert process.returncode == 130, err
    time.sleep(2.5)
    assert not (tmp_path / "alive").exists()


TESTS = """
import random
import pytest
import app
from prefixwise.testing import assert_stable_prefix as direct

def module_level(user): return app.PLAIN + user + str(len({1, 2}))

def test_moves(assert_stable_prefix):
    with pytest.raises(AssertionError, match="clock"):
        assert_stable_prefix(app.day, knobs=("clock",))

def test_stable(assert_stable_prefix):
    checked = assert_stable_prefix(app.sorted_set, min_tokens=10, knobs=("hash-seed",))
    assert checked.answer == "stable"
    assert direct is assert_stable_prefix
    direct("app:sorted_set", knobs=("hash-seed",))
    direct(module_level, "Ada", knobs=("hash-seed",))

def test_short():
    with pytest.raises(AssertionError, match="fewer than 1,000"):
        direct(app.sorted_set, min_tokens=1000, knobs=("hash-seed",))

def test_untested():
    with pytest.raises(AssertionError, match="allow_untested"):
        direct(app.constant, knobs=("clock",))
    direct(app.constant, knobs=("clock",), allow_untested=True)
    with pytest.raises(ValueError, match="no such knob"):
        direct(app.constant, knobs=("clokc",))

def test_closure():
    greeting = "Hello"
    def closure(): return app.PLAIN + greeting
    direct(closure)
    with pytest.raises(AssertionError, match="random"):
        direct(lambda: app.PLAIN + str(random.random()))
"""


def test_the_plug_in_runs_functions_apart_and_says_what_it_cannot(tmp_path: Path, e2e: Any) -> None:
    (tmp_path / "test_prompts.py").write_text(TESTS, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "prefixwise.pytest_plugin", "-p", "no:cacheprovider"],
        cwd=tmp_path,
        env=e2e.environment(
            tmp_path,
            {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join([os.getcwd(), str(tmp_path)])},
        ),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout
    assert "test_closure.<locals>.closure cannot be found from another process" in done.stdout
