"""What a chat template does otherwise to a message once more messages follow it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.templates.chat.conversation import Conversation, Site
from prefixwise.analyzers.static.templates.jinja.nodes import (
    Expression,
    Kind,
    Literal,
    Node,
    Output,
    Tag,
    expressions_of,
)

# What a model thought before it answered, by the name it has in messages and templates.
_REASONING = re.compile(
    r"(?:\w+_)?(?:reasoning|thinking|thoughts?|think)(?:_(?:content|text|str|blocks?|parts?|trace))?$"
)
_MARKS = ("think", "reason", "final", "channel", "thought")
_NOT_SERVED = ("add_generation_prompt", "training", "is_training", "training_prompt", "continue_final_message")
_LONG_TEXT = 60


class Change(NamedTuple):
    """Something that moves or vanishes when the conversation goes on: what, and where the template decides it."""

    what: str
    start: int
    end: int


REASONING = "reasoning"
TOOLS = "tools"
SYSTEM = "system"
TAIL = "tail"


def changes(conversation: Conversation) -> list[Change]:
    """Return what a template does to earlier messages, each kind once, where it first shows."""
    found: dict[str, Change] = {}
    for change in (*_reasoning(conversation), *_moved(conversation), *_tail(conversation)):
        found.setdefault(change.what, change)
    return sorted(found.values(), key=lambda change: change.start)


def _reasoning(conversation: Conversation) -> Iterator[Change]:
    """Yield where reasoning is left out of earlier answers."""
    thoughts = _names_of_reasoning(conversation)
    printed = [site for site in conversation.sites if _is_served(site) and _prints(site, thoughts)]
    tags = [conversation.late_around(site) for site in printed if _is_repeated(conversation, site)]
    kept = any(tag is None for tag in tags)
    if not kept:
        yield from (Change(REASONING, tag.start, tag.end) for tag in tags if tag is not None)
    for site in conversation.sites:
        cuts = [inner for top in expressions_of(site.node) for inner in top.walk() if _keeps_last_piece(inner)]
        if cuts and (not kept or conversation.late_around(site) is not None):
            yield Change(REASONING, cuts[0].start, cuts[0].end)


def _names_of_reasoning(conversation: Conversation) -> set[str]:
    """Return the variables that are set to reasoning and nothing else."""
    names: set[str] = set()
    for site in conversation.sites:
        node = site.node
        if isinstance(node, Tag) and node.name == "set" and node.expressions:
            paths = list(printed_paths(node.expressions[0]))
            if len(paths) == 1 and _is_reasoning(paths[0], names):
                names.update(node.targets)
    return names


def _is_served(site: Site) -> bool:
    """Say whether a node is sent when a model is asked to answer, and not only in training."""
    tests = [test.tag.expressions[0] for test in site.tests if not test.otherwise]
    asked = {inner.path for test in tests for inner in test.walk()}
    return asked.isdisjoint(_NOT_SERVED)


def _is_repeated(conversation: Conversation, site: Site) -> bool:
    """Say whether a node is sent for each message: in a loop over them, or in a macro."""
    return conversation.in_message_loop(site) or any(enclosure.tag.name == "macro" for enclosure in site.within)


def _prints(site: Site, thoughts: set[str]) -> bool:
    """Say whether a node prints reasoning, or adds it to a text that is printed later."""
    node = site.node
    expression = expressions_of(node)[0] if expressions_of(node) else None
    if expression is None or not isinstance(node, Tag | Output):
        return False
    if isinstance(node, Tag) and (
        node.name != "set" or expression.kind is not Kind.OPERATION or expression.name not in ("+", "~")
    ):
        return False
    return any(_is_reasoning(path, thoughts) for path in printed_paths(expression))


def printed_paths(expression: Expression) -> Iterator[str]:
    """Yield the variables that an expression prints, without the methods that are called on them."""
    if expression.path:
        yield expression.path
        return
    if expression.kind is Kind.TEST:
        return
    operands = expression.operands
    if expression.kind is Kind.CALL and operands[0].kind is Kind.ATTRIBUTE:
        got = operands[1].name if operands[0].name == "get" and len(operands) > 1 else ""
        for path in printed_paths(operands[0].operands[0]):
            yield f"{path}.{got}" if got else path
        return
    for operand in operands[1:] if expression.kind is Kind.CHOICE else operands:
        yield from printed_paths(operand)


def _is_reasoning(path: str, thoughts: set[str]) -> bool:
    return path in thoughts or _REASONING.match(path.rsplit(".", 1)[-1].lower()) is not None


def _keeps_last_piece(expression: Expression) -> bool:
    """Say whether an expression is what stands behind the last mark of reasoning: `content.split('</think>')[-1]`."""
    if expression.kind is Kind.FILTER and expression.name == "last":
        return _splits_at_mark(expression.operands[0])
    if expression.kind is not Kind.ITEM:
        return False
    key = expression.operands[1]
    last = (key.kind is Kind.OPERATION and key.name == "sign") or key.name in ("1", "2")
    return last and _splits_at_mark(expression.operands[0])


def _splits_at_mark(expression: Expression) -> bool:
    if expression.kind is not Kind.CALL or len(expression.operands) < 2:
        return False
    method, mark = expression.operands[0].name, expression.operands[1]
    said = mark.name.lower()
    return method in ("split", "rsplit", "partition", "rpartition") and (
        mark.kind is not Kind.CONSTANT or any(sign in said for sign in _MARKS)
    )


def _moved(conversation: Conversation) -> Iterator[Change]:
    """Yield where tools or the system prompt are printed beside the newest message."""
    for site in conversation.sites:
        what = _front_text(site)
        if not what or not conversation.in_message_loop(site):
            continue
        tag = conversation.late_around(site)
        if tag is not None:
            yield Change(what, tag.start, tag.end)


def _front_text(site: Site) -> str:
    """Return whether a node prints tools or a system prompt."""
    node = site.node
    if isinstance(node, Tag) and node.name == "for":
        return TOOLS if node.expressions[0].root in ("tools", "functions") else ""
    if not isinstance(node, Output) or node.expression is None:
        return ""
    for path in printed_paths(node.expression):
        root = path.split(".", 1)[0].lower()
        if root in ("tools", "functions"):
            return TOOLS
        if root.startswith("system") or root.endswith(("system_message", "system_prompt")):
            return SYSTEM
    return ""


def _tail(conversation: Conversation) -> Iterator[Change]:
    """Yield where tools, or a long text, are printed behind all messages: every turn moves them."""
    loops = [
        site.node
        for site in conversation.sites
        if conversation.is_message_loop(site.node) and _prints_at_all(site.node)
    ]
    last = loops[-1] if loops else None
    if not isinstance(last, Tag):
        return
    for site in conversation.sites:
        if site.node.start < last.close or not _is_served(site):
            continue
        if _front_text(site) == TOOLS:
            yield Change(TOOLS, site.node.start, site.node.end)
        elif _is_long_text(site.node):
            yield Change(TAIL, site.node.start, site.node.end)


def _is_long_text(node: Node) -> bool:
    if isinstance(node, Literal):
        return len(node.text.strip()) > _LONG_TEXT
    constant = isinstance(node, Output) and node.expression is not None and node.expression.kind is Kind.CONSTANT
    return constant and node.end - node.start > _LONG_TEXT


def _prints_at_all(node: Node) -> bool:
    if not isinstance(node, Tag):
        return isinstance(node, Output) or bool(node.text.strip())
    return any(_prints_at_all(inner) for inner in (*node.body, *node.otherwise)) or node.name == "set"
