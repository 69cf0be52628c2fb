"""Reading the same input a second time, for analyses that must look at the text of requests they have chosen."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from prefixwise.core.request import Request
from prefixwise.corpus.reader import Reading, ReadOptions, first_bytes, reader_for
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.sources import STDIN, open_plain

_CHUNK = 1 << 20


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


def requests_again(
    paths: Sequence[str], rows: Rows, options: ReadOptions, stdin: io.BufferedReader | None = None
) -> Iterator[tuple[int, Request]]:
    """Yield (row, request) of every row, in the order in which the files hold them; broken records are passed over.

    Args:
        paths: The files that the corpus was read from, in order.
        rows: Their rows.
        options: As they were read the first time.
        stdin: What stands behind `-`: a stream that `kept` made.
    """
    by_place = {(rows.file[row], rows.record[row]): row for row in range(len(rows))}
    for path in paths:
        number = rows.files.number(path)
        if path == STDIN and stdin is not None:
            stdin.seek(0)
        with open_plain(path, stdin) as stream:
            reading: Reading = reader_for(path, first_bytes(stream), options).open(path, options)
            for found in reading.requests(stream):
                if isinstance(found, Request) and (row := by_place.get((number, found.record))) is not None:
                    yield row, found
