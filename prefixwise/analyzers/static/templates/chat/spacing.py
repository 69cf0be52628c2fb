"""Where a chat template takes white space off answers, which the model had written and the cache had kept."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.static.templates.chat.conversation import Conversation, Site
from prefixwise.analyzers.static.templates.jinja.nodes import Expression, Kind, Output, Tag, expressions_of

_TRIMS = frozenset({"trim", "strip", "lstrip", "rstrip"})
_ANSWERING = frozenset({"assistant", "model", "ai", "bot", "chatbot"})


def trimmed_answers(conversation: Conversation) -> Expression | None:
    """Return the first expression that takes white space off what an assistant said; None where there is none."""
    contents = _names_of_content(conversation)
    for site in conversation.sites:
        if not conversation.in_message_loop(site) or not _may_be_answer(site) or conversation.late_around(site):
            continue
        for expression in _sent(site):
            for inner in expression.walk():
                if _trims(inner) and _is_content(inner.operands[0], contents, conversation):
                    return inner
    return None


def _sent(site: Site) -> tuple[Expression, ...]:
    """Return what a node prints, or keeps to print it later."""
    node = site.node
    if isinstance(node, Output) or (isinstance(node, Tag) and node.name == "set"):
        return expressions_of(node)
    return ()


def _trims(expression: Expression) -> bool:
    if expression.kind is Kind.FILTER:
        return expression.name in _TRIMS
    method = expression.operands[0] if expression.kind is Kind.CALL else None
    return method is not None and method.kind is Kind.ATTRIBUTE and method.name in _TRIMS


def _is_content(expression: Expression, contents: set[str], conversation: Conversation) -> bool:
    """Say whether an expression is the whole content of a message; the method that trims it may be part of it."""
    if expression.kind is Kind.ATTRIBUTE and expression.name in _TRIMS:
        expression = expression.operands[0]
    while expression.kind is Kind.FILTER and expression.name in ("default", "string", "d"):
        expression = expression.operands[0]
    path = expression.path
    return path in contents or (path.endswith(".content") and expression.root in conversation.messages)


def _names_of_content(conversation: Conversation) -> set[str]:
    names: set[str] = set()
    for site in conversation.sites:
        node = site.node
        if not isinstance(node, Tag) or node.name != "set" or not node.expressions:
            continue
        if conversation.in_message_loop(site) and any(
            _is_content(inner, names, conversation) for inner in _alternatives(node.expressions[0])
        ):
            names.update(node.targets)
    return names


def _alternatives(expression: Expression) -> Iterator[Expression]:
    if expression.kind is Kind.CHOICE:
        for operand in expression.operands[1:]:
            yield from _alternatives(operand)
    else:
        yield expression


def _may_be_answer(site: Site) -> bool:
    """Say whether a node stands where a message may be the assistant's."""
    for test in site.tests:
        roles, exact = _roles_asked(test.tag.expressions[0])
        answers = bool(roles & _ANSWERING)
        if roles and not test.otherwise and not answers:
            return False
        if test.otherwise and answers and exact:
            return False
    return True


def _roles_asked(expression: Expression) -> tuple[set[str], bool]:
    """Return the roles that a condition asks for, and whether it asks nothing else."""
    if expression.kind is Kind.OPERATION and expression.name in ("==", "in") and _is_role(expression.operands[0]):
        return {inner.name for inner in expression.operands[1].walk() if inner.kind is Kind.CONSTANT}, True
    if expression.kind is not Kind.OPERATION or expression.name not in ("and", "or"):
        return set(), False
    roles: set[str] = set()
    exact = expression.name == "or"
    for operand in expression.operands:
        asked, alone = _roles_asked(operand)
        if expression.name == "or" and not asked:
            return set(), False
        roles |= asked
        exact = exact and alone
    return roles, exact


def _is_role(expression: Expression) -> bool:
    return expression.path == "role" or expression.path.endswith(".role")
