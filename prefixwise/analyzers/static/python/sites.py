"""A call as it is written: what is called, and what it is given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from prefixwise.analyzers.static.python.frames import Dotted, Frame
from prefixwise.analyzers.static.python.functions import Arguments
from prefixwise.analyzers.static.python.lookups import attribute
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.python.pieces import Element, leaves
from prefixwise.analyzers.static.python.templates import Filling
from prefixwise.analyzers.static.python.values import Value, text_of


class Site(NamedTuple):
    """A call.

    Attributes:
        path: What is called, as written, without the arguments of calls inside it.
        dotted: Its full name where it is from outside the package, else ''.
        callee: What it evaluates to; `base`: what a method is called on.
        positional, keywords: What it is given; a mapping that is unpacked is among the keywords as far as it is known.
        open: Whether there may be more keywords.
    """

    node: ast.Call
    path: str
    dotted: str
    callee: Value
    base: Value | None
    positional: tuple[Filling, ...]
    keywords: Mapping[str, Filling]
    open: bool

    @property
    def name(self) -> str:
        """The last part of what is called."""
        return (self.dotted or self.path).rsplit(".", 1)[-1]

    @property
    def arguments(self) -> Arguments:
        """What is passed, without the places."""
        keywords = tuple((name, filling.value) for name, filling in self.keywords.items())
        return Arguments(tuple(filling.value for filling in self.positional), keywords)

    @property
    def fillings(self) -> Iterator[Filling]:
        """All that it is given."""
        yield from self.positional
        yield from self.keywords.values()

    def argument(self, position: int, *names: str) -> Filling | None:
        """Return an argument by its names or position (-1 for keywords only)."""
        for name in names:
            if name in self.keywords:
                return self.keywords[name]
        return self.positional[position] if 0 <= position < len(self.positional) else None

    def literal(self, position: int, *names: str) -> object:
        """Return an argument that is a constant, None where it is not."""
        found = self.argument(position, *names)
        return found.value.literal if found is not None and isinstance(found.node, ast.Constant) else None

    def elements(self) -> tuple[Element, ...]:
        """Return the loop elements in what it is given and called on."""
        values = [filling.value for filling in self.fillings]
        if self.base is not None:
            values.append(self.base)
        return tuple(piece for value in values for piece in leaves(text_of(value)) if isinstance(piece, Element))


def site_of(frame: Frame, node: ast.Call) -> Site:
    """Evaluate what a call is made of."""
    base = None
    if isinstance(node.func, ast.Attribute):
        base = frame.value(node.func.value)
        callee = attribute(frame, node.func, base)
    else:
        callee = frame.value(node.func)
    positional: list[Filling] = []
    keywords: dict[str, Filling] = {}
    is_open = False
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            value = frame.value(argument.value)
            known = value.items if value.items is not None and not any(item.many for item in value.items) else None
            positional += [Filling(item.value, argument.value) for item in known or ()]
            is_open = is_open or known is None
        else:
            positional.append(Filling(frame.value(argument), argument))
    for keyword in node.keywords:
        value = frame.value(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = Filling(value, keyword.value)
        else:
            keywords |= {name: Filling(inner, keyword.value) for name, inner in value.fields or ()}
            is_open = True
    ref = callee.ref
    dotted = ref.name if isinstance(ref, Dotted) else ""
    return Site(node, path_of(node.func), dotted, callee, base, tuple(positional), keywords, is_open)
