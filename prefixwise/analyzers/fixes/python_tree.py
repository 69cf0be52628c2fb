"""Nodes of Python files by their place, with what they stand in."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from prefixwise.analyzers.static.python.modules import Module, parsed

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SCOPES = (*FUNCTIONS, ast.Lambda, ast.ClassDef, ast.Module)


class PythonTree:
    """The tree of a module, to be walked upwards."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.parents: dict[ast.AST, ast.AST] = {}
        self.nodes = tuple(ast.walk(module.tree))
        for node in self.nodes:
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node

    @property
    def text(self) -> str:
        """The file."""
        return self.module.source.text

    def place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the offsets of a node; of one in an f-string, `sure` says whether they can be relied on."""
        return self.module.place(node)

    def in_fstring(self, node: ast.AST) -> ast.JoinedStr | None:
        """Return the outermost f-string that a node stands in."""
        found = None
        for above in self.above(node):
            if isinstance(above, ast.JoinedStr):
                found = above
        return found

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """Go through what a node stands in, innermost first."""
        above = self.parents.get(node)
        while above is not None:
            yield above
            above = self.parents.get(above)

    def at(self, start: int, end: int) -> ast.expr | None:
        """Return the expression at a place; None where there is none, or it is not certain which."""
        return self._outside.get((start, end)) or self._in_fstring_at(start, end)

    @cached_property
    def _outside(self) -> dict[tuple[int, int], ast.expr]:
        """The expressions that stand in no f-string, by place; of several the outermost."""
        found: dict[tuple[int, int], ast.expr] = {}
        for node in self.nodes:
            if isinstance(node, ast.expr) and self.in_fstring(node) is None:
                found.setdefault(self.place(node), node)
        return found

    def _in_fstring_at(self, start: int, end: int) -> ast.expr | None:
        """Return an expression in an f-string by what it says: before Python 3.12 its place is not reliable."""
        try:
            wanted = ast.dump(parsed(f"({self.text[start:end]}\n)").body[0])
        except Exception:
            return None
        found = []
        for node in self.fstrings_at(start, end):
            inner = [one for one in ast.walk(node) if isinstance(one, ast.expr) and one is not node]
            found += [one for one in inner if ast.dump(ast.Expr(one)) == wanted]
        return found[0] if len(found) == 1 else None

    def fstrings_at(self, start: int, end: int) -> list[ast.JoinedStr]:
        """Return the outermost f-strings that a place lies in."""
        return [node for low, high, node in self._fstrings if low <= start and end <= high]

    @cached_property
    def _fstrings(self) -> list[tuple[int, int, ast.JoinedStr]]:
        """The outermost f-strings, with their places."""
        found = (node for node in self.nodes if isinstance(node, ast.JoinedStr))
        return [(*self.place(node), node) for node in found if self.in_fstring(node) is None]

    def function(self, node: ast.AST) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the function that a node stands in."""
        return next((above for above in self.above(node) if isinstance(above, FUNCTIONS)), None)

    def scope(self, node: ast.AST) -> ast.AST | None:
        """Return the function, class or module around a node in which names are bound; None for the module."""
        inside = node
        for above in self.above(node):
            if isinstance(above, _SCOPES) and not self._is_outside(inside, above):
                return above
            inside = above
        return None

    @staticmethod
    def _is_outside(part: ast.AST, scope: ast.AST) -> bool:
        """Say whether part of a definition (a default, a decorator) belongs to what the definition stands in."""
        if isinstance(scope, (*FUNCTIONS, ast.ClassDef)) and part in scope.decorator_list:
            return True
        return isinstance(scope, FUNCTIONS) and part is scope.returns

    def statement(self, node: ast.AST) -> ast.stmt | None:
        """Return the statement that a node stands in, or is."""
        if isinstance(node, ast.stmt):
            return node
        return next((above for above in self.above(node) if isinstance(above, ast.stmt)), None)

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return the statements among which one stands."""
        above = self.parents.get(statement)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(above, name, None)
            if isinstance(block, list) and statement in block:
                return block
        return [statement]

    def binds(self, name: str) -> bool:
        """Say whether the module gives a builtin's name to something else, anywhere."""
        for node in self.nodes:
            if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load):
                return True
            if isinstance(node, (*FUNCTIONS, ast.ClassDef)) and node.name == name:
                return True
            if isinstance(node, ast.arg) and node.arg == name:
                return True
            if isinstance(node, ast.alias) and (node.asname or node.name) in (name, "*"):
                return True
        return False
