"""Runs `prefixwise lint --json` on one log: in this process, or as any other command."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest import mock

from benchmarks.children import CannotRunError

Ran = tuple[int, str, str]
"""Exit code, stdout, stderr."""


def lint(path: Path, command: Sequence[str] = ()) -> dict[str, Any]:
    """Return the document about a log.

    Args:
        path: The log.
        command: What to run instead of this project's own command line in this process.

    Raises:
        CannotRunError: Nothing came that can be read.
    """
    arguments = ["lint", str(path), "--json"]
    code, said, complaint = _child([*command, *arguments]) if command else _here(arguments)
    try:
        if code not in (0, 1):
            raise ValueError(complaint.strip()[-400:])
        document: dict[str, Any] = json.loads(said)
    except ValueError as problem:
        raise CannotRunError(f"`{shlex.join(arguments)}` ended with {code}: {problem}") from None
    return document


def _child(command: Sequence[str]) -> Ran:
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    except OSError as problem:
        raise CannotRunError(f"{command[0]}: {problem.strerror}") from None
    return done.returncode, done.stdout, done.stderr


def _here(arguments: Sequence[str]) -> Ran:
    """Run the command line as the installed script would; modules and vocabularies stay loaded for the next log."""
    from prefixwise.cli.app import run

    said, complaint = io.StringIO(), io.StringIO()
    streams = (contextlib.redirect_stdout(said), contextlib.redirect_stderr(complaint))
    with mock.patch.object(sys, "argv", ["prefixwise", *arguments]), streams[0], streams[1]:
        code = run()
    return code, said.getvalue(), complaint.getvalue()
