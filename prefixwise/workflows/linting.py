"""A lint run, from what is asked to its report: which files, what is found in them, and what becomes of the findings.

What is done with findings after they were found (counted, mended) belongs into `_judged`, and nowhere else; what
silences them stands in `silencing`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeAlias

import msgspec

from prefixwise.analyzers.configured import Configured
from prefixwise.analyzers.lint.report import Judged, lint_report
from prefixwise.analyzers.lint.run import Linted, lint_log
from prefixwise.analyzers.static.discovery import Discovered, discover, discover_unsaved
from prefixwise.analyzers.static.file_kinds import FileKind
from prefixwise.analyzers.static.files_report import source_files
from prefixwise.analyzers.static.lint import LintedSources, lint_sources
from prefixwise.analyzers.static.lock import read_lock
from prefixwise.analyzers.static.locked import locked_findings
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.config.settings import DEFAULTS, Settings
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding, Level
from prefixwise.core.report import Report, SourceText
from prefixwise.core.request import Request
from prefixwise.corpus.corpus import Corpus
from prefixwise.workflows.silencing import Looked, Save, Silencing, silenced

ReadLogs: TypeAlias = Callable[
    [list[str]], AbstractContextManager[tuple[Corpus, Callable[[], Iterator[tuple[int, Request]]]]]
]
"""Opens logs: gives the corpus with outlines, and what reads its requests again."""


class LintAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a lint run is asked for.

    Attributes:
        paths: What was named: files, folders, globs, `-`.
        configured: What holds for each file.
        settings: What holds for the whole run.
        lock: Lock to hold prompts against; None for none.
        statistics: Whether the report counts findings by rule.
        silencing: Which findings are not to be told.
        unsaved: Path under which the text on standard input is linted, '' where that is a log or nothing.
        text: That text.
    """

    paths: tuple[str, ...]
    configured: Configured
    settings: Settings = DEFAULTS
    lock: Path | None = None
    statistics: bool = False
    silencing: Silencing = Silencing()
    unsaved: str = ""
    text: bytes = b""

    @property
    def given(self) -> dict[str, bytes]:
        """What files hold that are not read from the disk, by path."""
        return {self.unsaved: self.text} if self.unsaved else {}

    @property
    def excerpts(self) -> Excerpts:
        """How much of the prompts' text is shown."""
        return Excerpts(self.settings.excerpts)

    @property
    def fail_on(self) -> Level | None:
        """Mildest level of a finding that makes the command fail; None for never."""
        never = self.settings.exit_zero or self.settings.fail_on == "never"
        return None if never else Level(self.settings.fail_on)


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
    if asked.unsaved:
        return discover_unsaved(asked.unsaved, asked.configured.selection)
    return discover(asked.paths, asked.configured.selection)


def lint(asked: LintAsked, files: Discovered, read_logs: ReadLogs, save: Save) -> Report:
    """Return the report of a lint run.

    Args:
        asked: What is wanted.
        files: The files that `files_of` returned.
        read_logs: Opens logs; called once at most.
        save: Writes a baseline.

    Raises:
        UserError: There is nothing to lint, or something of what is asked cannot be.
    """
    asked.silencing.check()
    if not files.found:
        raise UserError("nothing to lint", ", ".join(asked.paths), "see --show-files", exit_code=3)
    book = Rulebook(asked.settings.rules)
    lock = None if asked.lock is None else read_lock(asked.lock)
    read = _Read(_logs(asked, files, book, read_logs), _sources(asked, files))
    if lock is not None and read.sources is not None:
        held = locked_findings(source_files(files.found), lock, outside=asked.configured.outside)
        read = _Read(read.logs, read.sources.with_findings(held))
    judged = _judged(asked, files, read, save)
    report = lint_report(read.logs, read.sources, judged, asked.fail_on, statistics=asked.statistics)
    return msgspec.structs.replace(report, sources=tuple(_unsaved(asked)))


def _unsaved(asked: LintAsked) -> Iterator[SourceText]:
    """Yield the text on standard input for formats that count in it; they must not look into the file."""
    with contextlib.suppress(UnicodeDecodeError):
        yield from (SourceText(path, data.decode("utf-8")) for path, data in asked.given.items())


def _judged(asked: LintAsked, files: Discovered, read: _Read, save: Save) -> Judged:
    """Return what is said of the findings: which are told, and which silenced.

    A finding of a rule that does not run in its file does not exist: it is neither.
    """
    found = tuple(one for one in read.findings if one.rule in asked.configured.rules(one.path))
    looked = Looked(
        configured=asked.configured,
        linted=tuple(source_files(files.found)),
        beside=tuple(source_files(files.beside)),
        named=frozenset(file.path for file in files.found if file.why == "named"),
        sources=read.sources,
        logs=tuple(file.path for file in files.found if file.kind is FileKind.LOG),
        locked=asked.lock is not None,
        given=asked.given,
    )
    return silenced(found, looked, asked.silencing, asked.excerpts, save)


def _logs(asked: LintAsked, files: Discovered, book: Rulebook, read_logs: ReadLogs) -> Linted | None:
    logs = [file.path for file in files.found if file.kind is FileKind.LOG]
    if not logs:
        return None
    with read_logs(logs) as (corpus, again):
        return lint_log(corpus, again, asked.configured.rules_of_any(logs), book, asked.excerpts)


def _sources(asked: LintAsked, files: Discovered) -> LintedSources | None:
    sources = source_files(files.found)
    if not sources:
        return None
    beside = source_files(files.beside)
    wanted = asked.configured.rules_of_any(file.path for file in (*sources, *beside))
    return lint_sources(
        sources,
        wanted,
        asked.configured.outside,
        excerpts=asked.excerpts,
        beside=beside,
        jobs=asked.settings.jobs,
        given=asked.given,
    )
