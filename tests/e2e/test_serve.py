"""`prefixwise serve` as a process: it says where it is, answers, and stops when told to."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest


@contextmanager
def served(folder: Path, e2e: Any, *args: str) -> Iterator[tuple[subprocess.Popen[str], str, str]]:
    """Run a server; yield the process, its address and what it said before."""
    command = e2e.command(["serve", "--port", "0", *args])
    process = subprocess.Popen(
        command, env=e2e.environment(folder), cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    try:
        said = ""
        assert process.stderr is not None
        for line in process.stderr:
            found = re.search(r"at (http://\S+)/v1", line)
            if found:
                yield process, found[1], said
                break
            said += line
        else:
            pytest.fail(said)
    finally:
        watchdog.cancel()
        process.kill()
        process.communicate()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_it_answers_until_it_is_stopped(number: int, code: int, tmp_path: Path, e2e: Any) -> None:
    with served(tmp_path, e2e, "--model", "sim:a=0.01") as (process, url, said):
        assert said == ""
        body = {"prompt": "Hello there, this is a prompt.", "max_tokens": 3}
        answers = [httpx.post(f"{url}/v1/completions", json=body, trust_env=False).json() for _ in range(2)]
        assert [a["usage"]["prompt_tokens_details"]["cached_tokens"] for a in answers] == [0, 16]
        with httpx.stream(
            "POST", f"{url}/v1/completions", json={**body, "max_tokens": 30, "stream": True}, trust_env=False
        ) as response:
            lines = response.iter_lines()
            next(lines)
            os.kill(process.pid, number)
            # What is running may end.
            assert list(lines)[-2:] == ["data: [DONE]", ""]
        out, err = process.communicate(timeout=20)
        assert process.returncode == code
        assert out == ""
        assert "Traceback" not in err


def test_faults_are_said_at_the_start(tmp_path: Path, e2e: Any) -> None:
    with served(tmp_path, e2e, "--model", "sim:", "--fault", "usage=zero") as (_, _, said):
        pass
    assert "wrong on purpose: usage=zero" in said


def test_what_cannot_be_served_is_one_line(run: Any, tmp_path: Path) -> None:
    (tmp_path / "none.toml").write_text("[tenants]\n")
    (tmp_path / "twice.toml").write_text('[tenants]\na = ["k"]\nb = ["k"]\n')
    for args, words in (
        (["--fault", "everything"], "there is no such fault"),
        (["--tenants", "nowhere.toml"], "cannot be read as TOML"),
        (["--tenants", "none.toml"], "names no tenants"),
        (["--tenants", "twice.toml"], "have a key in common"),
        (["--model", "sim:speed=3"], "a simulated model has no 'speed=3'"),
        (["--model", "sim:", "--address", "256.0.0.1"], "cannot listen there"),
    ):
        assert words in run(["serve", *args]).check(2).err
