"""`--require "hit_rate>=0.6"`: a condition on one figure of a report."""

from __future__ import annotations

import operator
import re
from collections.abc import Mapping, Sequence

from prefixwise.core.errors import UserError
from prefixwise.core.report import Requirement

_FORM = re.compile(r"\s*([a-z_][a-z0-9_]*)\s*(>=|<=|==|>|<)\s*([0-9.]+)\s*(%?)\s*")
_TESTS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


def check(expressions: Sequence[str], figures: Mapping[str, float | None]) -> tuple[Requirement, ...]:
    """Return how each condition came out; a figure that is absent is a condition not met.

    Args:
        expressions: Conditions `NAME OPERATOR NUMBER`; a percent sign divides by 100.
        figures: The values a condition can name.

    Raises:
        UserError: A condition that cannot be read, or an unknown name.
    """
    return tuple(_check(expression, figures) for expression in expressions)


def _check(expression: str, figures: Mapping[str, float | None]) -> Requirement:
    match = _FORM.fullmatch(expression)
    known = f"for example 'hit_rate>=0.6'; known figures: {', '.join(figures)}"
    if match is None or match[3].count(".") > 1 or match[3] == ".":
        raise UserError(f"cannot read the condition {expression!r}", "--require", known)
    name, test, number, percent = match.groups()
    if name not in figures:
        raise UserError(f"there is no figure {name!r}", "--require", known)
    actual = figures[name]
    wanted = float(number) / (100 if percent else 1)
    return Requirement(expression.strip(), actual, actual is not None and _TESTS[test](actual, wanted))
