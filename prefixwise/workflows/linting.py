"""A lint run, from what is asked to its report: which files, what is found in them, and what becomes of the findings.

What is done with findings after they were found (counted, mended) belongs into `_judged`, and nowhere else; what
silences them stands in `silencing`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TypeAlias

import msgspec

from prefixwise.analyzers.configured import Configured, unknown_providers
from prefixwise.analyzers.fixes.report import with_shown_edits
from prefixwise.analyzers.lint.report import Judged, lint_report
from prefixwise.analyzers.lint.run import Linted, lint_log
from prefixwise.analyzers.static.discovery import Discovered, LeftOut, discover, discover_unsaved
from prefixwise.analyzers.static.file_kinds import FileKind
from prefixwise.analyzers.static.files_report import source_files
from prefixwise.analyzers.static.lint import LintedSources, SourceKind, lint_sources
from prefixwise.analyzers.static.lock import read_lock
from prefixwise.analyzers.static.locked import locked_findings
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.config.settings import DEFAULTS, Settings
from prefixwise.core.errors import UserError
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding, Level
from prefixwise.core.report import Report, SourceText
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus
from prefixwise.workflows.baselines import Save, baselines_of
from prefixwise.workflows.fixing import CopyOutcome, FixAsked, FixOutcome, mend, write_copy
from prefixwise.workflows.locating import with_sources
from prefixwise.workflows.silencing import Looked, Silencing, silenced

_MOST_EXCLUDED = 10

ReadLogs: TypeAlias = Callable[[list[str]], AbstractContextManager[tuple[Corpus, Again]]]
"""Opens logs: gives the corpus with outlines, and what reads its requests again."""


class LintAsked(msgspec.Struct, frozen=True, kw_only=True):
    """What a lint run is asked for.

    Attributes:
        paths: What was named: files, folders, globs, `-`.
        configured: What holds for each file.
        settings: What holds for the whole run.
        lock: Lock to hold prompts against; None for none.
        statistics: Whether the report counts findings by rule.
        fixes: Which fixes to make; None for none.
        fixed_copy: Where to write a copy of the log as it should be; None for nowhere.
        silencing: Which findings are not to be told.
        unsaved: Path under which the text on standard input is linted, '' where that is a log or nothing.
        text: That text.
        only_discovered: Whether files that are named are taken only where they would be found in their folder. That
            nothing is left then is no error.
    """

    paths: tuple[str, ...]
    configured: Configured
    settings: Settings = DEFAULTS
    lock: Path | None = None
    statistics: bool = False
    fixes: FixAsked | None = None
    fixed_copy: Path | None = None
    silencing: Silencing = Silencing()
    unsaved: str = ""
    text: bytes = b""
    only_discovered: bool = False

    @property
    def given(self) -> dict[str, bytes]:
        """What files hold that are not read from the disk, by path."""
        return {self.unsaved: self.text} if self.unsaved else {}

    @property
    def excerpts(self) -> Excerpts:
        """How much of the prompts' text is shown."""
        return Excerpts(self.settings.excerpts)

    def fail_on_in(self, findings: Iterable[Finding]) -> dict[str, Level | None]:
        """Return the level that fails of files whose own configuration says another one than that of the run."""
        levels = {path: self.configured.fail_on(path) for path in sorted({finding.path for finding in findings})}
        return {path: level for path, level in levels.items() if level != self.configured.fail_on("")}


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
    return discover(asked.paths, asked.configured.selection, only_discovered=asked.only_discovered)


def baselines(asked: LintAsked, files: Discovered) -> tuple[Path, ...]:
    """Return the baselines against which findings in some files are held."""
    return baselines_of(asked.configured, (file.path for file in (*files.found, *files.beside)))


class LintRun(msgspec.Struct, frozen=True):
    """What came of a lint run.

    Attributes:
        report: What is found; where fixes were asked for, what is left.
        patch: What fixes change.
        refused: Whether something that was asked for was refused: the command fails, whatever was found.
    """

    report: Report
    patch: str = ""
    refused: bool = False

    @property
    def exit_code(self) -> int:
        """That of the report, or 1 where something was refused."""
        return self.report.exit_code or int(self.refused)


def lint(asked: LintAsked, files: Discovered, read_logs: ReadLogs, save: Save) -> LintRun:
    """Return what came of a lint run.

    Args:
        asked: What is wanted.
        files: The files that `files_of` returned.
        read_logs: Opens logs; called once at most.
        save: Writes a baseline.

    Raises:
        UserError: There is nothing to lint, or something of what is asked cannot be.
    """
    asked.silencing.check(baselines(asked, files))
    excluded = [left for left in files.left_out if left.named]
    if not files.found and not excluded and not asked.only_discovered:
        raise UserError("nothing to lint", ", ".join(asked.paths), "see --show-files", exit_code=3)
    book = Rulebook(asked.settings.rules)
    lock = None if asked.lock is None else read_lock(asked.lock)
    logs, copy = _logs(asked, files, book, read_logs)
    mended = None if asked.fixes is None else _mended(asked, asked.fixes, files)
    given = {**asked.given, **(mended.given if mended else {})}
    read = _Read(logs, _sources(asked, files, given))
    if lock is not None and read.sources is not None:
        held = locked_findings(source_files(files.found), lock, outside=asked.configured.outside)
        read = _Read(read.logs, read.sources.with_findings(held))
    judged = _shown(_judged(asked, files, read, save, given), asked.excerpts)
    fail_on = asked.configured.fail_on(""), asked.fail_on_in(judged.findings)
    report = lint_report(read.logs, read.sources, judged, *fail_on, statistics=asked.statistics)
    outcomes = [one for one in (mended, copy) if one is not None]
    blocks = (*(block for one in outcomes for block in one.blocks), *report.blocks)
    unknown = unknown_providers(asked.configured.providers, book)
    unread = (f"{left.path}: {left.why}" for left in files.left_out if left.unreadable)
    said = (*unknown, *unread, *_excluded(excluded))
    notes = (*report.notes, *said, *(note for one in outcomes for note in one.notes))
    report = msgspec.structs.replace(report, blocks=blocks, notes=notes, sources=tuple(_unsaved(given)))
    return LintRun(report, mended.patch if mended else "", refused=copy is not None and copy.refused)


def _excluded(named: Sequence[LeftOut]) -> Iterator[str]:
    """Yield what is said of files that were named, and are left out as the configuration has it."""
    if len(named) > _MOST_EXCLUDED:
        yield f"left out: {len(named):,} files that were named (force-exclude; see --show-files)"
    else:
        yield from (f"{left.path}: left out, {left.why} (force-exclude)" for left in named)


def _unsaved(given: Mapping[str, bytes]) -> Iterator[SourceText]:
    """Yield what files hold that are not read from the disk, for formats that count in it."""
    with contextlib.suppress(UnicodeDecodeError):
        yield from (SourceText(path, data.decode("utf-8")) for path, data in given.items())


def _shown(judged: Judged, excerpts: Excerpts) -> Judged:
    findings, suppressed = (
        tuple(with_shown_edits(one, excerpts) for one in found) for found in (judged.findings, judged.suppressed)
    )
    return msgspec.structs.replace(judged, findings=findings, suppressed=suppressed)


def _mended(asked: LintAsked, fixes: FixAsked, files: Discovered) -> FixOutcome:
    if asked.unsaved:
        raise UserError("there is no file to mend", "--fix, --diff", "edits of what is not saved are in --json")
    known = msgspec.structs.replace(asked.silencing, write=None, update=False)

    def found(given: Mapping[str, bytes], only: Collection[str] | None) -> tuple[Finding, ...]:
        # While files change in memory, git cannot tell which of their lines have changed.
        silencing = known if only is None else msgspec.structs.replace(known, since=None)
        again = msgspec.structs.replace(asked, silencing=silencing)
        read = _Read(None, _sources(asked, files, given, only))
        return _judged(again, files, read, _keep, given).findings

    return mend(fixes, found, asked.configured.outside)


def _keep(_path: Path, _text: str) -> None:
    """Write nothing."""


def _judged(asked: LintAsked, files: Discovered, read: _Read, save: Save, given: Mapping[str, bytes]) -> Judged:
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
        given=given,
    )
    return silenced(found, looked, asked.silencing, asked.excerpts, save)


def _logs(
    asked: LintAsked, files: Discovered, book: Rulebook, read_logs: ReadLogs
) -> tuple[Linted | None, CopyOutcome | None]:
    logs = [file.path for file in files.found if file.kind is FileKind.LOG]
    if not logs:
        if asked.fixed_copy is not None:
            raise UserError("there is no log to copy", "--fixed-copy", "name a log; --fix mends sources in their place")
        return None, None
    with read_logs(logs) as (corpus, again):
        linted = lint_log(corpus, again, asked.configured.rules_of_any(logs), book, asked.excerpts)
        linted = with_sources(linted, again, asked.settings.source, asked.configured.selection)
        if asked.fixed_copy is None:
            return linted, None
        known = msgspec.structs.replace(asked.silencing, write=None, update=False)
        quietly = msgspec.structs.replace(asked, silencing=known)
        told = _judged(quietly, files, _Read(linted, None), _keep, asked.given).findings
        return linted, write_copy(asked.fixed_copy, linted, told, again)


def _sources(
    asked: LintAsked, files: Discovered, given: Mapping[str, bytes], only: Collection[str] | None = None
) -> LintedSources | None:
    """Return what is found in the sources; where `only` some of them are wanted, others are read for these."""
    sources, beside = source_files(files.found), source_files(files.beside)
    if not sources:
        return None
    if only is not None:
        beside += [file for file in sources if file.path not in only and file.kind is not SourceKind.TEMPLATE]
        sources = [file for file in sources if file.path in only]
    wanted = asked.configured.rules_of_any(file.path for file in (*sources, *beside))
    return lint_sources(
        sources,
        wanted,
        asked.configured.outside,
        excerpts=asked.excerpts,
        beside=beside,
        jobs=asked.settings.jobs,
        given=given,
    )
