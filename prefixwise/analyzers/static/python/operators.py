"""What operators other than `+` give."""

from __future__ import annotations

import ast
from dataclasses import replace

from prefixwise.analyzers.static.python.calls import AGE, MEASURES
from prefixwise.analyzers.static.python.frames import Frame, Hidden
from prefixwise.analyzers.static.python.pieces import Element, Moving, leaves
from prefixwise.analyzers.static.python.printing import at_precision, is_clock, is_number, printed
from prefixwise.analyzers.static.python.templates import percent
from prefixwise.analyzers.static.python.values import UNKNOWN, Item, Value, constant, joined, movings
from prefixwise.analyzers.static.volatile import Frequency

_MOST_REPEATED = 100_000
_DURATION = Value(pieces=UNKNOWN.pieces, ref=Hidden())
"""How long something took: it is told with what came of it, whatever it is called."""
_SECONDS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def combined(frame: Frame, node: ast.BinOp, left: Value, right: Value) -> Value:
    """Return what an operator other than `+` gives."""
    combine = _OPERATORS.get(type(node.op))
    if combine is not None:
        return combine(frame, node, left, right)
    if isinstance(node.op, ast.FloorDiv) and isinstance(right.literal, int | float) and is_clock(left):
        unit = next((unit for unit, seconds in _SECONDS if right.literal >= seconds), "second")
        return at_precision(left, unit)
    pieces = [piece for piece in leaves((*left.pieces, *right.pieces)) if isinstance(piece, Moving | Element)]
    return Value(pieces=tuple(pieces)) if pieces else UNKNOWN


def _subtracted(frame: Frame, node: ast.BinOp, left: Value, right: Value) -> Value:
    marks = left.marks or right.marks
    if marks:
        return Value(items=left.items or (Item(UNKNOWN, many=True),), marks=marks)
    if any(piece.origin.name.rsplit(".", 1)[-1] in MEASURES for piece in movings(left)):
        return _DURATION
    if is_clock(left):
        is_span = isinstance(node.right, ast.Call) and ast.unparse(node.right.func).endswith(("delta", "duration"))
        if is_number(right) or is_span:
            return left
    if is_clock(left) and is_clock(right) and _is_measured(left, right):
        return _DURATION
    if is_clock(left) or is_clock(right):
        return frame.moving(node, AGE, ast.unparse(node)[:60])
    return UNKNOWN


def _is_measured(left: Value, right: Value) -> bool:
    """Say whether a difference of clocks is a duration: of stop watches, or of readings within one call."""
    origins = [piece.origin for value in (left, right) for piece in movings(value)]
    if any(origin.named for origin in origins):
        return False
    return all(origin.frequency is Frequency.CALL for origin in origins)


def _of_sets(frame: Frame, node: ast.BinOp, left: Value, right: Value) -> Value:  # noqa: ARG001
    if left.fields is not None and right.fields is not None and not isinstance(node.op, ast.BitAnd | ast.BitXor):
        found = left  # one mapping over another
        for key, inner in right.fields:
            found = found.with_field(key, inner)
        return replace(found, marks=(*left.marks, *right.marks))
    if left.ref is not None and (left.items is not None or left.pieces):
        return left  # a template that is piped into something
    marks = left.marks or right.marks
    return Value(items=(Item(UNKNOWN, many=True),), marks=marks) if marks else UNKNOWN


def _divided(frame: Frame, node: ast.BinOp, left: Value, right: Value) -> Value:
    if is_number(left) or is_number(right):
        return left if left.stirs else UNKNOWN
    return joined([printed(frame, left, node.left), ("/",), printed(frame, right, node.right)])


def _remainder(frame: Frame, node: ast.BinOp, left: Value, right: Value) -> Value:
    return percent(frame, node, left.literal, right) if isinstance(left.literal, str) else UNKNOWN


def _repeated(frame: Frame, node: ast.BinOp, left: Value, right: Value) -> Value:  # noqa: ARG001
    if isinstance(left.literal, str) and isinstance(right.literal, int):
        return constant(left.literal * min(right.literal, _MOST_REPEATED // (len(left.literal) or 1)))
    return left if left.items is not None or (left.pieces and is_number(right)) else UNKNOWN


_OPERATORS = {
    ast.Sub: _subtracted,
    ast.BitOr: _of_sets,
    ast.BitAnd: _of_sets,
    ast.BitXor: _of_sets,
    ast.Div: _divided,
    ast.Mod: _remainder,
    ast.Mult: _repeated,
}
