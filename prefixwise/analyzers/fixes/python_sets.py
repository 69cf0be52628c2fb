"""Whether an expression of Python is a set whichever way the program goes, and whether all in it are strings."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from prefixwise.analyzers.fixes.python_tree import PythonTree
from prefixwise.analyzers.static.python.modules import path_of

_SETS = frozenset({"set", "frozenset"})
_SET_TYPES = _SETS | {"Set", "FrozenSet", "AbstractSet", "MutableSet"}
_SET_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
_SET_OPERATORS = (ast.BitOr, ast.BitAnd, ast.Sub, ast.BitXor)
_TEXTS = frozenset(
    """str repr format lower upper strip lstrip rstrip title capitalize casefold replace removeprefix removesuffix
    join zfill""".split()  # noqa: SIM905 - one a line would be a page
)
_DEEPEST = 6


class _Made(NamedTuple):
    """What makes a value: an expression, or an annotation that says what it is."""

    node: ast.expr
    annotation: bool = False


def is_set(tree: PythonTree, node: ast.expr) -> bool:
    """Say whether an expression is a set, whichever way the program goes; nothing to go through may stand in for it."""
    made = _made(tree, node, 0)
    sets = [one for one in made or () if _is_made_set(tree, one)]
    return bool(made and sets) and all(one in sets or _is_short(one.node) for one in made or ())


def is_set_of_text(tree: PythonTree, node: ast.expr) -> bool:
    """Say whether all members of such a set are strings, for sure.

    Whoever holds the name of a set can put something else into it, unless its annotation says that nobody does.
    """
    made = _made(tree, node, 0)
    if not made or not all(_is_made_text(tree, one) or _is_short(one.node) for one in made):
        return False
    return all(one.annotation or one.node is node for one in made)


def says_text(node: ast.expr) -> bool:
    """Say whether all that an expression is made of, as a set or to be made a set, are strings."""
    if isinstance(node, ast.Set | ast.List | ast.Tuple):
        return all(_is_text(member) for member in node.elts)
    if isinstance(node, ast.SetComp | ast.ListComp | ast.GeneratorExp):
        return _is_text(node.elt)
    if isinstance(node, ast.BinOp) and isinstance(node.op, _SET_OPERATORS):
        return says_text(node.left) and says_text(node.right)
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute):
            return node.func.attr in ("split", "splitlines")
        return path_of(node.func) in _SETS and all(map(says_text, node.args))
    return False


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else path_of(node.func)
        return name in _TEXTS
    return isinstance(node, ast.JoinedStr)


def _is_made_set(tree: PythonTree, made: _Made) -> bool:
    node = made.node
    if made.annotation:
        inner = node.value if isinstance(node, ast.Subscript) else node
        return path_of(inner).rsplit(".", 1)[-1] in _SET_TYPES
    if isinstance(node, ast.BinOp) and isinstance(node.op, _SET_OPERATORS):
        return is_set(tree, node.left) or is_set(tree, node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in _SET_METHODS and is_set(tree, node.func.value)
    return isinstance(node, ast.Set | ast.SetComp) or (isinstance(node, ast.Call) and path_of(node.func) in _SETS)


def _is_made_text(tree: PythonTree, made: _Made) -> bool:
    if not made.annotation:
        return says_text(made.node)
    return _is_made_set(tree, made) and isinstance(made.node, ast.Subscript) and path_of(made.node.slice) == "str"


def _is_short(node: ast.expr) -> bool:
    """Say whether an expression is nothing to go through, or one thing, so that its order is always the same."""
    if isinstance(node, ast.List | ast.Tuple):
        return len(node.elts) < 2 and not any(isinstance(one, ast.Starred) for one in node.elts)
    return isinstance(node, ast.Constant) and node.value in (None, "")


def _made(tree: PythonTree, node: ast.expr, depth: int) -> list[_Made] | None:
    """Return all that may make the value of an expression; None where that is not known."""
    if depth > _DEEPEST:
        return None
    if isinstance(node, ast.IfExp):
        return _made_of(tree, (node.body, node.orelse), depth)
    if isinstance(node, ast.BoolOp):
        return _made_of(tree, node.values, depth)
    if isinstance(node, ast.NamedExpr):
        return _made(tree, node.value, depth + 1)
    if isinstance(node, ast.Name):
        return _made_at(tree, _bound(tree, node), depth)
    if isinstance(node, ast.Attribute):
        return _made_at(tree, list(_attributes(tree, node.attr)), depth)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in _SETS:
        return _returned(tree, node.func.id, depth)
    return [_Made(node)]


def _made_of(tree: PythonTree, nodes: Iterable[ast.expr], depth: int) -> list[_Made] | None:
    found: list[_Made] = []
    for node in nodes:
        made = _made(tree, node, depth + 1)
        if made is None:
            return None
        found += made
    return found


def _made_at(tree: PythonTree, places: list[ast.AST], depth: int) -> list[_Made] | None:
    """Return what makes the values that a name or attribute is given at some places."""
    found: list[_Made] = []
    for place in places:
        above = tree.parents.get(place)
        annotation = place.annotation if isinstance(place, ast.arg) else getattr(above, "annotation", None)
        made: list[_Made] | None = None
        if annotation is not None:
            made = [_Made(_unwrapped(annotation), annotation=True)]
        elif isinstance(above, ast.NamedExpr) or (isinstance(above, ast.Assign) and place in above.targets):
            made = _made(tree, above.value, depth + 1)
        elif isinstance(above, ast.AugAssign) and isinstance(above.op, _SET_OPERATORS):
            made = []  # what is added to a set leaves a set
        if made is None:
            return None
        found += made
    return found


def _unwrapped(annotation: ast.expr) -> ast.expr:
    """Return a type without `None` beside it."""
    if isinstance(annotation, ast.BinOp) and isinstance(annotation.op, ast.BitOr):
        sides = (annotation.left, annotation.right)
        kept = [side for side in sides if not (isinstance(side, ast.Constant) and side.value is None)]
        return kept[0] if len(kept) == 1 else annotation
    if isinstance(annotation, ast.Subscript) and path_of(annotation.value).rsplit(".", 1)[-1] == "Optional":
        return annotation.slice
    return annotation


def _bound(tree: PythonTree, name: ast.Name) -> list[ast.AST]:
    """Return where a name gets its value, in the nearest scope around it that gives it one; [] where it is unsure."""
    if any(isinstance(one, ast.Global | ast.Nonlocal) and name.id in one.names for one in tree.nodes):
        return []
    places = [one for one in tree.nodes if _binds(one, name.id)]
    inside: ast.AST = name
    while (scope := tree.scope(inside)) is not None:
        found = [place for place in places if tree.scope(place) is scope]
        if found and (scope is tree.scope(name) or not isinstance(scope, ast.ClassDef)):
            return found
        inside = scope
    return []


def _binds(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.alias):
        return (node.asname or node.name.partition(".")[0]) in (name, "*")
    if isinstance(node, ast.arg):
        return node.arg == name
    return getattr(node, "name", None) == name or getattr(node, "rest", None) == name


def _attributes(tree: PythonTree, name: str) -> Iterator[ast.AST]:
    """Yield where an attribute of this name gets a value in the file, whichever object has it."""
    for node in tree.nodes:
        is_given = isinstance(node, ast.Attribute) and node.attr == name and not isinstance(node.ctx, ast.Load)
        if is_given or (_binds(node, name) and isinstance(tree.scope(node), ast.ClassDef)):
            yield node


def _returned(tree: PythonTree, name: str, depth: int) -> list[_Made] | None:
    """Return what makes the values that a function of the file returns."""
    places = [node for node in tree.nodes if _binds(node, name)]
    function = places[0] if len(places) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    if function.returns is not None:
        return [_Made(_unwrapped(function.returns), annotation=True)]
    mine = [node for node in tree.nodes if tree.function(node) is function]
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in mine):
        return None
    values = [node.value for node in mine if isinstance(node, ast.Return)]
    return _made_of(tree, [value for value in values if value is not None], depth)
