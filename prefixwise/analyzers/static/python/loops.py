"""What a loop's variable stands for."""

from __future__ import annotations

import ast

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.python.frames import Dotted, Frame
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.python.pieces import Element, Gap, Moving, Piece
from prefixwise.analyzers.static.python.values import UNKNOWN, Item, Value, constant, one_of, text_of
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

_COUNTERS = frozenset({"range", "count", "itertools.count"})
ENUMERATED = Dotted("enumerate")
"""What the pairs of a counted iterable are marked with."""
_COUNTED = Judgement(VolatileKind.COUNTER, Frequency.CALL, because="it counts the passes of the loop that sends it")
_MANY = 6


def element_of(frame: Frame, iterable: Value, node: ast.expr, loop: int) -> Value:
    """Return what stands for one member of `iterable`, gone through by loop number `loop` at `node`."""
    counted = _counter(frame, node, loop)
    if counted is not None and path_of(node) in _COUNTERS:
        return counted
    orders: list[Piece] = [
        Element(frame.shown(mark, node), loop) for mark in iterable.marks if mark.origin.kind is not VolatileKind.WINDOW
    ]
    member = _member(iterable)
    if iterable.ref == ENUMERATED and member.items is not None and len(member.items) == 2:
        first = counted or UNKNOWN
        return Value(items=(Item(first), Item(_with(member.items[1].value, orders))))
    return _with(member, orders)


def _counter(frame: Frame, node: ast.expr, loop: int) -> Value | None:
    if not isinstance(node, ast.Call) or path_of(node) not in _COUNTERS | {"enumerate"}:
        return None
    origin = frame.origin(node, _COUNTED, ast.unparse(node)[:40])
    return Value(pieces=(Element(Moving(origin, (), frame.loops), loop, counter=True),))


def _member(iterable: Value) -> Value:
    if iterable.items is not None:
        values = [item.value for item in iterable.items]
        if len(values) <= _MANY or any(value.stirs for value in values):
            return one_of(values)
        return UNKNOWN
    if iterable.fields is not None:
        return one_of(constant(key) for key, _ in iterable.fields[:_MANY])
    pieces = tuple(piece for piece in iterable.pieces if not isinstance(piece, str))
    return Value(pieces=pieces or (Gap(),))


def _with(member: Value, orders: list[Piece]) -> Value:
    """Return a member that knows that its place among the others is not fixed."""
    if not orders:
        return member
    if member.items is not None:
        items = tuple(item._replace(value=_with(item.value, orders)) for item in member.items)
        return Value(items=items, marks=member.marks)
    if member.fields is not None:
        fields = tuple((key, _with(inner, orders)) for key, inner in member.fields)
        return Value(pieces=tuple(orders), fields=fields, marks=member.marks, ref=member.ref)
    return Value(pieces=(*orders, *text_of(member)), ref=member.ref)


def with_elements(value: Value, elements: tuple[Element, ...]) -> Value:
    """Return a value that was looked up by loop elements, as one that knows of their loops."""
    if not elements or value.items is not None or value.fields is not None or value.marks:
        return value
    pieces = tuple(piece for piece in value.pieces if not (isinstance(piece, Gap) and piece.name))
    return Value(pieces=(*elements, *(pieces or UNKNOWN.pieces)), ref=value.ref)
