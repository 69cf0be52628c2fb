"""Attention over paged keys and values: one function, in the ways that machines have for it.

When it is called, the keys and values of the whole step are in the pool, so a request may use what another one of
the same step computes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import torch
from torch.nn.functional import scaled_dot_product_attention

from prefixwise.engine.batch import Batch, Span


class Attention(Protocol):
    """A way to compute attention. `begin` comes once a step, the call once a layer."""

    def begin(self, batch: Batch) -> None:
        """Prepare what all layers of a step share."""
        ...

    def __call__(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the attention of every row.

        Args:
            query: `[rows, heads, head_size]`, rotated.
            keys: The layer's keys by slot: `[slots, kv_heads, head_size]`, rotated.
            values: The layer's values likewise.
        """
        ...


class SdpaAttention(Attention):
    """PyTorch's own attention, request by request.

    Args:
        padded: Whether, unless it is to be exact, all requests of which one token is computed go in one call, padded to the longest. Fewer calls
            are what a GPU needs; a CPU gains nothing.
    """

    def __init__(self, padded: bool = False) -> None:
        self._padded = padded
        self._batch: Batch | None = None
        self._alone: Sequence[Span] = ()
        self._masks: dict[tuple[int, int], torch.Tensor] = {}
        self._together: _Together | None = None

    def begin(self, batch: Batch) -> None:
        """Make the masks, and lay the indexes of requests that go together side by side."""
        decoding = [span for span in batch.spans if span.rows == 1]
        self._batch = batch
        self._together = _Together(decoding, batch) if self._padded and not batch.exact and len(decoding) > 1 else None
        self._alone = [span for span in batch.spans if span.rows > 1] if self._together else batch.spans
        alone = () if batch.exact else self._alone
        shapes = {(span.rows, span.context) for span in alone if 1 < span.rows < span.context}
        self._masks = {shape: _mask(*shape, batch.tokens.device) for shape in shapes}

    def __call__(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the attention of every row."""
        assert self._batch is not None, "begin was not called"  # noqa: S101
        found = torch.empty_like(query)
        for span in self._alone:
            rows = slice(span.begin, span.end)
            own_keys, own_values = (_gathered(side, span, self._batch.block_size) for side in (keys, values))
            if self._batch.exact:
                for row, seen in zip(range(span.begin, span.end), range(span.context - span.rows + 1, span.context + 1)):
                    found[row] = _attend(query[row : row + 1], own_keys[:seen], own_values[:seen], None)[0]
                continue
            mask = self._masks.get((span.rows, span.context))
            found[rows] = _attend(query[rows], own_keys, own_values, mask)
        if self._together:
            self._together.attend(query, keys, values, found)
        return found


class _Together:
    """Requests of which one token each is computed, padded to the longest."""

    def __init__(self, spans: Sequence[Span], batch: Batch) -> None:
        device = batch.tokens.device
        self._size = batch.block_size
        longest = max(span.context for span in spans)
        blocks = -(-longest // self._size)
        index = torch.zeros((len(spans), blocks), dtype=torch.long, device=device)
        for row, span in enumerate(spans):
            own = _blocks_of(span, self._size, device)
            index[row, : len(own)] = own
        self._index = index
        self._rows = torch.tensor([span.begin for span in spans], device=device)
        contexts = torch.tensor([span.context for span in spans], device=device)
        self._mask = (torch.arange(blocks * self._size, device=device) < contexts[:, None])[:, None, None]

    def attend(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, found: torch.Tensor) -> None:
        requests = len(self._rows)
        kv_heads, size = keys.shape[1:]
        folded = query[self._rows].reshape(requests, kv_heads, -1, size)
        context = [
            side.unflatten(0, (-1, self._size))[self._index].flatten(1, 2).transpose(1, 2) for side in (keys, values)
        ]
        attended = scaled_dot_product_attention(folded, *context, attn_mask=self._mask)
        found[self._rows] = attended.reshape(requests, -1, size)


def _blocks_of(span: Span, block_size: int, device: torch.device) -> torch.Tensor:
    if span.blocks is not None:
        return span.blocks
    first = (span.first_slot or 0) // block_size
    return torch.arange(first, first - (-span.context // block_size), device=device)


def _gathered(side: torch.Tensor, span: Span, block_size: int) -> torch.Tensor:
    """Return a request's keys or values in order: `[context, kv_heads, head_size]`."""
    if span.blocks is None:
        first = span.first_slot or 0
        return side[first : first + span.context]
    by_block = side.unflatten(0, (-1, block_size))
    return by_block.index_select(0, span.blocks).flatten(0, 1)[: span.context]


def _attend(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Return the attention of one request's last rows over its whole context; without a mask the rows are all."""
    rows, heads, size = query.shape
    kv_heads = keys.shape[1]
    keys, values = keys.transpose(0, 1)[None], values.transpose(0, 1)[None]
    if rows == 1:  # the heads that share keys stand as rows, and nothing has to be masked
        folded = query.reshape(1, kv_heads, heads // kv_heads, size)
        return scaled_dot_product_attention(folded, keys, values).reshape(1, heads, size)
    shared = heads != kv_heads
    by_head = query.transpose(0, 1)[None]
    attended = scaled_dot_product_attention(
        by_head, keys, values, attn_mask=mask, is_causal=mask is None, enable_gqa=shared
    )
    return attended[0].transpose(0, 1)


def _mask(rows: int, context: int, device: torch.device) -> torch.Tensor:
    """Return what lets each of the last rows see the context up to itself."""
    if device.type == "cuda":  # the kernels know this form, and make no matrix of it
        from torch.nn.attention.bias import causal_lower_right  # slow to import

        return causal_lower_right(rows, context)
    return torch.ones((rows, context), dtype=torch.bool, device=device).tril(context - rows)
