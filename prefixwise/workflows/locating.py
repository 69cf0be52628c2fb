"""Which files a log's moving values are looked for in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.origins.index import SourceIndex
from prefixwise.analyzers.origins.traced import traced
from prefixwise.analyzers.static.discovery import Selection, discover
from prefixwise.analyzers.static.files_report import source_files
from prefixwise.core.errors import UserError
from prefixwise.corpus.again import Again


def with_sources(
    linted: Linted,
    again: Again,
    paths: Sequence[str],
    selection: Callable[[str], Selection] | None = None,
) -> Linted:
    """Return a linted log whose findings name the lines of sources that fill in what moves.

    Args:
        linted: The log.
        again: Reads its requests once more.
        paths: Folders and files of the sources; nothing is looked for where there are none.
        selection: What the configuration says of what stands directly in a folder, which is given absolute.

    Raises:
        UserError: A path leads to nothing.
    """
    if not paths:
        return linted
    try:
        files = discover(paths, selection, every_text=True)
    except UserError as problem:
        raise UserError(problem.what, f"--source {problem.where}", "name a folder or a file") from None
    sources = source_files((*files.found, *files.beside))
    found = traced(linted.values.findings, linted.log.rows, again, lambda: SourceIndex(file.path for file in sources))
    values = msgspec.structs.replace(linted.values, findings=found)
    return msgspec.structs.replace(linted, values=values)
