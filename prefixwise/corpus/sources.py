"""Where input comes from: files, globs, folders and standard input, as plain UTF-8 bytes.

Compression and byte-order marks are seen here and nowhere else.
"""

from __future__ import annotations

import codecs
import glob
import gzip
import io
import os
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from prefixwise.core.errors import MissingExtraError, UserError

STDIN = "-"
PROMPT_SUFFIXES = (".md", ".markdown", ".mdx", ".txt", ".prompt", ".prompty", ".jinja", ".jinja2", ".j2", ".tmpl")
"""Names of files that are one prompt, whatever they begin with."""
_PLAIN = (".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".log")
LOG_SUFFIXES = (*_PLAIN, *(name + packed for name in _PLAIN for packed in (".gz", ".zst")), ".parquet")
_GZIP_MAGIC = b"\x1f\x8b"
_ZSTD_SKIPPED = b"\x2a\x4d\x18"
_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
# The longer marks first: UTF-32-LE begins like UTF-16-LE.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_PEEK = 4096
_OWN = re.compile(rb'\s*\{\s*"schema"\s*:\s*"prefixwise/')
_BUFFER = 1 << 20


def find_files(arguments: Sequence[str]) -> list[str]:
    """Return the files that `arguments` name, each once, in order.

    Folders give their logs, sorted, or their prompt files where they hold no logs.

    Raises:
        UserError: A name leads to nothing: exit code 3 where nothing else was named, else 2.
        OSError: A folder cannot be read.
    """
    found: dict[str, str] = {}
    missing = []
    for argument in arguments:
        path = Path(argument)
        if argument == STDIN or (argument and is_readable(path)):
            names = [argument]
        elif argument and path.is_dir():
            names = _logs_in(path)
        else:
            names = sorted(name for name in glob.glob(argument, recursive=True) if Path(name).is_file())
            missing += [] if names else [argument]
        for name in names:
            found.setdefault(name if name == STDIN else os.path.realpath(name), name)
    if missing:
        what = "is a socket" if Path(missing[0]).is_socket() else "no such file"
        advice = "name a file, a folder, a glob, or - for standard input"
        raise UserError(what, missing[0] or '""', advice, exit_code=2 if found else 3)
    if not found:
        raise UserError("no log and no prompt found in the folder", ", ".join(arguments), _folder_help(), exit_code=3)
    return list(found.values())


def is_readable(path: Path) -> bool:
    """Say whether `path` is a file, or a pipe or device that is read like one."""
    return path.is_file() or path.is_fifo() or path.is_char_device()


def _logs_in(folder: Path) -> list[str]:
    def refuse(problem: OSError) -> None:
        raise problem

    names = []
    for place, _, files in os.walk(folder, onerror=refuse):
        names += [(Path(place) / name).as_posix() for name in files]
    names = sorted(name for name in names if name.endswith((*LOG_SUFFIXES, *PROMPT_SUFFIXES)) and Path(name).is_file())
    logs = [name for name in names if name.endswith(LOG_SUFFIXES) and not _is_our_own(Path(name))]
    return logs or [name for name in names if name.endswith(PROMPT_SUFFIXES)]


def _is_our_own(path: Path) -> bool:
    """Say whether a file is a document that this tool writes: a baseline, a report."""
    if path.suffix != ".json":
        return False
    with path.open("rb") as file:
        return _OWN.match(file.read(_PEEK)) is not None


def _folder_help() -> str:
    suffixes = ", ".join((*LOG_SUFFIXES, *PROMPT_SUFFIXES))
    return f"folders are searched for {suffixes}; name other files"


@contextmanager
def open_plain(path: str, stdin: io.BufferedReader | None = None) -> Iterator[io.BufferedReader]:
    """Open `path` for reading as UTF-8 bytes: decompressed, without a byte-order mark, UTF-16 and UTF-32 recoded.

    Raises:
        UserError: The file cannot be opened or its compression is damaged.
    """
    try:
        with _open(path, stdin) as stream:
            yield stream
    except (OSError, EOFError, zlib.error, UnicodeError) as problem:
        detail = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        raise UserError(f"cannot be read: {detail}", path) from problem


@contextmanager
def _open(path: str, stdin: io.BufferedReader | None) -> Iterator[io.BufferedReader]:
    with _raw(path, stdin) as raw:
        start = raw.peek(len(_ZSTD_MAGIC))
        if start[:2] == _GZIP_MAGIC:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield _without_mark(io.BufferedReader(unpacked, _BUFFER))
        elif start[:4] == _ZSTD_MAGIC or (start[1:4] == _ZSTD_SKIPPED and 0x50 <= start[0] <= 0x5F):
            yield _without_mark(_unzstd(raw))
        else:
            yield _without_mark(raw)


def _unzstd(raw: io.BufferedReader[Any]) -> io.BufferedReader:
    """Return the unpacked stream of a zstd file. Raises MissingExtraError without the package for it."""
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("reading zstd files", "data") from None
    return io.BufferedReader(_Unpacked(raw, zstandard.ZstdDecompressor().decompressobj, zstandard.ZstdError), _BUFFER)


@contextmanager
def _raw(path: str, stdin: io.BufferedReader | None) -> Iterator[io.BufferedReader[Any]]:
    """Open a file; lend standard input (a buffered reader, as `sys.stdin.buffer` is), which is not ours to close."""
    if path != STDIN or stdin is None:
        with io.BufferedReader(io.FileIO(path), _BUFFER) as stream:
            yield stream
    else:
        yield stdin


def _without_mark(stream: io.BufferedReader) -> io.BufferedReader:
    head = stream.peek(_PEEK)
    if head.startswith(codecs.BOM_UTF8):
        stream.read(len(codecs.BOM_UTF8))
        return stream
    for mark, encoding in _MARKS:
        if head.startswith(mark):
            text = io.TextIOWrapper(stream, encoding=encoding, errors="replace", newline="")
            return io.BufferedReader(_Recoded(text))
    if head[:2] != b"\0\0" and len(head) >= 4 and not len(head) % 2:  # UTF-16 without its mark: every other byte is 0
        halves = (("utf-16-le", head[1::2], head[::2]), ("utf-16-be", head[::2], head[1::2]))
        for encoding, zeros, others in halves:
            if zeros.count(0) > 0.4 * len(zeros) and not others.count(0):
                return io.BufferedReader(_Recoded(io.TextIOWrapper(stream, encoding, errors="replace", newline="")))
    return stream


class _Unpacked(io.RawIOBase):
    """The bytes of one or more zstd frames; damage and an early end are `OSError`s, as gzip's are."""

    def __init__(self, raw: io.BufferedReader[Any], start: Callable[[], Any], fault: type[Exception]) -> None:
        self._raw = raw
        self._start = start
        self._fault = fault
        self._frame = start()
        self._packed = b""
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        while not self._rest:
            packed = self._packed or self._raw.read1(_BUFFER)
            if not packed:
                if self._frame is not None:
                    raise OSError("the zstd data ends in the middle")
                return 0
            self._frame = self._frame or self._start()
            try:
                self._rest = self._frame.decompress(packed)
            except self._fault as problem:
                raise OSError(f"damaged zstd data: {problem}") from None
            self._packed = b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


class _Recoded(io.RawIOBase):
    """The UTF-8 bytes of a text stream."""

    def __init__(self, text: io.TextIOWrapper) -> None:
        self._text = text
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        if not self._rest:
            self._rest = self._text.read(1 << 16).encode("utf-8", "surrogatepass")
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size
