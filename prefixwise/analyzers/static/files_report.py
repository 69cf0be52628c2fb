"""Which files are read, and why others are not."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from prefixwise.analyzers.static.discovery import Discovered, Found, Selection, discover
from prefixwise.analyzers.static.file_kinds import FileKind
from prefixwise.analyzers.static.lint import SourceFile, SourceKind
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Column, Report, Table

FILES = DocumentKind("prefixwise/files", 1, "which files lint reads, and why others are not", Discovered)


def source_files(found: Iterable[Found]) -> list[SourceFile]:
    """Return the files that are no logs, as lint of sources takes them."""
    return [SourceFile(file.path, SourceKind(file.kind.read_as)) for file in found if file.kind is not FileKind.LOG]


def prompt_files(paths: Iterable[str], selection: Callable[[str], Selection] | None = None) -> list[SourceFile]:
    """Return the prompt files that paths lead to, by path: files that are named whatever they are, folders' prompts.

    Args:
        paths: Files, folders or globs.
        selection: What the configuration says of what stands directly in a folder, which is given absolute.

    Raises:
        UserError: A path leads to nothing.
    """
    named = {path for path in paths if Path(path).is_file()}
    others = [path for path in paths if path not in named]
    found = discover(others, selection).found if others else ()
    taken = {Path(path).as_posix() for path in named}
    taken |= {file.path for file in found if file.kind.read_as is FileKind.TEMPLATE}
    return [SourceFile(path, SourceKind.TEMPLATE) for path in sorted(taken)]


def files_report(files: Discovered) -> Report:
    """Return the report of `--show-files`."""
    taken = tuple((file.path, file.kind.value, file.why) for file in files.found)
    beside = tuple((file.path, file.kind.value, file.why) for file in files.beside)
    left = tuple((file.path, file.why) for file in files.left_out)
    columns = Column("path", "file"), Column("kind", "read as"), Column("why", "why")
    return Report(
        FILES.schema,
        FILES.version,
        "lint",
        f"{len(taken):,} file{'s' if len(taken) != 1 else ''} to lint, {len(left):,} left out",
        (
            Table("found", "Read", columns, taken),
            *((Table("beside", "Followed where prompts use it", columns, beside),) if beside else ()),
            Table("left_out", "Left out", (columns[0], columns[2]), left),
        ),
        values=files,
    )
