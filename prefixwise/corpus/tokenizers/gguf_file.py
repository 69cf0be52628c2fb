"""The key-value section of a GGUF file, without its tensors.

The layout is that of the GGUF specification (ggml, `docs/gguf.md`): magic, version, two counts, then the pairs, all
little-endian. Only the pairs are read, so the cost does not depend on the size of the model.
"""

from __future__ import annotations

import mmap
import struct
from pathlib import Path
from typing import Any

from prefixwise.core.errors import UserError

MAGIC = b"GGUF"
_VERSIONS = (2, 3)
_STRING, _ARRAY = 8, 9
_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
"""`struct` code of each scalar type."""


def is_gguf(path: Path) -> bool:
    """Say whether `path` is a file that begins as a GGUF file does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(MAGIC)) == MAGIC


def read_metadata(path: Path) -> dict[str, Any]:
    """Return the key-value pairs of a GGUF file.

    Scalars are Python's own, strings are `str` (bytes that are no UTF-8 kept as surrogate escapes), arrays are
    lists or tuples.

    Raises:
        UserError: The file cannot be read, is no GGUF file of version 2 or 3, or ends too early.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _Pairs(data).read()
    except (OSError, ValueError) as problem:
        raise UserError(f"cannot be read as a GGUF file: {problem}", str(path)) from None
    except (struct.error, IndexError):
        raise UserError("the GGUF file ends before its metadata does", str(path), "download it again") from None


class _Pairs:
    """Walks the pairs once, from the start of the file."""

    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._at = 0

    def read(self) -> dict[str, Any]:
        if self._data[: len(MAGIC)] != MAGIC:
            raise ValueError("it does not begin with GGUF")
        self._at = len(MAGIC)
        version = self._scalar("I")
        if version not in _VERSIONS:
            raise ValueError(f"its version is {version}, known are 2 and 3 in little-endian order")
        self._scalar("Q")  # how many tensors
        pairs = {}
        for _ in range(self._scalar("Q")):
            key = self._string()
            pairs[key] = self._value(self._scalar("I"))
        return pairs

    def _scalar(self, code: str) -> Any:
        (value,) = struct.unpack_from(f"<{code}", self._data, self._at)
        self._at += struct.calcsize(code)
        return value

    def _string(self) -> str:
        size = self._scalar("Q")
        data = self._data[self._at : self._at + size]
        if len(data) != size:
            raise IndexError
        self._at += size
        return data.decode("utf-8", "surrogateescape")

    def _value(self, kind: int) -> Any:
        if kind == _STRING:
            return self._string()
        if kind == _ARRAY:
            inner, count = self._scalar("I"), self._scalar("Q")
            if inner == _ARRAY:
                raise ValueError("it holds an array of arrays")
            if inner in _SCALARS:
                return self._scalars(_SCALARS[inner], count)
            return [self._value(inner) for _ in range(count)]
        if kind not in _SCALARS:
            raise ValueError(f"it holds a value of the unknown type {kind}")
        return self._scalar(_SCALARS[kind])

    def _scalars(self, code: str, count: int) -> tuple[Any, ...]:
        size = struct.calcsize(code) * count
        if self._at + size > len(self._data):
            raise IndexError
        values = struct.unpack_from(f"<{count}{code}", self._data, self._at)
        self._at += size
        return values
