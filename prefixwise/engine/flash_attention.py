"""Attention through the flash-attn package, which reads paged keys and values in place. CUDA only; not yet run."""

from __future__ import annotations

import torch

from prefixwise.core.errors import UserError
from prefixwise.engine.attention import Attention
from prefixwise.engine.batch import Batch

BLOCK_MULTIPLE = 256
"""Its blocks must be multiples of this (flash-attn 2)."""


class FlashAttention(Attention):
    """All requests of a step in one call.

    Args:
        block_size: Tokens in a block of the pool.

    Raises:
        UserError: The package is not installed, or cannot read blocks of this size.
    """

    def __init__(self, block_size: int) -> None:
        try:
            from flash_attn import flash_attn_varlen_func
        except ImportError:
            raise UserError("the package flash-attn is not installed", "--attention flash") from None
        if block_size % BLOCK_MULTIPLE:
            advice = f"--block {BLOCK_MULTIPLE}, or --attention sdpa"
            raise UserError(f"flash-attn cannot read blocks of {block_size} tokens", "--attention flash", advice)
        self._attend = flash_attn_varlen_func
        self._block_size = block_size
        self._shared: dict[str, object] = {}

    def begin(self, batch: Batch) -> None:
        """Lay out where each request begins in the batch, how long its context is, and its blocks."""
        device = batch.tokens.device
        blocks = [span.blocks for span in batch.spans]
        table = torch.zeros((len(blocks), max(map(len, blocks))), dtype=torch.int32, device=device)
        for row, own in enumerate(blocks):
            table[row, : len(own)] = own
        contexts = [span.context for span in batch.spans]
        ends = [0, *(span.end for span in batch.spans)]
        self._shared = {
            "cu_seqlens_q": torch.tensor(ends, dtype=torch.int32, device=device),
            "cu_seqlens_k": torch.tensor([0, *contexts], dtype=torch.int32, device=device).cumsum(0, torch.int32),
            "max_seqlen_q": max(span.rows for span in batch.spans),
            "max_seqlen_k": max(contexts),
            "block_table": table,
            "causal": True,
        }

    def __call__(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the attention of every row."""
        paged = [side.unflatten(0, (-1, self._block_size)) for side in (keys, values)]
        found: torch.Tensor = self._attend(query, *paged, **self._shared)
        return found
