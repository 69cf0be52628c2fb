"""One module: its names, what is written to them, what it imports and exports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.scripts.clocks import SETTERS
from prefixwise.analyzers.static.scripts.tree import FUNCTIONS, Node, Tree
from prefixwise.analyzers.static.scripts.values import Place

Key = str | int | None
"""One step of a path into a value: a key, a position, None for one that is computed or for any element."""

_SCOPES = FUNCTIONS | {
    "program",
    "statement_block",
    "for_statement",
    "for_in_statement",
    "catch_clause",
    "switch_body",
    "class_body",
}
_LOADERS = frozenset({"require", "import"})
_MUTATING = frozenset({"push", "unshift", "set", "add", "sort", "splice", "shift", "append", *SETTERS})


class Write(NamedTuple):
    """Something done to a variable or a field: `=`, `+=`, `++`, or a method that changes it."""

    node: Node
    operation: str
    path: tuple[Key, ...]
    operands: tuple[Node, ...]


class Binding:
    """A name in a scope.

    Attributes:
        kind: `variable`, `element` (of what a loop runs over), `parameter`, `function`, `class`, `import`, `caught`.
        name, node: The name and where it is declared.
        scope: The node in which it can be seen.
        initial: What it is first, None where nothing; `path`: the way from there to it, by destructuring.
        default: What it is where that is undefined.
        index: Of parameters: which one, negative for the rest of them.
        source: Of imports: the module and the name there, '*' for all of it.
    """

    __slots__ = ("default", "index", "initial", "kind", "name", "node", "path", "scope", "source", "writes")

    def __init__(self, kind: str, name: str, node: Node, scope: Node) -> None:
        self.kind = kind
        self.name = name
        self.node = node
        self.scope = scope
        self.initial: Node | None = None
        self.path: tuple[Key, ...] = ()
        self.default: Node | None = None
        self.index = 0
        self.source = ("", "")
        self.writes: list[Write] = []


class Export(NamedTuple):
    """What a module offers under a name: a name or an expression of its own, or a name of another module."""

    node: Node | None = None
    local: str = ""
    module: str = ""


class Module:
    """A parsed module."""

    def __init__(self, path: str, tree: Tree) -> None:
        self.path = path
        self.tree = tree
        self.scopes: dict[int, dict[str, Binding]] = {}
        self.fields: dict[tuple[int, str], list[Write]] = defaultdict(list)
        """Writes to fields of `this`, by class or object."""
        self.exports: dict[str, Export] = {}
        self.passed_on: list[str] = []
        """Modules of which everything is exported."""
        self.calls: dict[str, list[Node]] = defaultdict(list)
        """Calls by the last name of what is called."""
        _Declarations(self).read()
        _read_writes(self)

    def text(self, node: Node) -> str:
        """Return what stands in the source."""
        return self.tree.text(node)

    def place(self, node: Node) -> Place:
        """Return the stretch of a node."""
        return Place(self, node.start, node.end)

    def binding(self, name: str, at: Node) -> Binding | None:
        """Return what a name means at a node, None for a global."""
        node: Node | None = at
        while node is not None:
            found = self.scopes.get(id(node))
            if found is not None and name in found:
                return found[name]
            node = node.parent
        return None


def key_of(module: Module, node: Node) -> Key:
    """Return the key that a property name, index or string stands for, None for one that is computed."""
    if node.kind in ("property_identifier", "private_property_identifier", "shorthand_property_identifier"):
        return module.text(node)
    if node.kind == "string":
        return module.text(node)[1:-1]
    if node.kind == "number":
        text = module.text(node)
        return int(text) if text.isdecimal() else text
    if node.kind == "computed_property_name" and node.children:
        return key_of(module, node.children[0]) if node.children[0].kind in ("string", "number") else None
    return None


def reach(module: Module, node: Node) -> tuple[Node, tuple[Key, ...]]:
    """Return the base of `base.key[key]` and the keys."""
    keys: list[Key] = []
    node = node.bare()
    while node.kind in ("member_expression", "subscript_expression"):
        key = node.fields.get("property") or node.fields.get("index")
        keys.append(key_of(module, key) if key is not None else None)
        node = node.fields["object"].bare()
    return node, tuple(reversed(keys))


def owner_of_this(node: Node) -> Node | None:
    """Return the class body or object whose `this` a node sees."""
    for outer in node.ancestors():
        if outer.kind == "class_body":
            return outer
        if outer.kind == "method_definition":
            return outer.parent
        if outer.kind in FUNCTIONS and outer.kind != "arrow_function":
            pair = outer.parent
            return pair.parent if pair is not None and pair.kind == "pair" else None
    return None


class _Declarations:
    """Finds what a module declares, imports and exports."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.readers = {
            "variable_declarator": self._variable,
            "for_in_statement": self._loop,
            "function_declaration": self._named,
            "generator_function_declaration": self._named,
            "class_declaration": self._named,
            "abstract_class_declaration": self._named,
            "formal_parameters": self._parameters,
            "arrow_function": self._single_parameter,
            "catch_clause": self._caught,
            "import_statement": self._imported,
            "export_statement": self._exported,
            "assignment_expression": self._common_export,
            "call_expression": self._called,
            "new_expression": self._called,
        }

    def read(self) -> None:
        for node in self.module.tree.nodes:
            reader = self.readers.get(node.kind)
            if reader is not None:
                reader(node)

    def _scope(self, node: Node, *, hoisted: bool = False) -> Node:
        kinds = FUNCTIONS | {"program"} if hoisted else _SCOPES
        return next((outer for outer in node.ancestors() if outer.kind in kinds), self.module.tree.root)

    def _bind(self, kind: str, node: Node, scope: Node) -> Binding:
        name = self.module.text(node)
        binding = Binding(kind, name, node, scope)
        self.module.scopes.setdefault(id(scope), {}).setdefault(name, binding)
        return binding

    def _names(self, pattern: Node, path: tuple[Key, ...] = ()) -> Iterator[tuple[Node, tuple[Key, ...], Node | None]]:
        """Yield the names of a pattern, each with the way to it and its default."""
        if pattern.kind in ("identifier", "shorthand_property_identifier_pattern"):
            more = (self.module.text(pattern),) if pattern.kind != "identifier" else ()
            yield pattern, path + more, None
        elif pattern.kind in ("assignment_pattern", "object_assignment_pattern"):
            for name, way, _ in self._names(pattern.fields["left"], path):
                yield name, way, pattern.fields.get("right")
        elif pattern.kind == "pair_pattern":
            key = key_of(self.module, pattern.fields["key"])
            yield from self._names(pattern.fields["value"], (*path, key))
        elif pattern.kind == "array_pattern":
            for index, inner in enumerate(pattern.children):
                yield from self._names(inner, (*path, index))
        elif pattern.kind == "object_pattern":
            for inner in pattern.children:
                yield from self._names(inner, path)
        elif pattern.kind == "rest_pattern" and pattern.children:
            yield from self._names(pattern.children[0], path)

    def _variable(self, node: Node) -> None:
        parent = node.parent
        hoisted = parent is not None and parent.kind == "variable_declaration"
        required = self._required(node.fields.get("value"))
        for name, path, default in self._names(node.fields["name"]):
            binding = self._bind("import" if required else "variable", name, self._scope(node, hoisted=hoisted))
            binding.initial, binding.path, binding.default = node.fields.get("value"), path, default
            if required:
                binding.source = (required, ".".join(map(str, path)) or "*")

    def _required(self, value: Node | None) -> str:
        """Return the module in `require("module")` and `await import("module")`, '' for anything else."""
        call = value.bare() if value is not None else None
        if call is None or call.kind != "call_expression" or self.module.text(call.fields["function"]) not in _LOADERS:
            return ""
        arguments = call.fields["arguments"].children
        return self.module.text(arguments[0])[1:-1] if arguments and arguments[0].kind == "string" else ""

    def _loop(self, node: Node) -> None:
        if {"const", "let", "var"} & set(node.tokens) and "left" in node.fields:
            for name, path, default in self._names(node.fields["left"]):
                binding = self._bind("element", name, node)
                binding.initial, binding.path, binding.default = node.fields.get("right"), path, default

    def _named(self, node: Node) -> None:
        if "name" in node.fields:
            binding = self._bind(
                "function" if node.kind in FUNCTIONS else "class", node.fields["name"], self._scope(node)
            )
            binding.initial = node

    def _parameters(self, node: Node) -> None:
        function = node.parent
        if function is None or function.kind not in FUNCTIONS:
            return
        children = [child for child in node.children if child.fields.get("pattern", child).kind != "this"]
        for index, child in enumerate(children):
            pattern = child.fields.get("pattern", child)
            rest = pattern.kind == "rest_pattern"
            for name, path, default in self._names(pattern):
                binding = self._bind("parameter", name, function)
                binding.path, binding.index = path, -1 - index if rest else index
                binding.default = default if path else child.fields.get("value", default)

    def _single_parameter(self, node: Node) -> None:
        if "parameter" in node.fields:
            self._bind("parameter", node.fields["parameter"], node)

    def _caught(self, node: Node) -> None:
        if "parameter" in node.fields:
            for name, _, _ in self._names(node.fields["parameter"]):
                self._bind("caught", name, node)

    def _imported(self, node: Node) -> None:
        if "source" not in node.fields or "type" in node.tokens:
            return
        source = self.module.text(node.fields["source"])[1:-1]
        clause = next((child for child in node.children if child.kind == "import_clause"), None)
        for part in clause.children if clause is not None else ():
            if part.kind == "identifier":
                self._import(part, source, "default")
            elif part.kind == "namespace_import":
                self._import(part.children[-1], source, "*")
            for item in part.children if part.kind == "named_imports" else ():
                name = item.fields.get("name")
                if name is not None:
                    self._import(item.fields.get("alias", name), source, self.module.text(name))

    def _import(self, node: Node, module: str, name: str) -> None:
        self._bind("import", node, self.module.tree.root).source = (module, name)

    def _exported(self, node: Node) -> None:
        exports, text = self.module.exports, self.module.text
        source = text(node.fields["source"])[1:-1] if "source" in node.fields else ""
        declared = node.fields.get("declaration")
        if "default" in node.tokens:
            exports["default"] = Export(node=declared or node.fields.get("value"))
        elif declared is not None:
            for inner in declared.children if declared.kind.endswith("_declaration") else ():
                if inner.kind == "variable_declarator":
                    for name, _, _ in self._names(inner.fields["name"]):
                        exports[text(name)] = Export(local=text(name))
            if "name" in declared.fields:
                exports[text(declared.fields["name"])] = Export(local=text(declared.fields["name"]))
        elif source and not node.children[:-1]:
            self.module.passed_on.append(source)
        for part in node.children:
            if part.kind == "namespace_export":
                exports[text(part.children[-1])] = Export(local="*", module=source)
            for item in part.children if part.kind == "export_clause" else ():
                local = text(item.fields["name"])
                exports[text(item.fields.get("alias", item.fields["name"]))] = Export(local=local, module=source)

    def _common_export(self, node: Node) -> None:
        """`module.exports = …` and `exports.name = …`."""
        base, keys = reach(self.module, node.fields["left"])
        if base.kind != "identifier" or "right" not in node.fields:
            return
        keys = (self.module.text(base), *keys)
        if keys[:2] == ("module", "exports"):
            keys = keys[1:]
        if keys[:1] == ("exports",) and len(keys) <= 2:
            name = keys[1] if len(keys) == 2 else "default"
            self.module.exports[str(name)] = Export(node=node.fields["right"])

    def _called(self, node: Node) -> None:
        callee = node.fields.get("function") or node.fields.get("constructor")
        if callee is not None:
            last = callee.bare()
            last = last.fields.get("property", last)
            self.module.calls[self.module.text(last) if last.kind.endswith("identifier") else ""].append(node)


def _read_writes(module: Module) -> None:
    for node in module.tree.nodes:
        write = _write(module, node)
        if write is None:
            continue
        target, operation, operands = write
        base, keys = reach(module, target)
        if base.kind == "identifier":
            binding = module.binding(module.text(base), base)
            if binding is not None:
                binding.writes.append(Write(node, operation, keys, operands))
        elif base.kind == "this" and keys and isinstance(keys[0], str):
            owner = owner_of_this(node)
            if owner is not None:
                module.fields[(id(owner), keys[0])].append(Write(node, operation, keys[1:], operands))


def _write(module: Module, node: Node) -> tuple[Node, str, tuple[Node, ...]] | None:
    """Return what is written to, how and with what, None for a node that writes nothing."""
    if node.kind == "assignment_expression":
        return node.fields["left"], "=", (node.fields["right"],)
    if node.kind == "augmented_assignment_expression":
        operator = next((token for token in node.tokens if token.endswith("=")), "+=")
        return node.fields["left"], operator, (node.fields["right"],)
    if node.kind == "update_expression" and "argument" in node.fields:
        return node.fields["argument"], "++", ()
    if node.kind == "call_expression":
        callee = node.fields["function"].bare()
        arguments = node.fields.get("arguments")
        if callee.kind == "member_expression" and arguments is not None and arguments.kind == "arguments":
            method = module.text(callee.fields["property"])
            if method in _MUTATING:
                return callee.fields["object"], method, tuple(arguments.children)
    return None
