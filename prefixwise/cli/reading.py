"""From the shared options to a corpus; what every command does first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from prefixwise.cli.console import Console
    from prefixwise.corpus.corpus import Corpus
    from prefixwise.corpus.reader import ReadOptions


def read_options(
    input_format: str | None = None,
    record_path: str | None = None,
    strict: bool = False,
    **fields: str | None,
) -> ReadOptions:
    """Return the options of a reader. Raises UserError for a pointer that is none."""
    from prefixwise.core.pointer import parse_pointer
    from prefixwise.corpus.reader import ReadOptions

    return ReadOptions(
        input_format or "",
        None if record_path is None else parse_pointer(record_path),
        {name: parse_pointer(pointer) for name, pointer in fields.items() if pointer is not None},
        strict,
    )


def read(paths: list[str], options: ReadOptions, console: Console) -> Corpus:
    """Read `paths` with progress on stderr."""
    import gc
    import sys

    from prefixwise.corpus.corpus import read_corpus

    # The index is millions of small objects without a cycle among them: collecting it over and over costs more
    # than all the rest.
    gc.disable()
    with console.progress("reading") as progress:
        return read_corpus(paths, options, progress, sys.stdin.buffer)
