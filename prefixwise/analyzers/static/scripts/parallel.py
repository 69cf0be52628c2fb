"""Lists, sets and maps that are filled in no fixed order: by calls side by side, or from what has no order."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.scripts import members
from prefixwise.analyzers.static.scripts.module import Module, Write
from prefixwise.analyzers.static.scripts.tree import FUNCTIONS, Node
from prefixwise.analyzers.static.scripts.values import Frame, Place, Value
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.evaluate import Evaluator

_FILLING = frozenset({"push", "unshift", "set", "add", "=", "+=", "append"})
_TOGETHER = re.compile(r"Promise\.(?:all|allSettled|any)$")
_LIMITED = frozenset(
    {"pMap", "pAll", "mapLimit", "eachLimit", "mapConcurrent", "mapAsync", "asyncPool", "concurrently"}
)
_EACH = frozenset({"map", "flatMap", "forEach"})


def signs(
    evaluator: Evaluator, module: Module, write: Write, scope: Node, frame: Frame | None, place: Place, name: str
) -> list[Value]:
    """Return what says that this write leaves no fixed order: calls side by side, or an unordered list gone through."""
    if write.operation not in _FILLING or (write.operation == "=" and not write.path):
        return []
    found: list[Value] = []
    later = False
    for outer in write.node.ancestors():
        if outer is scope:
            break
        if outer.kind == "for_in_statement":
            found += members.signs(evaluator.value(module, outer.fields["right"], frame))
        elif outer.kind in FUNCTIONS:
            call = _call_with(outer)
            if call is None:
                if outer.parent is not None and outer.parent.kind in (
                    "parenthesized_expression",
                    "variable_declarator",
                ):
                    continue
                break
            later = later or _waits(outer, write.node) or _method(module, call) == "then"
            if later and _side_by_side(module, call, outer):
                line = module.tree.source.position(call.start)[0]
                because = f"`{name}` is filled by calls that run side by side (line {line}), as they finish"
                return [members.moving(Judgement(VolatileKind.UNORDERED, Frequency.CALL, because=because), place, name)]
            if _method(module, call) in _EACH:
                found += members.signs(evaluator.value(module, call.fields["function"].bare().fields["object"], frame))
    return found


def _call_with(function: Node) -> Node | None:
    """Return the call of which a function is an argument."""
    arguments = function.parent
    if arguments is None or arguments.kind != "arguments" or arguments.parent is None:
        return None
    return arguments.parent if arguments.parent.kind == "call_expression" else None


def _method(module: Module, call: Node) -> str:
    callee = call.fields["function"].bare()
    return module.text(callee.fields["property"]) if callee.kind == "member_expression" else ""


def _waits(function: Node, before: Node) -> bool:
    """Say whether an asynchronous function waits for something before, or in, one of its expressions."""
    if "async" not in function.tokens:
        return False
    waiting = [function.fields["body"]]
    while waiting:
        node = waiting.pop()
        if node.kind == "await_expression" and node.start < before.end:
            return True
        waiting += [child for child in node.children if child.start < before.end and child.kind not in FUNCTIONS]
    return any(node.kind == "for_in_statement" and "await" in node.tokens for node in before.ancestors())


def _side_by_side(module: Module, call: Node, function: Node) -> bool:
    """Say whether the calls of a function that is given to `call` run at the same time."""
    method = _method(module, call)
    if method == "forEach" and "async" in function.tokens:
        return True
    if module.text(call.fields["function"]).rpartition(".")[2] in _LIMITED:
        return True
    for outer in call.ancestors():
        if outer.kind in FUNCTIONS:
            return False
        if outer.kind == "call_expression" and _TOGETHER.search(module.text(outer.fields["function"])):
            return True
        name = _kept_in(module, outer)
        if name and re.search(rf"Promise\.(?:all|allSettled)\(\s*{re.escape(name)}\s*\)", module.tree.source.text):
            return True
    return False


def _kept_in(module: Module, node: Node) -> str:
    """Return the name of the list of promises in `const tasks = …` and `tasks.push(…)`."""
    if node.kind == "variable_declarator":
        return module.text(node.fields["name"])
    if node.kind == "call_expression" and _method(module, node) == "push":
        return module.text(node.fields["function"].bare().fields["object"])
    return ""
