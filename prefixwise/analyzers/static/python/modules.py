"""A Python file as the analysis sees it: its tree, where its nodes stand in the text, and what it defines."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterator
from functools import cached_property

from prefixwise.analyzers.static.sources import Source

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef
_BOM = "\ufeff"
_TOKEN = re.compile(r"\w+|\S")
_WHERE = re.compile(r"\s*\((?:<unknown>|<string>)?,? ?(?:line \d+)?\)$")


class UnparsedError(Exception):
    """A text that this version of Python cannot parse; `line` is where, 0 where that is not known."""

    def __init__(self, problem: str, line: int = 0) -> None:
        super().__init__(problem)
        self.line = line


class Function:
    """A function or method; `owner` is the class it stands in, `inside` the function."""

    def __init__(self, node: FunctionNode | ast.Lambda, module: Module, owner: Class | None = None) -> None:
        self.node = node
        self.module = module
        self.owner = owner
        self.name = "lambda" if isinstance(node, ast.Lambda) else node.name
        self.key = f"{module.path}:{node.lineno}:{node.col_offset}"

    @cached_property
    def decorators(self) -> tuple[str, ...]:
        """Dotted names of its decorators, without arguments."""
        if isinstance(self.node, ast.Lambda):
            return ()
        found = (path_of(item.func if isinstance(item, ast.Call) else item) for item in self.node.decorator_list)
        return tuple(name for name in found if name)

    @cached_property
    def is_generator(self) -> bool:
        """It yields."""
        return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(self.node))

    @cached_property
    def kept(self) -> frozenset[str]:
        """Variables outside it in which it keeps what it gives, so that it is made once: asked for, set, returned."""
        tested: set[str] = set()
        stored: set[str] = set()
        returned: set[str] = set()
        outside: set[str] = set()
        for node in own_nodes(self.node):
            if isinstance(node, ast.If):
                tested |= _paths_in(node.test)
            elif isinstance(node, ast.Return) and node.value is not None:
                returned |= _paths_in(node.value)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                outside |= set(node.names)
            elif isinstance(node, ast.Name | ast.Attribute) and isinstance(node.ctx, ast.Store):
                stored.add(path_of(node))
        kept = tested & stored & returned
        return frozenset(path for path in kept if path in outside or path.startswith("self."))

    @cached_property
    def rebound(self) -> frozenset[str]:
        """Names that it gives a value itself."""
        nodes = own_nodes(self.node)
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))

    @property
    def parameters(self) -> list[ast.arg]:
        """Its parameters by position and by keyword, without `*args` and `**kwargs`."""
        return [*self.node.args.posonlyargs, *self.node.args.args, *self.node.args.kwonlyargs]


class Class:
    """A class at the top of a module."""

    def __init__(self, node: ast.ClassDef, module: Module) -> None:
        self.node = node
        self.module = module
        self.name = node.name
        self.methods: dict[str, Function] = {}
        self.values: dict[str, ast.expr] = {}
        self.annotations: dict[str, ast.expr] = {}
        for item in node.body:
            self._add(item)

    def _add(self, item: ast.stmt) -> None:
        if isinstance(item, FunctionNode):
            self.methods.setdefault(item.name, Function(item, self.module, self))
        elif isinstance(item, ast.Assign) and len(item.targets) == 1 and isinstance(item.targets[0], ast.Name):
            self.values[item.targets[0].id] = item.value
        elif isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            self.annotations[item.target.id] = item.annotation
            if item.value is not None:
                self.values[item.target.id] = item.value

    @property
    def bases(self) -> list[str]:
        """Dotted names of its bases."""
        return [path_of(base) for base in self.node.bases]

    @cached_property
    def decorators(self) -> tuple[str, ...]:
        """Dotted names of its decorators, without arguments."""
        return tuple(path_of(item.func if isinstance(item, ast.Call) else item) for item in self.node.decorator_list)

    @cached_property
    def setters(self) -> dict[str, list[Function]]:
        """Attributes of `self` by name, each with the methods that set it, `__init__` first."""
        found: dict[str, list[Function]] = {}
        for method in sorted(self.methods.values(), key=lambda method: method.name != "__init__"):
            for name in _attributes_set(method.node):
                found.setdefault(name, []).append(method)
        return found


def _attributes_set(node: ast.AST) -> dict[str, None]:
    found: dict[str, None] = {}
    nodes = [node]
    for inner in nodes:  # grows as it goes
        nodes += children(inner)
        if (
            isinstance(inner, ast.Attribute)
            and isinstance(inner.ctx, ast.Store)
            and isinstance(inner.value, ast.Name)
            and inner.value.id == "self"
        ):
            found[inner.attr] = None
    return found


def _paths_in(node: ast.expr) -> set[str]:
    return {path_of(inner) for inner in ast.walk(node) if isinstance(inner, ast.Name | ast.Attribute)}


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Go through the nodes of a function, without those of functions and classes inside it."""
    stack = children(function)
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            stack += children(node)


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes right below a node but for its context: what `ast` has for it takes twice as long."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None) if name != "ctx" else None
        if isinstance(value, ast.AST):
            found.append(value)
        elif isinstance(value, list):
            found += [item for item in value if isinstance(item, ast.AST)]
    return found


def path_of(node: ast.AST) -> str:
    """Return an expression as a dotted path, calls and indexes passed over; what is no name is `?`, by itself ''."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Call):
            node = node.func
        elif isinstance(node, ast.Await):
            node = node.value
        elif isinstance(node, ast.Subscript):
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, str):
                parts.append(node.slice.value)
            node = node.value
        elif isinstance(node, ast.Name):
            return ".".join([node.id, *reversed(parts)])
        else:
            return ".".join(["?", *reversed(parts)]) if parts else ""


class Module:
    """A parsed file; `remembered` are expressions by place, for who wants to be sure of it later.

    Args:
        source: The file; or the code of a notebook, which has offsets of its own.

    Raises:
        UnparsedError: The running version of Python cannot parse it.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        self.path = source.path
        self._shift = len(_BOM) if source.text.startswith(_BOM) else 0
        self.tree = parsed(source.text[self._shift :])
        self.remembered: dict[tuple[int, int], ast.expr] = {}
        self._inner: dict[ast.AST, Function] = {}
        self.functions: dict[str, Function] = {}
        self.classes: dict[str, Class] = {}
        for item in _top_level(self.tree.body):
            if isinstance(item, FunctionNode):
                self.functions[item.name] = Function(item, self)
            elif isinstance(item, ast.ClassDef):
                self.classes[item.name] = Class(item, self)

    @cached_property
    def _lines(self) -> list[str]:
        return re.split(r"\r\n|\n|\r", self.source.text[self._shift :])

    def function(self, node: FunctionNode | ast.Lambda) -> Function:
        """Return a function that stands inside another, the same one for the same node."""
        if node not in self._inner:
            self._inner[node] = Function(node, self)
        return self._inner[node]

    def _offset(self, line: int, column: int) -> int:
        text = self._lines[line - 1]
        if not text.isascii():
            column = len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))
        shift = self._shift if line == 1 else 0
        return self.source.offset(line, column + 1) + shift

    def place(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        """Return the offsets of a node in the text."""
        end_line = node.end_lineno if node.end_lineno is not None else node.lineno
        end_column = node.end_col_offset if node.end_col_offset is not None else node.col_offset
        return self._offset(node.lineno, node.col_offset), self._offset(end_line, end_column)

    def text_of(self, node: ast.AST) -> str:
        """Return the text of a function, its decorators with it."""
        decorators = getattr(node, "decorator_list", [])
        first = min([getattr(node, "lineno", 1), *(item.lineno for item in decorators)])
        return "\n".join(self._lines[first - 1 : getattr(node, "end_lineno", first)])

    def sure_place(self, node: ast.expr) -> tuple[int, int]:
        """Return the offsets of an expression, though it stand in an f-string.

        Before Python 3.12 the places of what is nested in f-strings are not reliable: what stands there is read again,
        and where it is something else, the expression is looked for by its tokens.
        """
        start, end = self.place(node)
        if _same(self.source.text[start:end], node):
            return start, end
        words = _TOKEN.findall(ast.unparse(node))
        tokens = [r"['\"]+" if word in "'\"" else re.escape(word) for word in words]
        begin = self._offset(node.lineno, 0)
        pattern = re.compile(r"\s*".join(tokens))
        for match in pattern.finditer(self.source.text, begin, begin + 20_000):
            if _same(match[0], node):
                return match.span()
        return start, end


def _same(text: str, node: ast.expr) -> bool:
    try:
        return ast.dump(parsed(f"({text}\n)").body[0]) == ast.dump(ast.Expr(node))
    except (UnparsedError, RecursionError):
        return False


def parsed(text: str) -> ast.Module:
    """Return the tree of a text.

    Raises:
        UnparsedError: It is not Python, or not this version's.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escape sequences and the like are not ours to report
        try:
            return ast.parse(text)
        except SyntaxError as error:
            raise UnparsedError(_WHERE.sub("", error.msg), error.lineno or 0) from None
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            raise UnparsedError(str(error).split("\n")[0] or type(error).__name__) from None


def _top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Go through statements at the top of a module, those under conditions too."""
    for item in body:
        yield item
        if isinstance(item, ast.If | ast.Try | ast.With):
            yield from _top_level(item.body)
            yield from _top_level(getattr(item, "orelse", []))
            for handler in getattr(item, "handlers", []):
                yield from _top_level(handler.body)
