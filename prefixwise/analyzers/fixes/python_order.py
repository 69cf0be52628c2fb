"""Fixed orders in Python: `sorted(...)` around sets and listings where they are gone through, `sort_keys=True`."""

from __future__ import annotations

import ast

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.python_sets import is_set, is_set_of_text
from prefixwise.analyzers.fixes.python_tree import PythonTree
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.finding import Edit, Safety, Span

_LISTS = frozenset({"os.listdir", "listdir", "glob.glob", "glob", "glob.iglob", "iglob"})
"""Listings whose members are strings."""
_PATHS = frozenset({"iterdir", "glob", "rglob"})
"""Methods of paths whose members are paths."""
_WALKERS = frozenset({"list", "tuple", "enumerate", "iter", "filter", "map", "zip", "reversed", "fromkeys", "chain"})


def in_fixed_order(found: Volatile, bench: Bench) -> Mended | None:
    """Return `sorted(...)` around what comes in no fixed order; None where that is not certain to be right.

    A set's order means nothing, so to sort what goes through it is safe; where its members may be other than strings,
    they are sorted by what they print.
    """
    tree = bench.tree(found.path)
    if tree is None:
        return None
    node = tree.at(found.span.start, found.span.end)
    if node is None or tree.binds("sorted"):
        return None
    if _is_listing(node):
        in_package = "files" in path_of(node).split(".")  # of a zipped one the members cannot be compared
        walked = _is_walked(tree, node) or _is_list(tree, node)
        return _around(found, tree, node, plain=not in_package) if walked else None
    if not _is_walked(tree, node) or not is_set(tree, node):
        return None
    return _around(found, tree, node, plain=is_set_of_text(tree, node) or _is_joined(tree, node))


def with_sorted_keys(found: Volatile, bench: Bench) -> Mended | None:
    """Return the fix of JSON whose keys come in no fixed order, at the set that puts them in or where it is written."""
    fixed = in_fixed_order(found, bench)
    if fixed is not None:
        return fixed
    safety = Safety.UNSAFE if _may_be_mixed(found, bench) else Safety.SAFE
    for path, span in ((found.path, found.span), *((step.path, step.span) for step in found.flow)):
        tree = bench.tree(path)
        calls = [] if tree is None else _written_at(tree, span)
        if tree is not None and len(calls) == 1:
            return _with_argument(path, tree, calls[0], "sort_keys=True", safety)
    return None


def _with_argument(path: str, tree: PythonTree, call: ast.Call, argument: str, safety: Safety) -> Mended | None:
    """Return the edit that gives a call one more argument, behind its last one; None where that is in brackets."""
    given = [*call.args, *(keyword.value for keyword in call.keywords)]
    at = max((tree.place(one)[1] for one in given), default=-1)
    if at < 0 or ")" in tree.text[at : tree.place(call)[1] - 1]:
        return None
    return Mended((Edit(path, at, at, f", {argument}"),), safety)


def _written_at(tree: PythonTree, span: Span) -> list[ast.Call]:
    """Return the calls that write JSON around a value, in what is sent, or in what is assigned to a name."""
    node = tree.at(span.start, span.end)
    around = () if node is None else tree.above(node)
    outer = [above for above in around if isinstance(above, ast.Call) and _can_sort(tree, above)]
    if outer:
        return outer[:1]
    statement = None if node is None else tree.statement(node)
    inside: ast.AST | None = node
    if isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign) and node is not statement.value:
        inside = statement.value
    inner = () if inside is None else ast.walk(inside)
    return [call for call in inner if isinstance(call, ast.Call) and _can_sort(tree, call)]


def _may_be_mixed(found: Volatile, bench: Bench) -> bool:
    """Say whether keys may be of several types, which cannot be compared: nothing is known of them."""
    tree = bench.tree(found.path)
    node = tree.at(found.span.start, found.span.end) if tree is not None else None
    return tree is None or node is None or (_is_walked(tree, node) and not is_set_of_text(tree, node))


def _can_sort(tree: PythonTree, call: ast.Call) -> bool:
    """Say whether a call writes JSON by the standard library, and says nothing of its keys yet."""
    given = {keyword.arg for keyword in call.keywords}
    is_dumps = path_of(call.func) in ("json.dumps", "json.dump")
    return is_dumps and not given & {None, "sort_keys", "cls"} and tree.in_fstring(call) is None


def _around(found: Volatile, tree: PythonTree, node: ast.expr, *, plain: bool) -> Mended | None:
    start, end = found.span.start, found.span.end
    if isinstance(node, ast.GeneratorExp):
        return None
    text = tree.text[start:end]
    key = "" if plain else ", key=str"
    if tree.in_fstring(node) is not None and "\\" in text:
        return None
    above = tree.parents.get(node)
    is_list = isinstance(above, ast.Call) and isinstance(above.func, ast.Name) and above.func.id == "list"
    if is_list and isinstance(above, ast.Call) and above.args == [node] and tree.in_fstring(node) is None:
        name = tree.place(above.func)  # what `list` makes, `sorted` makes too
        edits = (Edit(found.path, *name, "sorted"), Edit(found.path, end, end, key))
        return Mended(edits if key else edits[:1], Safety.SAFE)
    edits = (Edit(found.path, start, start, "sorted("), Edit(found.path, end, end, f"{key})"))
    return Mended(edits, Safety.SAFE)


def _is_listing(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or any(isinstance(argument, ast.Starred) for argument in node.args):
        return False
    if path_of(node.func) in _LISTS:
        return True
    return isinstance(node.func, ast.Attribute) and node.func.attr in _PATHS and path_of(node.func) not in _LISTS


def _is_list(tree: PythonTree, node: ast.expr) -> bool:
    """Say whether a call gives a list, and so does `sorted` in its place."""
    return (
        isinstance(node, ast.Call)
        and path_of(node.func).rsplit(".", 1)[-1] in ("listdir", "glob")
        and (path_of(node.func) in _LISTS)
        and not isinstance(tree.parents.get(node), ast.Attribute)
    )


def _is_walked(tree: PythonTree, node: ast.expr) -> bool:
    """Say whether an expression stands where its members are gone through, and nothing else is done with it."""
    above = tree.parents.get(node)
    if isinstance(above, ast.For):
        return above.iter is node
    if isinstance(above, ast.comprehension):
        return above.iter is node and not above.is_async
    if isinstance(above, ast.Starred):
        return isinstance(above.ctx, ast.Load)
    if isinstance(above, ast.Call):
        name = path_of(above.func).rsplit(".", 1)[-1] or _method(above)
        return node in above.args and (name in _WALKERS or _method(above) == "join")
    return False


def _method(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _is_joined(tree: PythonTree, node: ast.expr) -> bool:
    """Say whether it is joined as it is, so that its members can only be strings."""
    above = tree.parents.get(node)
    if isinstance(above, ast.comprehension) and isinstance(above.target, ast.Name):
        built = tree.parents.get(above)
        is_plain = isinstance(built, ast.GeneratorExp | ast.ListComp) and len(built.generators) == 1
        if not is_plain or not isinstance(built, ast.GeneratorExp | ast.ListComp):
            return False
        is_same = isinstance(built.elt, ast.Name) and built.elt.id == above.target.id
        return is_same and _is_joined(tree, built)
    return isinstance(above, ast.Call) and _method(above) == "join" and above.args == [node]
