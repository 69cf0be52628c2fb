"""Reading the same input a second time, for analyses that must look at the text of requests they have chosen."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Protocol, cast

import msgspec

from prefixwise.core.request import Request
from prefixwise.corpus.reader import Reading, ReadOptions, first_bytes, reader_for
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.sources import STDIN, open_plain

_CHUNK = 1 << 20

Wanted = Callable[[int, bytes], bool]
"""Says of a row, by its number and its record, whether anybody wants it."""


@contextmanager
def kept(arguments: Sequence[str], stdin: io.BufferedReader) -> Iterator[io.BufferedReader]:
    """Yield a stream in place of standard input that can be read twice, through a file that has no name."""
    if STDIN not in arguments:
        yield stdin
        return
    with tempfile.TemporaryFile() as spool:
        while chunk := stdin.read(_CHUNK):
            spool.write(chunk)
        spool.seek(0)
        yield cast("io.BufferedReader", spool)


class Again(Protocol):
    """Reads the same input once more, as (row, request)."""

    def __call__(self, *, wanted: Wanted | None = None) -> Iterator[tuple[int, Request]]:
        """Yield the rows that are `wanted`; others may be passed over."""
        ...


def requests_again(
    paths: Sequence[str],
    rows: Rows,
    options: ReadOptions,
    stdin: io.BufferedReader | None = None,
    wanted: Wanted | None = None,
) -> Iterator[tuple[int, Request]]:
    """Yield (row, request) of every row, in the order in which the files hold them; broken records are passed over.

    Args:
        paths: The files that the corpus was read from, in order.
        rows: Their rows.
        options: As they were read the first time.
        stdin: What stands behind `-`: a stream that `kept` made.
        wanted: Asked of each row as its record comes by; rows that nobody wants may be left out, undecoded.
    """
    by_file: dict[int, dict[int, int]] = {}
    for row, place in enumerate(zip(rows.file, rows.record, strict=True)):
        by_file.setdefault(place[0], {})[place[1]] = row
    for path in paths:
        by_record = by_file.get(rows.files.number(path), {})
        asking = options if wanted is None else msgspec.structs.replace(options, wanted=_by_record(by_record, wanted))
        if path == STDIN and stdin is not None:
            stdin.seek(0)
        with open_plain(path, stdin) as stream:
            reading: Reading = reader_for(path, first_bytes(stream), options).open(path, asking)
            for found in reading.requests(stream):
                if isinstance(found, Request) and (row_of := by_record.get(found.record)) is not None:
                    yield row_of, found


def _by_record(rows: Mapping[int, int], wanted: Wanted) -> Callable[[int, bytes], bool]:
    """Return what says of the records of a file whether anybody wants their rows."""
    return lambda record, data: (row := rows.get(record)) is not None and wanted(row, data)
