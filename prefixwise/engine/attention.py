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

_FEW_ROWS = 256


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
        padded: Whether all requests of which one token is computed go in one call, padded to the longest, unless rows
            are to be exact. Fewer calls are what a GPU needs; a processor gains nothing.
    """

    def __init__(self, padded: bool = False) -> None:
        self._padded = padded
        self._batch: Batch | None = None
        self._alone: Sequence[Span] = ()
        self._masks: dict[tuple[int, int], torch.Tensor] = {}
        self._together: _Together | None = None

    def begin(self, batch: Batch) -> None:
        """Sort the requests, and lay the indexes of those that go together side by side."""
        decoding = [span for span in batch.spans if span.rows == 1]
        self._batch = batch
        self._together = _Together(decoding, batch) if self._padded and not batch.exact and len(decoding) > 1 else None
        self._alone = [span for span in batch.spans if span.rows > 1] if self._together else batch.spans
        self._masks = {}

    def __call__(self, query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """Return the attention of every row."""
        assert self._batch is not None, "begin was not called"  # noqa: S101
        found = torch.empty_like(query)
        for span in self._alone:
            rows = slice(span.begin, span.end)
            own_keys, own_values = (_gathered(side, span, self._batch) for side in (keys, values))
            if self._batch.exact:
                for row in range(span.begin, span.end):
                    seen = span.context - span.end + row + 1
                    found[row] = _attend_one(query[row], own_keys[:seen], own_values[:seen])
            elif span.rows == 1:
                found[span.begin] = _attend_one(query[span.begin], own_keys, own_values)
            else:
                found[rows] = _attend(query[rows], own_keys, own_values, self._mask(span, query, keys.shape[1]))
        if self._together:
            self._together.attend(query, keys, values, found)
        return found

    def _mask(self, span: Span, query: torch.Tensor, kv_heads: int) -> torch.Tensor | None:
        """Return what lets each of a request's rows see the context up to itself; None where the rows are all of it.

        On a processor with a row for each of the heads that share keys, as `_attend` takes them, if the rows are few.
        """
        rows, context = span.rows, span.context
        if rows == context:
            return None
        known = self._masks.get((rows, context))
        if known is not None:
            return known
        if query.is_cuda:  # the kernels know this form, and make no matrix of it
            from torch.nn.attention.bias import causal_lower_right  # slow to import

            mask: torch.Tensor = causal_lower_right(rows, context)
        else:
            hidden = torch.ones((rows, context), dtype=torch.bool, device=query.device).triu(context - rows + 1)
            mask = torch.zeros((rows, context), dtype=query.dtype, device=query.device)
            mask.masked_fill_(hidden, float("-inf"))
            if rows <= _FEW_ROWS:
                mask = mask.repeat(query.shape[1] // kv_heads, 1)
        self._masks[rows, context] = mask
        return mask


class _Together:
    """Requests of which one token each is computed, padded to the longest."""

    def __init__(self, spans: Sequence[Span], batch: Batch) -> None:
        device = batch.tokens.device
        self._size = batch.block_size
        longest = max(span.context for span in spans)
        blocks = -(-longest // self._size)
        index = torch.zeros((len(spans), blocks), dtype=torch.long, device=device)
        for row, span in enumerate(spans):
            index[row, : len(span.blocks)] = span.blocks
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


def _gathered(side: torch.Tensor, span: Span, batch: Batch) -> torch.Tensor:
    """Return a request's keys or values in order: `[context, kv_heads, head_size]`."""
    if len(span.runs) == 1 and not batch.exact:  # in place; a copy may differ from it in its place in memory alone
        return side[slice(*span.runs[0])]
    if span.runs:
        return torch.cat([side[slice(*run)] for run in span.runs])
    by_block = side.unflatten(0, (-1, batch.block_size))
    return by_block.index_select(0, span.blocks).flatten(0, 1)[: span.context]


def _attend_one(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Return the attention of one row over its whole context: heads that share keys are rows, and none has a mask."""
    heads, size = query.shape
    folded = query.reshape(1, keys.shape[1], -1, size)
    attended = scaled_dot_product_attention(folded, keys.transpose(0, 1)[None], values.transpose(0, 1)[None])
    return attended.reshape(heads, size)


def _attend(query: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
    """Return the attention of one request's last rows over its whole context; without a mask the rows are all."""
    rows, heads = query.shape[:2]
    kv_heads = keys.shape[1]
    keys, values = keys.transpose(0, 1)[None], values.transpose(0, 1)[None]
    if mask is not None and not query.is_cuda and rows <= _FEW_ROWS:
        # The rows of heads that share keys are multiplied with them together: larger products are faster.
        folded = query.unflatten(1, (kv_heads, -1)).permute(1, 2, 0, 3).flatten(1, 2)[None]
        attended = scaled_dot_product_attention(folded, keys, values, attn_mask=mask)
        return attended[0].unflatten(1, (-1, rows)).permute(2, 0, 1, 3).flatten(1, 2)
    by_head = query.transpose(0, 1)[None]
    attended = scaled_dot_product_attention(
        by_head, keys, values, attn_mask=mask, is_causal=mask is None, enable_gqa=heads != kv_heads
    )
    return attended[0].transpose(0, 1)
