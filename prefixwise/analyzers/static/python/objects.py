"""What attributes of objects of the package hold, and what their construction and their callbacks give."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from prefixwise.analyzers.static.python.annotations import annotated
from prefixwise.analyzers.static.python.calls import judge_call
from prefixwise.analyzers.static.python.frames import Bound, Closure, Dotted, Frame, Hidden, Instance, World
from prefixwise.analyzers.static.python.functions import Arguments, invoke, selves_of
from prefixwise.analyzers.static.python.globals import find_method, lineage
from prefixwise.analyzers.static.python.modules import Class, Function, path_of
from prefixwise.analyzers.static.python.values import UNKNOWN, Value, capped, one_of, unknown
from prefixwise.analyzers.static.volatile import Frequency

_FIELDS = frozenset({"field", "Field", "attrib", "ib"})
HIDDEN = Value(pieces=UNKNOWN.pieces, ref=Hidden())
PRINTING = ("__format__", "__str__", "__repr__")
"""Methods that say how an object prints, in the order in which they are asked."""


def attribute_of(world: World, owner: Class, name: str) -> Value:
    """Return what an attribute of any object of a class holds, by what the class and its methods put there."""
    key = (id(owner), name)
    if key in world.attributes:
        return world.attributes[key]
    if key in world.busy:
        world.cuts += 1
        return HIDDEN
    world.busy.add(key)
    cuts = world.cuts
    try:
        owners = [current for current in lineage(world, owner) if current is not None]
        found = [value for current in owners for value in _attribute_values(world, current, name)]
    finally:
        world.busy.discard(key)
    value = one_of(found) if found else unknown(f"{owner.name}.{name}")
    if world.cuts != cuts and value.is_open:
        return HIDDEN
    if world.cuts == cuts:
        world.attributes[key] = value
    return value


def _attribute_values(world: World, owner: Class, name: str) -> Iterator[Value]:
    frame = Frame(world, owner.module, cap=Frequency.PROCESS)
    if name in owner.values:
        yield _class_value(frame, owner.values[name])
    elif name in owner.annotations:
        typed = annotated(frame, owner.annotations[name])
        if typed is not None:
            yield typed
    for method in owner.setters.get(name, ()):
        value = selves_of(world, method).get(f"self.{name}")
        if value is not None and not value.is_open:
            once = method.name in ("__init__", "__post_init__") or f"self.{name}" in method.kept
            yield capped(value, Frequency.SESSION) if once else value


def _class_value(frame: Frame, node: ast.expr) -> Value:
    """Return a value of a class body; a factory for a field is called once for every object."""
    if isinstance(node, ast.Call) and path_of(node.func).rsplit(".", 1)[-1] in _FIELDS:
        for keyword in node.keywords:
            if keyword.arg in ("default_factory", "factory"):
                each = Frame(frame.world, frame.module, cap=Frequency.SESSION)
                return called(each, each.value(keyword.value), keyword.value)
            if keyword.arg == "default":
                return frame.value(keyword.value)
        return UNKNOWN
    return frame.value(node)


def called(frame: Frame, callee: Value, node: ast.expr) -> Value:
    """Return what a function gives that is passed as a value and called later without arguments that are known."""
    ref = callee.ref
    if isinstance(ref, Function):
        value = invoke(frame, ref, Arguments()).value
    elif isinstance(ref, Bound):
        value = invoke(frame, ref.method, Arguments(), ref.self).value
    elif isinstance(ref, Closure):
        value = invoke(frame, ref.function, Arguments(), None, ref.frame).value
    elif isinstance(ref, Dotted) and (judged := judge_call(ref.name)) is not None:
        return frame.moving(node, judged, ref.name)
    else:
        return UNKNOWN
    return frame.returned(value)


def construct(frame: Frame, owner: Class, given: Arguments) -> Value:
    """Return a new object of a class of the package."""
    bare = Value(ref=Instance(owner))
    init = find_method(frame.world, owner, "__init__")
    if init is not None:
        selves = invoke(frame, init, given, bare).selves
        fields = tuple((name.removeprefix("self."), value) for name, value in selves)
    else:
        names = list(owner.annotations)
        fields = (*zip(names, given.positional, strict=False), *given.keywords)
    kept = tuple((name, value) for name, value in fields if value.stirs)
    return replace(bare, fields=kept or None)


def prints_address(world: World, owner: Class) -> bool:
    """Say whether objects of a class print as their address: nothing says otherwise, and all its bases are known."""
    for current in lineage(world, owner):
        if current is None or current.decorators or any(name in current.methods for name in PRINTING):
            return False
        if current.node.keywords:
            return False
    return True
