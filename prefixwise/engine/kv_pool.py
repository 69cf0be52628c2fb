"""The keys and values of all device blocks, in one tensor.

Block `b` holds the slots `b * block_size` to `(b + 1) * block_size - 1` of every layer. Which block holds what is the
prefix cache's business; this is the `BlockPool` that it copies through.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch

from prefixwise.caches.stores import BlockPool, MissingBlockError
from prefixwise.engine.model_config import ModelConfig


class KvPool(BlockPool):
    """A paged KV cache.

    Args:
        model: Shape of the model.
        blocks: Blocks.
        block_size: Tokens in a block.
        dtype: Of keys and values.
        device: Where they lie.

    Attributes:
        keys, values: By layer, one row a slot: `[slots, kv_heads, head_size]`.
        block_bytes: Bytes of a block over all layers.
    """

    def __init__(
        self, model: ModelConfig, blocks: int, block_size: int, dtype: torch.dtype, device: torch.device
    ) -> None:
        self.blocks = blocks
        self.block_size = block_size
        heads, size = model.kv_heads, model.head_size
        self._data = torch.zeros((2, model.layers, blocks, block_size, heads, size), dtype=dtype, device=device)
        flat = self._data.flatten(2, 3)
        self.keys = tuple(flat[0])
        self.values = tuple(flat[1])
        self.block_bytes = self._data[:, :, 0].numel() * self._data.element_size()

    def put(self, block: int, contents: object) -> None:
        """Write a block. Raises TypeError for contents that are no tensor."""
        if not isinstance(contents, torch.Tensor):
            raise TypeError(f"a block is a tensor, not {type(contents).__name__}")
        target = self._row(block)
        # From pinned memory without waiting: what reads the block comes later on the same stream.
        target.copy_(contents.view(target.dtype).view(target.shape), non_blocking=True)

    def get(self, block: int) -> torch.Tensor:
        """Return a view of a block over all layers: `[2, layers, block_size, kv_heads, head_size]`."""
        return self._row(block)

    def drop(self, block: int) -> None:
        """Leave the block as it is: it is overwritten when it is given out again."""

    def copy(self, source: int, target: int, tokens: int) -> None:
        """Copy the first `tokens` tokens of one block to another."""
        self._row(target)[:, :, :tokens] = self._row(source)[:, :, :tokens]

    def rows(self, blocks: Sequence[int], tokens: int) -> torch.Tensor:
        """Return a copy of the first `tokens` tokens that lie in `blocks`: `[2, layers, tokens, kv_heads, size]`."""
        index = torch.tensor(list(blocks), device=self._data.device)
        return self._data.index_select(2, index).flatten(2, 3)[:, :, :tokens]

    def _row(self, block: int) -> torch.Tensor:
        if not 0 <= block < self.blocks:
            raise MissingBlockError(block)
        return self._data[:, :, block]
