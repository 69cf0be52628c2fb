"""Fixtures of the end-to-end tests."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from support import command as helpers
from support.command import GOOD, Result, Run, command, environment, like_any_user


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Return a function that runs prefixwise in `tmp_path`."""

    def _run(
        args: Sequence[object],
        input: bytes | None = None,
        env: dict[str, str] | None = None,
        timeout: float = 30,
        *,
        ordinary_user: bool = False,
        **streams: Any,
    ) -> Result:
        streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | streams
        if "stdin" not in streams:
            streams["input"] = b"" if input is None else input
        done = subprocess.run(
            command(args),
            env=environment(tmp_path, env),
            cwd=tmp_path,
            timeout=timeout,
            check=False,
            preexec_fn=like_any_user if ordinary_user else None,
            **streams,
        )
        # Raw bytes that are no UTF-8 become lone surrogates here, which `check` refuses.
        out = (done.stdout or b"").decode("utf-8", "surrogateescape")
        return Result(done.returncode, out, (done.stderr or b"").decode("utf-8", "surrogateescape"))

    return _run


@pytest.fixture
def good(tmp_path: Path) -> Path:
    """Return a small log without a fault, of token ids."""
    path = tmp_path / "good.jsonl"
    path.write_bytes(GOOD)
    return path


@pytest.fixture
def e2e() -> ModuleType:
    """Hand the helpers to tests."""
    return helpers
