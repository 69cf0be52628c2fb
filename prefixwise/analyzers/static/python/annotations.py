"""What an annotation says about a value."""

from __future__ import annotations

import ast

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.python.frames import Frame
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.python.pieces import Moving
from prefixwise.analyzers.static.python.values import UNKNOWN, Item, Typed, Value
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

_SETS = frozenset({"set", "frozenset", "Set", "FrozenSet", "AbstractSet", "MutableSet"})
_WRAPPERS = frozenset({"Optional", "Annotated", "Final", "ClassVar", "Required", "NotRequired"})
_A_SET = Judgement(
    VolatileKind.UNORDERED, Frequency.PROCESS, because="a set of strings has another order in every process"
)


def set_mark(frame: Frame, node: ast.expr) -> Moving:
    """Return what a set made at `node` does to those who go through it."""
    origin = frame.origin(node, _A_SET, "a set")
    return Moving(origin._replace(movable=True), (), frame.loops)


def annotated(frame: Frame, annotation: ast.expr | None) -> Value | None:
    """Return what is known of a value by its annotation: that it is a set, or an object of a class of the package."""
    node = _unwrapped(annotation)
    if node is None:
        return None
    inner = node.value if isinstance(node, ast.Subscript) else node
    path = path_of(inner)
    name = path.rsplit(".", 1)[-1]
    if name in _SETS:
        if isinstance(node, ast.Subscript) and path_of(node.slice) == "int":
            return None
        return Value(items=(Item(UNKNOWN, many=True),), marks=(set_mark(frame, node),))
    if not name[:1].isupper() or isinstance(node, ast.Subscript):
        return None
    return Value(pieces=UNKNOWN.pieces, ref=Typed(frame.module, path))


def _unwrapped(node: ast.expr | None) -> ast.expr | None:
    """Return the type behind `Optional`, `| None` and the like."""
    for _ in range(4):
        if isinstance(node, ast.Subscript) and path_of(node.value).rsplit(".", 1)[-1] in _WRAPPERS:
            node = node.slice.elts[0] if isinstance(node.slice, ast.Tuple) and node.slice.elts else node.slice
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr):
            node = node.left if not (isinstance(node.left, ast.Constant) and node.left.value is None) else node.right
        else:
            break
    return node if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) else None
