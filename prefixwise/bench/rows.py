"""What is kept of a run: a head and a row a request, written as they come, so that an interrupted run loses nothing."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Generic, TypeVar

import msgspec

from prefixwise.core.errors import UserError

Head = TypeVar("Head", bound=msgspec.Struct)
Row = TypeVar("Row", bound=msgspec.Struct)


class RowFile(Generic[Head, Row]):
    """A JSONL file: its first line says what was run, every other one is a request.

    Each line is flushed as it is written. A line that a crash cut off is dropped when the file is opened again.

    Args:
        path: The file; it is made where there is none.
        head: What is run now. A file of another run is not continued.
        row: The type of a row.
    """

    def __init__(self, path: Path, head: Head, row: type[Row]) -> None:
        self.path = path
        self._head, self._type = head, row
        self.rows: list[Row] = []
        self._open(path, head)

    def _open(self, path: Path, head: Head) -> None:
        first = msgspec.json.encode(head)
        try:
            lines = path.read_bytes().split(b"\n") if path.exists() else []
            whole = lines[:-1]  # what stands behind the last line end was cut off
            if whole:
                if whole[0] != first:
                    raise UserError("this file holds another run", str(path), "give another path, or the same options")
                self.rows = [self._row(line, number) for number, line in enumerate(whole[1:], 2) if line]
                with path.open("r+b") as file:
                    file.truncate(sum(len(line) + 1 for line in whole))
            self._file = path.open("ab")
        except OSError as problem:
            raise UserError(
                f"cannot keep the run: {problem.strerror}", str(path), "name a file that can be written"
            ) from problem
        if not whole:
            self._file.truncate(0)
            self._write(first)

    def _row(self, line: bytes, number: int) -> Row:
        try:
            return msgspec.json.decode(line, type=self._type)
        except msgspec.MsgspecError as problem:
            raise UserError(
                f"this is no row of a run: {problem}", f"{self.path}:{number}", "give another path"
            ) from None

    def add(self, row: Row) -> None:
        """Write a row, and see to it that it is on its way to the disk."""
        self.rows.append(row)
        self._write(msgspec.json.encode(row))

    def _write(self, line: bytes) -> None:
        self._file.write(line + b"\n")
        self._file.flush()

    def close(self) -> None:
        """Make sure that all rows are on the disk."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._file.close()

    def __enter__(self) -> RowFile[Head, Row]:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


def run_of(path: Path | None) -> str:
    """Return the name of the run that a file holds, so that it goes on; '' where it holds none."""
    try:
        with path.open("rb") if path is not None else tempfile.TemporaryFile() as file:
            name = msgspec.json.decode(file.readline(), type=dict).get("run", "")
    except (OSError, msgspec.MsgspecError):
        return ""
    return name if isinstance(name, str) else ""


def read_rows(path: Path, head: type[Head], row: type[Row]) -> tuple[Head, list[Row]]:
    """Read a finished or interrupted run. Raises UserError where the file is none."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except OSError as problem:
        raise UserError(f"cannot read the run: {problem.strerror}", str(path)) from problem
    if not lines:
        raise UserError("this file holds no run", str(path))
    try:
        return msgspec.json.decode(lines[0], type=head), list(_decoded(lines[1:], row))
    except msgspec.MsgspecError as problem:
        raise UserError(f"this is no run of this kind: {problem}", str(path)) from None


def _decoded(lines: list[bytes], row: type[Row]) -> Iterator[Row]:
    decoder = msgspec.json.Decoder(row)
    yield from (decoder.decode(line) for line in lines if line)
