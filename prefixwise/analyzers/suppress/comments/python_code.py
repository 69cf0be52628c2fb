"""Comments of Python files and notebooks."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterator

from prefixwise.analyzers.static.python.modules import UnparsedError, parsed
from prefixwise.analyzers.static.python.notebooks import Notebook, is_notebook
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.suppress.commented import Comment, Commented, Lines

_BODIES = frozenset({"body", "orelse", "finalbody", "handlers", "cases"})
_BOM = "\ufeff"


def python_comments(source: Source) -> Commented | None:
    """Return a Python file or notebook with its comments, None where it cannot be parsed."""
    try:
        if not is_notebook(source.path):
            return _of_code(source)
        notebook = Notebook(source)
        code = _of_code(notebook.code)
    except (UnparsedError, tokenize.TokenError, SyntaxError):
        return None
    return Commented(code.source, code.comments, code.units, place=notebook.place)


def _of_code(source: Source) -> Commented:
    shift = len(_BOM) if source.text.startswith(_BOM) else 0
    text = source.text[shift:]
    comments = []
    for token in tokenize.generate_tokens(io.StringIO(text, newline="").readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            start = source.offset(row, column + 1) + (shift if row == 1 else 0)
            comments.append(Comment(start, start + len(token.string), start + 1, token.string[1:]))
    return Commented(source, comments, list(_units(parsed(text))))


def _units(tree: ast.Module) -> Iterator[Lines]:
    """Yield the lines of what reaches over several of them, of what has a body those of its head."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if not isinstance(node, ast.JoinedStr):  # what stands in one has no reliable place before Python 3.12
            waiting += ast.iter_child_nodes(node)
        first, last = getattr(node, "lineno", None), getattr(node, "end_lineno", None)
        if first is None or last is None:
            continue
        if isinstance(getattr(node, "body", None), list):
            inner = [part for part in _head(node) for part in ast.walk(part)]
            first = min((first, *(decorator.lineno for decorator in getattr(node, "decorator_list", ()))))
            last = max((first, *(getattr(part, "end_lineno", None) or 0 for part in inner)))
        if first < last:
            yield first, last


def _head(node: ast.AST) -> Iterator[ast.AST]:
    for name, value in ast.iter_fields(node):
        if name not in _BODIES:
            yield from (part for part in (value if isinstance(value, list) else [value]) if isinstance(part, ast.AST))
