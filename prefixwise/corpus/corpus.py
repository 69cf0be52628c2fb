"""Files in, a corpus out: what the analyses of phase 2 start from."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.report import InputFile
from prefixwise.core.request import Request
from prefixwise.corpus.call import Answer
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.reader import (
    SHOWN_BROKEN,
    Broken,
    Progress,
    Reader,
    Reading,
    ReadOptions,
    Skipped,
    first_bytes,
    reader_for,
)
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.sources import find_files, open_plain
from prefixwise.corpus.tokenizer import Exactness
from prefixwise.corpus.traces import TraceRows

_PROGRESS_EVERY = 1000


class Corpus(msgspec.Struct, frozen=True):
    """All requests of some files.

    Attributes:
        rows: One a request, with the prefix tree that they end in.
        index: The text side; None for traces, which have none.
        inputs: What each file was read as.
        broken: The first broken records; `InputFile.broken` has all counts.
        tokenizers: By model: (exactness, tokenizer, its note).
        facts: What a trace says of itself, for example its block size, or what chat templates do to prompts.
    """

    rows: Rows
    index: CorpusIndex | None
    inputs: tuple[InputFile, ...]
    broken: tuple[Broken, ...]
    tokenizers: dict[str, tuple[Exactness, str, str]]
    facts: tuple[str, ...] = ()


def _no_progress(_done: int, _total: int | None, _what: str) -> None:
    """Show nothing."""


def read_corpus(
    arguments: Sequence[str],
    options: ReadOptions = ReadOptions(),  # noqa: B008 - frozen
    progress: Progress = _no_progress,
    stdin: io.BufferedReader | None = None,
    index: CorpusIndex | None = None,
) -> Corpus:
    """Read files, globs, folders or standard input into one corpus.

    Args:
        arguments: As on the command line; `-` is `stdin`.
        options: Format, places of values, strictness.
        progress: Called with (requests so far, None, path).
        stdin: Stream behind `-`.
        index: Grown instead of a new one, for callers that choose tokenizers.

    Raises:
        UserError: Nothing to read (exit code 3), a file cannot be read, a broken record under `strict`, or
            traces mixed with text.
    """
    index = index or CorpusIndex()
    traces = TraceRows()
    inputs: list[InputFile] = []
    broken: list[Broken] = []
    for path in find_files(arguments):
        with open_plain(path, stdin) as stream:
            reader = reader_for(path, first_bytes(stream), options)
            if reader.kind == "trace":
                inputs.append(reader.open(path, stream, traces, broken, options, progress))
            else:
                inputs.append(_read_text(path, reader, stream, index, broken, options, progress))
    if len(traces.rows) and len(index.rows):
        raise UserError("traces and logs cannot be counted together", help="give them to two runs")
    read = len(traces.rows) + len(index.rows)
    if not read and not any(file.broken for file in inputs):
        raise UserError("no request in the input", ", ".join(file.path for file in inputs), exit_code=3)
    if not read:
        raise UserError(
            f"no request could be read: {broken[0].reason}",
            broken[0].where,
            "where the body stands in an unusual place, name it with --record-path",
        )
    if len(traces.rows):
        rows = traces.finish()
        return Corpus(rows, None, tuple(inputs), tuple(broken[:SHOWN_BROKEN]), traces.tokenizers, traces.facts())
    return Corpus(index.rows, index, tuple(inputs), tuple(broken[:SHOWN_BROKEN]), index.tokenizers, index.facts())


def _read_text(
    path: str,
    reader: Reader,
    stream: io.BufferedReader,
    index: CorpusIndex,
    broken: list[Broken],
    options: ReadOptions,
    progress: Progress,
) -> InputFile:
    reading: Reading = reader.open(path, options)
    records = failures = 0
    joined_before = index.joined
    left_out: Counter[str] = Counter()
    for found in reading.requests(stream):
        if isinstance(found, Answer):
            index.join(found)
            continue
        records += 1
        request: Request | Skipped | Broken = found
        if isinstance(request, Request):
            try:
                index.add(request)
            except ValueError as problem:
                request = Broken(path, request.record, request.line, str(problem))
        if isinstance(request, Skipped):
            left_out[request.reason] += 1
        elif isinstance(request, Broken):
            failures += 1
            if options.strict:
                raise UserError(request.reason, request.where)
            if len(broken) < SHOWN_BROKEN:
                broken.append(request)
        if records % _PROGRESS_EVERY == 0:
            progress(records, None, path)
    index.finish()
    return InputFile(
        path,
        reading.format,
        reading.mode,
        reading.record_path,
        records,
        failures,
        joined=index.joined - joined_before,
        left_out=tuple(sorted(left_out.items())),
    )
