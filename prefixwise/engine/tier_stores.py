"""Tiers below the device made real: blocks in host memory, and in files."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from pathlib import Path

import torch

from prefixwise.caches.block_keys import Key
from prefixwise.caches.file_store import FileStore
from prefixwise.caches.prefix_cache import DISK, HOST
from prefixwise.caches.stores import BlockStore, MissingBlockError
from prefixwise.caches.tiers import Tier


class HostStore(BlockStore[Hashable]):
    """Blocks in host memory, each one row of one tensor.

    Args:
        rows: Most blocks.
        like: A block, for its shape and dtype.
        pinned: Whether the memory is pinned, so that a GPU copies from it without the processor.
    """

    def __init__(self, rows: int, like: torch.Tensor, pinned: bool) -> None:
        self._data = torch.empty((rows, *like.shape), dtype=like.dtype, pin_memory=pinned)
        self._row_of: dict[Hashable, int] = {}
        self._free = list(range(rows - 1, -1, -1))

    def put(self, block: Hashable, contents: object) -> None:
        """Copy a block in. Raises TypeError for contents that are no tensor."""
        if not isinstance(contents, torch.Tensor):
            raise TypeError(f"a block is a tensor, not {type(contents).__name__}")
        row = self._row_of.get(block)
        if row is None:
            row = self._row_of[block] = self._free.pop()
        self._data[row].copy_(contents)

    def get(self, block: Hashable) -> torch.Tensor:
        """Return a view of the block, good until it is dropped."""
        row = self._row_of.get(block)
        if row is None:
            raise MissingBlockError(block)
        return self._data[row]

    def drop(self, block: Hashable) -> None:
        """Forget a block."""
        row = self._row_of.pop(block, None)
        if row is not None:
            self._free.append(row)


class DiskStore(BlockStore[Key]):
    """Blocks in files. One that cannot be written is a miss later on.

    Args:
        files: The files.
        like: A block, for its shape and dtype.
        failed: Called with what went wrong when a file could not be written.
    """

    def __init__(self, files: FileStore, like: torch.Tensor, failed: Callable[[str], None]) -> None:
        self._files = files
        self._shape, self._dtype = like.shape, like.dtype
        self._size = like.numel() * like.element_size()
        self._failed = failed

    def put(self, block: Key, contents: object) -> None:
        """Write a block. Raises TypeError for contents that are no tensor."""
        if not isinstance(contents, torch.Tensor):
            raise TypeError(f"a block is a tensor, not {type(contents).__name__}")
        data = contents.contiguous().cpu().flatten().view(torch.uint8).numpy()
        try:
            self._files.put(block, data.tobytes())
        except OSError as problem:
            self._files.drop(block)
            self._failed(problem.strerror or str(problem))

    def get(self, block: Key) -> torch.Tensor:
        """Return a block. Raises MissingBlockError for one that is absent or damaged."""
        data = self._files.get(block)
        if len(data) != self._size:
            raise MissingBlockError(block)
        return torch.frombuffer(bytearray(data), dtype=torch.uint8).view(self._dtype).view(self._shape)

    def drop(self, block: Key) -> None:
        """Delete a block's file."""
        self._files.drop(block)


def host_tier(blocks: int, like: torch.Tensor, device: torch.device) -> Tier:
    """Return a tier of `blocks` blocks in host memory."""
    return Tier(HOST, blocks, HostStore(blocks, like, pinned=device.type == "cuda"))


def disk_tier(folder: Path, identity: str, blocks: int, like: torch.Tensor, failed: Callable[[str], None]) -> Tier:
    """Return a tier of `blocks` blocks in a folder, with those that earlier runs of the same identity left there.

    Raises:
        OSError: The folder cannot be made.
    """
    files = FileStore(folder, identity)
    tier = Tier(DISK, blocks, DiskStore(files, like, failed))
    keys = files.keys()
    tier.publish(keys)
    for key in keys:
        if key not in tier.entries:
            files.drop(key)
    return tier
