"""Mooncake traces (FAST'25 release): JSONL, one request a line, its prompt as ids of blocks with all before them."""

from __future__ import annotations

import io

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.report import InputFile
from prefixwise.corpus.reader import READERS, SHOWN_BROKEN, Broken, Progress, Reader, ReadOptions
from prefixwise.corpus.traces import MooncakeRecord, TraceRows

_KEY = b'"hash_ids"'
_PROGRESS_EVERY = 1000


def read(
    path: str,
    stream: io.BufferedReader,
    traces: TraceRows,
    broken: list[Broken],
    options: ReadOptions,
    progress: Progress,
) -> InputFile:
    """Read one file into `traces`. Raises UserError for the first broken line under `strict`."""
    traces.start_mooncake(path)
    decode = msgspec.json.Decoder(MooncakeRecord).decode
    number = failures = 0
    for line, data in enumerate(stream, 1):
        if data.isspace():
            continue
        try:
            traces.add_mooncake(path, number, line, decode(data))
        except (msgspec.MsgspecError, ValueError, RecursionError) as problem:
            failures += 1
            fault = Broken(path, number, line, str(problem))
            if options.strict:
                raise UserError(fault.reason, fault.where) from None
            if len(broken) < SHOWN_BROKEN:
                broken.append(fault)
        number += 1
        if number % _PROGRESS_EVERY == 0:
            progress(number, None, path)
    return InputFile(path, "mooncake trace", "trace", "", number, failures)


def claims(_path: str, head: bytes) -> bool:
    """Take a file whose first line has the ids."""
    return _KEY in head.partition(b"\n")[0]


READERS.add("mooncake", Reader(("mooncake",), 10, "trace", claims, read))
