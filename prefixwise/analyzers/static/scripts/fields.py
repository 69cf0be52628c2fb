"""Fields, getters and methods of classes of the package."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.scripts.functions import parameter
from prefixwise.analyzers.static.scripts.module import Module
from prefixwise.analyzers.static.scripts.tree import Node
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    Class,
    Function,
    Instance,
    Named,
    Place,
    Value,
    choice,
    core,
    held,
)
from prefixwise.analyzers.static.scripts.variables import applied, counted, is_kept
from prefixwise.analyzers.static.volatile import Frequency

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.evaluate import Evaluator

_FIELDS = frozenset({"public_field_definition", "field_definition"})


def field(evaluator: Evaluator, instance: Instance, name: str, place: Place, depth: int = 0) -> Value:
    """Return `instance.name`; its name alone where the class does not say."""
    module, body = instance.module, instance.node
    for child in body.children:
        if child.kind == "method_definition" and _name(module, child) == name:
            method = Function(module, child, None, instance)
            return evaluator.invoke(method, (), place, name) if "get" in child.tokens else method
    found = list(_values(evaluator, instance, name, place))
    if found:
        return choice(found)
    parent = _parent(evaluator, module, body)
    if parent is not None and depth < 3:
        return field(evaluator, Instance(parent.module, parent.node), name, place, depth + 1)
    return Named(name, place)


def _values(evaluator: Evaluator, instance: Instance, name: str, place: Place) -> Iterator[Value]:
    """Yield what a field is first and what is written to it; what a constructor sets is kept for a session."""
    module, body = instance.module, instance.node
    key = (id(body), name)
    if key in evaluator.reading:
        evaluator.cuts += 1
        return
    evaluator.reading.add(key)
    try:
        for child in body.children:
            if child.kind in _FIELDS and _name(module, child) == name and "value" in child.fields:
                yield held(Frequency.SESSION, evaluator.value(module, child.fields["value"], None))
            if child.kind == "method_definition" and _name(module, child) == "constructor":
                yield from _property_of_constructor(evaluator, module, child, name)
        number = counted(evaluator, module, module.fields.get(key, ()), place, name)
        if number is not None:
            yield number
        value: Value = BLANK
        for write in module.fields.get(key, ()):
            value = applied(evaluator, module, value, write, None, place)
            if _in_constructor(module, write.node) or is_kept(module, write, name):
                value = held(Frequency.SESSION, value)
        if value is not BLANK:
            yield value
    finally:
        evaluator.reading.discard(key)


def _property_of_constructor(evaluator: Evaluator, module: Module, constructor: Node, name: str) -> Iterator[Value]:
    """`constructor(private readonly name: string)` declares a field."""
    for child in constructor.fields["parameters"].children:
        modified = "readonly" in child.tokens or any(part.kind == "accessibility_modifier" for part in child.children)
        pattern = child.fields.get("pattern")
        if modified and pattern is not None and module.text(pattern) == name:
            binding = module.binding(name, pattern)
            if binding is not None:
                yield held(Frequency.SESSION, parameter(evaluator, module, binding, None))


def _in_constructor(module: Module, node: Node) -> bool:
    function = node.function
    return function is not None and function.kind == "method_definition" and _name(module, function) == "constructor"


def _name(module: Module, child: Node) -> str:
    """Return the name of a field or method, '' of anything else."""
    name = child.fields.get("name") or child.fields.get("property")
    return module.text(name) if name is not None else ""


def _parent(evaluator: Evaluator, module: Module, body: Node) -> Class | None:
    heritage = (
        next((child for child in body.parent.children if child.kind == "class_heritage"), None) if body.parent else None
    )
    if heritage is None or not heritage.children:
        return None
    clause = heritage.children[0]
    base = clause.fields.get("value", clause)
    found = core(evaluator.value(module, base, None))
    return found if isinstance(found, Class) else None
