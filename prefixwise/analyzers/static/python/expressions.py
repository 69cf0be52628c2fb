"""What expressions evaluate to."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from prefixwise.analyzers.static.python import printing, sinks
from prefixwise.analyzers.static.python.annotations import set_mark
from prefixwise.analyzers.static.python.branches import decided
from prefixwise.analyzers.static.python.calling import call
from prefixwise.analyzers.static.python.frames import EVALUATORS, Closure, Frame
from prefixwise.analyzers.static.python.identities import where_missing
from prefixwise.analyzers.static.python.lookups import attribute, indexed, load
from prefixwise.analyzers.static.python.loops import element_of
from prefixwise.analyzers.static.python.operators import combined
from prefixwise.analyzers.static.python.pieces import Moving, leaves
from prefixwise.analyzers.static.python.values import (
    UNKNOWN,
    Item,
    Value,
    constant,
    joined,
    listed,
    one_of,
    settled,
    text_of,
)

_MOST_MEMBERS = 400
"""Longer literals are tables of data."""

Handler = TypeVar("Handler", bound=Callable[..., Value])


def _evaluates(*kinds: type[ast.AST]) -> Callable[[Handler], Handler]:
    """Register what evaluates some kinds of expression."""

    def register(function: Handler) -> Handler:
        EVALUATORS.update(dict.fromkeys(kinds, function))
        return function

    return register


@_evaluates(ast.Constant)
def _constant(frame: Frame, node: ast.Constant) -> Value:  # noqa: ARG001
    return UNKNOWN if node.value is Ellipsis else constant(node.value)


@_evaluates(ast.JoinedStr)
def _joined_str(frame: Frame, node: ast.JoinedStr) -> Value:
    texts: list[tuple[Any, ...]] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            texts.append((part.value,))
        elif isinstance(part, ast.FormattedValue):
            spec = frame.value(part.format_spec).literal if part.format_spec is not None else ""
            value = frame.value(part.value)
            texts.append(printing.formatted(frame, value, part.value, spec if isinstance(spec, str) else ""))
    value = joined(texts)
    if all(isinstance(piece, str) for piece in value.pieces):
        return constant("".join(piece for piece in value.pieces if isinstance(piece, str)))
    return value


@_evaluates(ast.FormattedValue)
def _formatted_value(frame: Frame, node: ast.FormattedValue) -> Value:
    return Value(pieces=printing.formatted(frame, frame.value(node.value), node.value, ""))


@_evaluates(ast.Name)
def _name(frame: Frame, node: ast.Name) -> Value:
    return load(frame, node)


@_evaluates(ast.Attribute)
def _attribute(frame: Frame, node: ast.Attribute) -> Value:
    return attribute(frame, node)


@_evaluates(ast.Subscript)
def _subscript(frame: Frame, node: ast.Subscript) -> Value:
    return indexed(frame, node)


@_evaluates(ast.Call)
def _call(frame: Frame, node: ast.Call) -> Value:
    return call(frame, node)


@_evaluates(ast.BinOp)
def _bin_op(frame: Frame, node: ast.BinOp) -> Value:
    if not isinstance(node.op, ast.Add):
        return combined(frame, node, frame.value(node.left), frame.value(node.right))
    operands: list[ast.expr] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):  # a long sum is nested as deep as it is long
        operands.append(left.right)
        left = left.left
    found, previous = frame.value(left), left
    for operand in reversed(operands):
        found = printing.added(frame, found, previous, frame.value(operand), operand)
        previous = operand
    return found


@_evaluates(ast.BoolOp)
def _bool_op(frame: Frame, node: ast.BoolOp) -> Value:
    values = [frame.value(item) for item in node.values]
    if isinstance(node.op, ast.And):
        return values[-1]
    return one_of((values[0], *(where_missing(value, node.values[0]) for value in values[1:])))


@_evaluates(ast.UnaryOp)
def _unary_op(frame: Frame, node: ast.UnaryOp) -> Value:
    value = frame.value(node.operand)
    if isinstance(node.op, ast.USub) and isinstance(value.literal, int | float):
        return constant(-value.literal)
    return UNKNOWN if isinstance(node.op, ast.Not) else value


@_evaluates(ast.Compare)
def _compare(frame: Frame, node: ast.Compare) -> Value:
    for item in (node.left, *node.comparators):
        frame.value(item)
    return UNKNOWN


@_evaluates(ast.IfExp)
def _if_exp(frame: Frame, node: ast.IfExp) -> Value:
    frame.value(node.test)
    known = decided(frame, node.test)
    if known is not None:
        return frame.value(node.body if known else node.orelse)
    return one_of((frame.value(node.body), frame.value(node.orelse)))


@_evaluates(ast.NamedExpr)
def _named_expr(frame: Frame, node: ast.NamedExpr) -> Value:
    value = frame.value(node.value)
    frame.bind(node.target.id, value)
    return value


@_evaluates(ast.Await)
def _await(frame: Frame, node: ast.Await) -> Value:
    return call(frame, node.value, awaited=True) if isinstance(node.value, ast.Call) else frame.value(node.value)


@_evaluates(ast.Starred)
def _starred(frame: Frame, node: ast.Starred) -> Value:
    return frame.value(node.value)


@_evaluates(ast.Lambda)
def _lambda(frame: Frame, node: ast.Lambda) -> Value:
    return Value(ref=Closure(frame.module.function(node), frame))


@_evaluates(ast.Yield)
def _yield(frame: Frame, node: ast.Yield) -> Value:
    if node.value is not None:
        value, marks = frame.closed(frame.value(node.value), frozenset(frame.loops))
        frame.yields.append(Item(value, many=bool(frame.loops)))
        frame.yield_marks += marks
    return UNKNOWN


@_evaluates(ast.YieldFrom)
def _yield_from(frame: Frame, node: ast.YieldFrom) -> Value:
    value = frame.value(node.value)
    frame.yields += value.items or (Item(value, many=True),)
    frame.yield_marks += tuple(frame.shown(mark, node.value) for mark in value.marks)
    return UNKNOWN


@_evaluates(ast.List, ast.Tuple)
def _list(frame: Frame, node: ast.List | ast.Tuple) -> Value:
    if len(node.elts) > _MOST_MEMBERS:
        return Value(items=(Item(UNKNOWN, many=True),))
    items: list[Item] = []
    marks: tuple[Moving, ...] = ()
    for member in node.elts:
        value = frame.value(member)
        if isinstance(member, ast.Starred):
            marks += tuple(frame.shown(mark, member.value) for mark in value.marks)
            items += spread(value)
        else:
            items.append(Item(value))
    return Value(items=tuple(items), marks=marks)


def spread(value: Value) -> Sequence[Item]:
    """Return the members of a value, one that stands for any number where they are not known."""
    if value.items is not None:
        return value.items
    return (Item(settled(value) if value.pieces else UNKNOWN, many=True),)


@_evaluates(ast.Set)
def _set(frame: Frame, node: ast.Set) -> Value:
    values = [frame.value(member) for member in node.elts[:_MOST_MEMBERS]]
    ordered = len(node.elts) < 2 or all(isinstance(value.literal, int) for value in values)
    if ordered and not any(isinstance(member, ast.Starred) for member in node.elts):
        return listed(values)
    return listed(values, marks=(set_mark(frame, node),))


@_evaluates(ast.Dict)
def _dict(frame: Frame, node: ast.Dict) -> Value:
    if len(node.keys) > _MOST_MEMBERS:
        return Value(fields=())
    found = Value(fields=())
    for key, inner in zip(node.keys, node.values, strict=True):
        value = frame.value(inner)
        if key is None:
            for name, field in value.fields or ():
                found = found.with_field(name, field)
            if value.marks:
                found = Value(fields=found.fields, marks=found.marks + value.marks)
            continue
        literal = frame.value(key).literal
        if isinstance(literal, str):
            found = found.with_field(literal, value)
        elif value.stirs:
            found = found.with_field(f"[{ast.unparse(key)[:40]}]", value)
    sinks.at_dict(frame, node, found)
    return found


@_evaluates(ast.ListComp, ast.GeneratorExp, ast.SetComp)
def _comprehension(frame: Frame, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
    def result(inner: frozenset[int]) -> Value:
        value, marks = frame.closed(frame.value(node.elt), inner)
        if isinstance(node, ast.SetComp):
            return listed([value], many=True, marks=(set_mark(frame, node),))
        return listed([value], many=True, marks=marks)

    return _in_loops(frame, node.generators, result)


@_evaluates(ast.DictComp)
def _dict_comp(frame: Frame, node: ast.DictComp) -> Value:
    def result(inner: frozenset[int]) -> Value:
        _, marks = frame.closed(frame.value(node.key), inner)
        value, _ = frame.closed(frame.value(node.value), inner)
        return Value(fields=(("*", value),) if value.stirs else (), marks=marks)

    return _in_loops(frame, node.generators, result)


def _in_loops(
    frame: Frame, generators: Sequence[ast.comprehension], result: Callable[[frozenset[int]], Value]
) -> Value:
    """Evaluate the body of a comprehension; its own names are forgotten behind it."""
    loops, inner = frame.loops, []
    own = {node.id for item in generators for node in ast.walk(item.target) if isinstance(node, ast.Name)}
    hidden = {name: frame.env[name] for name in own if name in frame.env}
    depths = {name: frame.depths[name] for name in own if name in frame.depths}
    try:
        for generator in generators:
            iterable = frame.value(generator.iter)
            loop = frame.world.new_loop()
            inner.append(loop)
            frame.loops = (*frame.loops, loop)
            bind_target(frame, generator.target, element_of(frame, iterable, generator.iter, loop))
            for condition in generator.ifs:
                frame.value(condition)
        return result(frozenset(inner))
    finally:
        frame.loops = loops
        for name in own:
            frame.env.pop(name, None)
            frame.depths.pop(name, None)
        frame.env |= hidden
        frame.depths |= depths


def bind_target(frame: Frame, target: ast.expr, value: Value) -> None:
    """Bind the names of a loop or assignment to a value that is taken apart."""
    if isinstance(target, ast.Name):
        frame.bind(target.id, value)
    elif isinstance(target, ast.Tuple | ast.List):
        for inner, member in zip(target.elts, taken_apart(value, len(target.elts)), strict=True):
            bind_target(frame, inner.value if isinstance(inner, ast.Starred) else inner, member)


def taken_apart(value: Value, count: int) -> Sequence[Value]:
    """Return what `count` names get of a value."""
    if value.items is not None and len(value.items) == count and not any(item.many for item in value.items):
        return [item.value for item in value.items]
    if value.items is not None and any(item.many for item in value.items):
        return [one_of(item.value for item in value.items)] * count
    shared = Value(
        pieces=tuple(piece for piece in leaves(text_of(value)) if not isinstance(piece, str)) or UNKNOWN.pieces,
        marks=value.marks,
    )
    return [shared] * count
