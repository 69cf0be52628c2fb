"""Lint of sources: prompt files, templates and the code that builds prompts, before anything is sent."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.lint.document import LintInput
from prefixwise.analyzers.static.context import Outside, OutsideOf, nothing_known
from prefixwise.analyzers.static.findings import source_findings
from prefixwise.analyzers.static.key_orders import key_order_traits
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.template_pool import TemplateTask, templates_read
from prefixwise.analyzers.static.templates.found import Stranded, TemplateTrait
from prefixwise.analyzers.static.volatile import Volatile, VolatileKind
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.finding import Finding, Mode


class SourceKind(StrEnum):
    """Which analysis reads a file."""

    TEMPLATE = "template"
    PYTHON = "python"
    SCRIPT = "script"


class SourceFile(msgspec.Struct, frozen=True):
    """A file to be linted: its path as given, relative and with `/`, and what reads it."""

    path: str
    kind: SourceKind


class LintedSources(msgspec.Struct, frozen=True):
    """What came out, in the order of files; `notes` say what could not be read."""

    findings: tuple[Finding, ...]
    inputs: tuple[LintInput, ...]
    notes: tuple[str, ...]

    def with_findings(self, more: Iterable[Finding]) -> LintedSources:
        """Return the same with more findings, all by file and place."""
        both = sorted((*self.findings, *more), key=lambda one: (one.path, one.span.start if one.span else 0, one.rule))
        return LintedSources(tuple(both), self.inputs, self.notes)


def lint_sources(
    files: Sequence[SourceFile],
    wanted: Collection[str],
    outside: OutsideOf = nothing_known,
    excerpts: Excerpts = Excerpts.MASKED,
    beside: Iterable[SourceFile] = (),
    jobs: int = 1,
    given: Mapping[str, bytes] | None = None,
) -> LintedSources:
    """Return what keeps the prompts of sources from being cached.

    Args:
        files: In any order; code is followed from one to another.
        wanted: Names of the rules whose findings are wanted.
        outside: What is known of each file from outside.
        excerpts: How much of the sources' text the findings may show.
        beside: Code without prompts of its own, which is read where that of `files` uses it.
        jobs: Processes that read templates; 0 for as many as pay. The result is the same.
        given: What files hold that are not read from the disk, by path.
    """
    given = given or {}
    sources: dict[str, Source] = {}
    unread: dict[str, str] = {}
    for file in files:
        try:
            data = given[file.path] if file.path in given else Path(file.path).read_bytes()
            sources[file.path] = Source(file.path, data.decode("utf-8"))
        except (OSError, UnicodeDecodeError) as problem:
            unread[file.path] = getattr(problem, "strerror", None) or "is not UTF-8 text"
    known = _Known(sources, beside, given)
    found, notes = _read(files, known, outside, jobs)
    bench = Bench(known, outside)
    findings = [finding for finding in source_findings(found, excerpts, bench) if finding.rule in wanted]
    inputs = tuple(_input(file, unread.get(file.path, "")) for file in sorted(files, key=lambda file: file.path))
    notes += [f"{path}: {why}" for path, why in sorted(unread.items())]
    return LintedSources(tuple(findings), inputs, tuple(notes))


class _Known(Mapping[str, Source]):
    """Sources by path: those that are linted, and those beside them, which are read when they are asked for."""

    def __init__(self, sources: dict[str, Source], beside: Iterable[SourceFile], given: Mapping[str, bytes]) -> None:
        self._sources = sources
        self._given = given
        self._kinds = {file.path: file.kind for file in beside}

    def of_kind(self, kind: SourceKind, linted: Iterable[str]) -> _Known:
        """Return those of a kind; of the linted ones, those at these paths."""
        sources = {path: self._sources[path] for path in linted}
        beside = [SourceFile(path, own) for path, own in self._kinds.items() if own is kind]
        return _Known(sources, beside, self._given)

    def __getitem__(self, path: str) -> Source:
        if path not in self._sources:
            if path not in self._kinds:
                raise KeyError(path)
            try:
                data = self._given[path] if path in self._given else Path(path).read_bytes()
                text = data.decode("utf-8")
            except (OSError, UnicodeDecodeError):
                text = ""  # nothing that prompts are built with
            self._sources[path] = Source(path, text)
        return self._sources[path]

    def __contains__(self, path: object) -> bool:
        return path in self._sources or path in self._kinds

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self._sources), **dict.fromkeys(self._kinds)})

    def __len__(self) -> int:
        return len(self._sources.keys() | self._kinds.keys())


def _read(
    files: Sequence[SourceFile], sources: _Known, outside: OutsideOf, jobs: int
) -> tuple[list[Volatile | Stranded | TemplateTrait], list[str]]:
    by_kind = {kind: [f.path for f in files if f.kind is kind and f.path in sources] for kind in SourceKind}
    paths = sorted(by_kind[SourceKind.TEMPLATE])
    with templates_read([_task(sources[path], outside(path)) for path in paths], jobs) as answers:
        volatiles, said = _read_code(by_kind, sources, outside)
        read = answers()
    notes = []
    for path, answer in zip(paths, read, strict=True):
        for problem in answer.problems:
            line, _ = sources[path].position(problem.start)
            notes.append(f"{path}:{line}: not read: {problem.what}")
    traits = key_order_traits((sources[path] for path in paths), lambda path: _model(outside(path)))
    return [*(one for answer in read for one in answer.found), *traits, *volatiles], [*notes, *said]


def _model(outside: Outside) -> str:
    return outside.asked.model or outside.assumed.model


def _task(source: Source, outside: Outside) -> TemplateTask:
    return TemplateTask(source.path, source.text, outside.asked, outside.assumed)


def _read_code(
    by_kind: Mapping[SourceKind, list[str]], sources: _Known, outside: OutsideOf
) -> tuple[list[Volatile], list[str]]:
    """Return what is found in code; a value that the code of several projects sends is told once."""
    if not by_kind[SourceKind.PYTHON] and not by_kind[SourceKind.SCRIPT]:
        return [], []
    from prefixwise.analyzers.static.python.reading import read_python  # both take their time to load
    from prefixwise.analyzers.static.scripts.read import read_scripts

    found: dict[tuple[str, int, int, VolatileKind], Volatile] = {}
    notes: dict[str, None] = {}
    for kind, read in ((SourceKind.PYTHON, read_python), (SourceKind.SCRIPT, read_scripts)):
        for builders, paths in _by_builders(by_kind[kind], outside):
            volatiles, said = read(sources.of_kind(kind, by_kind[kind]), paths, builders)
            for one in volatiles:
                found.setdefault((one.path, one.span.start, one.span.end, one.kind), one)
            notes.update(dict.fromkeys(said))
    return list(found.values()), list(notes)


def _by_builders(paths: Iterable[str], outside: OutsideOf) -> list[tuple[tuple[str, ...], list[str]]]:
    """Return paths by the builders that are named for them: code of one project is read at once."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for path in paths:
        groups.setdefault(tuple(sorted(outside(path).builders)), []).append(path)
    return sorted(groups.items())


def _input(file: SourceFile, skipped: str) -> LintInput:
    return LintInput(
        path=file.path,
        format=file.kind.value,
        provider=None,
        mode=Mode.STATIC,
        record_path="",
        records=0 if skipped else 1,
        broken=0,
        reason_skipped=skipped or None,
    )
