"""Moves in Python: the part of a prompt with a value that changes goes behind the parts that do not."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.literals import Literal, literals
from prefixwise.analyzers.fixes.passages import Change, moved_behind
from prefixwise.analyzers.fixes.python_tree import PythonTree
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.finding import Edit, Safety

_LONGEST = 400
_SPACE = re.compile(r"(?:\s|\\\r?\n)*")
_COMMA = re.compile(r"\s*,[ \t]*(?:\r\n|\n|\r)?[ \t]*")
_COMMENT = re.compile(r"[ \t]*#[^\r\n]*")
_MARKERS = frozenset({"cache_control", "cachePoint", "prompt_cache_breakpoint"})
_TAKING = frozenset({"next", "__next__", "anext", "pop", "popleft", "popitem", "readline", "send"})
_STRINGS = (ast.JoinedStr, ast.Constant)


class _Use(NamedTuple):
    """Where a value that changes is read, on its way to the prompt: an expression, or a place in an f-string."""

    tree: PythonTree
    node: ast.AST
    place: tuple[int, int]


def moved_in_python(found: Volatile, bench: Bench) -> Mended | None:
    """Return the move of a value behind the rest of the prompt, where the statement makes it plain; else None.

    Looked at are f-strings, strings that are added, lists that are joined or that are the blocks of a system prompt,
    and statements that append to such a list, from the value on its way to the prompt; the first that has something
    behind it is changed.
    """
    for use in _uses(found, bench):
        changes = _moved(use)
        if changes is not None:
            path = use.tree.module.path
            return Mended(tuple(Edit(path, *change) for change in changes), Safety.UNSAFE)
    return None


def _uses(found: Volatile, bench: Bench) -> Iterator[_Use]:
    """Go along the way of a value: its origin, then each place where what carries it is read."""
    places = [(found.path, found.span.start, found.span.end)]
    places += [(step.path, step.span.start, step.span.end) for step in found.flow]
    carriers: set[str] = set()
    seen: set[tuple[str, tuple[int, int]]] = set()
    for number, (path, start, end) in enumerate(places):
        tree = bench.tree(path)
        if tree is None:
            return
        node = tree.at(start, end)
        anchor = node if node is not None else _fstring_at(tree, start, end)
        if anchor is None:
            return
        uses = [_Use(tree, anchor, (start, end))] if not number else list(_read_in(tree, anchor, carriers))
        for use in uses:
            if (path, use.place) not in seen:
                seen.add((path, use.place))
                yield use
        carriers |= _carried_by(tree, anchor)
        if not number and isinstance(tree.statement(anchor), ast.For):
            yield from _read_in_loop(tree, anchor, carriers)


def _fstring_at(tree: PythonTree, start: int, end: int) -> ast.JoinedStr | None:
    return next(iter(tree.fstrings_at(start, end)), None)


def _carried_by(tree: PythonTree, node: ast.AST) -> set[str]:
    """Return the names under which what a step speaks of is read later: a variable, or the function that gives it."""
    statement = tree.statement(node)
    found = set()
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        found.add(node.id)
    if isinstance(statement, ast.For) and isinstance(statement.target, ast.Name):
        found.add(statement.target.id)
    function = tree.function(node)
    if function is not None and isinstance(statement, ast.Return):
        found.add(function.name)
    return found


def _read_in_loop(tree: PythonTree, node: ast.AST, carriers: set[str]) -> Iterator[_Use]:
    """Yield the places in the statements of a loop where its counter is read."""
    loop = tree.statement(node)
    for statement in loop.body if isinstance(loop, ast.For) else ():
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            yield from _read_in(tree, statement, carriers)


def _read_in(tree: PythonTree, node: ast.AST, carriers: set[str]) -> Iterator[_Use]:
    """Yield the places in the statement of a step where a value is read under one of its names."""
    statement = tree.statement(node)
    if statement is None:
        return
    own = [statement] if not isinstance(statement, ast.For | ast.While | ast.If | ast.With | ast.Try) else []
    for inner in (one for top in own for one in ast.walk(top)):
        name = inner.id if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) else ""
        name = inner.attr if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Load) else name
        if name not in carriers or not isinstance(inner, ast.expr):
            continue
        around = tree.in_fstring(inner)
        if around is None:
            yield _Use(tree, inner, tree.place(inner))
            continue
        low, high = tree.place(around)
        places = [match.span() for match in re.finditer(rf"\b{re.escape(name)}\b", tree.text[low:high])]
        if len(places) == 1:
            yield _Use(tree, around, (low + places[0][0], low + places[0][1]))


def _moved(use: _Use) -> tuple[Change, ...] | None:
    """Return the move inside the innermost thing around a use that has something else behind it."""
    tree = use.tree
    chain = [use.node, *tree.above(use.node)]
    if any(isinstance(node, ast.Dict) and _MARKERS & _keys(node) for node in chain):
        return None  # at whatever place of a marked block it stands, the block is another one
    for node in chain:
        changes = None
        if isinstance(node, ast.JoinedStr) and tree.in_fstring(node) is None:
            changes = _in_string(tree, node, use.place)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            changes = _in_sum(tree, node, use.place)
        elif isinstance(node, ast.List | ast.Tuple):
            changes = _in_list(tree, node, use.place)
        elif isinstance(node, ast.stmt):
            return _statement(tree, node, use.place)
        if changes is not None:
            return None if _counts_on_order([node]) else changes
    return None


def _counts_on_order(nodes: Iterable[ast.AST]) -> bool:
    """Say whether it matters in which order parts are computed: one names a value, or takes from a queue."""
    for node in (inner for outer in nodes for inner in ast.walk(outer)):
        if isinstance(node, ast.NamedExpr | ast.Yield | ast.YieldFrom):
            return True
        if isinstance(node, ast.Call) and path_of(node.func).rsplit(".", 1)[-1] in _TAKING:
            return True
    return False


def _in_string(tree: PythonTree, node: ast.JoinedStr, value: tuple[int, int]) -> tuple[Change, ...] | None:
    parts = literals(tree.text, *tree.place(node))
    at = next((n for n, part in enumerate(parts) if part.start <= value[0] and value[1] <= part.end), None)
    if at is None:
        return None
    filled = next((place for place in parts[at].values if place[0] <= value[0] and value[1] <= place[1]), None)
    if filled is None:
        return None
    if len(parts) == 1:
        return moved_behind(parts[at].body(tree.text), filled)
    last = parts[-1]
    turned = _turned(tree.text, parts[at], ends=_ends_with_break(tree.text, last))
    if turned is None or at + 1 == len(parts):
        return None
    space = tree.text[parts[at].end : parts[at + 1].start]
    return (parts[at].start, parts[at + 1].start, ""), (last.end, last.end, space + turned)


def _turned(text: str, part: Literal, *, ends: bool) -> str | None:
    """Return a literal that is one line and its breaks with the breaks in front; None where it is something else.

    Args:
        text: The file.
        part: The literal.
        ends: Whether what it will stand behind ends with a break; then it needs none.
    """
    body = part.body(text)
    breaks = list(body.breaks.finditer(text, part.low, part.high))
    line = text[part.low : breaks[0].start() if breaks else part.high]
    tail = text[breaks[0].start() : part.high] if breaks else ""
    if not line.strip() or body.breaks.sub("", tail).strip() or len(part.quote) == 3 or len(line) > _LONGEST:
        return None
    if not breaks:
        return None
    return f"{part.prefix}{part.quote}{'' if ends else tail}{line}{part.quote}"


def _ends_with_break(text: str, part: Literal) -> bool:
    found = [match.end() for match in part.body(text).breaks.finditer(text, part.low, part.high)]
    return bool(found) and found[-1] == part.high


def _in_sum(tree: PythonTree, node: ast.BinOp, value: tuple[int, int]) -> tuple[Change, ...] | None:
    if isinstance(tree.parents.get(node), ast.BinOp):
        return None  # the outermost sum is looked at
    operands = _operands(node)
    at = _index(tree, operands, value)
    if at is None or at + 1 == len(operands) or not isinstance(operands[at], ast.JoinedStr):
        return None
    parts = literals(tree.text, *tree.place(operands[at]))
    if len(parts) != 1:
        return None
    last = operands[-1]
    closing = literals(tree.text, *tree.place(last)) if isinstance(last, _STRINGS) else ()
    turned = _turned(tree.text, parts[0], ends=bool(closing) and _ends_with_break(tree.text, closing[-1]))
    if turned is None:
        return None
    start, end = tree.place(operands[at])[0], tree.place(last)[1]
    following = tree.place(operands[at + 1])[0]
    between = tree.text[tree.place(operands[at])[1] : following]
    if set(between.strip()) - set("+\\ \r\n\t"):
        return None
    return (start, following, ""), (end, end, between + turned)


def _operands(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return [*_operands(node.left), node.right]
    return [node]


def _in_list(tree: PythonTree, node: ast.List | ast.Tuple, value: tuple[int, int]) -> tuple[Change, ...] | None:
    """Return the move of an element to the end of a list that is joined, or of the blocks of a system prompt."""
    at = _index(tree, node.elts, value)
    if at is None or any(isinstance(element, ast.Starred) for element in node.elts[at:]):
        return None
    element = node.elts[at]
    start, end = tree.place(element)
    if end - start > _LONGEST or not (_is_joined(tree, node) or _are_blocks(node)):
        return None
    if at + 1 == len(node.elts):
        return None
    following = tree.place(node.elts[at + 1])[0]
    between = tree.text[end:following]
    last = tree.place(node.elts[-1])[1]
    if not _COMMA.fullmatch(between):
        return None
    return (start, following, ""), (last, last, between + tree.text[start:end])


def _is_joined(tree: PythonTree, node: ast.AST) -> bool:
    """Say whether a list is joined: where it stands, or under the name that it is given."""
    above = tree.parents.get(node)
    if isinstance(above, ast.Call):
        return isinstance(above.func, ast.Attribute) and above.func.attr == "join" and above.args == [node]
    return isinstance(above, ast.Assign | ast.AnnAssign) and _name_joined(tree, above) != ""


def _name_joined(tree: PythonTree, statement: ast.stmt) -> str:
    """Return the name of a list that a statement makes or appends to, if the function joins it; else ''."""
    name = ""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        name = statement.targets[0].id if isinstance(statement.targets[0], ast.Name) else ""
    elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        name = statement.target.id
    elif isinstance(statement, ast.Expr):
        name = _appended_to(statement)
    function = tree.function(statement)
    for node in ast.walk(function) if name and function is not None else ():
        is_join = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "join"
        if is_join and isinstance(node, ast.Call) and [getattr(one, "id", "") for one in node.args] == [name]:
            return name
    return ""


def _appended_to(statement: ast.stmt) -> str:
    """Return the name of the list that a statement appends something to, '' where it does something else."""
    if isinstance(statement, ast.AugAssign) and isinstance(statement.op, ast.Add):
        return statement.target.id if isinstance(statement.target, ast.Name) else ""
    call = statement.value if isinstance(statement, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr in ("append", "extend"):
        return call.func.value.id if isinstance(call.func.value, ast.Name) else ""
    return ""


def _are_blocks(node: ast.List | ast.Tuple) -> bool:
    """Say whether a list is one of text blocks without cache markers in front of its last."""
    for number, element in enumerate(node.elts):
        if not isinstance(element, ast.Dict):
            return False
        keys = _keys(element)
        if "text" not in keys or "role" in keys or None in element.keys:
            return False
        if _MARKERS & keys and number + 1 < len(node.elts):
            return False
    return True


def _keys(node: ast.Dict) -> set[object]:
    return {key.value for key in node.keys if isinstance(key, ast.Constant)}


def _statement(tree: PythonTree, node: ast.stmt, value: tuple[int, int]) -> tuple[Change, ...] | None:
    """Return the move of what a statement puts into a list behind what the statements after it append."""
    name = _name_joined(tree, node)
    if not name:
        return None
    block = tree.block(node)
    at = block.index(node)
    last = at
    while last + 1 < len(block) and _appended_to(block[last + 1]) == name:
        last += 1
    if last == at or _counts_on_order(block[at : last + 1]):
        return None
    text, target = tree.text, tree.place(block[last])[1]
    start, end = tree.place(node)
    margin = text[text.rfind("\n", 0, start) + 1 : start]
    line_break = next((match[0] for match in re.finditer(r"\r\n|\n|\r", text)), "\n")
    if margin.strip() or text[target : target + 1] == ";" or text[end : end + 1] == ";":
        return None
    target += len(match[0]) if (match := _COMMENT.match(text, target)) else 0
    if isinstance(node, ast.Expr):
        call = node.value
        is_append = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append"
        following = tree.place(block[at + 1])[0]
        gap = text[end:following]
        if not is_append or gap.strip():
            return None
        return (start, following, ""), (target, target, line_break + margin + text[start:end])
    made = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
    if not isinstance(made, ast.List):
        return None
    return _out_of_list(tree, made, value, (target, f"{line_break}{margin}{name}.append(", ")"))


def _out_of_list(
    tree: PythonTree, made: ast.List, value: tuple[int, int], into: tuple[int, str, str]
) -> tuple[Change, ...] | None:
    """Return the move of an element of a list into a statement of its own."""
    at = _index(tree, made.elts, value)
    if at is None or isinstance(made.elts[at], ast.Starred):
        return None
    start, end = tree.place(made.elts[at])
    if end - start > _LONGEST:
        return None
    if at + 1 < len(made.elts):
        cut = (start, tree.place(made.elts[at + 1])[0])
    elif at:
        cut = (tree.place(made.elts[at - 1])[1], end)
    else:
        cut = (start, end + len(_trailing_comma(tree.text, end)))
    if "#" in tree.text[cut[0] : start] + tree.text[end : cut[1]]:
        return None  # a comment would be lost
    target, opening, closing = into
    return (*cut, ""), (target, target, opening + tree.text[start:end] + closing)


def _trailing_comma(text: str, at: int) -> str:
    found = re.compile(r"\s*,").match(text, at)
    return "" if found is None else found[0]


def _index(tree: PythonTree, nodes: Sequence[ast.expr], value: tuple[int, int]) -> int | None:
    for number, node in enumerate(nodes):
        start, end = tree.place(node)
        if start <= value[0] and value[1] <= end:
            return number
    return None
