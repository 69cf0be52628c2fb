"""Fixes of sources in tests: files written to a folder, mended in memory, and mended once more."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from prefixwise.analyzers.fixes.rounds import FixedSources, Fixer
from prefixwise.analyzers.rule import RULES
from prefixwise.analyzers.static.context import nothing_known
from prefixwise.analyzers.static.discovery import discover
from prefixwise.analyzers.static.files_report import source_files
from prefixwise.analyzers.static.lint import SourceKind, lint_sources
from prefixwise.core.finding import Finding


@dataclass
class FixedFolder:
    """What was found in a folder, what became of it, and what a second round of fixes makes of that."""

    found: tuple[Finding, ...]
    fixed: FixedSources
    again: FixedSources


def fix_folder(texts: Mapping[str, str], *, unsafe: bool) -> FixedFolder:
    """Fix files by path, in a folder of their own; what is not changed in memory is read from it."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for path, text in texts.items():
                Path(path).parent.mkdir(parents=True, exist_ok=True)
                Path(path).write_bytes(text.encode())
            return _fixed(unsafe=unsafe)
        finally:
            os.chdir(before)


def _fixed(*, unsafe: bool) -> FixedFolder:
    files = discover(["."])
    sources, beside = source_files(files.found), source_files(files.beside)

    def lint(texts: Mapping[str, str], only: Collection[str] | None = None) -> tuple[Finding, ...]:
        given = {path: text.encode() for path, text in texts.items()}
        wanted = [file for file in sources if only is None or file.path in only]
        others = [file for file in sources if file not in wanted and file.kind is not SourceKind.TEMPLATE]
        return lint_sources(wanted, RULES.names(), beside=[*beside, *others], given=given).findings

    found = lint({})
    fixed = Fixer(_read, lint, nothing_known, unsafe=unsafe).fixed(found)
    for path, text in fixed.after.items():
        Path(path).write_bytes(text.encode())
    again = Fixer(_read, lint, nothing_known, unsafe=unsafe).fixed(lint({}))
    return FixedFolder(found, fixed, again)


def _read(path: str) -> str:
    return Path(path).read_bytes().decode()
