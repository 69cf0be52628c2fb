"""What names, attributes and indexes stand for."""

from __future__ import annotations

import ast
import builtins
from dataclasses import replace

from prefixwise.analyzers.static.python import identities
from prefixwise.analyzers.static.python.calls import WINDOW, judge_call
from prefixwise.analyzers.static.python.frames import Bound, Dotted, Frame, Instance, Submodule
from prefixwise.analyzers.static.python.functions import Arguments, invoke
from prefixwise.analyzers.static.python.globals import class_named, find_method, global_value, resolved, submodule_value
from prefixwise.analyzers.static.python.loops import with_elements
from prefixwise.analyzers.static.python.modules import Class, Module, path_of
from prefixwise.analyzers.static.python.naming import is_text, judge_variable
from prefixwise.analyzers.static.python.objects import attribute_of
from prefixwise.analyzers.static.python.pieces import Element, Gap, Moving, is_fixed, leaves
from prefixwise.analyzers.static.python.printing import at_precision, is_clock
from prefixwise.analyzers.static.python.values import (
    FIXED,
    MISSING,
    UNKNOWN,
    Built,
    Item,
    Typed,
    Value,
    one_of,
    text_of,
    unknown,
)
from prefixwise.analyzers.static.volatile import VolatileKind

_BUILTINS = frozenset(dir(builtins))
_PROPERTIES = frozenset(
    {"property", "cached_property", "functools.cached_property", "computed_field", "hybrid_property"}
)
_CLOCK_PARTS = {
    "year": "year",
    "month": "month",
    "tm_year": "year",
    "tm_mon": "month",
    "day": "day",
    "tm_mday": "day",
    "hour": "hour",
    "tm_hour": "hour",
    "minute": "minute",
    "tm_min": "minute",
    "second": "second",
    "microsecond": "second",
}
_PATH_PARTS = frozenset({"parent", "parents", "stem", "name", "suffix"})
_NO_TEXT = frozenset({"returncode", "pid", "stderr", "status_code", "args", "tzinfo", "metadata", "score"})
_READ_AS_ATTRIBUTES = ("os.environ", "os.name", "sys.")
_LEAST_WINDOW = 2
_ISO_LENGTHS = ((4, "year"), (7, "month"), (10, "day"), (13, "hour"), (16, "minute"))


def load(frame: Frame, node: ast.Name) -> Value:
    """Return what a name stands for."""
    name = node.id
    holder: Frame | None = frame
    while holder is not None:
        if name in holder.env:
            value = holder.env[name]
            if name == "self" and isinstance(value.ref, Instance):
                return _with_attributes(holder, value)
            return named(frame, node, resolved(frame.world, value), name)
        holder = holder.parent
    value_at_top = global_value(frame.world, frame.module, name)
    if value_at_top is not None:
        if value_at_top.is_open:
            return unknown(name, fixed=True)
        return value_at_top
    if name in _BUILTINS or frame.module.path in frame.world.modules:
        return Value(ref=Dotted(name))
    return unknown(name)


def _with_attributes(frame: Frame, value: Value) -> Value:
    fields = tuple((key.removeprefix("self."), inner) for key, inner in frame.env.items() if key.startswith("self."))
    return replace(value, fields=fields) if fields else value


def named(frame: Frame, node: ast.expr, value: Value, path: str) -> Value:
    """Return a value of which only the name is known, by what the name says."""
    if not value.is_open:
        return value
    if is_fixed(value.pieces):
        return value
    judged = judge_variable(node, path) if path else None
    if judged is not None and judged.kind is VolatileKind.RETRIEVED and isinstance(value.ref, Built):
        return value
    if judged is None:
        if value.ref is not None:
            return value
        return unknown(path)
    origin = frame.origin(node, judged, path)._replace(named=True)
    function = frame.function
    if function is not None and any(parameter.arg == path for parameter in function.parameters):
        origin = origin._replace(weak=(function.key, path))
    return Value(pieces=(Moving(origin, (), frame.loops),), ref=value.ref)


def attribute(frame: Frame, node: ast.Attribute, base: Value | None = None) -> Value:
    """Return what an attribute of a value stands for.

    Args:
        frame: Where it is.
        node: The attribute.
        base: The value, where it is known already: then the attribute is to be called, and its name tells nothing yet.
    """
    path = path_of(node)
    known = None
    if isinstance(node.value, ast.Name) and node.value.id == "self":
        known = _own_attribute(frame, node.attr)
    if base is not None:
        return known if known is not None else of_value(frame, node, base, path)
    if known is None:
        known = of_value(frame, node, frame.value(node.value), path)
    return named(frame, node, known, node.attr if _has_call(node.value) else path)


def _has_call(node: ast.expr) -> bool:
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Await):
        node = node.value
    return not isinstance(node, ast.Name)


def _own_attribute(frame: Frame, name: str) -> Value | None:
    holder: Frame | None = frame
    while holder is not None:
        if f"self.{name}" in holder.env:
            return holder.env[f"self.{name}"]
        holder = holder.parent
    return None


def of_value(frame: Frame, node: ast.Attribute, base: Value, path: str) -> Value:
    """Return what an attribute of `base` stands for."""
    name, ref = node.attr, base.ref
    if name == "__dict__":
        return Value(fields=())  # its keys stand in the order in which its constructor sets them
    if isinstance(ref, Dotted) and not base.pieces and base.items is None:
        return _of_dotted(frame, node, f"{ref.name}.{name}")
    if isinstance(ref, Submodule):
        value = submodule_value(frame.world, ref.path, name)
        return value if value is not None else unknown(path)
    if isinstance(ref, Typed) and isinstance(ref.module, Module):
        owner = class_named(frame.world, ref.module, ref.path)
        if owner is not None:
            return _of_instance(frame, owner, Value(ref=Instance(owner)), name)
    field = base.field(name)
    if field is not None:
        return field
    if isinstance(ref, Instance):
        return _of_instance(frame, ref.of, base, name)
    if isinstance(ref, Class):
        method = find_method(frame.world, ref, name)
        return Value(ref=method) if method is not None else attribute_of(frame.world, ref, name)
    return _of_pieces(base, name, path)


def _of_dotted(frame: Frame, node: ast.Attribute, dotted: str) -> Value:
    judged = judge_call(dotted) if dotted.startswith(_READ_AS_ATTRIBUTES) else None
    ref = Dotted(dotted)
    return Value(ref=ref) if judged is None else replace(frame.moving(node, judged, dotted), ref=ref)


def _of_instance(frame: Frame, owner: Class, base: Value, name: str) -> Value:
    method = find_method(frame.world, owner, name)
    if method is None:
        return attribute_of(frame.world, owner, name)
    if _PROPERTIES & set(method.decorators):
        return frame.returned(invoke(frame, method, Arguments(), base).value)
    if "staticmethod" in method.decorators:
        return Value(ref=method)
    return Value(ref=Bound(method, base))


def _of_pieces(base: Value, name: str, path: str) -> Value:
    if name in _PATH_PARTS and is_fixed(text_of(base)):
        return FIXED
    moving = tuple(piece for piece in leaves(text_of(base)) if isinstance(piece, Moving | Element))
    moving = tuple(piece for piece in moving if _is_handed_on(piece, name))
    if not moving or name in _NO_TEXT:
        return unknown(path)
    if base.marks and (base.items is not None or base.fields is not None):
        return replace(base, pieces=())  # `.tools` of an answer, `.values` of a frame
    if is_clock(base):
        precision = _CLOCK_PARTS.get(name)
        return at_precision(base, precision) if precision is not None else base
    return Value(pieces=moving)


def _is_handed_on(piece: Moving | Element, name: str) -> bool:
    """Say whether what moves a value moves this part of it; where only a name speaks for it, a part may be anything."""
    if not isinstance(piece, Moving) or not piece.origin.named:
        return not isinstance(piece, Moving) or identities.is_handed_on(piece, name)
    if piece.origin.kind is VolatileKind.RETRIEVED:
        return is_text(name)
    return piece.origin.kind in (VolatileKind.CLOCK, VolatileKind.EXAMPLES)


def indexed(frame: Frame, node: ast.Subscript) -> Value:
    """Return what an index or slice of a value stands for."""
    base = frame.value(node.value)
    if isinstance(node.slice, ast.Slice):
        return _slice(frame, node, node.slice, base)
    index = frame.value(node.slice)
    elements = tuple(piece for piece in leaves(index.pieces) if isinstance(piece, Element) and not piece.counter)
    return with_elements(_at(frame, node, base, index.literal), elements)


def _at(frame: Frame, node: ast.Subscript, base: Value, key: object) -> Value:
    path = path_of(node)
    if isinstance(key, str):
        field = base.field(key)
        if field is not None:
            return field
    if base.items is not None:
        return _member(base, key)
    if isinstance(base.ref, Dotted) and not base.pieces:
        return UNKNOWN
    pieces = tuple(piece for piece in leaves(base.pieces) if isinstance(piece, Moving | Element))
    if isinstance(key, str):
        pieces = tuple(piece for piece in pieces if isinstance(piece, Element) or identities.is_handed_on(piece, key))
    if pieces:
        return Value(pieces=pieces)
    return named(frame, node, unknown(path), path) if isinstance(key, str) else UNKNOWN


def _member(base: Value, key: object) -> Value:
    members = base.items or ()
    if isinstance(key, int) and not any(item.many for item in members):
        return members[key].value if -len(members) <= key < len(members) else UNKNOWN
    if key == 0:  # a conversation begins with its system text, where it has one
        members = tuple(item for item in members if _is_system(item.value)) or members
    return one_of(item.value for item in members[:8])


def _is_system(message: Value) -> bool:
    role = message.field("role")
    return role is not None and role.literal in ("system", "developer")


def _slice(frame: Frame, node: ast.Subscript, cut: ast.Slice, base: Value) -> Value:
    for part in (cut.lower, cut.upper, cut.step):
        if part is not None:
            frame.value(part)
    if is_last_few(cut) and not isinstance(base.literal, str):
        mark = Moving(frame.origin(node, WINDOW, ast.unparse(node)[:60]), (), frame.loops)
        if base.items is not None:
            return replace(
                base, items=tuple(item._replace(many=True) for item in base.items), marks=(mark, *base.marks)
            )
        if all(isinstance(piece, Gap) for piece in base.pieces) or not base.pieces:
            return Value(items=(Item(UNKNOWN, many=True),), marks=(mark,))
    if base.items is not None:
        return replace(base, items=_cut_items(base.items, cut))
    if is_clock(base) and cut.lower is None and isinstance(cut.upper, ast.Constant):
        length = cut.upper.value
        unit = next((unit for most, unit in _ISO_LENGTHS if isinstance(length, int) and length <= most), "second")
        return at_precision(base, unit)
    return replace(base, literal=MISSING) if base.pieces else base


def is_last_few(cut: ast.Slice) -> bool:
    """Say whether a slice takes the last members, more than one of them: `[-6:]`, `[-limit:]`."""
    if cut.upper is not None or cut.step is not None or not isinstance(cut.lower, ast.UnaryOp):
        return False
    if not isinstance(cut.lower.op, ast.USub):
        return False
    count = cut.lower.operand
    return not isinstance(count, ast.Constant) or (isinstance(count.value, int) and count.value >= _LEAST_WINDOW)


def _cut_items(items: tuple[Item, ...], cut: ast.Slice) -> tuple[Item, ...]:
    lower = cut.lower.value if isinstance(cut.lower, ast.Constant) and isinstance(cut.lower.value, int) else None
    if cut.lower is None or (lower is not None and lower >= 0 and not any(item.many for item in items[:lower])):
        upper = cut.upper.value if isinstance(cut.upper, ast.Constant) and isinstance(cut.upper.value, int) else None
        if upper is None or (upper >= 0 and not any(item.many for item in items[:upper])):
            return items[lower or 0 : upper]
    return tuple(item._replace(many=True) for item in items)
