"""What the analysis knows of a value: the text that it prints as, piece by piece, and what it is put together from.

Values are never changed; what a statement does to one gives another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple, Union

from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

_MOST_HOPS = 14
_MOST_PIECES = 400
_MOST_ITEMS = 200


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


class Typed(NamedTuple):
    """Of a value that is not known: what its annotation says, as written in a module."""

    module: Hashable
    path: str


Piece = Union[str, Moving, Element, Gap, Slot, Choice]  # noqa: UP007 - recursive


_STIRRING = (Moving, Element, Slot, Choice)


class _Missing(Enum):
    MISSING = "missing"


MISSING = _Missing.MISSING


class Item(NamedTuple):
    """A member of a list: `many` where it stands for any number, `when` where a condition of a call adds it."""

    value: Value
    many: bool = False
    when: Hop | None = None


@dataclass(frozen=True, slots=True)
class Value:
    """A value.

    Attributes:
        pieces: What it prints as, in order, unless it is a list or mapping.
        literal: The constant that it is.
        items: Members of a list, tuple or set, as far as known.
        fields: Keys with a known name of a mapping, or attributes of an object.
        marks: What moves its members as a whole: no order, or a window over them.
        ref: What it is a name of: a dotted name, a function, a class, an instance, a template.
        stirs: Whether anything in it changes by itself.
    """

    pieces: tuple[Piece, ...] = ()
    literal: Hashable = MISSING
    items: tuple[Item, ...] | None = None
    fields: tuple[tuple[str, Value], ...] | None = None
    marks: tuple[Moving, ...] = ()
    ref: Hashable = None
    stirs: bool = field(init=False, compare=False, default=False)

    def __post_init__(self) -> None:
        stirs = (
            bool(self.marks)
            or any(isinstance(piece, _STIRRING) for piece in self.pieces)
            or any(item.value.stirs for item in self.items or ())
            or any(value.stirs for _, value in self.fields or ())
        )
        object.__setattr__(self, "stirs", stirs)

    @property
    def is_open(self) -> bool:
        """Nothing is known of it but perhaps its name."""
        return (
            self.items is None
            and self.fields is None
            and not self.marks
            and (self.ref is None or isinstance(self.ref, Typed))
            and self.literal is MISSING
            and all(isinstance(piece, Gap) for piece in self.pieces)
        )

    def field(self, name: str) -> Value | None:
        """Return what stands under a key, None where that is not known."""
        return next((value for key, value in self.fields or () if key == name), None)

    def with_field(self, name: str, value: Value) -> Value:
        """Return it with a key set; a key that was there keeps its place."""
        kept = dict(self.fields or ())
        kept[name] = value
        return replace(self, fields=tuple(kept.items()))


UNKNOWN = Value(pieces=(Gap(),))
NOTHING = Value(pieces=("None",), literal=None)


def unknown(name: str, *, fixed: bool = False) -> Value:
    """Return a value of which only the name is known."""
    return Value(pieces=(Gap(name, fixed),))


def constant(literal: Hashable) -> Value:
    """Return a constant."""
    return Value(pieces=(literal if isinstance(literal, str) else str(literal),), literal=literal)


def listed(values: Iterable[Value], *, many: bool = False, marks: tuple[Moving, ...] = ()) -> Value:
    """Return a list of values."""
    return Value(items=tuple(Item(value, many) for value in values), marks=marks)


def text_of(value: Value) -> tuple[Piece, ...]:
    """Return what a value prints as."""
    marks: tuple[Piece, ...] = tuple(mark for mark in value.marks if mark.origin.kind is not VolatileKind.WINDOW)
    if value.pieces:
        return (*marks, *value.pieces)
    found: list[Piece] = list(marks)
    for key, inner in value.fields or ():
        found += [key, *text_of(inner)]
    for item in value.items or ():
        found += text_of(item.value)
    return bounded(tuple(found))


def bounded(pieces: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return pieces, of very many only what matters to the analysis."""
    if len(pieces) <= _MOST_PIECES and sum(isinstance(piece, Choice) for piece in pieces) < _MOST_PIECES // 8:
        return pieces
    kept: dict[Piece, None] = {}
    for piece in leaves(pieces):
        if isinstance(piece, Moving | Element | Slot):
            kept.setdefault(piece)
    return (*list(kept)[:_MOST_PIECES], Gap())


def joined(texts: Iterable[tuple[Piece, ...]], between: str = "") -> Value:
    """Return texts one behind the other."""
    found: list[Piece] = []
    for text in texts:
        if between and found:
            found.append(between)
        found += text
    return Value(pieces=bounded(tuple(found)))


def leaves(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """Go through pieces, those of every way of a choice too."""
    for piece in pieces:
        if isinstance(piece, Choice):
            for way in piece.ways:
                yield from leaves(way)
        else:
            yield piece


def _is_same(first: Piece, second: Piece) -> bool:
    """Say whether two pieces are the same, however they got here."""
    if first is second:
        return True
    if isinstance(first, Moving) and isinstance(second, Moving):
        return first.origin == second.origin
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


def _choice(first: tuple[Piece, ...], second: tuple[Piece, ...]) -> tuple[Piece, ...]:
    """Return one of two texts, what they have in common at both ends kept apart."""
    most = min(len(first), len(second))
    head = next((index for index in range(most) if not _is_same(first[index], second[index])), most)
    most -= head
    tail = next((index for index in range(most) if not _is_same(first[-1 - index], second[-1 - index])), most)
    rest = (first[head : len(first) - tail], second[head : len(second) - tail])
    before, behind = first[:head], first[len(first) - tail :]
    if not any(rest):
        return first
    if not any(isinstance(piece, _STIRRING) for way in rest for piece in way):
        return (*before, *max(rest, key=constant_text), *behind)  # which of them it is makes no difference
    whole = (*before, Choice(_ways(rest)), *behind)
    return whole if sum(1 for _ in leaves(whole)) <= _MOST_PIECES else bounded(tuple(leaves(whole)))


def _either_items(first: tuple[Item, ...], second: tuple[Item, ...]) -> tuple[Item, ...]:
    shared = 0
    while shared < min(len(first), len(second)) and first[shared] == second[shared]:
        shared += 1
    one, other = first[shared:], second[shared:]
    if len(one) == len(other):
        pairs = zip(one, other, strict=True)
        rest = [Item(either(a.value, b.value), a.many or b.many, a.when or b.when) for a, b in pairs]
    else:
        rest = [*one, *other]
    return (*first[:shared], *rest)[:_MOST_ITEMS]


def either(first: Value, second: Value) -> Value:
    """Return a value that is one or the other."""
    if first is second or first == second:
        return first
    for one, other in ((first, second), (second, first)):
        if one.literal is None or (one.is_open and (other.items is not None or other.fields is not None)):
            return other
    items = fields = None
    if first.items is not None or second.items is not None:
        items = _either_items(first.items or (), second.items or ())
    if first.fields is not None or second.fields is not None:
        fields = _either_fields(first, second)
    pieces = _choice(first.pieces, second.pieces) if first.pieces or second.pieces else ()
    marks = first.marks if first.marks == second.marks else tuple(dict.fromkeys(first.marks + second.marks))
    return Value(pieces, MISSING, items, fields, marks, first.ref or second.ref)


def _either_fields(first: Value, second: Value) -> tuple[tuple[str, Value], ...]:
    found = dict(first.fields or ())
    for key, value in second.fields or ():
        found[key] = either(found[key], value) if key in found else value
    return tuple(found.items())


def one_of(values: Iterable[Value]) -> Value:
    """Return a value that is one of several, unknown where there is none."""
    found: Value | None = None
    for value in values:
        found = value if found is None else either(found, value)
    return UNKNOWN if found is None else found


def movings(value: Value) -> Iterator[Moving]:
    """Go through all that changes by itself in a value."""
    if not value.stirs:
        return
    yield from value.marks
    yield from (piece for piece in leaves(value.pieces) if isinstance(piece, Moving))
    for item in value.items or ():
        yield from movings(item.value)
    for _, inner in value.fields or ():
        yield from movings(inner)


Change = Callable[[Piece], Union[Piece, None]]  # noqa: UP007


def _pieces_mapped(pieces: tuple[Piece, ...], change: Change) -> tuple[Piece, ...]:
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Choice):
            found.append(Choice(tuple(_pieces_mapped(way, change) for way in piece.ways)))
        elif isinstance(piece, str):
            found.append(piece)
        elif (changed := change(piece)) is not None:
            found.append(changed)
    return tuple(found)


def mapped(value: Value, change: Change) -> Value:
    """Return a value with every piece that is no constant changed, or left out where `change` gives None."""
    if not value.stirs:
        return value
    marks = []
    for mark in value.marks:
        changed = change(mark)
        if isinstance(changed, Moving):
            marks.append(changed)
    items = fields = None
    if value.items is not None:
        items = tuple(item._replace(value=mapped(item.value, change)) for item in value.items)
    if value.fields is not None:
        fields = tuple((key, mapped(inner, change)) for key, inner in value.fields)
    pieces = _pieces_mapped(value.pieces, change)
    literal = value.literal if pieces == value.pieces else MISSING
    return Value(pieces, literal, items, fields, tuple(marks), value.ref)


def spliced(pieces: tuple[Piece, ...], change: Callable[[Piece], Iterable[Piece]]) -> tuple[Piece, ...]:
    """Return pieces with each, in every way of a choice too, replaced by others."""
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Choice):
            found.append(Choice(tuple(spliced(way, change) for way in piece.ways)))
        else:
            found += change(piece)
    return bounded(tuple(found))


def moved(value: Value, change: Callable[[Moving], Piece | None]) -> Value:
    """Return a value with all that changes by itself changed; loop elements stay."""
    return mapped(value, lambda piece: change(piece) if isinstance(piece, Moving) else piece)


def through(value: Value, hop: Hop) -> Value:
    """Return a value that has gone one step further."""

    def further(piece: Moving) -> Moving:
        if len(piece.hops) >= _MOST_HOPS:
            return piece
        kept = piece.hops[:-1] if piece.hops and piece.hops[-1].note == hop.note else piece.hops
        return piece._replace(hops=(*kept, hop))

    return moved(value, further)


def capped(value: Value, frequency: Frequency) -> Value:
    """Return a value that changes no more often than that."""

    def rarer(piece: Moving) -> Moving:
        if piece.origin.frequency.rank >= frequency.rank:
            return piece
        return piece._replace(origin=piece.origin._replace(frequency=frequency))

    return moved(value, rarer)


def settled(value: Value) -> Value:
    """Return a value whose members stand in a fixed order."""
    kept = tuple(mark for mark in value.marks if mark.origin.kind is VolatileKind.WINDOW)
    return value if kept == value.marks else replace(value, marks=kept)


def keys_sorted(value: Value) -> Value:
    """Return a value with the keys of every mapping in it in a fixed order."""
    items = fields = None
    if value.items is not None:
        items = tuple(item._replace(value=keys_sorted(item.value)) for item in value.items)
    if value.fields is not None:
        value = settled(value)
        fields = tuple((key, keys_sorted(inner)) for key, inner in value.fields or ())
    return replace(value, items=items, fields=fields)


def constant_text(pieces: Iterable[Piece]) -> int:
    """Return how many characters of constant text there are, of a choice the most."""
    total = 0
    for piece in pieces:
        if isinstance(piece, str):
            total += len(piece)
        elif isinstance(piece, Choice):
            total += max((constant_text(way) for way in piece.ways), default=0)
    return total
