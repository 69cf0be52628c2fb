"""Where a chat template walks over the messages, and what in it depends on where the conversation ends."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

from prefixwise.analyzers.static.templates.jinja.nodes import Expression, Kind, Node, Tag, expressions_of

_SAME_MESSAGES = frozenset({"list", "selectattr", "rejectattr", "select", "reject", "reverse", "sort"})
_FROM_THE_END = ("loop.last", "loop.revindex", "loop.revindex0", "loop.length", "loop.nextitem")
_ASKED = frozenset({"add_generation_prompt", "bos_token", "eos_token", "raise_exception"})
_POSITIONS = ("loop.index", "loop.index0")


class Enclosure(NamedTuple):
    """A tag around a node, and whether the node stands among what comes in the place of the tag's body."""

    tag: Tag
    otherwise: bool


class Site(NamedTuple):
    """A node and the tags around it, outermost first."""

    node: Node
    within: tuple[Enclosure, ...]

    @property
    def tests(self) -> list[Enclosure]:
        """The conditions around it."""
        return [enclosure for enclosure in self.within if enclosure.tag.name == "if"]

    @property
    def loops(self) -> list[Tag]:
        """The loops around it."""
        return [enclosure.tag for enclosure in self.within if enclosure.tag.name == "for" and not enclosure.otherwise]


class Conversation:
    """A chat template, read for what it does with its messages."""

    def __init__(self, nodes: tuple[Node, ...]) -> None:
        self._nodes = nodes
        self.sites = list(_sites(nodes, ()))
        self.lists = {"messages"}
        """Names that stand for all messages or some of them."""
        self.messages: set[str] = set()
        """Names that stand for one message."""
        self.late: set[str] = set()
        """Names whose value depends on where the conversation ends."""
        tags = (site.node for site in self.sites if isinstance(site.node, Tag))
        self._walked = {name for tag in tags if tag.name == "for" for name in tag.targets}
        self._settle()

    @cached_property
    def is_chat(self) -> bool:
        """Whether it is a model's chat template: it walks over messages and looks at their roles."""
        if not any(self.is_message_loop(site.node) for site in self.sites):
            return False
        inner = [part for site in self.sites for top in expressions_of(site.node) for part in top.walk()]
        roots = {expression.root for expression in inner}
        roles = any(
            expression.path.endswith(".role") or (expression.kind is Kind.CONSTANT and expression.name == "role")
            for expression in inner
        )
        return roles and not roots.isdisjoint(_ASKED)

    def is_message_loop(self, node: Node) -> bool:
        """Say whether a node is a loop over the messages."""
        return isinstance(node, Tag) and node.name == "for" and self._walks_messages(node.expressions[0])

    def in_message_loop(self, site: Site) -> bool:
        """Say whether a node is repeated for every message."""
        return any(self.is_message_loop(loop) for loop in site.loops)

    def depends_on_end(self, expression: Expression, innermost: Tag | None) -> bool:
        """Say whether what an expression says of a message changes when the conversation goes on.

        Args:
            expression: The expression.
            innermost: The loop that `loop` means there.
        """
        of_messages = innermost is not None and self.is_message_loop(innermost)
        for inner in expression.walk():
            path = inner.path
            if path and (path in self.late or (of_messages and path.startswith(_FROM_THE_END))):
                return True
            if self._is_last_message(inner) or (of_messages and self._counts_messages(inner, expression)):
                return True
        return False

    def late_around(self, site: Site) -> Tag | None:
        """Return the tag on account of which a node is only there for messages near the end of the conversation.

        What is asked together with `add_generation_prompt`, or of an answer that is to be continued, is not about
        messages that will be followed by others.
        """
        loop: Tag | None = None
        for tag, otherwise in site.within:
            if tag.name == "for" and not otherwise:
                if self.is_message_loop(tag) and self._is_late_list(tag.expressions[0]):
                    return tag
                loop = tag
            elif tag.name == "if" and self._asks_for_the_end(tag, loop):
                return tag
        return None

    def _asks_for_the_end(self, tag: Tag, loop: Tag | None) -> bool:
        if any(inner.path == "add_generation_prompt" for inner in tag.expressions[0].walk()):
            return False
        return self.depends_on_end(tag.expressions[0], loop)

    def _settle(self) -> None:
        """Find out which names stand for messages, and which for where the conversation ends."""
        for _ in range(3):  # names are set from names that are set further down, in loops
            for site in self.sites:
                node = site.node
                if not isinstance(node, Tag):
                    continue
                if self.is_message_loop(node):
                    self.messages.update(node.targets[-1:])
                elif node.name in ("set", "assign") and node.expressions:
                    self._set(node, site)

    def _set(self, tag: Tag, site: Site) -> None:
        expression = tag.expressions[0]
        one = expression.kind is Kind.ITEM and self._is_list(expression.operands[0])
        if self._is_list(expression):
            self.lists.update(tag.targets)
        elif one or (expression.kind is Kind.NAME and expression.name in self.messages):
            self.messages.update(tag.targets)
        loops = [loop for loop in site.loops if self.is_message_loop(loop)]
        innermost = loops[-1] if loops else None
        if self.depends_on_end(expression, innermost) or (
            innermost is not None and (_looks_ahead(innermost) or _is_last_place(tag, expression, innermost))
        ):
            self.late.update(set(tag.targets) - self._walked)

    def _walks_messages(self, expression: Expression) -> bool:
        if self._is_list(expression):
            return True
        if expression.kind is Kind.CALL and expression.operands[0].path in ("range", "enumerate"):
            return any(self._is_list(inner) for inner in expression.walk())
        return False

    def _is_list(self, expression: Expression) -> bool:
        if expression.path in self.lists:
            return True
        if expression.kind is Kind.ITEM:
            return _is_slice(expression.operands[1]) and self._is_list(expression.operands[0])
        if expression.kind is Kind.FILTER:
            return expression.name in _SAME_MESSAGES and self._is_list(expression.operands[0])
        if expression.kind is Kind.CHOICE or (expression.kind is Kind.OPERATION and expression.name == "+"):
            return any(self._is_list(operand) for operand in expression.operands)
        return False

    def _is_late_list(self, expression: Expression) -> bool:
        """Say whether a list of messages begins or ends at a place that depends on the end."""
        return expression.path in self.late or any(
            inner.path in self.late for inner in expression.walk() if inner is not expression
        )

    def _is_last_message(self, expression: Expression) -> bool:
        """Say whether an expression is the last of the messages."""
        if expression.kind is Kind.FILTER and expression.name == "last":
            return self._is_list(expression.operands[0])
        if expression.kind is not Kind.ITEM or not self._is_list(expression.operands[0]):
            return False
        return expression.operands[1].kind is Kind.OPERATION and expression.operands[1].name == "sign"

    def _counts_messages(self, expression: Expression, whole: Expression) -> bool:
        """Say whether an expression is the number of messages, and a place is compared with it."""
        counts = expression.kind is Kind.FILTER and expression.name in ("length", "count")
        if not counts or not self._is_list(expression.operands[0]):
            return False
        return any(inner.path in _POSITIONS or inner.path in ("idx", "i", "index") for inner in whole.walk())


def _is_last_place(tag: Tag, expression: Expression, loop: Tag) -> bool:
    """Say whether a `set` inside a loop over messages notes the place of the last one of a kind."""
    placed = any(inner.path in _POSITIONS or inner.path in loop.targets for inner in expression.walk())
    return placed and any("last" in target.lower() for target in tag.targets)


def _looks_ahead(loop: Tag) -> bool:
    """Say whether a loop walks over the messages behind one: `messages[loop.index:]`."""
    return any(inner.path in _POSITIONS for inner in loop.expressions[0].walk())


def _is_slice(expression: Expression) -> bool:
    return expression.kind is Kind.COLLECTION and expression.name == ":"


def _sites(nodes: tuple[Node, ...], within: tuple[Enclosure, ...]) -> Iterator[Site]:
    for node in nodes:
        yield Site(node, within)
        if isinstance(node, Tag):
            yield from _sites(node.body, (*within, Enclosure(node, False)))
            yield from _sites(node.otherwise, (*within, Enclosure(node, True)))
