"""Blocks as files: one a key, checksummed, written whole, found again at the next start."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import msgspec

from prefixwise.caches.block_keys import Key, NamespaceId
from prefixwise.caches.stores import BlockStore, MissingBlockError

MAGIC = b"prefixwise-block-1\n"
CHECKSUM_SIZE = 16
SUFFIX = ".block"


class _Header(msgspec.Struct, frozen=True):
    identity: str
    namespace: NamespaceId
    block_hash: bytes


class FileStore(BlockStore[Key]):
    """A folder of blocks.

    A file that is missing, cut short, changed or another identity's is a miss, never a wrong answer.

    Args:
        folder: Where the files lie; made where it is missing.
        identity: What the contents depend on besides the key: weights, dtype, block size, rope. Files of another
            identity are not found.

    Raises:
        OSError: The folder cannot be made; `put` raises it when a file cannot be written.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._identity = identity

    def put(self, block: Key, contents: object) -> None:
        """Write a block under another name first, so that a file with its name is whole.

        Raises:
            TypeError: The contents are no bytes.
        """
        if not isinstance(contents, bytes | bytearray | memoryview):
            raise TypeError(f"a file holds bytes, not {type(contents).__name__}")
        header = msgspec.msgpack.encode(_Header(self._identity, *block))
        body = b"".join((MAGIC, len(header).to_bytes(4, "big"), header, contents))
        path = self._path(block)
        partial = path.with_suffix(".partial")
        partial.write_bytes(body + _checksum(body))
        os.replace(partial, path)

    def get(self, block: Key) -> bytes:
        """Return a block's contents. Raises MissingBlockError for one that is absent or damaged."""
        found = _read(self._path(block))
        if found is None or found[0] != _Header(self._identity, *block):
            raise MissingBlockError(block)
        return found[1]

    def drop(self, block: Key) -> None:
        """Delete a block's file."""
        self._path(block).unlink(missing_ok=True)

    def keys(self) -> list[Key]:
        """Return the keys of all whole files of this identity, in order of their names; reads every file.

        What `Tier.publish` takes at a start.
        """
        found = (_read(path) for path in sorted(self._folder.glob(f"*{SUFFIX}")))
        headers = (entry[0] for entry in found if entry)
        return [(header.namespace, header.block_hash) for header in headers if header.identity == self._identity]

    def _path(self, block: Key) -> Path:
        name = msgspec.msgpack.encode(_Header(self._identity, *block))
        return self._folder / (hashlib.blake2b(name, digest_size=20).hexdigest() + SUFFIX)


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=CHECKSUM_SIZE).digest()


def _read(path: Path) -> tuple[_Header, bytes] | None:
    """Return a file's header and contents, None for one that is absent or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body, checksum = data[:-CHECKSUM_SIZE], data[-CHECKSUM_SIZE:]
    if not body.startswith(MAGIC) or _checksum(body) != checksum:
        return None
    start = len(MAGIC) + 4
    end = start + int.from_bytes(body[len(MAGIC) : start], "big")
    try:
        return msgspec.msgpack.decode(body[start:end], type=_Header), body[end:]
    except msgspec.DecodeError:
        return None
