"""Comments of JavaScript and TypeScript."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.static.scripts.tree import Node, Tree, comments_in, read_tree, require_parser
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.suppress.commented import Comment, Commented, Lines
from prefixwise.core.errors import MissingExtraError

_BLOCKS = frozenset({"statement_block", "class_body", "switch_body"})
_BODIES = _BLOCKS | {"program", "switch_case", "switch_default"}


def script_comments(source: Source) -> Commented | None:
    """Return a script with its comments, None where scripts cannot be read."""
    try:
        places = comments_in(source)
        tree = read_tree(source)
    except (MissingExtraError, RecursionError):
        return None
    return Commented(source, [_comment(source, start, end) for start, end in places], list(_units(tree)))


def scripts_are_read() -> bool:
    """Say whether what reads scripts is installed."""
    try:
        require_parser()
    except MissingExtraError:
        return False
    return True


def _comment(source: Source, start: int, end: int) -> Comment:
    text = source.text[start + 2 : end].removesuffix("*/")
    return Comment(start, end, start + 2, text)


def _units(tree: Tree) -> Iterator[Lines]:
    """Yield the lines of what reaches over several of them, of what has a block those up to where that begins."""
    heads: dict[Node, int] = {}
    for node in tree.nodes:
        if node.kind in _BLOCKS:
            for outer in node.ancestors():
                heads.setdefault(outer, node.start)
    for node in tree.nodes:
        if node.kind not in _BODIES:
            first = tree.source.position(node.start)[0]
            last = tree.source.position(heads.get(node, max(node.end - 1, node.start)))[0]
            if first < last:
                yield first, last
