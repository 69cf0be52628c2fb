"""What lint says of a text that is open in an editor, whether it has been saved or not."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import msgspec

from prefixwise.analyzers.configured import Configured
from prefixwise.analyzers.lint.document import LintValues
from prefixwise.analyzers.static.discovery import taken_open
from prefixwise.analyzers.static.file_kinds import FileKind, of_unsaved
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.templates.parts import Syntax
from prefixwise.analyzers.static.templates.read import read_template
from prefixwise.core.config.nearest import Configurations
from prefixwise.core.finding import Finding
from prefixwise.core.report import Report
from prefixwise.workflows.editor.stable import StablePrefix, stable_prefixes
from prefixwise.workflows.linting import LintAsked, files_of, lint

_UNREAD = re.compile(r":(\d+): not read: (.*)", re.DOTALL)


class Problem(msgspec.Struct, frozen=True):
    """A part of a file that could not be read: its line, 1-based, and why."""

    line: int
    what: str


class Look(msgspec.Struct, frozen=True):
    """What there is to say of a text.

    Attributes:
        text: The text.
        findings: What is told of it, as `lint - --stdin-filename` tells it.
        stable: Where its prompts stop being the same from request to request.
        syntax: How its placeholders are written.
        problems: What of it could not be read.
    """

    text: str
    findings: tuple[Finding, ...] = ()
    stable: tuple[StablePrefix, ...] = ()
    syntax: Syntax = Syntax.NONE
    problems: tuple[Problem, ...] = ()


class Looking:
    """Lints open texts under one reading of the configuration; nothing in them is run.

    Raises:
        UserError: By any method: a configuration or a baseline is wrong.
    """

    def __init__(self) -> None:
        self._configurations = Configurations()
        self._configured = Configured(self._configurations)

    def look(self, path: str, text: str) -> Look:
        """Return what there is to say of a text; nothing of what lint of its folder would not take.

        Args:
            path: Its file, absolute.
            text: What stands in the editor.
        """
        path = named(path)
        data = text.encode("utf-8", "replace")
        if not taken_open(path, data, self._configured.selection):
            return Look(text)
        report = self._report(path, data)
        if report is None:
            return Look(text)
        values = report.values
        found = values.findings if isinstance(values, LintValues) else ()
        look = Look(text, tuple(one for one in found if one.path == path))
        if of_unsaved(path).read_as is not FileKind.TEMPLATE:
            return look
        outside = self._configured.outside(path)
        read = read_template(Source(path, text), outside.asked, outside.assumed)
        return msgspec.structs.replace(
            look,
            stable=stable_prefixes(read),
            syntax=next((template.syntax for template in read.templates), Syntax.NONE),
            problems=tuple(_problems(path, report.notes)),
        )

    def _report(self, path: str, data: bytes) -> Report | None:
        # Nothing leaves the editor, so that edits may hold what documents must not show.
        settings = msgspec.structs.replace(self._configurations.here.settings, excerpts="full")
        asked = LintAsked(
            paths=("-",),
            configured=self._configured,
            settings=settings,
            unsaved=path,
            text=data,
        )
        files = files_of(asked)
        if not files.found or files.found[0].kind is FileKind.LOG:
            return None
        return lint(asked, files, _no_logs, _no_writing).report


def named(path: str) -> str:
    """Return a path as lint names it: relative to the working folder where it is below that."""
    with contextlib.suppress(ValueError):  # another drive
        relative = os.path.relpath(path)
        if not relative.startswith(os.pardir):
            return relative.replace(os.sep, "/")
    return path.replace(os.sep, "/")


def _problems(path: str, notes: tuple[str, ...]) -> Iterator[Problem]:
    for note in notes:
        match = _UNREAD.fullmatch(note.removeprefix(path)) if note.startswith(path) else None
        if match is not None:
            yield Problem(int(match[1]), match[2])


def _no_logs(paths: list[str]) -> NoReturn:
    raise AssertionError(f"an editor lints no logs: {paths}")


def _no_writing(path: Path, text: str) -> NoReturn:  # noqa: ARG001 - what writes a file for others
    raise AssertionError(f"an editor writes no files: {path}")
