"""Conditions that a call decides: a parameter that is asked for, and given as a constant."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from prefixwise.analyzers.static.python.frames import Frame
from prefixwise.analyzers.static.python.values import MISSING

_COMPARED: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda one, other: bool(one == other),
    ast.NotEq: lambda one, other: bool(one != other),
    ast.Is: lambda one, other: one is other,
    ast.IsNot: lambda one, other: one is not other,
    ast.In: lambda one, others: one in others,
    ast.NotIn: lambda one, others: one not in others,
}


def decided(frame: Frame, test: ast.expr) -> bool | None:
    """Return what a condition gives in this call, None where that is not known."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        found = decided(frame, test.operand)
        return None if found is None else not found
    if isinstance(test, ast.BoolOp):
        stops = isinstance(test.op, ast.Or)
        parts = [decided(frame, part) for part in test.values]
        if stops in parts:
            return stops
        return None if None in parts else not stops
    if isinstance(test, ast.Compare):
        return _compared(frame, test)
    given = _given(frame, test)
    return None if given is MISSING else bool(given)


def _compared(frame: Frame, test: ast.Compare) -> bool | None:
    given = _given(frame, test.left)
    compare = _COMPARED.get(type(test.ops[0]))
    if given is MISSING or compare is None or len(test.ops) > 1:
        return None
    try:
        return compare(given, ast.literal_eval(test.comparators[0]))
    except (ValueError, TypeError):  # no constant, or none that can be compared with
        return None


def _given(frame: Frame, node: ast.expr) -> object:
    """Return the constant that a parameter was given which the function does not change, `MISSING` where none was."""
    function = frame.function
    if not isinstance(node, ast.Name) or function is None or node.id in function.rebound:
        return MISSING
    value = frame.env.get(node.id)
    if value is None or value.stirs or not any(one.arg == node.id for one in function.parameters):
        return MISSING
    return value.literal
