"""What an expression of Jinja prints: the variables and calls that reach the prompt through it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.templates.jinja.nodes import Expression, Kind
from prefixwise.analyzers.static.templates.parts import Passage, Value
from prefixwise.analyzers.static.templates.views import View

Bindings = Mapping[str, Sequence[Value]]
"""What variables were set to, or walk over, as what that prints."""

# What these return says how much of something there is, not what it says.
_MEASURES = frozenset({"length", "count", "wordcount", "type", "defined"})
_ASKS = frozenset({"==", "!=", "<", "<=", ">", ">=", "in", "not in", "not"})
_TEXT_METHODS = words(
    "strip lstrip rstrip upper lower title capitalize split rsplit splitlines replace join format get items keys "
    "values strftime isoformat astimezone date time encode decode removeprefix removesuffix copy append pop trim "
    "tostring tolocalestring tolocaledatestring tolocaletimestring toisostring toutcstring total_seconds"
)
# What Jinja and those who extend it have themselves: these print nothing that an application fills in.
_BUILT_IN = words(
    "caller super self range loop varargs kwargs joiner cycler lipsum dict namespace _ gettext ngettext url_for "
    "raise_exception debug render"
)
# The format that a part of a time stands for.
_UNITS = {
    "year": "%Y",
    "month": "%m",
    "day": "%d",
    "date": "%d",
    "weekday": "%d",
    "isoweekday": "%d",
    "toordinal": "%d",
    "hour": "%H",
    "minute": "%M",
    "second": "%S",
    "time": "%S",
    "timestamp": "%S",
}
_MOST_VALUES = 40
_MOST_STEPS = 12
# Of these the arguments are printed, too.
_FILLED_IN = frozenset({"replace", "format", "join", "default", "d"})


class Printed:
    """Says what expressions of one template print.

    Args:
        view: The template.
        bindings: What is known of its variables so far; looked up anew each time.
    """

    def __init__(self, view: View, bindings: Bindings) -> None:
        self._view = view
        self._bindings = bindings

    def of(self, expression: Expression) -> list[Value]:
        """Return the values that an expression prints, each with its place."""
        kind, operands = expression.kind, expression.operands
        if kind is Kind.CONSTANT or kind is Kind.TEST:
            return []
        if expression.path:
            return self._variable(expression)
        if kind is Kind.FILTER:
            return self._filtered(expression)
        if kind is Kind.CALL:
            return self._called(expression)
        if kind is Kind.CHOICE:
            return self._all(operands[1:])
        if kind is Kind.OPERATION:
            return [] if expression.name in _ASKS else self._all(operands)
        if kind is Kind.ATTRIBUTE:
            return self._through(operands[0], f"{expression.name}('{_UNITS.get(expression.name, '')}')", expression)
        if kind is Kind.ITEM:
            return self.of(operands[0])
        return self._all(operands)

    def _all(self, expressions: Sequence[Expression]) -> list[Value]:
        return [value for expression in expressions for value in self.of(expression)]

    def _variable(self, expression: Expression) -> list[Value]:
        root, _, rest = expression.path.partition(".")
        if root not in self._bindings:
            return [self._value(expression.path, (), expression)]
        return [
            value._replace(name=f"{value.name}.{rest}" if rest and value.name else value.name)
            for value in self._bindings[root]
        ]

    def _filtered(self, expression: Expression) -> list[Value]:
        if expression.name in _MEASURES:
            return []
        base, *arguments = expression.operands
        if base.kind is Kind.CONSTANT and base.name == "now" and expression.name == "date":  # as Liquid has it
            return [self._value("now", (self._view.text[base.end : expression.end],), expression)]
        written = self._view.text[base.end : expression.end].lstrip(" \t\r\n|")
        values = self._through(base, written, expression)
        return values + (self._all(arguments) if expression.name in _FILLED_IN else [])

    def _called(self, expression: Expression) -> list[Value]:
        callee, *arguments = expression.operands
        written = self._view.text[callee.end : expression.end]
        method = callee.name.lower() if callee.kind is Kind.ATTRIBUTE else ""
        if callee.root in _BUILT_IN:
            return []
        if method in _TEXT_METHODS and not _is_clock(callee):
            unit = f"'{_UNITS[method]}'" if method in _UNITS else ""
            values = self._through(callee.operands[0], f"{callee.name}{written}{unit}", expression)
            return values + (self._all(arguments) if method in _FILLED_IN else [])
        if callee.path and callee.root not in self._bindings:
            return [self._value(callee.path, (written,), expression), *self._all(arguments)]
        return self.of(callee) + self._all(arguments)

    def _through(self, base: Expression, written: str, whole: Expression) -> list[Value]:
        """Return what an expression prints once something is done to it; a value alone reaches over what is done."""
        values = [value._replace(filters=(*value.filters, written)) for value in self.of(base)]
        if len(values) == 1 and not values[0].flow:
            return [values[0]._replace(start=self._view.start(whole.start), end=self._view.end(whole.end))]
        return values

    def _value(self, name: str, filters: tuple[str, ...], expression: Expression) -> Value:
        return Value(name, filters, self._view.start(expression.start), self._view.end(expression.end))


def _is_clock(callee: Expression) -> bool:
    """Say whether a method that texts have is asked of a module: `time.time()`."""
    return callee.path in ("time.time", "datetime.time", "datetime.date", "time.strftime")


def passed_on(values: Sequence[Value], step: Passage) -> list[Value]:
    """Return values with a step added to their way, each once; of very many the first, of long ways the beginning."""
    kept = {(value.name, value.start): value for value in reversed(values)}
    return [
        value._replace(flow=(*value.flow[: _MOST_STEPS - 1], step))
        for value in itertools.islice(reversed(kept.values()), _MOST_VALUES)
    ]
