"""Syntax trees of JavaScript and TypeScript: what tree-sitter reads, as plain nodes with offsets in code points."""

from __future__ import annotations

import functools
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, cast

from prefixwise.analyzers.static.name_words import words
from prefixwise.core.errors import MissingExtraError

if TYPE_CHECKING:
    import tree_sitter

    from prefixwise.analyzers.static.sources import Source

SUFFIXES = {
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
}
"""Grammar by suffix of the file."""

FUNCTIONS = frozenset(
    {
        "function_declaration",
        "function_expression",
        "generator_function",
        "generator_function_declaration",
        "arrow_function",
        "method_definition",
    }
)
LOOPS = frozenset({"for_statement", "for_in_statement", "while_statement", "do_statement"})
WRAPPERS = frozenset(
    {
        "parenthesized_expression",
        "await_expression",
        "as_expression",
        "satisfies_expression",
        "non_null_expression",
        "type_assertion",
        "instantiation_expression",
    }
)
"""Expressions whose value is that of the expression in them."""

_WITH_RETURNS = FUNCTIONS | {"class_body"}
_OPAQUE = words(
    "type_annotation type_arguments type_parameters interface_declaration type_alias_declaration implements_clause "
    "function_signature method_signature abstract_method_signature ambient_declaration comment"
)
"""What has no value: left out of the tree with all that stands in it."""
_CLOSED = words("string regex number identifier property_identifier string_fragment type_identifier")
"""What is not looked into."""


_LITTLE = 100
"""What cannot be read is passed over where it is less than one in so many characters."""
_NO_FIELDS: dict[str, Node] = {}


class Node:
    """One named node: its type, its place (code points) and its named children.

    Attributes:
        tokens: The unnamed children that tell something: keywords, operators.
        function: The innermost function that it stands in, None at the level of the module.
    """

    __slots__ = ("children", "end", "fields", "function", "kind", "parent", "returned", "start", "tokens")

    def __init__(self, kind: str, start: int, end: int, parent: Node | None) -> None:
        self.kind = kind
        self.start = start
        self.end = end
        self.parent = parent
        self.children: Sequence[Node] = ()
        self.fields: Mapping[str, Node] = _NO_FIELDS
        self.tokens: tuple[str, ...] = ()
        self.returned: list[Node] | None = None
        self.function: Node | None = None
        if parent is not None:
            self.function = parent if parent.kind in FUNCTIONS else parent.function

    def ancestors(self) -> Iterator[Node]:
        """Yield what it stands in, innermost first."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def within(self, other: Node) -> bool:
        """Say whether it stands in `other`, or is it."""
        return other.start <= self.start and self.end <= other.end

    def bare(self) -> Node:
        """Return the expression without brackets, `await` and what only concerns types."""
        node = self
        while node.kind in WRAPPERS and node.children:
            node = node.children[-1] if node.kind == "type_assertion" else node.children[0]
        return node

    def returns(self) -> list[Node]:
        """Return the expressions that a function returns."""
        if self.returned is None:
            body = self.fields.get("body")
            self.returned = [body] if body is not None and body.kind != "statement_block" else []
            waiting = [body] if body is not None and body.kind == "statement_block" else []
            while waiting:
                node = waiting.pop()
                if node.kind == "return_statement" and node.children:
                    self.returned.append(node.children[0])
                inner = [child for child in node.children if child.kind not in _WITH_RETURNS]
                waiting.extend(reversed(inner))
        return self.returned


class Tree:
    """A file: its root, all nodes in order of their beginning, and whether some of it could not be read."""

    def __init__(self, source: Source, root: Node, nodes: list[Node], fault: int | None) -> None:
        self.source = source
        self.root = root
        self.nodes = nodes
        self.fault = fault
        """Offset of the first place that could not be read, where that is more than a trifle."""

    def text(self, node: Node) -> str:
        """Return what stands in the source."""
        return self.source.text[node.start : node.end]


def read_tree(source: Source) -> Tree:
    """Parse a source, by the suffix of its path; what cannot be read leaves a hole in the tree.

    Raises:
        MissingExtraError: tree-sitter is not installed.
    """
    data = source.text.encode("utf-8", "surrogatepass")
    suffix = source.path[source.path.rfind(".") :].lower()
    tree = _parser(SUFFIXES.get(suffix, "typescript")).parse(data)
    place = _code_points(source.text)
    root, nodes, fault = _converted(tree, place)
    return Tree(source, root, nodes, fault)


def comments_in(source: Source) -> list[tuple[int, int]]:
    """Return where the comments of a source stand, in order.

    Raises:
        MissingExtraError: tree-sitter is not installed.
    """
    suffix = source.path[source.path.rfind(".") :].lower()
    tree = _parser(SUFFIXES.get(suffix, "typescript")).parse(source.text.encode("utf-8", "surrogatepass"))
    place = _code_points(source.text)
    cursor = tree.walk()
    found = []
    going = True
    while going:
        node = cursor.node
        if node is not None and node.type == "comment":
            found.append((place(node.start_byte), place(node.end_byte)))
        going = cursor.goto_first_child() or cursor.goto_next_sibling()
        while not going and cursor.goto_parent():
            going = cursor.goto_next_sibling()
    return found


def require_parser() -> None:
    """Raise MissingExtraError where tree-sitter is not installed."""
    _parser("typescript")


@functools.cache
def _parser(grammar: str) -> tree_sitter.Parser:
    try:
        import tree_sitter
        import tree_sitter_javascript
        import tree_sitter_typescript
    except ImportError:
        raise MissingExtraError("reading JavaScript and TypeScript", "js") from None
    languages = {
        "javascript": tree_sitter_javascript.language,
        "typescript": tree_sitter_typescript.language_typescript,
        "tsx": tree_sitter_typescript.language_tsx,
    }
    return tree_sitter.Parser(tree_sitter.Language(languages[grammar]()))


def _code_points(text: str) -> Callable[[int], int]:
    """Return the function from offsets in UTF-8 to offsets in code points of `text`."""
    if text.isascii():
        return int
    ends, surplus = [], []
    extra = 0
    for index, character in enumerate(text):
        if character > "\x7f":
            extra += 1 if character < "\u0800" else 2 if character < "\U00010000" else 3
            ends.append(index + 1 + extra)
            surplus.append(extra)
    surplus.append(0)  # what stands before the first wide character
    return lambda offset: offset - surplus[bisect_right(ends, offset) - 1]


def _converted(tree: tree_sitter.Tree, place: Callable[[int], int]) -> tuple[Node, list[Node], int | None]:
    """Copy the tree: fields by name, children in order, without what only concerns types."""
    cursor = tree.walk()
    broken = tree.root_node.has_error
    lost = 0
    root = Node(tree.root_node.type, 0, place(tree.root_node.end_byte), None)
    nodes, parent = [root], root
    fault: int | None = None
    more = cursor.goto_first_child()
    while more or parent is not root:
        if not more:
            cursor.goto_parent()
            parent = parent.parent or root
            more = cursor.goto_next_sibling()
            continue
        found = cursor.node
        if found is None:
            break
        kind = found.type
        if broken and (found.is_error or found.is_missing):
            fault = place(found.start_byte) if fault is None else fault
            lost += found.end_byte - found.start_byte
        if not found.is_named:
            field = cursor.field_name
            if field is not None or kind.isalpha():
                parent.tokens = (*parent.tokens, kind)
        elif kind not in _OPAQUE:
            node = Node(kind, place(found.start_byte), place(found.end_byte), parent)
            nodes.append(node)
            _add(parent, node, cursor.field_name)
            if kind not in _CLOSED and cursor.goto_first_child():
                parent = node
                continue
        more = cursor.goto_next_sibling()
    return root, nodes, fault if lost * _LITTLE > tree.root_node.end_byte else None


def _add(parent: Node, node: Node, field: str | None) -> None:
    if not parent.children:
        parent.children = []
        parent.fields = {}
    cast("list[Node]", parent.children).append(node)
    if field is not None:
        cast("dict[str, Node]", parent.fields).setdefault(field, node)
