"""What functions return, and what their parameters are given."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.scripts import members
from prefixwise.analyzers.static.scripts.module import Binding, Module, owner_of_this
from prefixwise.analyzers.static.scripts.tree import FUNCTIONS, LOOPS, Node
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    Argument,
    Const,
    Fixed,
    Frame,
    Function,
    Instance,
    Items,
    Named,
    Place,
    Value,
    Via,
    choice,
    core,
    held,
)

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.evaluate import Evaluator

_DEEPEST = 3
"""How many calls within calls are followed."""
_CALLBACK_METHODS = frozenset({"map", "flatMap", "forEach", "filter", "find", "some", "every", "sort", "then"})
_MOST_CALLERS = 8
_MOST_LOOKED_AT = 64
_TEST = re.compile(r"(?:^|[/._-])(?:tests?|specs?|__tests__|__mocks__|fixtures|e2e)(?=[/._-])")


def invoke(
    evaluator: Evaluator, function: Function, arguments: tuple[Value, ...], place: Place, name: str = ""
) -> Value:
    """Return what a function returns for these arguments; its name alone where calls are nested too deeply."""
    depth = evaluator.nesting
    node = function.node
    if (depth >= _DEEPEST and name) or id(node) in evaluator.running:
        evaluator.cuts += 1
        return Named(name, place, called=True) if name else BLANK
    frame = Frame(function, arguments, depth)
    evaluator.running.add(id(node))
    evaluator.nesting += bool(name)
    try:
        found = choice(evaluator.value(function.module, value, frame) for value in node.returns())
    finally:
        evaluator.running.discard(id(node))
        evaluator.nesting -= bool(name)
    if function.held is not None:
        found = held(function.held, found)
    if not name or isinstance(core(found), Const | Fixed) or found is BLANK:
        return found
    return Via(found, place, f"returned by `{name}`")


def parameter(evaluator: Evaluator, module: Module, binding: Binding, frame: Frame | None) -> Value:
    """Return what a parameter is given: in this call, else wherever its function is called, else its name."""
    function = binding.scope
    inner = frame.of(function) if frame is not None else None
    place = module.place(binding.node)
    if inner is not None:
        value = _given(inner.arguments, binding.index)
        if value is None:
            return evaluator.value(module, binding.default, frame) if binding.default is not None else BLANK
        return members.taken(evaluator, value, binding, place)
    if id(binding) in evaluator.running:
        evaluator.cuts += 1
        return Named(binding.name, place)
    evaluator.running.add(id(binding))
    try:
        found = list(_from_callers(evaluator, module, binding))
    finally:
        evaluator.running.discard(id(binding))
    if binding.default is not None:
        found.append(evaluator.value(module, binding.default, None))
    return choice(found) if found else Named(binding.name, place)


def _given(arguments: tuple[Value, ...], index: int) -> Value | None:
    """Return an argument, of a rest parameter all that are left, None where there is none."""
    if index < 0:
        return Items(value.value() if isinstance(value, Argument) else value for value in arguments[-1 - index :])
    found = arguments[index] if index < len(arguments) else None
    return found.value() if isinstance(found, Argument) else found


def _from_callers(evaluator: Evaluator, module: Module, binding: Binding) -> Iterator[Value]:
    function = binding.scope
    element = _element_given(evaluator, module, binding)
    if element is not None:
        yield element
        return
    if evaluator.nesting >= _DEEPEST:
        evaluator.cuts += 1
        return
    evaluator.nesting += 1
    try:
        for where, call in _callers(evaluator, module, function):
            arguments = call.fields.get("arguments")
            nodes = arguments.children if arguments is not None and arguments.kind == "arguments" else []
            if any(node.kind == "spread_element" for node in nodes) or binding.index < 0:
                continue
            if binding.index < len(nodes):
                node = nodes[binding.index]
                value = evaluator.value(where, node, None)
                value = members.taken(evaluator, value, binding, module.place(binding.node))
                yield value if value is BLANK else Via(value, where.place(node), f"passed as `{binding.name}`")
    finally:
        evaluator.nesting -= 1


def _element_given(evaluator: Evaluator, module: Module, binding: Binding) -> Value | None:
    """Return what `list.map((item) => …)` gives its function; None for a function that is no such argument."""
    arguments = binding.scope.parent
    call = arguments.parent if arguments is not None and arguments.kind == "arguments" else None
    callee = call.fields["function"].bare() if call is not None and call.kind == "call_expression" else None
    if callee is None or callee.kind != "member_expression" or binding.index != 0:
        return None
    method = module.text(callee.fields["property"])
    if method not in _CALLBACK_METHODS:
        return None
    place = module.place(callee.fields["object"])
    value = evaluator.value(module, callee.fields["object"], None)
    value = value if method == "then" else members.element(evaluator, value, place)
    return members.taken(evaluator, value, binding, place)


def _callers(evaluator: Evaluator, module: Module, function: Node) -> list[tuple[Module, Node]]:
    """Return the first calls of a function, those in tests only where there are no others."""
    known = evaluator.callers
    if id(function) not in known:
        found = list(islice(_calls_of(evaluator, module, function), _MOST_LOOKED_AT))
        outside = [call for call in found if not _TEST.search(call[0].path)]
        known[id(function)] = (outside or found)[:_MOST_CALLERS]
    return known[id(function)]


def _calls_of(evaluator: Evaluator, module: Module, function: Node) -> Iterator[tuple[Module, Node]]:
    """Yield the calls of a function, in its module and those that import it."""
    owner = function.parent
    name = function.fields.get("name")
    if name is None and owner is not None and owner.kind in ("variable_declarator", "pair", "public_field_definition"):
        name = owner.fields.get("name") or owner.fields.get("key")
    if name is None:
        return
    text = module.text(name)
    if function.kind == "method_definition" or (
        owner is not None and owner.kind != "variable_declarator" and name.parent is owner
    ):
        yield from _calls_of_method(evaluator, module, function, text)
        return
    binding = module.binding(text, function)
    for call in module.calls.get(text, ()):
        callee = _callee(call)
        if callee.kind == "identifier" and module.binding(text, callee) is binding:
            yield module, call
    if binding is not None and binding.scope is module.tree.root:
        yield from _calls_elsewhere(evaluator, module, text)


def _callee(call: Node) -> Node:
    return (call.fields.get("function") or call.fields["constructor"]).bare()


def _calls_elsewhere(evaluator: Evaluator, module: Module, name: str) -> Iterator[tuple[Module, Node]]:
    names = [exported for exported, export in module.exports.items() if export.local == name]
    if not names:
        return
    for other in evaluator.program.importers(module):
        for exported in names:
            for call in (*other.calls.get(exported, ()), *_renamed(other, exported)):
                if evaluator.program.imported(other, _imported_from(other, _callee(call))) is module:
                    yield other, call


def _renamed(module: Module, exported: str) -> Iterator[Node]:
    for binding in module.scopes.get(id(module.tree.root), {}).values():
        if binding.kind == "import" and binding.source[1] == exported and binding.name != exported:
            yield from module.calls.get(binding.name, ())


def _imported_from(module: Module, callee: Node) -> str:
    base = callee
    while base.kind == "member_expression":
        base = base.fields["object"].bare()
    binding = module.binding(module.text(base), base) if base.kind == "identifier" else None
    return binding.source[0] if binding is not None and binding.kind == "import" else ""


def _calls_of_method(evaluator: Evaluator, module: Module, function: Node, name: str) -> Iterator[tuple[Module, Node]]:
    """Yield calls of a method: of a constructor by the name of its class, of others through `this` or an instance."""
    owner = owner_of_this(function) if function.kind != "method_definition" else function.parent
    if name == "constructor":
        class_name = owner.parent.fields.get("name") if owner is not None and owner.parent is not None else None
        if class_name is None:
            return
        for call in module.calls.get(module.text(class_name), ()):
            if call.kind == "new_expression":
                yield module, call
        yield from _calls_elsewhere(evaluator, module, module.text(class_name))
        return
    for call in module.calls.get(name, ()):
        callee = _callee(call)
        if callee.kind != "member_expression":
            continue
        receiver = callee.fields["object"].bare()
        if receiver.kind == "this":
            if owner_of_this(receiver) is owner:
                yield module, call
        elif isinstance(instance := core(evaluator.value(module, receiver, None)), Instance) and instance.node is owner:
            yield module, call


def looped(node: Node, *, up_to: Node | None = None) -> bool:
    """Say whether a node stands in a loop of its own function."""
    for outer in node.ancestors():
        if outer is up_to or outer.kind in FUNCTIONS:
            return False
        if outer.kind in LOOPS:
            return True
    return False
