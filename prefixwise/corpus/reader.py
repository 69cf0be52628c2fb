"""What a reader of one input format provides; implementations stand in `readers/`, one file each."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, Protocol

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.registry import Registry
from prefixwise.core.request import Request
from prefixwise.corpus.call import Answer
from prefixwise.corpus.signs import key_paths, places_within


class Broken(msgspec.Struct, frozen=True):
    """A record that could not be read: counted, shown, skipped."""

    path: str
    record: int
    line: int
    reason: str

    @property
    def where(self) -> str:
        """File and line, or record where there are no lines."""
        return f"{self.path}, {f'line {self.line}' if self.line else f'record {self.record}'}"

    def __str__(self) -> str:
        return f"{self.where}: {self.reason}"


class Skipped(msgspec.Struct, frozen=True):
    """A record of a call that no model computed: counted and named, not a fault."""

    path: str
    record: int
    line: int
    reason: str


FIELDS = ("tenant", "session", "model", "start", "end", "replica", "salt")
"""Values whose place in a record a user can name by a JSON pointer."""


class ReadOptions(msgspec.Struct, frozen=True):
    """How to read.

    Attributes:
        input_format: Name of a reader or an API; empty to recognise.
        record_path: Keys from a record to the body, `*` for list elements; None to find it.
        fields: Keys from a record to a value, by what it means (see `FIELDS`).
        strict: Make the first broken record an error.
        wanted: Says of a record, by its number and bytes, whether anybody wants it; readers may pass over the others.
    """

    input_format: str = ""
    record_path: tuple[str, ...] | None = None
    fields: Mapping[str, tuple[str, ...]] = {}
    strict: bool = False
    wanted: Callable[[int, bytes], bool] | None = None


class Reading(Protocol):
    """One file being read; `format` and `record_path` are known once it has been."""

    mode: Literal["log", "prompt", "trace"]

    @property
    def format(self) -> str:
        """What was recognised."""
        ...

    @property
    def record_path(self) -> str:
        """Where the bodies stand."""
        ...

    def requests(self, stream: io.BufferedReader) -> Iterator[Request | Answer | Skipped | Broken]:
        """Yield every record of `stream`, in order."""
        ...


Progress = Callable[[int, int | None, str], None]
"""Called with (done, total or None, what) while a long job runs."""

_FEW, _MANY = 3, 64
_LONG_HEAD = 1 << 18
HEAD = 1 << 16
"""How many first bytes a reader is shown, more where the first line is longer."""


def first_bytes(stream: io.BufferedReader) -> bytes:
    """Return what readers tell a file by: its first bytes, more where the first lines are long."""
    data = stream.peek(HEAD)
    return data[:HEAD] if data[:HEAD].count(b"\n") > 1 else data[:_LONG_HEAD]


SHOWN_BROKEN = 20
"""How many broken records are kept to be shown; all are counted."""


class Reader(msgspec.Struct, frozen=True):
    """One input format.

    Attributes:
        names: What `--input-format` may say for it.
        rank: Readers are asked in this order whether a file is theirs.
        kind: `text` for requests with text, `trace` for block hashes.
        claims: Says from the path and the first bytes whether a file is of this format.
        open: For text: starts reading, (path, options) to a `Reading`. For traces: reads a file into `TraceRows`,
            (path, stream, rows, broken records, options, progress) to an `InputFile`.
        signs: Sets of places of values by which a format of JSON records is told.
    """

    names: tuple[str, ...]
    rank: int
    kind: Literal["text", "trace"]
    claims: Callable[[str, bytes], bool]
    open: Callable[..., Any]
    signs: tuple[frozenset[str], ...] = ()


READERS: Registry[Reader] = Registry("input format", "prefixwise.corpus.readers", "readers")


@functools.cache
def _places() -> frozenset[str]:
    return places_within(sign for reader in READERS for sign in reader.signs)


@functools.lru_cache(maxsize=4)
def export_in(head: bytes) -> str:
    """Return the name of the export format that the first records of a file are of, '' for none.

    Most formats show in their first records; only where none does, more are looked at.
    """
    for records in (_FEW, _MANY):
        found = export_of(key_paths(head, _places(), records))
        if found is not None:
            return found.names[0]
    return ""


def export_of(paths: Collection[str]) -> Reader | None:
    """Return the reader of the export format that has its values at `paths`, None without one."""
    readers = sorted(READERS, key=lambda reader: reader.rank)
    return next((reader for reader in readers if any(sign.issubset(paths) for sign in reader.signs)), None)


def nearest_format(record: bytes) -> str:
    """Return in a clause which export format a JSON record is most like and what it lacks; '' if it is like none."""
    paths = key_paths(record)
    best, fewest, share = "", frozenset[str](), 0.0
    for reader in READERS:
        for sign in reader.signs:
            lacking = sign - paths
            if (have := 1 - len(lacking) / len(sign)) > share:
                best, fewest, share = reader.names[0], lacking, have
    if not best or not fewest:
        return ""
    return f"nearest is {best}, which also has {', '.join(sorted(fewest))}"


def reader_for(path: str, head: bytes, options: ReadOptions) -> Reader:
    """Return the reader for a file by what the user said, else by who claims it.

    Raises:
        UserError: No reader knows the format that the user named, or none claims the file.
    """
    readers = sorted(READERS, key=lambda reader: reader.rank)
    if options.input_format:
        for reader in readers:
            if options.input_format in reader.names:
                return reader
        known = sorted(name for reader in readers for name in reader.names)
        raise UserError(
            f"unknown input format {options.input_format!r}", "--input-format", f"known: {', '.join(known)}"
        )
    for reader in readers:
        if options.record_path is not None and reader.signs:
            continue  # the user says where the bodies stand, whatever is around them
        if reader.claims(path, head):
            return reader
    raise UserError("is not a log, a prompt or a trace (binary data)", path)
