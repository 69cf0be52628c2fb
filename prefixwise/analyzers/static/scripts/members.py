"""Parts of values: fields, elements, what a pattern takes out of them; and values made from judgements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.scripts import calls
from prefixwise.analyzers.static.scripts.clocks import printed
from prefixwise.analyzers.static.scripts.module import Binding, Key, Module
from prefixwise.analyzers.static.scripts.tree import Node
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    FIXED,
    Class,
    Const,
    Fixed,
    Function,
    Held,
    Instance,
    Items,
    Joined,
    Moving,
    Named,
    Namespace,
    Place,
    Record,
    Rest,
    Value,
    Via,
    choice,
    cores,
    held,
    through,
)
from prefixwise.analyzers.static.scripts.windows import names_history
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.evaluate import Evaluator

_SIZES = frozenset({"length", "size", "byteLength"})
_FEW = 6


def moving(found: Judgement, place: Place, name: str) -> Moving:
    """Return the value that a call or property of this judgement has."""
    order = found.kind in (VolatileKind.UNORDERED, VolatileKind.TOOLS)
    return Moving(
        found.kind,
        found.frequency,
        place,
        precision=found.precision,
        confidence=found.confidence,
        name=name,
        evidence=(found.because,) if found.because else (),
        order=order,
    )


def member(evaluator: Evaluator, value: Value, key: Key, place: Place) -> Value:
    """Return `value.key`, or `value[key]`; None is any key."""
    return through(value, lambda inner: _member(evaluator, inner, key, place))


def _member(evaluator: Evaluator, value: Value, key: Key, place: Place) -> Value:
    if isinstance(value, Named):
        return _of_named(value, key, place)
    if isinstance(value, Record):
        return _of_record(evaluator, value, key, place)
    if isinstance(value, Items):
        return _of_items(evaluator, value, key, place)
    if isinstance(value, Moving):
        return _of_moving(value, key)
    if isinstance(value, Instance) and isinstance(key, str):
        return evaluator.field(value, key, place)
    if isinstance(value, Class) and isinstance(key, str):
        return evaluator.field(Instance(value.module, value.node), key, place)
    if isinstance(value, Namespace) and isinstance(key, str):
        return exported(evaluator, value, key, place)
    if isinstance(value, Const | Joined | Fixed):
        return BLANK if key in _SIZES else value
    return Named(str(key), place) if isinstance(value, Function) and key not in ("name", "length") else BLANK


def _of_moving(value: Moving, key: Key) -> Value:
    if key in _SIZES:
        return BLANK
    if value.order:
        return FIXED
    return printed(value, key, [], {}) if isinstance(key, str) else value


def _of_named(value: Named, key: Key, place: Place) -> Value:
    if key in _SIZES:
        if not names_history(value.name):
            return BLANK
        counted = Judgement(VolatileKind.COUNTER, Frequency.CALL, because="it counts what grows with every turn")
        return moving(counted, place, f"{value.name}.{key}")
    if isinstance(key, int) or key is None:
        return Named(value.name, value.place, called=value.called)
    return Named(f"{value.name}.{key}", place)


def _of_record(evaluator: Evaluator, value: Record, key: Key, place: Place) -> Value:
    if isinstance(key, str) and key in value.fields:
        return value.fields[key]
    if key is None:
        return choice([*value.fields.values(), *value.rest][:_FEW])
    inherited = [member(evaluator, rest, key, place) for rest in value.rest]
    return choice(inherited) if inherited else BLANK


def _of_items(evaluator: Evaluator, value: Items, key: Key, place: Place) -> Value:
    if key in _SIZES:
        return BLANK
    known = []
    for item in value.items:
        if isinstance(item, Rest):
            break
        known.append(item)
    if isinstance(key, int) and 0 <= key < len(known) and not _is_sign(known[key]):
        return known[key]
    if not isinstance(key, str):
        return element(evaluator, value, place)
    found = list(signs(value))
    return Items((Rest(Named(key, place)), *found)) if found else BLANK


def element(evaluator: Evaluator, value: Value, place: Place) -> Value:
    """Return any element of a list."""

    def of(inner: Value) -> Value:
        if not isinstance(inner, Items):
            return _member(evaluator, inner, None, place)
        found: list[Value] = []
        for item in inner.items:
            if isinstance(item, Rest):
                found.append(element(evaluator, item.value, place))
            elif not _is_sign(item):
                found.append(item)
        return choice(found[:_FEW]) if found else BLANK

    return through(value, of)


def taken(evaluator: Evaluator, value: Value, binding: Binding, place: Place) -> Value:
    """Return what a pattern takes out of a value for one of its names."""
    for key in binding.path:
        value = member(evaluator, value, key, place)
    return value


def exported(evaluator: Evaluator, namespace: Namespace, name: str, place: Place) -> Value:
    """Return what a module of the package exports under a name."""
    found = evaluator.program.exported(namespace.module, name)
    if found is None:
        whole = namespace.module.exports.get("default") if name != "default" else None
        if whole is None or whole.node is None or whole.node.kind != "object":
            return Named(name, place)
        return member(evaluator, evaluator.value(namespace.module, whole.node), name, place)  # module.exports = {…}
    module, what = found
    if isinstance(what, Binding):
        return evaluator.variable(module, what, module.tree.root, None)
    if what.kind in ("class_declaration", "class"):
        return Class(module, what.fields["body"])
    value = evaluator.value(module, what, None)
    return held(Frequency.PROCESS, value)


def _is_sign(value: Value) -> bool:
    return isinstance(value, Moving) and value.order


def signs(value: Value) -> Iterator[Value]:
    """Yield what says that the order of a list is not fixed, with the steps that it took."""
    if isinstance(value, Via):
        for sign in signs(value.value):
            yield Via(sign, value.place, value.note)
    elif isinstance(value, Held):
        for sign in signs(value.value):
            yield Held(value.frequency, sign)
    elif isinstance(value, Moving):
        if value.order:
            yield value
    else:
        for inner in _inner(value):
            yield from signs(inner)


def _inner(value: Value) -> Iterable[Value]:
    if isinstance(value, Items):
        return value.items
    if isinstance(value, Rest):
        return (value.value,)
    return () if value in (inner := list(cores(value))) else inner


def in_order(value: Value) -> Value:
    """Return a list after sorting: what said that its order is not fixed is gone."""

    def of(inner: Value) -> Value:
        if isinstance(inner, Items):
            return Items(in_order(item) for item in inner.items if not _is_sign(item))
        if isinstance(inner, Rest):
            return Rest(in_order(inner.value))
        return BLANK if _is_sign(inner) else inner

    return through(value, of)


def listed(because: str, place: Place, name: str, value: Value, confidence: Confidence) -> Items:
    """Return a list of tools that comes in no promised order."""
    found = Judgement(VolatileKind.TOOLS, Frequency.SESSION, confidence=confidence, because=because)
    return Items((Rest(value), moving(found, place, name)))


def shuffled_or_sorted(value: Value, module: Module, operands: Sequence[Node], place: Place) -> Value:
    """Return a list after `sort`, which by a random comparison shuffles."""
    if operands and "Math.random" in module.text(operands[0]):
        name = place.module.tree.source.text[place.start : place.end]
        return Items((Rest(in_order(value)), moving(calls.shuffled(name), place, name)))
    return in_order(value)


def widened(value: Value, inner: Place, outer: Place) -> Value:
    """Return a list of which what says that its order is not fixed stands at the expression around."""

    def of(found: Value) -> Value:
        if isinstance(found, Items):
            return type(found)(of(item) for item in found.items)
        return found.but(place=outer) if isinstance(found, Moving) and found.place == inner else found

    return through(value, of)
