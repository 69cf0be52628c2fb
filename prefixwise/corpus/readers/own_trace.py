"""The tool's own traces, which `prefixwise trace` writes."""

from __future__ import annotations

import io

from prefixwise.core.report import InputFile
from prefixwise.corpus.reader import READERS, Broken, Progress, Reader, ReadOptions
from prefixwise.corpus.traces import TraceRows

_MAGIC = b"PAR1"


def read(
    path: str,
    stream: io.BufferedReader,
    traces: TraceRows,
    _broken: list[Broken],
    _options: ReadOptions,
    _progress: Progress,
) -> InputFile:
    """Read one file into `traces`. Raises UserError where it is no trace of ours."""
    from prefixwise.corpus.parquet import read_parquet

    return read_parquet(path, stream, traces)


def claims(_path: str, head: bytes) -> bool:
    """Take Parquet files."""
    return head.startswith(_MAGIC)


READERS.add("trace", Reader(("trace",), 11, "trace", claims, read))
