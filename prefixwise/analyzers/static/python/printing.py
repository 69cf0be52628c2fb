"""How values become text: printing, formatting, adding, and what that does to clocks and sets."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from dataclasses import replace

from prefixwise.analyzers.static.names import Judgement, with_formats
from prefixwise.analyzers.static.python.frames import Bound, Closure, Dotted, Frame, Instance
from prefixwise.analyzers.static.python.functions import Arguments, invoke
from prefixwise.analyzers.static.python.globals import find_method
from prefixwise.analyzers.static.python.modules import Function
from prefixwise.analyzers.static.python.objects import PRINTING, prints_address
from prefixwise.analyzers.static.python.pieces import Gap, Moving, Origin, Piece
from prefixwise.analyzers.static.python.values import UNKNOWN, Item, Value, constant, joined, moved, text_of
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

_ADDRESS = Judgement(
    VolatileKind.IDENTIFIER, Frequency.PROCESS, because="it prints an address, which is another one in every process"
)
_LOCALE = Judgement(VolatileKind.LOCALE, Frequency.DEPLOY, because="numbers are printed as the machine's locale wants")
_LOCAL_NUMBER = re.compile(r"[<>=^+\- 0-9,._#]*n")


def printed(frame: Frame, value: Value, node: ast.expr) -> tuple[Piece, ...]:
    """Return the text of a value that is printed at `node`: a set shows its order there, an object its address."""
    if value.ref is not None and not value.pieces and value.items is None:
        return _object(frame, value, node)
    if value.marks:
        value = replace(value, marks=tuple(frame.shown(mark, node) for mark in value.marks))
    return text_of(value) or (Gap(),)


def _object(frame: Frame, value: Value, node: ast.expr) -> tuple[Piece, ...]:
    ref = value.ref
    if isinstance(ref, Function | Bound | Closure):
        return frame.moving(node, _ADDRESS, ast.unparse(node)[:40]).pieces
    if isinstance(ref, Dotted):
        return (Gap(ref.name, fixed=True),)
    if not isinstance(ref, Instance):
        return text_of(value) or (Gap(),)
    if prints_address(frame.world, ref.of):
        return frame.moving(node, _ADDRESS, ref.of.name).pieces
    method = next(filter(None, (find_method(frame.world, ref.of, name) for name in PRINTING)), None)
    if method is None:
        return text_of(value) or (Gap(ref.of.name),)
    return text_of(frame.returned(invoke(frame, method, Arguments(), value).value))


def formatted(frame: Frame, value: Value, node: ast.expr, spec: str) -> tuple[Piece, ...]:
    """Return the text of a value printed with a format."""
    if "%" in spec:
        value = in_format(value, spec)
    elif spec and _LOCAL_NUMBER.fullmatch(spec):
        return frame.moving(node, _LOCALE, f"{{:{spec}}}").pieces
    return printed(frame, value, node)


def in_format(value: Value, *formats: str) -> Value:
    """Return a value with its clocks printed in these formats; what shows only months and years has no clock left."""

    def coarser(piece: Moving) -> Piece | None:
        origin = piece.origin
        if origin.kind is not VolatileKind.CLOCK:
            return piece
        found = with_formats(Judgement(origin.kind, origin.frequency, origin.precision), formats)
        if found is None:
            return "2026-01"
        return piece._replace(origin=_cut(origin, found.precision))

    return moved(value, coarser)


def _cut(origin: Origin, precision: str) -> Origin:
    if precision == origin.precision or origin.precision == "day":
        return origin
    frequency = origin.frequency
    if precision == "day" and frequency.rank < Frequency.DAY.rank:
        frequency = Frequency.DAY
    return origin._replace(precision=precision, frequency=frequency)


def at_precision(value: Value, precision: str) -> Value:
    """Return a value with its clocks cut to a unit, '' for one that is not known; `year` leaves none of them."""

    def cut(piece: Moving) -> Piece | None:
        if piece.origin.kind is not VolatileKind.CLOCK:
            return piece
        if precision in ("month", "year"):
            return "2026-01"
        return piece._replace(origin=_cut(piece.origin, precision))

    return moved(value, cut)


def is_clock(value: Value) -> bool:
    """Say whether a value is a clock's and nothing else."""
    pieces = [piece for piece in value.pieces if not isinstance(piece, Gap)]
    return bool(pieces) and all(
        isinstance(piece, Moving) and piece.origin.kind is VolatileKind.CLOCK for piece in pieces
    )


def added(frame: Frame, left: Value, left_node: ast.expr, right: Value, right_node: ast.expr) -> Value:
    """Return the sum of two values: lists one behind the other, texts likewise."""
    if left.items is not None or right.items is not None:
        return Value(items=(*_members(left), *_members(right)), marks=(*left.marks, *right.marks))
    if isinstance(left.literal, str) and isinstance(right.literal, str):
        return constant(left.literal + right.literal)
    if is_number(left) and is_number(right):
        return UNKNOWN
    if is_clock(left) and not right.stirs and not isinstance(right.literal, str):
        return left
    return joined([printed(frame, left, left_node), printed(frame, right, right_node)])


def _members(value: Value) -> Iterable[Item]:
    return value.items if value.items is not None else (Item(Value(pieces=value.pieces or (Gap(),)), many=True),)


def is_number(value: Value) -> bool:
    """Say whether a value is a number that is written out."""
    return isinstance(value.literal, int | float)
