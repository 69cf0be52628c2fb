"""CSV and Parquet: each row is a record with its columns as keys, read like any other log.

`--record-path /COLUMN` names the column of the body and `--tenant-field /COLUMN` and its kin the others. Values that
are JSON are taken as such; counts in columns of their own become the usage.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.corpus.parquet import is_trace, need_pyarrow
from prefixwise.corpus.reader import READERS, Reader, ReadOptions
from prefixwise.corpus.readers.body_log import BodyLog
from prefixwise.corpus.records import RawRecord

_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".csv.zst", ".tsv.zst")
_MAGIC = b"PAR1"
_LONGEST_CELL = 1 << 30
_USAGE = frozenset(
    {
        *("prompt_tokens", "completion_tokens", "input_tokens", "output_tokens"),
        *("cached_tokens", "cached_input_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"),
        *("cache_creation_input_tokens", "cache_write_tokens"),
    }
)


def csv_records(stream: io.BufferedReader) -> Iterator[RawRecord]:
    """Yield the rows of a CSV file as JSON objects. Raises UserError where it has no header."""
    text = io.TextIOWrapper(stream, "utf-8", errors="replace", newline="")
    csv.field_size_limit(_LONGEST_CELL)
    header = text.readline()
    delimiter = max(",;\t|", key=header.count)
    columns = next(csv.reader([header], delimiter=delimiter), [])
    if not any(columns):
        raise UserError("a CSV file begins with a line of column names")
    rows = csv.reader(text, delimiter=delimiter)
    try:
        for number, row in enumerate(rows):
            yield RawRecord(number, rows.line_num + 1, _row(dict(zip(columns, row, strict=False))))
    except csv.Error as problem:
        raise UserError(f"the CSV is damaged: {problem}") from None
    finally:
        text.detach()


def parquet_records(stream: io.BufferedReader) -> Iterator[RawRecord]:
    """Yield the rows of a Parquet file as JSON objects."""
    pyarrow = need_pyarrow()
    try:
        file = pyarrow.parquet.ParquetFile(pyarrow.BufferReader(stream.read()))
        number = 0
        for batch in file.iter_batches(batch_size=1024, use_threads=False):
            for row in batch.to_pylist():
                yield RawRecord(number, 0, _row(row))
                number += 1
    except (pyarrow.ArrowException, OSError) as problem:
        raise UserError(f"the Parquet file cannot be read: {str(problem)[:200]}") from None


def _row(values: dict[str, Any]) -> bytes:
    """Return a row as JSON: JSON in cells is unpacked, empty cells are left out."""
    record: dict[str, Any] = {}
    usage: dict[str, Any] = {}
    for column, value in values.items():
        if value is None or value == "":
            continue
        if column in _USAGE and (number := _number(value)) is not None:
            usage[column] = number
        else:
            record[column] = _cell(value)
    if usage and "usage" not in record:
        record["usage"] = _one_accounting(usage)
    return msgspec.json.encode(record, enc_hook=str)


def _one_accounting(usage: dict[str, Any]) -> dict[str, Any]:
    """Return counts under the names of an API: cached tokens in a column of their own are a part of the prompt's."""
    cached = usage.pop("cached_input_tokens", None)
    if cached is not None:
        usage["cached_tokens"] = cached
    if "input_tokens" in usage and "cached_tokens" in usage:
        usage["prompt_tokens"] = usage.pop("input_tokens")
        usage["completion_tokens"] = usage.pop("output_tokens", None)
    if "cache_write_tokens" in usage:
        usage["prompt_tokens_details"] = {"cache_write_tokens": usage.pop("cache_write_tokens")}
    return usage


def _cell(value: Any) -> Any:
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.Raw(msgspec.json.encode(msgspec.json.decode(value)))
        except msgspec.MsgspecError:
            return value
    return value


def _number(value: Any) -> int | None:
    try:
        return int(float(value))
    except (TypeError, ValueError, OverflowError):
        return None


def claims_csv(path: str, head: bytes) -> bool:
    """Take what is named like a table, and text whose first line names several columns, one of them of a prompt."""
    if path.endswith(_SUFFIXES):
        return True
    columns = {name.strip(b' "') for name in head.partition(b"\n")[0].strip().split(b",")}
    return len(columns) > 1 and bool(columns & {b"messages", b"prompt", b"request", b"request_body", b"body"})


def claims_parquet(path: str, head: bytes) -> bool:
    """Take a Parquet file that is no trace of ours."""
    return head.startswith(_MAGIC) and not is_trace(path)


def _open_csv(path: str, options: ReadOptions) -> BodyLog:
    return BodyLog(path, options, csv_records, "csv")


def _open_parquet(path: str, options: ReadOptions) -> BodyLog:
    return BodyLog(path, options, parquet_records, "parquet")


READERS.add("csv", Reader(("csv",), 40, "text", claims_csv, _open_csv))
READERS.add("parquet", Reader(("parquet",), 5, "text", claims_parquet, _open_parquet))
