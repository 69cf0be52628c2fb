"""`--require "hit_rate>=0.6"`: a condition on one figure of a report."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from prefixwise.core.errors import UserError
from prefixwise.core.report import Requirement

_FORM = re.compile(r"\s*([a-z_][a-z0-9_]*)\s*(>=|<=|==|>|<)\s*(-?[0-9.]+)\s*(%?)\s*")
_TESTS = {">=": operator.ge, "<=": operator.le, "==": operator.eq, ">": operator.gt, "<": operator.lt}


class Condition(NamedTuple):
    """One condition, read: `test(figure, wanted)` says whether it holds."""

    expression: str
    figure: str
    test: Callable[[float, float], bool]
    wanted: float

    def check(self, figures: Mapping[str, float | None]) -> Requirement:
        """Return how it came out; a figure that is absent is a condition not met."""
        actual = figures[self.figure]
        return Requirement(self.expression, actual, actual is not None and self.test(actual, self.wanted))


def parse_condition(expression: str, known: Collection[str]) -> Condition:
    """Read `NAME OPERATOR NUMBER`, which may be below zero; a percent sign divides by 100.

    Raises:
        UserError: It cannot be read, or names a figure that is not among `known`.
    """
    match = _FORM.fullmatch(expression)
    advice = f"for example 'hit_rate>=0.6'; known figures: {', '.join(known)}"
    if match is None or match[3].count(".") > 1 or match[3] in (".", "-."):
        raise UserError(f"cannot read the condition {expression[:100]!r}", "--require", advice)
    name, test, number, percent = match.groups()
    if name not in known:
        raise UserError(f"there is no figure {name[:100]!r}", "--require", advice)
    return Condition(expression.strip(), name, _TESTS[test], float(number) / (100 if percent else 1))
