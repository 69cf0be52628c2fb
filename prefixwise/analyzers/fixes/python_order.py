"""Fixed orders in Python: `sorted(...)` around sets and listings where they are gone through, `sort_keys=True`."""

from __future__ import annotations

import ast

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.python_tree import PythonTree
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.finding import Edit, Safety

_LISTS = frozenset({"os.listdir", "listdir", "glob.glob", "glob", "glob.iglob", "iglob"})
"""Listings whose members are strings."""
_PATHS = frozenset({"iterdir", "glob", "rglob"})
"""Methods of paths whose members are paths."""
_SETS = frozenset({"set", "frozenset"})
_SET_METHODS = frozenset({"union", "intersection", "difference", "symmetric_difference", "copy"})
_WALKERS = frozenset({"list", "tuple", "enumerate", "iter", "filter", "map", "zip", "reversed", "fromkeys", "chain"})
_TEXTS = frozenset(
    """str repr format lower upper strip lstrip rstrip title capitalize casefold replace removeprefix removesuffix
    join zfill""".split()  # noqa: SIM905 - one a line would be a page
)


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
        return _around(found, tree, node, plain=True) if _is_walked(tree, node) or _is_list(tree, node) else None
    made = _made_at(found, tree, node)
    if made is None or not _is_walked(tree, node):
        return None
    return _around(found, tree, node, plain=_says_text(made) or _is_joined(tree, node))


def with_sorted_keys(found: Volatile, bench: Bench) -> Mended | None:
    """Return the fix of JSON whose keys come in no fixed order, at the set that puts them in or where it is written."""
    fixed = in_fixed_order(found, bench)
    if fixed is not None:
        return fixed
    for step in found.flow:
        tree = bench.tree(step.path)
        if tree is None:
            continue
        calls = [node for node in ast.walk(tree.module.tree) if isinstance(node, ast.Call) and _can_sort(tree, node)]
        inside = [call for call in calls if step.span.start <= tree.place(call)[0] < step.span.end]
        if len(inside) == 1:
            end = tree.place(inside[0])[1] - 1
            head = tree.text[:end].rstrip()
            comma = " " if head.endswith(",") and head == tree.text[:end] else "" if head.endswith(",") else ", "
            return Mended((Edit(step.path, len(head), len(head), f"{comma}sort_keys=True"),), Safety.SAFE)
    return None


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


def _made_at(found: Volatile, tree: PythonTree, node: ast.expr) -> ast.expr | None:
    """Return the expression that makes the set which a finding speaks of; None where it is something else."""
    places = [(found.span.start, found.span.end)]
    places += [(step.span.start, step.span.end) for step in found.flow[:1] if step.path == found.path]
    for start, end in reversed(places):
        made = node if (start, end) == places[0] else tree.at(start, end)
        if made is not None and (_is_set(made) or _is_annotation(tree, made)):
            return made
    return None


def _is_set(node: ast.expr) -> bool:
    if isinstance(node, ast.Set | ast.SetComp):
        return True
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr | ast.BitAnd | ast.Sub | ast.BitXor):
        return _is_set(node.left) or _is_set(node.right)
    return isinstance(node, ast.Call) and (
        (isinstance(node.func, ast.Name) and node.func.id in _SETS)
        or (_method(node) in _SET_METHODS and isinstance(node.func, ast.Attribute) and _is_set(node.func.value))
    )


def _is_annotation(tree: PythonTree, node: ast.expr) -> bool:
    """Say whether an expression is the annotation of a parameter or variable."""
    above = tree.parents.get(node)
    return isinstance(above, ast.arg | ast.AnnAssign) and above.annotation is node


def _says_text(made: ast.expr) -> bool:
    """Say whether all members of a set are strings, by what makes it."""
    if isinstance(made, ast.Subscript):  # set[str]
        return path_of(made.slice) == "str"
    if isinstance(made, ast.Set | ast.List | ast.Tuple):
        return all(_is_text(member) for member in made.elts)
    if isinstance(made, ast.SetComp | ast.ListComp | ast.GeneratorExp):
        return _is_text(made.elt)
    if isinstance(made, ast.Call):
        name = _method(made)
        if name in ("split", "splitlines"):
            return True
        return len(made.args) == 1 and name not in _SET_METHODS and _is_set(made) and _says_text(made.args[0])
    return False


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str)
    if isinstance(node, ast.Call):
        return path_of(node.func).rsplit(".", 1)[-1] in _TEXTS or _method(node) in _TEXTS
    return isinstance(node, ast.JoinedStr)
