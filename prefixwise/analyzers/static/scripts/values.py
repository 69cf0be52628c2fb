"""What an expression may be worth, as far as prompts are concerned: text in order, and what in it moves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.module import Module
    from prefixwise.analyzers.static.scripts.tree import Node


class Place(NamedTuple):
    """A stretch of a module."""

    module: Module
    start: int
    end: int


class Value:
    """Base of all values; by itself a value of which nothing is known and which is no text, as a truth value is."""

    __slots__ = ()


BLANK = Value()


class Const(Value):
    """Text that stands in the source as it is; `place`: where."""

    __slots__ = ("place", "text")

    def __init__(self, text: str, place: Place | None = None) -> None:
        self.text = text
        self.place = place


class Fixed(Value):
    """Text that is not seen but does not change: a file, a setting."""

    __slots__ = ()


FIXED = Fixed()


class Named(Value):
    """A value from outside of which only the name is known, a dotted path; `place`: where it is named."""

    __slots__ = ("called", "name", "place")

    def __init__(self, name: str, place: Place, *, called: bool = False) -> None:
        self.name = name
        self.place = place
        self.called = called


class Placeholder(Named):
    """A variable of a template, which is filled in whenever the template is used."""

    __slots__ = ()


class Moving(Value):
    """A value that changes by itself.

    Attributes:
        kind, frequency, precision, confidence, evidence: As in `Volatile`.
        place: The expression it comes from; `name`: what it is called.
        order: Whether it is not a value but the order of those beside it that changes.
    """

    __slots__ = ("confidence", "evidence", "frequency", "kind", "name", "order", "place", "precision")

    def __init__(
        self,
        kind: VolatileKind,
        frequency: Frequency,
        place: Place,
        *,
        precision: str = "",
        confidence: Confidence = Confidence.LIKELY,
        name: str = "",
        evidence: tuple[str, ...] = (),
        order: bool = False,
    ) -> None:
        self.kind = kind
        self.frequency = frequency
        self.place = place
        self.precision = precision
        self.confidence = confidence
        self.name = name
        self.evidence = evidence
        self.order = order

    def but(self, *, clause: str = "", **changes: object) -> Moving:
        """Return it with other attributes, and with one more clause of evidence."""
        copy = Moving.__new__(Moving)
        for slot in Moving.__slots__:
            setattr(copy, slot, changes.get(slot, getattr(self, slot)))
        if clause and clause not in copy.evidence:
            copy.evidence = (*copy.evidence, clause)
        return copy


class Joined(Value):
    """Text put together from parts, in order."""

    __slots__ = ("parts",)

    def __init__(self, parts: Iterable[Value]) -> None:
        self.parts = tuple(parts)


class Items(Value):
    """A list, set or map, in order of iteration; what is spread into it stands as `Rest`."""

    __slots__ = ("items",)

    def __init__(self, items: Iterable[Value]) -> None:
        self.items = tuple(items)


class Keyed(Items):
    """An object that was filled key by key, in order of insertion."""

    __slots__ = ()


class Rest(Value):
    """The items of a value that is spread into a list."""

    __slots__ = ("value",)

    def __init__(self, value: Value) -> None:
        self.value = value


class Record(Value):
    """An object: fields in order, and values that were spread into it."""

    __slots__ = ("fields", "rest")

    def __init__(self, fields: dict[str, Value], rest: tuple[Value, ...] = ()) -> None:
        self.fields = fields
        self.rest = rest


class Choice(Value):
    """One of several values; `when`: the condition, where it is that of a thing being there or not."""

    __slots__ = ("options", "when")

    def __init__(self, options: Iterable[Value], when: Place | None = None) -> None:
        self.options = tuple(options)
        self.when = when


class Via(Value):
    """A value that took a step: was assigned, returned, passed."""

    __slots__ = ("note", "place", "value")

    def __init__(self, value: Value, place: Place, note: str) -> None:
        self.value = value
        self.place = place
        self.note = note


class Held(Value):
    """A value that is computed at most this often and kept."""

    __slots__ = ("frequency", "value")

    def __init__(self, frequency: Frequency, value: Value) -> None:
        self.frequency = frequency
        self.value = value


class Function(Value):
    """A function, with the call in which it was made and, of a method, its object."""

    __slots__ = ("frame", "held", "module", "node", "this")

    def __init__(
        self, module: Module, node: Node, frame: Frame | None, this: Value | None = None, held: Frequency | None = None
    ) -> None:
        self.module = module
        self.node = node
        self.frame = frame
        self.this = this
        self.held = held


class Instance(Value):
    """An object of a class of the package."""

    __slots__ = ("module", "node")

    def __init__(self, module: Module, node: Node) -> None:
        self.module = module
        self.node = node


class Class(Value):
    """A class of the package itself."""

    __slots__ = ("module", "node")

    def __init__(self, module: Module, node: Node) -> None:
        self.module = module
        self.node = node


class Namespace(Value):
    """All that a module of the package exports."""

    __slots__ = ("module",)

    def __init__(self, module: Module) -> None:
        self.module = module


class Argument(Value):
    """An argument of a call, which is evaluated when it is asked for, and once."""

    __slots__ = ("_evaluate", "_value")

    def __init__(self, evaluate: Callable[[], Value]) -> None:
        self._evaluate = evaluate
        self._value: Value | None = None

    def value(self) -> Value:
        """Return what the argument is worth."""
        if self._value is None:
            self._value = self._evaluate()
        return self._value


class Frame:
    """A call being evaluated: whose, with which arguments, in which other call its function was made."""

    __slots__ = ("arguments", "depth", "function", "memo", "outer", "this")

    def __init__(self, function: Function, arguments: tuple[Value, ...], depth: int) -> None:
        self.function = function.node
        self.this = function.this
        self.outer = function.frame
        self.arguments = arguments
        self.depth = depth
        self.memo: dict[int, Value] = {}

    def of(self, node: Node) -> Frame | None:
        """Return the innermost call of a function around, None where there is none."""
        frame: Frame | None = self
        while frame is not None and frame.function is not node:
            frame = frame.outer
        return frame


def through(value: Value, change: Callable[[Value], Value]) -> Value:
    """Return the value with its core changed: inside of steps, of what holds it, and of every choice."""
    if isinstance(value, Via):
        return Via(through(value.value, change), value.place, value.note)
    if isinstance(value, Held):
        return held(value.frequency, through(value.value, change))
    if isinstance(value, Choice):
        return choice((through(option, change) for option in value.options), value.when)
    return change(value)


def cores(value: Value) -> Iterator[Value]:
    """Yield what the value may be, without steps, holding and choices."""
    if isinstance(value, Via | Held):
        yield from cores(value.value)
    elif isinstance(value, Choice):
        for option in value.options:
            yield from cores(option)
    else:
        yield value


def core(value: Value) -> Value:
    """Return what the value is; of several, the first that is something."""
    return next((found for found in cores(value) if found is not BLANK), BLANK)


def choice(options: Iterable[Value], when: Place | None = None) -> Value:
    """Return a choice of the options, or the only one of them."""
    distinct = list({id(option): option for option in options}.values())
    if when is None and len(distinct) == 1:
        return distinct[0]
    return Choice(distinct, when) if distinct else BLANK


def held(frequency: Frequency, value: Value) -> Value:
    """Return a value as one that is computed at most so often; functions in it are still called anew."""
    if isinstance(value, Function | Class | Namespace | Const | Fixed | Instance) or value is BLANK:
        return value
    if isinstance(value, Via):
        return Via(held(frequency, value.value), value.place, value.note)
    if isinstance(value, Choice):
        return choice((held(frequency, option) for option in value.options), value.when)
    if isinstance(value, Record):
        fields = {name: held(frequency, field) for name, field in value.fields.items()}
        return Record(fields, tuple(held(frequency, rest) for rest in value.rest))
    return Held(frequency, value)


def joined(*parts: Value) -> Value:
    """Return the parts as one text."""
    kept = [part for part in parts if part is not BLANK]
    if len(kept) == 1:
        return kept[0]
    return Joined(kept) if kept else BLANK


def plain_text(value: Value) -> str | None:
    """Return the text of a constant, None of anything else."""
    found = core(value)
    if isinstance(found, Const):
        return found.text
    if isinstance(found, Joined) and all(isinstance(part, Const) for part in found.parts):
        return "".join(part.text for part in found.parts if isinstance(part, Const))
    return None
