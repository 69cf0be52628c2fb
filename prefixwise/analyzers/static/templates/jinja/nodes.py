"""The parts of a Jinja template: what is printed, what is asked, and the expressions in both."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What an expression is."""

    NAME = "name"
    CONSTANT = "constant"
    ATTRIBUTE = "attribute"
    ITEM = "item"
    CALL = "call"
    FILTER = "filter"
    TEST = "test"
    OPERATION = "operation"
    CHOICE = "choice"
    """`a if b else c`: its operands are b, a and c."""
    COLLECTION = "collection"
    KEYWORD = "keyword"


class Expression(msgspec.Struct, frozen=True):
    """An expression and where it stands; `name` is a variable, attribute, filter, test, operator or constant."""

    kind: Kind
    name: str
    operands: tuple[Expression, ...]
    start: int
    end: int

    def walk(self) -> Iterator[Expression]:
        """Yield it and everything inside it."""
        yield self
        for operand in self.operands:
            yield from operand.walk()

    @property
    def path(self) -> str:
        """The dotted path of a variable, `messages[0].role` as `messages.0.role`; '' for anything else."""
        if self.kind is Kind.NAME:
            return self.name
        if self.kind is Kind.ATTRIBUTE:
            owner = self.operands[0].path
            return f"{owner}.{self.name}" if owner else ""
        if self.kind is Kind.ITEM and self.operands[1].kind is Kind.CONSTANT:
            owner = self.operands[0].path
            return f"{owner}.{self.operands[1].name}" if owner else ""
        return ""

    @property
    def root(self) -> str:
        """The variable at the beginning of a path, '' for what is none."""
        return self.path.split(".", 1)[0]


class Literal(msgspec.Struct, frozen=True):
    """Text outside tags."""

    text: str
    start: int
    end: int


class Output(msgspec.Struct, frozen=True):
    """`{{ expression }}`; the expression is None where it cannot be read."""

    expression: Expression | None
    start: int
    end: int


class Tag(msgspec.Struct, frozen=True):
    """`{% name … %}`, with what stands between it and its end.

    Attributes:
        name: `if`, `for`, `set` and so on; an `elif` is an `if` among the `otherwise` of the one before it.
        targets: Names that it gives a value: of `set`, `for`, `macro` (its parameters), `with`.
        expressions: What it asks, walks over, or assigns.
        body: What stands inside it; `otherwise`: what stands in the place of that.
        start, end: The opening tag.
        close: Where the block ends.
    """

    name: str
    targets: tuple[str, ...]
    expressions: tuple[Expression, ...]
    body: tuple[Node, ...]
    otherwise: tuple[Node, ...]
    start: int
    end: int
    close: int


Node = Literal | Output | Tag


def walk(nodes: tuple[Node, ...]) -> Iterator[Node]:
    """Yield nodes and everything inside them, in their order."""
    for node in nodes:
        yield node
        if isinstance(node, Tag):
            yield from walk(node.body)
            yield from walk(node.otherwise)


def expressions_of(node: Node) -> tuple[Expression, ...]:
    """Return the expressions of one node, without those of what stands inside it."""
    if isinstance(node, Tag):
        return node.expressions
    if isinstance(node, Output) and node.expression is not None:
        return (node.expression,)
    return ()
