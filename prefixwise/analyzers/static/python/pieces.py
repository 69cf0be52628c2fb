"""Text piece by piece: what is constant in it, what is not known, and what changes by itself.

Pieces are never changed; what is done to a text gives another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Union

from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

MOST_PIECES = 400


class Origin(NamedTuple):
    """Where a value that changes by itself comes from.

    Attributes:
        kind, frequency, precision, confidence: As of `Volatile`.
        path, start, end: The expression, in the text that was parsed.
        name: What the source calls it; `because`: a clause that says why it changes.
        movable: It is a set, whose order shows only where it is gone through: that place is the one to name.
        named: Only its name speaks for it.
        weak: Of one that came in by a parameter or placeholder: which, so that it is not told where what fills it is.
    """

    kind: VolatileKind
    frequency: Frequency
    path: str
    start: int
    end: int
    name: str
    precision: str = ""
    confidence: Confidence = Confidence.LIKELY
    because: str = ""
    movable: bool = False
    named: bool = False
    weak: tuple[str, str] | None = None


class Hop(NamedTuple):
    """One step on the way of a value."""

    path: str
    start: int
    end: int
    note: str


class Moving(NamedTuple):
    """A piece of text that changes by itself; `loops` are those in whose bodies it was made."""

    origin: Origin
    hops: tuple[Hop, ...] = ()
    loops: tuple[int, ...] = ()


class Element(NamedTuple):
    """One of the things a loop goes through.

    Of something without order it tells nothing until it is gathered with the others; a `counter` is the reverse.
    """

    moving: Moving
    loop: int
    counter: bool = False


class Gap(NamedTuple):
    """Text that is not known; `fixed` where it is the same on every call."""

    name: str = ""
    fixed: bool = False


class Slot(NamedTuple):
    """A placeholder of a template that nothing has filled yet."""

    name: str
    path: str
    start: int
    end: int


class Choice(NamedTuple):
    """One of several texts, by a condition; something changes by itself in at least one of them."""

    ways: tuple[tuple[Piece, ...], ...]


Piece = Union[str, Moving, Element, Gap, Slot, Choice]  # noqa: UP007 - recursive

STIRRING = (Moving, Element, Slot, Choice)
"""Pieces that something in changes by itself."""
Change = Callable[[Piece], Union[Piece, None]]  # noqa: UP007


def weight_of(piece: Piece) -> int:
    """Return of how many parts a piece is."""
    if isinstance(piece, Choice):
        return sum(weight_of(inner) for way in piece.ways for inner in way)
    return 1


def bounded(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return pieces, of very many only what matters to the analysis."""
    if len(pieces) <= MOST_PIECES and sum(isinstance(piece, Choice) for piece in pieces) < MOST_PIECES // 8:
        return pieces
    kept: dict[Piece, None] = {}
    for piece in leaves(pieces):
        if not isinstance(piece, str):
            kept.setdefault(piece)
    return (*list(kept)[:MOST_PIECES], Gap())


def leaves(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Go through pieces, those of every way of a choice too."""
    for piece in pieces:
        if isinstance(piece, Choice):
            for way in piece.ways:
                yield from leaves(way)
        else:
            yield piece


def is_fixed(pieces: tuple[Piece, ...]) -> bool:
    """Say whether a text is the same on every call: constant, though perhaps of unknown length."""
    return bool(pieces) and all(isinstance(piece, str) or (isinstance(piece, Gap) and piece.fixed) for piece in pieces)


def _is_same(first: Piece, second: Piece) -> bool:
    """Say whether two pieces are the same, however they got here; `now(zone) if zone else now()` is one clock."""
    if first is second:
        return True
    if isinstance(first, Moving) and isinstance(second, Moving):
        one, other = first.origin, second.origin
        both_read = one.kind is other.kind is VolatileKind.CLOCK and not one.named and not other.named
        return one == other or (both_read and one.precision == other.precision and one.frequency == other.frequency)
    return first == second


def _ways(rest: tuple[tuple[Piece, ...], tuple[Piece, ...]]) -> tuple[tuple[Piece, ...], ...]:
    """Return two ways as those of one choice, though they be choices themselves, each way once."""
    found: list[tuple[Piece, ...]] = []
    for way in rest:
        inner = way[0].ways if len(way) == 1 and isinstance(way[0], Choice) else (way,)
        found += (new for new in inner if not any(_are_same(new, known) for known in found))
    return tuple(found)


def _are_same(first: tuple[Piece, ...], second: tuple[Piece, ...]) -> bool:
    return len(first) == len(second) and all(map(_is_same, first, second))


def one_of_texts(first: tuple[Piece, ...], second: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return one of two texts, what they have in common at both ends kept apart."""
    most = min(len(first), len(second))
    head = next((index for index in range(most) if not _is_same(first[index], second[index])), most)
    most -= head
    tail = next((index for index in range(most) if not _is_same(first[-1 - index], second[-1 - index])), most)
    rest = (first[head : len(first) - tail], second[head : len(second) - tail])
    before, behind = first[:head], first[len(first) - tail :]
    if not any(rest):
        return first
    if not any(isinstance(piece, STIRRING) for way in rest for piece in way):
        return (*before, *max(rest, key=constant_text), *behind)  # which of them it is makes no difference
    whole = (*before, Choice(_ways(rest)), *behind)
    return whole if sum(1 for _ in leaves(whole)) <= MOST_PIECES else bounded(tuple(leaves(whole)))


def pieces_mapped(pieces: tuple[Piece, ...], change: Change) -> tuple[Piece, ...]:
    """Return pieces, in every way of a choice too, with each that is not constant changed, or left out for None."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Choice):
            found.append(Choice(tuple(pieces_mapped(way, change) for way in piece.ways)))
        elif isinstance(piece, str):
            found.append(piece)
        elif (changed := change(piece)) is not None:
            found.append(changed)
    return tuple(found)


def spliced(pieces: tuple[Piece, ...], change: Callable[[Piece], Iterable[Piece]]) -> tuple[Piece, ...]:
    """Return pieces with each, in every way of a choice too, replaced by others."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Choice):
            found.append(Choice(tuple(spliced(way, change) for way in piece.ways)))
        else:
            found += change(piece)
    return bounded(tuple(found))


def constant_text(pieces: Iterable[Piece]) -> int:
    """Return how many characters of constant text there are, of a choice the most."""
    total = 0
    for piece in pieces:
        if isinstance(piece, str):
            total += len(piece)
        elif isinstance(piece, Choice):
            total += max((constant_text(way) for way in piece.ways), default=0)
    return total
