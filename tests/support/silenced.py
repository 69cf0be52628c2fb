"""Sources that tests write, linted as files of a folder, with what comments in them hide."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.discovery import discover
from prefixwise.analyzers.static.files_report import source_files
from prefixwise.analyzers.static.lint import LintedSources, lint_sources
from prefixwise.analyzers.suppress.inline import Ran, sift_inline
from prefixwise.analyzers.suppress.sifted import Sifted
from prefixwise.core.finding import Finding

CONSTANT = "Name the quay, the time and the fare in every answer, and say where to ask for more.\n" * 20
"""Text that is worth keeping in a cache."""


@contextmanager
def inside(folder: Path) -> Iterator[None]:
    """Make a folder the working folder for a while."""
    before = os.getcwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def write(folder: Path, texts: dict[str, str]) -> None:
    """Write files by path, line ends as they are given."""
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())


def lint_folder(folder: Path, *paths: str) -> LintedSources:
    """Lint files of a folder from within it, by default all that discovery takes."""
    with inside(folder):
        files = discover(paths or (".",))
        return lint_sources(source_files(files.found), RULES.names(), beside=source_files(files.beside))


def sift_folder(
    folder: Path, texts: dict[str, str], wanted: Collection[str] | None = None, *, judges: bool = True
) -> Sifted:
    """Write files, lint them, and take away what their comments ignore."""
    write(folder, texts)
    names = frozenset(RULES.names() if wanted is None else wanted)
    with inside(folder):
        found = discover(tuple(texts))
        files = source_files(found.found)
        linted = lint_sources(files, names)
        return sift_inline(linted.findings, files, Ran(lambda _: names, judges=judges))


def told(findings: tuple[Finding, ...]) -> list[str]:
    """Return findings in short: `path:line rule`."""
    return [f"{finding.place} {finding.rule}" for finding in findings]


def hidden(sifted: Sifted) -> list[str]:
    """Return what is hidden in short."""
    return told(tuple(one.finding for one in sifted.hidden))
