"""Computes steps with a real model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch

from prefixwise.engine.attention import Attention
from prefixwise.engine.batch import Batch, make_batch
from prefixwise.engine.executor import Executor, Piece
from prefixwise.engine.kv_pool import KvPool
from prefixwise.engine.model_config import ModelConfig
from prefixwise.engine.sampling import next_tokens


class Runnable(Protocol):
    """A model: this engine's own, or one of transformers'."""

    config: ModelConfig

    @property
    def device(self) -> torch.device:
        """Where it runs."""
        ...

    @property
    def dtype(self) -> torch.dtype:
        """Of weights, keys and values."""
        ...

    def forward(self, batch: Batch, pool: KvPool, attention: Attention) -> torch.Tensor:
        """Write the keys and values of a batch to the pool and return the logits that it wants."""
        ...


class TorchExecutor(Executor):
    """A model, its pool of keys and values, and a way to compute attention.

    Args:
        model: The model.
        pool: Keys and values.
        attention: How attention is computed.
        exact: Whether each token is computed in the same way whatever is computed beside it, which takes longer.
    """

    def __init__(self, model: Runnable, pool: KvPool, attention: Attention, *, exact: bool = False) -> None:
        self.model = model
        self.pool = pool
        self._attention = attention
        self._exact = exact

    def run(self, pieces: Sequence[Piece]) -> list[int]:
        """Compute the pieces; return the next token of those that want one."""
        draws = [piece.draw for piece in pieces if piece.wanted]
        with torch.inference_mode():
            batch = make_batch(pieces, self.pool.block_size, self.model.device, self._exact)
            logits = self.model.forward(batch, self.pool, self._attention)
            return next_tokens(logits, draws) if draws else []
