"""The rows of a run as a Parquet file: a column a field, for data frames."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.whole_files import write_whole
from prefixwise.corpus.parquet import need_pyarrow

HEAD = b"prefixwise.run"
"""Key of the file's metadata under which the plan of the run stands, as JSON."""


def check_table(path: Path | None) -> None:
    """Raise UserError, before a run begins, where its rows could not be written as a table afterwards."""
    if path is None:
        return
    need_pyarrow()
    if path.is_dir() or not path.parent.is_dir():
        raise UserError("no file can be written there", str(path), "name a file such as rows.parquet")


def write_table(path: Path, head: msgspec.Struct, row: type[msgspec.Struct], rows: Sequence[msgspec.Struct]) -> None:
    """Write rows as a Parquet file, whole or not at all.

    Args:
        path: The file.
        head: The plan of the run.
        row: The type of a row.
        rows: The rows; columns are the fields, absent values are null.

    Raises:
        MissingExtraError: pyarrow is not installed.
        UserError: The file cannot be written.
    """
    pyarrow = need_pyarrow()
    types = {int: pyarrow.int64(), float: pyarrow.float64(), bool: pyarrow.bool_()}
    fields = {field.name: field.type for field in msgspec.structs.fields(row)}
    columns = {
        name: pyarrow.array([_plain(getattr(one, name)) for one in rows], types.get(_only(kind), pyarrow.string()))
        for name, kind in fields.items()
    }
    table = pyarrow.table(columns).replace_schema_metadata({HEAD: msgspec.json.encode(head)})
    sink = pyarrow.BufferOutputStream()
    pyarrow.parquet.write_table(table, sink, compression="zstd")
    try:
        write_whole(path, sink.getvalue().to_pybytes())
    except OSError as problem:
        raise UserError(f"cannot be written: {problem.strerror or problem}", str(path)) from None


def _only(kind: Any) -> Any:
    """Return the type of a field without None."""
    given = [one for one in getattr(kind, "__args__", (kind,)) if one is not type(None)]
    return given[0] if len(given) == 1 else str


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, Enum) else value
