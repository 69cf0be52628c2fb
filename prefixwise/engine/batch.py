"""What is computed in one step: the tokens of several requests laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from prefixwise.engine.executor import Piece

_MOST_RUNS = 16
"""Beyond, single blocks are copied together faster than ranges."""


@dataclass(frozen=True, slots=True)
class Span:
    """One request's part of a batch.

    Attributes:
        begin, end: Its rows in the batch.
        context: Tokens that its last row attends to.
        blocks: Its blocks as an index.
        runs: Its slots as few ranges, in order; empty where they are many.
    """

    begin: int
    end: int
    context: int
    blocks: torch.Tensor
    runs: tuple[tuple[int, int], ...]

    @property
    def rows(self) -> int:
        """Tokens that are computed."""
        return self.end - self.begin


@dataclass(frozen=True, slots=True)
class Batch:
    """The tensors of a step.

    Attributes:
        tokens, positions, slots: By row.
        spans: One a request.
        last_rows: Rows whose logits are wanted, in the order of their requests.
        block_size: Tokens in a block.
        exact: Whether each row is to be computed in the same way whatever stands beside it.
    """

    tokens: torch.Tensor
    positions: torch.Tensor
    slots: torch.Tensor
    spans: tuple[Span, ...]
    last_rows: torch.Tensor
    block_size: int
    exact: bool


def make_batch(pieces: Sequence[Piece], block_size: int, device: torch.device, exact: bool) -> Batch:
    """Lay pieces end to end.

    Args:
        pieces: One a request.
        block_size: Tokens in a block.
        device: Where the model is.
        exact: Whether each row is to be computed in the same way whatever stands beside it: keys and values are copied
            together even where they lie in one run, for the two ways differ in the last bits.
    """
    tokens: list[int] = []
    positions: list[int] = []
    slots: list[int] = []
    spans: list[Span] = []
    last_rows: list[int] = []
    for piece in pieces:
        begin, context = len(tokens), piece.start + len(piece.tokens)
        tokens.extend(piece.tokens)
        positions.extend(range(piece.start, context))
        blocks = list(piece.blocks[: -(-context // block_size)])
        slots.extend(_slots(blocks, piece.start, context, block_size))
        index = torch.tensor(blocks, device=device)
        runs = _runs(index, context, block_size) if device.type == "cpu" else ()
        spans.append(Span(begin, len(tokens), context, index, runs))
        if piece.wanted:
            last_rows.append(len(tokens) - 1)
    return Batch(
        torch.tensor(tokens, device=device),
        torch.tensor(positions, device=device),
        torch.tensor(slots, device=device),
        tuple(spans),
        torch.tensor(last_rows, dtype=torch.long, device=device),
        block_size,
        exact,
    )


def _runs(blocks: torch.Tensor, context: int, size: int) -> tuple[tuple[int, int], ...]:
    """Return the slots of the first `context` tokens as ranges, none where there would be too many."""
    ends = [*((blocks.diff() != 1).nonzero().flatten() + 1).tolist(), len(blocks)]
    if len(ends) > _MOST_RUNS:
        return ()
    found = []
    begin = 0
    for end in ends:
        first = int(blocks[begin]) * size
        found.append((first, first + min(end * size, context) - begin * size))
        begin = end
    return tuple(found)


def _slots(blocks: Sequence[int], start: int, end: int, size: int) -> list[int]:
    """Return the slots of the positions `start` to `end`."""
    if size == 1:
        return list(blocks[start:end])
    found: list[int] = []
    for index in range(start // size, -(-end // size)):
        base = blocks[index] * size - index * size
        found.extend(range(base + max(start, index * size), base + min(end, (index + 1) * size)))
    return found
