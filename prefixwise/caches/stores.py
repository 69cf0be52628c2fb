"""Where blocks' contents lie: one interface for the device pool, host memory and files."""

from __future__ import annotations

from collections import Counter
from typing import Protocol, TypeVar

Id = TypeVar("Id", contravariant=True)


class MissingBlockError(KeyError):
    """A store has no such block, or a damaged one."""


class BlockStore(Protocol[Id]):
    """Contents of blocks by id: device block numbers for the device pool, keys for the tiers below.

    Contents are whatever the stores of one cache agree on: an engine's are tensors or bytes, a simulator's nothing.
    """

    def put(self, block: Id, contents: object) -> None:
        """Write a block, whole or not at all."""
        ...

    def get(self, block: Id) -> object:
        """Return a block's contents. Raises MissingBlockError for one that is absent or damaged."""
        ...

    def drop(self, block: Id) -> None:
        """Forget a block; no error where there is none."""
        ...


class BlockPool(BlockStore[int], Protocol):
    """The device's blocks by number."""

    def copy(self, source: int, target: int, tokens: int) -> None:
        """Copy the first `tokens` tokens of one block to another. Raises MissingBlockError as `get` does."""
        ...


class CountingStore(BlockStore[Id]):
    """Holds nothing and counts what would have been moved.

    Attributes:
        puts: Times each block was written.
        gets: Times it was read.
        drops: Times it was dropped.
        copied: Tokens copied to it from another.
    """

    def __init__(self) -> None:
        self.puts: Counter[object] = Counter()
        self.gets: Counter[object] = Counter()
        self.drops: Counter[object] = Counter()
        self.copied: Counter[tuple[object, object]] = Counter()

    def put(self, block: Id, contents: object) -> None:
        """Count a write. Raises TypeError for contents, which would be lost."""
        if contents is not None:
            raise TypeError(f"a counting store cannot hold {type(contents).__name__}")
        self.puts[block] += 1

    def get(self, block: Id) -> object:
        """Count a read."""
        self.gets[block] += 1
        return None

    def copy(self, source: Id, target: Id, tokens: int) -> None:
        """Count a copy."""
        self.copied[source, target] += tokens

    def drop(self, block: Id) -> None:
        """Count a drop."""
        self.drops[block] += 1


class MemoryStore(BlockStore[Id]):
    """Keeps contents in a dictionary; a list, or bytes, with one item a token."""

    def __init__(self) -> None:
        self.blocks: dict[Id, object] = {}

    def put(self, block: Id, contents: object) -> None:
        """Keep the contents."""
        self.blocks[block] = contents

    def get(self, block: Id) -> object:
        """Return the contents."""
        if block not in self.blocks:
            raise MissingBlockError(block)
        return self.blocks[block]

    def copy(self, source: Id, target: Id, tokens: int) -> None:
        """Keep the first items of `source` under `target` too."""
        contents = self.get(source)
        if not isinstance(contents, list | tuple | bytes):
            raise TypeError(f"the contents of a block are {type(contents).__name__}, not items by token")
        self.blocks[target] = contents[:tokens]

    def drop(self, block: Id) -> None:
        """Forget the contents."""
        self.blocks.pop(block, None)
