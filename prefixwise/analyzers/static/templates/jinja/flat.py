"""A Jinja template as the parts that it sends, in the order in which it sends them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from prefixwise.analyzers.static.templates.jinja.nodes import Expression, Kind, Literal, Node, Output, Tag
from prefixwise.analyzers.static.templates.jinja.parser import constant_text
from prefixwise.analyzers.static.templates.jinja.values import Printed, passed_on
from prefixwise.analyzers.static.templates.parts import (
    Control,
    ControlKind,
    Message,
    Part,
    Passage,
    Placeholder,
    Text,
    Value,
)
from prefixwise.analyzers.static.templates.views import View

_ROLE = re.compile(r"""\brole\s*=\s*["'](\w+)["']""")
_ROLE_TAGS = frozenset({"system", "user", "assistant", "developer"})
_SHOWN = 60
_LONGEST_MACRO = 500
_MOST_BOUND = 200
_Within = tuple[Control, ...]


def flatten(view: View, nodes: tuple[Node, ...]) -> list[Message]:
    """Return the messages of a template; one without a role where no block names one."""
    walker = _Walker(view)
    walker.walk(nodes, ())
    return [Message(role, tuple(parts)) for role, parts in walker.messages if parts]


class _Macro(NamedTuple):
    """What a macro sends, in terms of its parameters."""

    parameters: tuple[str, ...]
    parts: list[Part]


class _Walker:
    def __init__(self, view: View) -> None:
        self._view = view
        self._bindings: dict[str, list[Value]] = {}
        self._macros: dict[str, _Macro] = {}
        self._printed = Printed(view, self._bindings)
        self.messages: list[tuple[str, list[Part]]] = [("", [])]

    @property
    def _parts(self) -> list[Part]:
        return self.messages[-1][1]

    def walk(self, nodes: tuple[Node, ...], within: _Within) -> None:
        """Add what nodes send."""
        for node in nodes:
            if isinstance(node, Literal):
                self._parts.append(self._text(node.text, node.start, node.end, within))
            elif isinstance(node, Output):
                self._output(node, within)
            else:
                self._tag(node, within)

    def _text(self, text: str, start: int, end: int, within: _Within) -> Text:
        return Text(text, self._view.start(start), self._view.end(end), within)

    def _output(self, node: Output, within: _Within) -> None:
        start, end = self._view.start(node.start), self._view.end(node.end)
        expression = node.expression
        if expression is None:
            self._parts.append(Placeholder((Value("", (), start, end),), start, end, within))
            return
        constant = constant_text(expression)
        if constant is not None:
            self._parts.append(Text(constant, start, end, within))
            return
        if expression.kind is Kind.CALL and (macro := self._macros.get(expression.operands[0].path)) is not None:
            self._parts.extend(self._expanded(macro, expression, within))
            return
        values = self._printed.of(expression)
        here = Passage(start, end, "is printed")
        whole = len(values) == 1 and expression.kind is not Kind.OPERATION
        values = [
            value._replace(flow=(*value.flow, here))
            if value.flow
            else value._replace(start=start, end=end)
            if whole
            else value
            for value in values
        ]
        if values:
            self._parts.append(Placeholder(tuple(values), start, end, within))

    def _tag(self, tag: Tag, within: _Within) -> None:
        if tag.name == "if" or tag.name == "unless":
            self.walk(tag.body, (*within, self._control(ControlKind.CONDITION, tag)))
            self.walk(tag.otherwise, (*within, self._control(ControlKind.ALTERNATIVE, tag)))
        elif tag.name == "for":
            self._loop(tag, within)
        elif tag.name in ("set", "assign", "with"):
            self._set(tag, within)
        elif tag.name == "macro":
            self._macro(tag)
        elif tag.name == "now":  # of extensions that print the time
            start, end = self._view.start(tag.start), self._view.end(tag.end)
            clock = Value("now", (self._view.text[tag.start : tag.end],), start, end)
            self._parts.append(Placeholder((clock,), start, end, within))
        else:
            self._block(tag, within)

    def _control(self, kind: ControlKind, tag: Tag) -> Control:
        names = dict.fromkeys(
            inner.path for expression in tag.expressions for inner in _outermost_paths(expression) if inner.path
        )
        return Control(kind, tuple(names), self._view.start(tag.start), self._view.end(tag.end))

    def _loop(self, tag: Tag, within: _Within) -> None:
        walked = self._printed.of(tag.expressions[0])
        control = self._control(ControlKind.LOOP, tag)
        names = tuple(dict.fromkeys(value.name for value in walked))
        control = control._replace(names=names or control.names)
        kept = {name: self._bindings.get(name) for name in tag.targets}
        for name in tag.targets:
            self._bindings[name] = [value._replace(loop=value.loop or control) for value in walked]
        self.walk(tag.body, (*within, control))
        for name, before in kept.items():
            self._bindings.pop(name, None)
            if before is not None:
                self._bindings[name] = before
        self.walk(tag.otherwise, (*within, control._replace(kind=ControlKind.ALTERNATIVE)))

    def _set(self, tag: Tag, within: _Within) -> None:
        if tag.name == "with":
            for name, expression in zip(tag.targets, tag.expressions, strict=False):
                self._bind(name, self._set_to(tag, expression), within)
            self.walk(tag.body, within)
            return
        if tag.expressions:
            values = self._set_to(tag, tag.expressions[0])
        else:
            inner = self._inside(tag.body)
            values = [value for part in inner if isinstance(part, Placeholder) for value in part.values]
            values = passed_on(values, self._step(tag))
        for name in tag.targets:
            self._bind(name, values, within)

    def _set_to(self, tag: Tag, expression: Expression) -> list[Value]:
        return passed_on(self._printed.of(expression), self._step(tag))

    def _step(self, tag: Tag) -> Passage:
        start, end = self._view.start(tag.start), self._view.end(tag.end)
        named = ", ".join(tag.targets)[:_SHOWN]
        return Passage(start, end, f"is kept as {named}" if named else "is kept")

    def _bind(self, name: str, values: list[Value], within: _Within) -> None:
        root = name.split(".", 1)[0]
        before = self._bindings.get(root, []) if within or root != name else []
        self._bindings[root] = [*before, *values][-_MOST_BOUND:]

    def _inside(self, nodes: tuple[Node, ...]) -> list[Part]:
        """Return the parts of nodes that are not sent where they stand."""
        kept = self.messages
        self.messages = [("", [])]
        self.walk(nodes, ())
        inner = [part for _, parts in self.messages for part in parts]
        self.messages = kept
        return inner

    def _macro(self, tag: Tag) -> None:
        name = self._view.text[tag.start : tag.end].split("macro", 1)[1].split("(", 1)[0].strip()
        self._macros[name] = _Macro(tag.targets, self._inside(tag.body)[:_LONGEST_MACRO])

    def _expanded(self, macro: _Macro, call: Expression, within: _Within) -> Iterator[Part]:
        """Yield the parts of a macro with what it is called with in place of its parameters."""
        step = Passage(self._view.start(call.start), self._view.end(call.end), "is passed to a macro")
        in_order = [one for one in call.operands[1:] if one.kind is not Kind.KEYWORD]
        passed = dict(zip(macro.parameters, in_order, strict=False))
        passed |= {one.name: one.operands[0] for one in call.operands[1:] if one.kind is Kind.KEYWORD}
        given = {name: passed_on(self._printed.of(one), step) for name, one in passed.items()}
        for part in macro.parts:
            if isinstance(part, Placeholder):
                values = [one for value in part.values for one in _filled(value, given, part)]
                part = part._replace(values=tuple(values[:_MOST_BOUND]))
            if isinstance(part, Text) or part.values:
                yield part._replace(within=within + part.within)

    def _block(self, tag: Tag, within: _Within) -> None:
        found = _ROLE.search(self._view.text, tag.start, tag.end)
        role = found[1] if found is not None and tag.body else tag.name if tag.name in _ROLE_TAGS else ""
        if role:
            self.messages.append((role.lower(), []))
        self.walk(tag.body, within)
        self.walk(tag.otherwise, within)
        if role:
            self.messages.append(("", []))


def _filled(value: Value, given: Mapping[str, list[Value]], place: Placeholder) -> list[Value]:
    """Return what a value of a macro is in one call of it: what the call passes, unless it is no parameter."""
    root, _, rest = value.name.partition(".")
    if root not in given:
        return [value]
    here = Passage(place.start, place.end, "is printed")
    return [
        one._replace(
            name=f"{one.name}.{rest}" if rest and one.name else one.name,
            filters=one.filters + value.filters,
            flow=(*one.flow, here),
            loop=one.loop or value.loop,
        )
        for one in given[root]
    ]


def _outermost_paths(expression: Expression) -> list[Expression]:
    """Return the variables that an expression asks, each as the longest path."""
    if expression.path:
        return [expression]
    return [inner for operand in expression.operands for inner in _outermost_paths(operand)]
