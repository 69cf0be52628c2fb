"""What the analysis knows of a value: the text that it prints as, and what it is put together from.

Values are never changed; what a statement does to one gives another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.python.pieces import (
    STIRRING,
    Change,
    Choice,
    Gap,
    Hop,
    Moving,
    Piece,
    bounded,
    leaves,
    one_of_texts,
    pieces_mapped,
    weight_of,
)
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

_MOST_HOPS = 14
_MOST_ITEMS = 200
_SHOWN = words(
    """text content contents parts template prompt instruction instructions system system_prompt system_instruction
    description function function_declarations parameters input_schema schema tools message messages title question
    examples value values data"""
)
"""Fields of objects from outside that reach a prompt; others (ids, times, settings) are about the object."""
_MOST_WEIGHT = 400
"""Parts of a value that goes from call to call."""


class Typed(NamedTuple):
    """Of a value that is not known: what its annotation says, as written in a module."""

    module: Hashable
    path: str


class Built(NamedTuple):
    """Marks a text that a call puts together from what is no request: it may be anything but looked up."""


class Made(NamedTuple):
    """Marks an object of a class from outside by its name: it has the fields that it was given, and prints as text."""

    name: str


class _Missing(Enum):
    MISSING = "missing"


MISSING = _Missing.MISSING


class Item(NamedTuple):
    """A member of a list: `many` where it stands for any number, `when` where a condition of a call adds it."""

    value: Value
    many: bool = False
    when: Hop | None = None


_set = object.__setattr__


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
        stirs: Whether anything in it changes by itself; `weight`: of how many parts it is.
    """

    pieces: tuple[Piece, ...] = ()
    literal: Hashable = MISSING
    items: tuple[Item, ...] | None = None
    fields: tuple[tuple[str, Value], ...] | None = None
    marks: tuple[Moving, ...] = ()
    ref: Hashable = None
    stirs: bool = field(init=False, compare=False, repr=False, default=False)
    weight: int = field(init=False, compare=False, repr=False, default=1)
    _hash: int = field(init=False, compare=False, repr=False, default=0)
    _text: tuple[Piece, ...] | None = field(init=False, compare=False, repr=False, default=None)

    def __post_init__(self) -> None:
        stirs, weight = bool(self.marks), 1 + len(self.marks)
        for piece in self.pieces:
            if not isinstance(piece, str):
                stirs = stirs or isinstance(piece, STIRRING)
            weight += weight_of(piece) if isinstance(piece, Choice) else 1
        for item in self.items or ():
            stirs = stirs or item.value.stirs
            weight += item.value.weight
        for _, value in self.fields or ():
            stirs = stirs or value.stirs
            weight += value.weight
        _set(self, "stirs", stirs)
        _set(self, "weight", weight)

    def __hash__(self) -> int:
        """Return its hash, which is counted once: values are part of what remembered calls are known by."""
        if not self._hash:
            own = hash((self.pieces, self.literal, self.items, self.fields, self.marks, self.ref))
            _set(self, "_hash", own or 1)
        return self._hash

    @property
    def text(self) -> tuple[Piece, ...]:
        """What it prints as."""
        if self._text is None:
            _set(self, "_text", _text_of(self))
        return self._text or ()

    @property
    def is_open(self) -> bool:
        """Nothing is known of it but perhaps its name."""
        return (
            self.items is None
            and self.fields is None
            and not self.marks
            and (self.ref is None or isinstance(self.ref, Typed | Built))
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
FIXED = Value(pieces=(Gap("a file", fixed=True),))
"""Text of unknown length that is the same on every call."""
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
    return value.text


def _text_of(value: Value) -> tuple[Piece, ...]:
    marks: tuple[Piece, ...] = tuple(mark for mark in value.marks if mark.origin.kind is not VolatileKind.WINDOW)
    if value.pieces:
        return (*marks, *value.pieces)
    found: list[Piece] = list(marks)
    for key, inner in value.fields or ():
        if value.ref is None or (not key.startswith("_") and (key in _SHOWN or not isinstance(value.ref, Made))):
            found += [key, *inner.text]
    for item in value.items or ():
        found += item.value.text
    return bounded(tuple(found))


def light(value: Value, most: int = _MOST_WEIGHT) -> Value:
    """Return a value without what is more than can be carried from call to call.

    An object keeps its class, a list or mapping its lighter members, and what else changes by itself is kept as text.
    """
    if value.weight <= most:
        return value
    if value.fields is not None and value.ref is not None:
        return Value(ref=value.ref)
    items = fields = None
    share = max(most // 8, 1)
    if value.items is not None:
        items = tuple(item._replace(value=light(item.value, share)) for item in value.items)
    if value.fields is not None:
        fields = tuple((key, light(inner, share)) for key, inner in value.fields)
    found = Value(value.pieces, value.literal, items, fields, value.marks, value.ref)
    return found if found.weight <= most else _gist(found, most)


def _gist(value: Value, most: int) -> Value:
    kept = dict.fromkeys(piece for piece in leaves(value.text) if not isinstance(piece, str))
    pieces = (*list(kept)[: max(most // 4, 1)], Gap())
    if value.items is not None:
        return Value(items=(Item(Value(pieces=pieces), many=True),), marks=value.marks, ref=value.ref)
    return Value(pieces=pieces, ref=value.ref)


def joined(texts: Iterable[tuple[Piece, ...]], between: str = "") -> Value:
    """Return texts one behind the other."""
    found: list[Piece] = []
    for text in texts:
        if between and found:
            found.append(between)
        found += text
    return Value(pieces=bounded(tuple(found)))


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
    pieces = one_of_texts(first.pieces, second.pieces) if first.pieces or second.pieces else ()
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
    pieces = pieces_mapped(value.pieces, change)
    literal = value.literal if pieces == value.pieces else MISSING
    return Value(pieces, literal, items, fields, tuple(marks), value.ref)


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
