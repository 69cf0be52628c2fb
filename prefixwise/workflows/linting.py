"""A lint run, from what is asked to its report: which files, what is found in them, and what becomes of the findings.

What is done with findings after they were found (silenced, counted, mended) belongs into `_judged`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeAlias

import msgspec

from prefixwise.analyzers.lint.report import Judged, lint_report
from prefixwise.analyzers.lint.run import Linted, lint_log
from prefixwise.analyzers.static.context import PromptContext
from prefixwise.analyzers.static.discovery import Discovered, discover
from prefixwise.analyzers.static.file_kinds import FileKind
from prefixwise.analyzers.static.files_report import source_files
from prefixwise.analyzers.static.lint import LintedSources, lint_sources
from prefixwise.analyzers.static.lock import read_lock
from prefixwise.analyzers.static.locked import locked_findings
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding, Level
from prefixwise.core.report import Report
from prefixwise.core.request import Request
from prefixwise.corpus.corpus import Corpus

ReadLogs: TypeAlias = Callable[
    [list[str]], AbstractContextManager[tuple[Corpus, Callable[[], Iterator[tuple[int, Request]]]]]
]
"""Opens logs: gives the corpus with outlines, and what reads its requests again."""


class LintAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a lint run is asked for.

    Attributes:
        paths: What was named: files, folders, globs, `-`.
        wanted: Names of the rules whose findings are wanted.
        known: What is known of all prompts from outside their files.
        rules: Files of cache facts to lay over the packaged ones.
        lock: Lock to hold prompts against; None for none.
        excerpts: How much of the prompts' text is shown.
        fail_on: Mildest level of a finding that makes the command fail; None for never.
    """

    paths: tuple[str, ...]
    wanted: frozenset[str]
    known: PromptContext = PromptContext()
    rules: tuple[str, ...] = ()
    lock: Path | None = None
    excerpts: Excerpts = Excerpts.MASKED
    fail_on: Level | None = Level.ERROR


class _Read(msgspec.Struct, frozen=True):
    """What came of the files: logs and sources apart, None where there are none of that kind."""

    logs: Linted | None
    sources: LintedSources | None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All findings, in the order in which they are to be read."""
        return (
            *(self.logs.values.findings if self.logs else ()),
            *(self.sources.findings if self.sources else ()),
        )


def files_of(asked: LintAsked) -> Discovered:
    """Return the files to lint. Raises UserError where a name leads to nothing."""
    return discover(asked.paths)


def lint(asked: LintAsked, files: Discovered, read_logs: ReadLogs) -> Report:
    """Return the report of a lint run.

    Args:
        asked: What is wanted.
        files: The files that `files_of` returned.
        read_logs: Opens logs; called once at most.

    Raises:
        UserError: There is nothing to lint, or something of what is asked cannot be.
    """
    if not files.found:
        raise UserError("nothing to lint", ", ".join(asked.paths), "see --show-files", exit_code=3)
    book = Rulebook(asked.rules)
    lock = None if asked.lock is None else read_lock(asked.lock)
    read = _Read(_logs(asked, files, book, read_logs), _sources(asked, files))
    if lock is not None and read.sources is not None:
        held = locked_findings(source_files(files.found), lock, context=asked.known)
        wanted = [finding for finding in held if finding.rule in asked.wanted]
        read = _Read(read.logs, read.sources.with_findings(wanted))
    return lint_report(read.logs, read.sources, _judged(read.findings), asked.fail_on)


def _judged(found: tuple[Finding, ...]) -> Judged:
    """Return what is said of the findings: which stay, and which are silenced."""
    return Judged(found)


def _logs(asked: LintAsked, files: Discovered, book: Rulebook, read_logs: ReadLogs) -> Linted | None:
    logs = [file.path for file in files.found if file.kind is FileKind.LOG]
    if not logs:
        return None
    with read_logs(logs) as (corpus, again):
        return lint_log(corpus, again, asked.wanted, book, asked.excerpts)


def _sources(asked: LintAsked, files: Discovered) -> LintedSources | None:
    sources = source_files(files.found)
    if not sources:
        return None
    beside = source_files(files.beside)
    return lint_sources(sources, asked.wanted, asked.known, excerpts=asked.excerpts, beside=beside)
