"""What computes a step: a real model (`torch_executor`), or one that only takes its time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from prefixwise.engine.request import Draw


@dataclass(frozen=True, slots=True)
class Piece:
    """The tokens of one request that a step computes.

    Attributes:
        tokens: Their ids.
        start: Position of the first.
        blocks: The request's blocks, with room for all tokens up to the last of these.
        wanted: Whether the token behind the last is wanted.
        draw: How it is drawn; None for the likeliest.
    """

    tokens: Sequence[int]
    start: int
    blocks: Sequence[int]
    wanted: bool = True
    draw: Draw | None = None


class Executor(Protocol):
    """Computes steps."""

    def run(self, pieces: Sequence[Piece]) -> list[int]:
        """Compute the pieces, all in one step; return the next token of those that want one, in order."""
        ...
