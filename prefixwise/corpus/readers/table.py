"""CSV and Parquet: each row is a record with its columns as keys, read like any other log.

Exports in tables (LiteLLM, Langfuse, …) are recognised by their columns. In other tables `--record-path /COLUMN`
names the column of the prompt and `--tenant-field /COLUMN` and its kin the others; counts in columns of their own
become the usage.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Literal, NamedTuple

import msgspec
from msgspec import Raw

from prefixwise.core.errors import UserError
from prefixwise.core.request import Request
from prefixwise.corpus.call import Answer
from prefixwise.corpus.parquet import is_trace, need_pyarrow
from prefixwise.corpus.reader import READERS, Broken, Reader, Reading, ReadOptions, Skipped, export_of
from prefixwise.corpus.readers.body_log import BodyLog
from prefixwise.corpus.records import RawRecord
from prefixwise.corpus.signs import key_paths
from prefixwise.corpus.wrapper import NAMES

Row = tuple[int, dict[str, Any]]
"""The line that a row ends on (0 where there are no lines), and its values by column, empty cells left out."""


class Table(NamedTuple):
    """A table being read: its columns, and its rows."""

    columns: list[str]
    rows: Iterator[Row]


_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
_PROMPT_COLUMNS = frozenset({"messages", "prompt", "request", "request_body", "body", "input"})
_TEXT_COLUMNS = frozenset({"prompt", "completion", "text"})
_MAGIC = b"PAR1"
_LONGEST_CELL = 1 << 30
_NUMBERS = frozenset(name for name in NAMES if name.startswith(("duration", "ttft")))
_NUMBER_COLUMNS = frozenset(name for meaning in _NUMBERS for name in NAMES[meaning])
_USAGE = frozenset(
    {
        *("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"),
        *("cached_tokens", "cached_input_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"),
        *("cache_creation_input_tokens", "cache_write_tokens"),
    }
)


def csv_table(stream: io.BufferedReader) -> Table:
    """Return the table in a CSV file. Raises UserError where it has no header."""
    text = io.TextIOWrapper(stream, "utf-8", errors="replace", newline="")
    csv.field_size_limit(_LONGEST_CELL)
    header = text.readline()
    skipped = 1
    if header.startswith("sep="):  # what spreadsheets write first
        header, skipped = text.readline(), 2
    delimiter = _delimiter(header)
    columns = next(csv.reader([header], delimiter=delimiter), [])
    if not any(columns):
        raise UserError("a CSV file begins with a line of column names")
    return Table(columns, _csv_rows(text, columns, delimiter, skipped))


def _delimiter(header: str) -> str:
    return max(",;\t|", key=header.count)


def _csv_rows(text: io.TextIOWrapper, columns: list[str], delimiter: str, skipped: int) -> Iterator[Row]:
    """Yield the rows; blank lines are none. Raises UserError where the file is damaged."""
    rows = csv.reader(text, delimiter=delimiter)
    try:
        for row in rows:
            cells = {column: _cell(column, value) for column, value in zip(columns, row, strict=False) if value != ""}
            if cells:
                yield rows.line_num + skipped, cells
    except csv.Error as problem:
        raise UserError(f"the CSV is damaged: {problem}") from None
    finally:
        text.detach()


def parquet_table(stream: io.BufferedReader) -> Table:
    """Return the table in a Parquet file. Raises UserError where it is damaged."""
    pyarrow = need_pyarrow()
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(stream.read()))
    except (pyarrow.ArrowException, OSError) as problem:
        raise UserError(f"the Parquet file cannot be read: {str(problem)[:200]}") from None
    return Table(file.schema_arrow.names, _parquet_rows(file))


def _parquet_rows(file: Any) -> Iterator[Row]:
    """Yield the rows. Raises UserError where a value is none that Python has."""
    try:
        for batch in file.iter_batches(batch_size=1024, use_threads=False):
            for row in batch.to_pylist():
                yield 0, {column: _cell(column, value) for column, value in row.items() if value is not None}
    except (OSError, ValueError, OverflowError) as problem:  # pyarrow's own are of these kinds
        raise UserError(f"the Parquet file cannot be read: {str(problem)[:200]}") from None


def _cell(column: str, value: Any) -> Any:
    """Return a cell: JSON unpacked, and numbers where numbers are meant."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if not isinstance(value, str):
        return value
    if value[:1] in ("{", "[") and column not in _TEXT_COLUMNS:
        try:
            return _json_or_text(value)
        except (msgspec.MsgspecError, RecursionError):
            return value
    if column in _NUMBER_COLUMNS or column in _USAGE:
        try:
            number = float(value)
        except ValueError:
            return value
        return int(number) if number.is_integer() else number
    return value


def _json_or_text(value: str) -> Any:
    """Return the JSON of a cell, as it is, if it holds objects; anything else is a text that looks like it."""
    data = value.encode()
    if data[:1] == b"{":
        return msgspec.json.decode(data, type=Raw)
    items = msgspec.json.decode(data, type=list[Raw])
    return Raw(data) if not items or bytes(memoryview(items[0])[:1]) in (b"{", b"[") else value


class TableLog:
    """One table being read: as the export that its columns are those of, else as a log of bodies."""

    mode: Literal["log", "prompt", "trace"] = "log"

    def __init__(self, name: str, path: str, options: ReadOptions, open_table: Callable[[io.BufferedReader], Table]):
        self._name = name
        self._path = path
        self._options = options
        self._open = open_table
        self._reading: Reading = BodyLog(path, options)

    @property
    def format(self) -> str:
        """What was recognised."""
        return f"{self._reading.format} in {self._name}"

    @property
    def record_path(self) -> str:
        """Where the bodies stand."""
        return self._reading.record_path

    def requests(self, stream: io.BufferedReader) -> Iterator[Request | Answer | Skipped | Broken]:
        """Yield every row's request, in order."""
        table = self._open(stream)
        first = next(table.rows, None)
        if first is None:
            return
        rows = enumerate(itertools.chain((first,), table.rows))
        export = None if self._options.record_path else export_of({*table.columns, *key_paths(_encoded(first[1]))})
        if export is not None:
            self._reading = export.open(self._path, self._options)
            yield from self._reading.records(  # type: ignore[attr-defined]
                RawRecord(number, line, _encoded(row)) for number, (line, row) in rows
            )
        else:
            log = BodyLog(self._path, self._options)
            self._reading = log
            yield from log.records(RawRecord(number, line, _encoded(_with_usage(row))) for number, (line, row) in rows)


def _encoded(row: dict[str, Any]) -> bytes:
    return msgspec.json.encode(row, enc_hook=str)


def _with_usage(row: dict[str, Any]) -> dict[str, Any]:
    """Put the counts that have columns of their own into one usage; cached tokens are a part of the prompt's."""
    counts = {name: row[name] for name in row.keys() & _USAGE if isinstance(row[name], (int, float))}
    if not counts or "usage" in row:
        return row
    if (cached := counts.pop("cached_input_tokens", None)) is not None:
        counts["cached_tokens"] = cached
    if "cached_tokens" in counts and "input_tokens" in counts:
        counts["prompt_tokens"] = counts.pop("input_tokens")
        counts["completion_tokens"] = counts.pop("output_tokens", None)
    if (written := counts.pop("cache_write_tokens", None)) is not None:
        return {**row, "usage": {**counts, "prompt_tokens_details": {"cache_write_tokens": written}}}
    return {**row, "usage": counts}


def claims_csv(path: str, head: bytes) -> bool:
    """Take what is named like a table, and text whose first line names several columns, one of them of a prompt."""
    if path.endswith(_SUFFIXES):
        return True
    header = head.partition(b"\n")[0].decode("utf-8", "replace").strip()
    columns = {name.strip(' "') for name in header.split(_delimiter(header))}
    return len(columns) > 1 and bool(columns & _PROMPT_COLUMNS)


def claims_parquet(path: str, head: bytes) -> bool:
    """Take a Parquet file that is no trace of ours."""
    return head.startswith(_MAGIC) and not is_trace(path)


READERS.add(
    "csv", Reader(("csv",), 40, "text", claims_csv, lambda path, options: TableLog("csv", path, options, csv_table))
)
READERS.add(
    "parquet",
    Reader(
        ("parquet",), 5, "text", claims_parquet, lambda path, options: TableLog("parquet", path, options, parquet_table)
    ),
)
