"""Places of sources at which something is filled in between constant texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prefixwise.analyzers.origins.squeezed import squeezed

LONGEST = 200
"""Characters of a constant text that are compared."""
_NEAR = 32


class Gap(NamedTuple):
    """Where something is filled in: offsets in the file."""

    start: int
    end: int


class Break(NamedTuple):
    """Where a constant text ends without a gap: a condition or loop opens or closes, or another string begins."""


Piece = str | Gap | Break
BREAK = Break()


class Hole(NamedTuple):
    """A gap with the texts around it, without white space.

    Attributes:
        start, end: Where it stands in the file.
        left, right: The constant texts next to it, as far as they are compared; '' where there is none.
        before, after: What stands in the file beyond those, a few characters of it.
    """

    start: int
    end: int
    left: str
    right: str
    before: str
    after: str


def holes(pieces: Iterable[Piece]) -> Iterator[Hole]:
    """Yield the gaps of a file, those without a text between them as one.

    Args:
        pieces: What the strings of the file are made of, in their order.
    """
    runs = list(_runs(pieces))
    texts = [run if isinstance(run, str) else "" for run in runs]
    for at, run in enumerate(runs):
        if isinstance(run, Gap):
            left = texts[at - 1] if at else ""
            right = texts[at + 1] if at + 1 < len(runs) else ""
            before = next((text for text in reversed(texts[max(0, at - 6) : max(0, at - 1)]) if text), "")
            after = next((text for text in texts[at + 2 : at + 7] if text), "")
            yield Hole(run.start, run.end, left[-LONGEST:], right[:LONGEST], before[-_NEAR:], after[:_NEAR])


def _runs(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Yield pieces with texts squeezed, and neighbours of a kind as one."""
    said: list[str] = []
    gap: Gap | None = None
    for piece in pieces:
        if isinstance(piece, str):
            text = squeezed(piece)
            if text and gap is not None:
                yield gap
                gap = None
            if text:
                said.append(text)
            continue
        if said:
            yield "".join(said)
            said = []
        if isinstance(piece, Gap):
            gap = piece if gap is None else Gap(gap.start, piece.end)
            continue
        if gap is not None:
            yield gap
            gap = None
        yield piece
    if said:
        yield "".join(said)
    if gap is not None:
        yield gap
