"""What expressions are worth: by what their variables hold, their functions return, their parameters are given."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from prefixwise.analyzers.static.scripts import calls, fields, functions, members, variables
from prefixwise.analyzers.static.scripts.called import call_value
from prefixwise.analyzers.static.scripts.clocks import divided
from prefixwise.analyzers.static.scripts.module import Binding, Module, key_of, owner_of_this
from prefixwise.analyzers.static.scripts.program import Program
from prefixwise.analyzers.static.scripts.tree import FUNCTIONS, WRAPPERS, Node
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    FIXED,
    Argument,
    Class,
    Const,
    Frame,
    Function,
    Instance,
    Items,
    Moving,
    Named,
    Place,
    Record,
    Rest,
    Value,
    choice,
    core,
    cores,
    joined,
    plain_text,
    through,
)
from prefixwise.analyzers.static.volatile import VolatileKind

_DEEPEST = 80
_BUDGET = 20_000
_CHOOSING = frozenset({"||", "??", "&&"})
_ARITHMETIC = frozenset({"-", "*", "/", "%", "**", "|", "&", "^", "<<", ">>", ">>>"})


class Evaluator:
    """Evaluates expressions of a program; of each prompt it does so much and no more."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.memo: dict[int, Value] = {}
        self.running: set[int] = set()
        """Writes, functions and parameters that are being evaluated."""
        self.reading: set[tuple[int, str]] = set()
        """Fields that are being evaluated."""
        self.callers: dict[int, list[tuple[Module, Node]]] = {}
        """Calls of functions, where they have been looked for."""
        self.nesting = 0
        """How many calls of named functions are being evaluated."""
        self.sink: Node | None = None
        """The expression that is sent, when one is looked at."""
        self.cuts = 0
        """How often evaluation was cut short: in a circle, too deep, or too much; what rests on that is not kept."""
        self._depth = 0
        self._left = _BUDGET
        self._kinds: dict[str, Callable[[Module, Node, Frame | None], Value]] = {
            "string": self._string,
            "template_string": self._template,
            "number": self._number,
            "identifier": self._identifier,
            "shorthand_property_identifier": self._identifier,
            "member_expression": self._member,
            "subscript_expression": self._subscript,
            "call_expression": self._call,
            "new_expression": self._call,
            "binary_expression": self._binary,
            "ternary_expression": self._ternary,
            "array": self._array,
            "object": self._object,
            "assignment_expression": self._right,
            "augmented_assignment_expression": self._right,
            "update_expression": self._updated,
            "unary_expression": self._unary,
            "sequence_expression": self._last,
            "yield_expression": self._last,
            "this": self._this,
            "class": self._class,
        }

    def start(self, sink: Node) -> None:
        """Begin with another prompt."""
        self.sink = sink
        self._left = _BUDGET

    def value(self, module: Module, node: Node, frame: Frame | None = None) -> Value:
        """Return what an expression is worth in a call, or wherever its function is called from."""
        node = node.bare() if node.kind in WRAPPERS else node
        memo = self.memo if frame is None else frame.memo
        found = memo.get(id(node))
        if found is not None:
            return found
        if node.kind in FUNCTIONS:
            return Function(module, node, frame, self.this(module, node, frame))
        reader = self._kinds.get(node.kind)
        self._left -= 1
        if reader is None or self._depth > _DEEPEST or self._left < 0:
            self.cuts += reader is not None
            return BLANK
        before = self.cuts
        self._depth += 1
        try:
            found = reader(module, node, frame)
        finally:
            self._depth -= 1
        if self.cuts == before:
            memo[id(node)] = found
        return found

    def later(self, module: Module, node: Node, frame: Frame | None) -> Value:
        """Return an expression to be evaluated when it is asked for, as if that were now."""
        running, nesting = frozenset(self.running), self.nesting

        def evaluate() -> Value:
            now = self.running, self.nesting
            self.running, self.nesting = set(running), nesting
            try:
                return self.value(module, node, frame)
            finally:
                self.running, self.nesting = now

        return Argument(evaluate)

    def this(self, module: Module, node: Node, frame: Frame | None) -> Value | None:
        """Return the object whose `this` a node sees."""
        while frame is not None:
            if frame.this is not None:
                return frame.this
            frame = frame.outer
        owner = owner_of_this(node)
        if owner is None:
            return None
        if owner.kind == "class_body":
            return Instance(module, owner)
        return None

    def variable(self, module: Module, binding: Binding, at: Node, frame: Frame | None) -> Value:
        """Return what a name is worth where it is used."""
        return variables.variable(self, module, binding, at, frame)

    def field(self, instance: Instance, name: str, place: Place) -> Value:
        """Return a field, getter or method of an object of a class of the package."""
        return fields.field(self, instance, name, place)

    def invoke(self, function: Function, arguments: tuple[Value, ...], place: Place, name: str = "") -> Value:
        """Return what a function returns for these arguments."""
        return functions.invoke(self, function, arguments, place, name)

    def qualified(self, module: Module, node: Node, depth: int = 0) -> str | None:
        """Return where a name comes from, as `package:dotted.name`; None for what is of the package itself."""
        node = node.bare()
        if node.kind == "identifier":
            return self._qualified_name(module, node, depth)
        if node.kind == "member_expression":
            base = self.qualified(module, node.fields["object"], depth)
            if base is None:
                return None
            name = module.text(node.fields["property"])
            return base if name == "default" else f"{base}{'' if base.endswith(':') else '.'}{name}"
        if node.kind == "meta_property":
            return ":" + module.text(node)
        return None

    def _qualified_name(self, module: Module, node: Node, depth: int) -> str | None:
        name = module.text(node)
        binding = module.binding(name, node)
        if binding is None:
            return ":" + name
        if binding.kind == "import":
            if self.program.resolve(module.path, binding.source[0]) is not None:
                return None
            return calls.normal_name(binding.source[0], binding.source[1].split("."))
        if binding.kind != "variable" or binding.initial is None or binding.writes or depth > 2:
            return None
        initial = binding.initial.bare()
        if initial.kind == "call_expression" and module.text(initial.fields["function"]).endswith("promisify"):
            initial = next(iter(initial.fields["arguments"].children), initial)
        base = self.qualified(module, initial, depth + 1)
        if base is None or None in binding.path or not (binding.path or initial.kind != "identifier" or base):
            return None
        dotted = ".".join(map(str, binding.path))
        return f"{base}{'.' if dotted and not base.endswith(':') else ''}{dotted}"

    def _string(self, module: Module, node: Node, _: Frame | None) -> Value:
        return Const(module.text(node)[1:-1], Place(module, node.start + 1, node.end - 1))

    def _template(self, module: Module, node: Node, frame: Frame | None) -> Value:
        parts: list[Value] = []
        for child in node.children:
            if child.kind == "template_substitution":
                parts += [self.value(module, inner, frame) for inner in child.children[-1:]]
            else:
                parts.append(Const(module.text(child), module.place(child)))
        return joined(*parts) if parts else Const("")

    def _number(self, module: Module, node: Node, _: Frame | None) -> Value:
        return Const(module.text(node), module.place(node))

    def _identifier(self, module: Module, node: Node, frame: Frame | None) -> Value:
        name = module.text(node)
        binding = module.binding(name, node)
        if binding is not None:
            return self.variable(module, binding, node, frame)
        return BLANK if name in ("undefined", "NaN", "Infinity") else Named(name, module.place(node))

    def _member(self, module: Module, node: Node, frame: Frame | None) -> Value:
        name = self.qualified(module, node)
        found = calls.environment_variable(name) if name is not None else None
        if found is not None:
            return members.moving(found, module.place(node), module.text(node))
        value = self.value(module, node.fields["object"], frame)
        key = module.text(node.fields["property"])
        return members.member(self, value, key, module.place(node))

    def _subscript(self, module: Module, node: Node, frame: Frame | None) -> Value:
        value = self.value(module, node.fields["object"], frame)
        index = node.fields["index"]
        key = key_of(module, index)
        if key is not None:
            found = members.member(self, value, key, module.place(node))
            return members.widened(found, module.place(node.fields["object"].bare()), module.place(node))
        chosen = self.value(module, index, frame)
        drawn = next((one for one in cores(chosen) if isinstance(one, Moving)), None)
        if drawn is not None and drawn.kind is VolatileKind.IDENTIFIER:
            name = module.text(node.fields["object"])
            kind = VolatileKind.EXAMPLES if calls.is_examples(name) else VolatileKind.IDENTIFIER
            return drawn.but(kind=kind, place=module.place(node), name=name, clause="it is drawn at random")
        key = plain_text(chosen)
        return members.member(self, value, key, module.place(node))

    def _call(self, module: Module, node: Node, frame: Frame | None) -> Value:
        return call_value(self, module, node, frame)

    def _binary(self, module: Module, node: Node, frame: Frame | None) -> Value:
        operator = next(iter(node.tokens), "")
        if operator == "+":
            return joined(*(self.value(module, operand, frame) for operand in _operands(node)))
        left, right = node.fields["left"], node.fields["right"]
        if operator == "&&":
            return choice((self.value(module, right, frame), BLANK), module.place(left))
        if operator in _CHOOSING:
            return choice((self.value(module, left, frame), self.value(module, right, frame)))
        if operator in _ARITHMETIC:
            return self._arithmetic(module, node, frame)
        return BLANK

    def _arithmetic(self, module: Module, node: Node, frame: Frame | None) -> Value:
        """Return what moves in a number; a clock that is divided is coarser."""
        left = self.value(module, node.fields["left"], frame)
        right = self.value(module, node.fields["right"], frame)
        divisor = plain_text(right) or _product(module, node.fields["right"])

        def divide(value: Value) -> Value:
            clock = isinstance(value, Moving) and value.kind is VolatileKind.CLOCK and "/" in node.tokens
            return divided(value, divisor) if clock and isinstance(value, Moving) else value

        moves = [value for value in (through(left, divide), right) if not isinstance(core(value), Const)]
        return joined(*moves) if moves else FIXED

    def _ternary(self, module: Module, node: Node, frame: Frame | None) -> Value:
        options = (node.fields["consequence"], node.fields["alternative"])
        return choice((self.value(module, option, frame) for option in options), module.place(node.fields["condition"]))

    def _array(self, module: Module, node: Node, frame: Frame | None) -> Value:
        return Items(self._elements(module, node, frame))

    def _elements(self, module: Module, node: Node, frame: Frame | None) -> Iterator[Value]:
        for child in node.children:
            if child.kind == "spread_element":
                yield Rest(self.value(module, child.children[0], frame))
            else:
                yield self.value(module, child, frame)

    def _object(self, module: Module, node: Node, frame: Frame | None) -> Value:
        fields: dict[str, Value] = {}
        rest: list[Value] = []
        for child in node.children:
            if child.kind == "spread_element":
                rest.append(self.value(module, child.children[0], frame))
            elif child.kind == "shorthand_property_identifier":
                fields[module.text(child)] = self.value(module, child, frame)
            elif child.kind == "pair":
                key = key_of(module, child.fields["key"])
                fields[str(key) if key is not None else module.text(child.fields["key"])] = self.value(
                    module, child.fields["value"], frame
                )
            elif child.kind == "method_definition":
                function = Function(module, child, frame)
                name = str(key_of(module, child.fields["name"]))
                fields[name] = self.invoke(function, (), module.place(child)) if "get" in child.tokens else function
        return Record(fields, tuple(rest))

    def _right(self, module: Module, node: Node, frame: Frame | None) -> Value:
        return self.value(module, node.fields["right"], frame)

    def _updated(self, module: Module, node: Node, frame: Frame | None) -> Value:
        return self.value(module, node.fields["argument"], frame) if "argument" in node.fields else BLANK

    def _unary(self, module: Module, node: Node, frame: Frame | None) -> Value:
        kept = not {"!", "typeof", "void", "delete"} & set(node.tokens) and node.children
        value = self.value(module, node.children[-1], frame) if kept else BLANK
        return Const("-" + value.text, module.place(node)) if isinstance(value, Const) and "-" in node.tokens else value

    def _last(self, module: Module, node: Node, frame: Frame | None) -> Value:
        return self.value(module, node.children[-1], frame) if node.children else BLANK

    def _this(self, module: Module, node: Node, frame: Frame | None) -> Value:
        return self.this(module, node, frame) or BLANK

    def _class(self, module: Module, node: Node, _: Frame | None) -> Value:
        return Class(module, node.fields["body"])


def _operands(node: Node) -> list[Node]:
    """Return the operands of `a + b + c`, which may be very many, in order."""
    found: list[Node] = []
    while node.kind == "binary_expression" and "+" in node.tokens:
        found.append(node.fields["right"])
        node = node.fields["left"].bare()
    return [node, *reversed(found)]


def _product(module: Module, node: Node) -> str:
    """Return the product in `1000 * 60 * 60`, '' for anything else."""
    factors = module.text(node.bare()).replace("_", "").split("*")
    if not all(factor.strip().isdecimal() for factor in factors):
        return ""
    product = 1
    for factor in factors[:8]:
        product *= int(factor[:20])
    return str(product)
