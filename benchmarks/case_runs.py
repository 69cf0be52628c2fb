"""Runs of lint on labelled cases."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.lint import SourceFile, SourceKind, lint_sources
from prefixwise.cli.app import run as run_command

Json = dict[str, Any]


class LintFailedError(Exception):
    """A run of `lint` that gave no document; the message says why."""


def lint(folder: Path, given: Json) -> Json:
    """Return what `prefixwise lint` says of a case: of sources the library, of a log the command line.

    Args:
        folder: Folder of the case.
        given: `input` of its `expected.json`.

    Raises:
        LintFailedError: The command line failed, or a file of the case could not be read.
    """
    return lint_files(folder, given) if given["mode"] == "static" else lint_log(folder, given)


def lint_files(folder: Path, given: Json) -> Json:
    """Lint the sources of a case by the library and return its findings as `lint` writes them. Raises as `lint`."""
    files = [SourceFile((folder / name).as_posix(), _source_kind(name)) for name in given["files"]]
    linted = lint_sources(files, frozenset(RULES.names()))
    unread = [f"{one.path}: {one.reason_skipped}" for one in linted.inputs if one.reason_skipped]
    if unread or linted.notes:
        raise LintFailedError("; ".join([*unread, *linted.notes]))
    return {"findings": msgspec.to_builtins(linted.findings)}


def _source_kind(name: str) -> SourceKind:
    suffix = name.rpartition(".")[2]
    if suffix in ("py", "ipynb"):
        return SourceKind.PYTHON
    return SourceKind.SCRIPT if suffix in ("ts", "tsx", "mts", "js", "jsx", "mjs") else SourceKind.TEMPLATE


def lint_log(folder: Path, given: Json) -> Json:
    """Run `prefixwise lint` on the log of a case, in this process, and return its document.

    Args:
        folder: Folder of the case.
        given: `input` of its `expected.json`.

    Raises:
        LintFailedError: It ended otherwise than with 0 or 1, or printed no document.
    """
    options = ["--session-field", given["session_field"]] if given.get("session_field") else []
    files = [str(folder / name) for name in given["files"]]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), _arguments("lint", *files, "--json", *options):
        code = run_command()
    if code not in (0, 1):
        said = [line for line in err.getvalue().splitlines() if line.strip()]
        told = next((line for line in said if line.lower().startswith("error")), "".join(said[-1:]) or "no message")
        raise LintFailedError(f"exit code {code}: {told[:200]}")
    try:
        document = json.loads(out.getvalue())
    except json.JSONDecodeError:
        document = None
    if not isinstance(document, dict) or not isinstance(document.get("findings"), list):
        raise LintFailedError("it printed no document with findings")
    return document


@contextmanager
def _arguments(*given: str) -> Iterator[None]:
    """Let the command line be `prefixwise` with the arguments `given`."""
    before = sys.argv
    sys.argv = ["prefixwise", *given]
    try:
        yield
    finally:
        sys.argv = before
