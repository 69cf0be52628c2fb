"""What variables hold where they are used: what they are first, and what is written to them up to there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.scripts import members, parallel
from prefixwise.analyzers.static.scripts.clocks import SETTERS, to_unit
from prefixwise.analyzers.static.scripts.functions import looped, parameter
from prefixwise.analyzers.static.scripts.module import Binding, Module, Write
from prefixwise.analyzers.static.scripts.tree import FUNCTIONS, LOOPS, Node
from prefixwise.analyzers.static.scripts.values import (
    BLANK,
    Choice,
    Class,
    Const,
    Fixed,
    Frame,
    Function,
    Items,
    Keyed,
    Moving,
    Named,
    Namespace,
    Place,
    Record,
    Rest,
    Value,
    Via,
    choice,
    core,
    held,
    joined,
    through,
)
from prefixwise.analyzers.static.scripts.windows import slides
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.evaluate import Evaluator

_BRANCHES = frozenset(
    {"if_statement", "else_clause", "switch_case", "switch_default", "catch_clause", "ternary_expression"} | LOOPS
)
_QUANTITY = re.compile(r"(?i)(?:\btotal|[._])?(?:tokens|cost|usd|spent)$")
_LAZY = frozenset({"??=", "||="})


def variable(evaluator: Evaluator, module: Module, binding: Binding, at: Node, frame: Frame | None) -> Value:
    """Return what a name holds where `at` uses it."""
    if binding.kind == "import":
        return _imported(evaluator, module, binding)
    if binding.kind == "caught":
        return BLANK
    if binding.kind == "class" and binding.initial is not None:
        return Class(module, binding.initial.fields["body"])
    home = binding.scope if binding.scope.kind in FUNCTIONS else binding.scope.function
    frame = frame.of(home) if frame is not None and home is not None else None
    if binding.kind == "function" and binding.initial is not None:
        return Function(module, binding.initial, frame)
    value = _first(evaluator, module, binding, frame)
    place = module.place(at)
    counter = counted(evaluator, module, binding.writes, place, binding.name, binding)
    if counter is not None:
        return counter
    signs: list[Value] = []
    for write in binding.writes:
        if not _is_before(write.node, at):
            continue
        if id(write.node) in evaluator.running:
            evaluator.cuts += 1
        else:
            value = _written(evaluator, module, binding, value, write, frame, at)
            signs = [] if write.operation in ("sort", "=") and not write.path else signs
            signs += parallel.signs(evaluator, module, write, binding.scope, frame, place, binding.name)
    plain = isinstance(core(value), Const | Fixed | Function | Class) or value is BLANK
    if binding.kind != "parameter" and not plain:
        value = Via(value, module.place(binding.node), f"assigned to `{binding.name}`")
    return Items((Rest(value), signs[0])) if signs else value


def _first(evaluator: Evaluator, module: Module, binding: Binding, frame: Frame | None) -> Value:
    if binding.kind == "parameter":
        return parameter(evaluator, module, binding, frame)
    if binding.initial is None:
        return BLANK
    value = evaluator.value(module, binding.initial, frame)
    place = module.place(binding.node)
    if binding.kind == "element":
        value = members.element(evaluator, value, place)
    value = members.taken(evaluator, value, binding, place)
    if binding.default is not None:
        value = choice((value, evaluator.value(module, binding.default, frame)))
    return _as_kept(value, binding.initial)


def _as_kept(value: Value, node: Node) -> Value:
    """Return what is computed when a module is loaded as kept as long as the process."""
    return held(Frequency.PROCESS, value) if node.function is None and not looped(node) else value


def _imported(evaluator: Evaluator, module: Module, binding: Binding) -> Value:
    place = module.place(binding.node)
    other = evaluator.program.imported(module, binding.source[0])
    if other is None:
        return Named(binding.name, place)
    if binding.source[1] == "*":
        return Namespace(other)
    return members.exported(evaluator, Namespace(other), binding.source[1], place)


def _is_before(write: Node, at: Node) -> bool:
    """Say whether a write may have happened where a variable is used: before it, around a loop, in another function."""
    if write.within(at) or at.within(write):
        return at.kind == "program"
    if write.end <= at.start or write.function is not at.function:
        return True
    return any(outer.kind in LOOPS and at.within(outer) for outer in write.ancestors())


def _written(
    evaluator: Evaluator, module: Module, binding: Binding, value: Value, write: Write, frame: Frame | None, at: Node
) -> Value:
    place = module.place(at)
    after = applied(evaluator, module, value, write, frame, place)
    outer = binding.scope.kind == "program"
    if outer and write.operation in ("=", *_LAZY) and is_kept(module, write, binding.name):
        after = held(Frequency.PROCESS, after)
    elif outer:
        after = _as_kept(after, write.node)
    if write.operation == "=" and not write.path and not _always(write.node, at):
        return choice((value, after))
    return after


def _always(write: Node, at: Node) -> bool:
    """Say whether a write happens whenever the variable is used afterwards."""
    for outer in write.ancestors():
        if at.within(outer):
            return True
        if outer.kind in _BRANCHES or outer is write.function:
            return False
    return True


def is_kept(module: Module, write: Write, name: str) -> bool:
    """Say whether a variable is set once only: `x ??= …`, `if (!x) x = …`, `if (x) return x; x = …`."""
    if write.operation in _LAZY:
        return True
    unset = re.compile(rf"!\s*(?:this\.#?)?{re.escape(name)}\b|\b{re.escape(name)}\s*={{2,3}}\s*(?:null|undefined)")
    for outer in write.node.ancestors():
        if outer.kind == "if_statement" and unset.search(module.text(outer.fields["condition"])):
            return True
    function = write.node.function
    if function is None:
        return False
    before = module.tree.source.text[function.start : write.node.start]
    return re.search(rf"if\s*\(\s*(?:this\.#?)?{re.escape(name)}\s*\)\s*\{{?\s*return\b", before) is not None


def counted(
    evaluator: Evaluator,
    module: Module,
    writes: Iterable[Write],
    place: Place,
    name: str,
    binding: Binding | None = None,
) -> Value | None:
    """Return a counter for a variable that is counted up from call to call, None for any other."""
    for write in writes:
        steps = write.operation == "++" or (write.operation in ("+=", "-=") and _is_number(module, write.operands[0]))
        if not steps or write.path:
            continue
        if binding is not None and not _outlives(evaluator, binding, write):
            continue
        line = module.tree.source.position(write.node.start)[0]
        found = Judgement(VolatileKind.COUNTER, Frequency.CALL, because=f"it is counted on in line {line}")
        return members.moving(found, place, name)
    return None


def _outlives(evaluator: Evaluator, binding: Binding, write: Write) -> bool:
    """Say whether a counter goes on from prompt to prompt: kept by the module, or counted in the loop that sends."""
    if binding.scope.kind == "for_statement":
        return False
    if binding.scope.kind == "program" and write.node.function is not None:
        return True
    sink = evaluator.sink
    return sink is not None and any(
        outer.kind in LOOPS and sink.within(outer) and binding.scope is not outer and not binding.node.within(outer)
        for outer in write.node.ancestors()
    )


def _is_number(module: Module, node: Node) -> bool:
    node = node.bare()
    return node.kind == "number" or bool(_QUANTITY.search(module.text(node)))


def applied(
    evaluator: Evaluator, module: Module, value: Value, write: Write, frame: Frame | None, place: Place
) -> Value:
    """Return a value after something was done to it."""
    evaluator.running.add(id(write.node))
    try:
        operands = [_operand(evaluator, module, node, frame) for node in write.operands]
    finally:
        evaluator.running.discard(id(write.node))
    if write.operation in ("push", "unshift"):
        operands = [_perhaps(module, write, operand) for operand in operands]
    if write.path:
        return _inside(value, write, operands, place)
    return _applied(value, write.operation, operands, module, write, place)


def _operand(evaluator: Evaluator, module: Module, node: Node, frame: Frame | None) -> Value:
    if node.kind == "spread_element":
        return Rest(evaluator.value(module, node.children[0], frame))
    return evaluator.value(module, node, frame)


def _perhaps(module: Module, write: Write, operand: Value) -> Value:
    """Return what is put into a list under a condition as something that may be there or not."""
    for outer in write.node.ancestors():
        if outer.kind == "if_statement":
            return Choice((operand, BLANK), module.place(outer.fields["condition"]))
        if outer.kind in FUNCTIONS or outer.kind in LOOPS:
            break
    return operand


def _applied(
    value: Value, operation: str, operands: Sequence[Value], module: Module, write: Write, place: Place
) -> Value:
    if operation in ("=", *_LAZY):
        return operands[0]
    if operation == "+=":
        return joined(value, operands[0])
    if operation in ("push", "append", "add"):
        return Items((Rest(value), *operands))
    if operation == "set":
        return Items((Rest(value), *operands[-1:]))
    if operation == "unshift":
        return Items((*operands, Rest(value)))
    if operation == "sort":
        return members.shuffled_or_sorted(value, module, write.operands, place)
    if operation in SETTERS:
        return through(value, lambda inner: to_unit(inner, SETTERS[operation]) if isinstance(inner, Moving) else inner)
    if operation in ("splice", "shift") and (window := slides(module, value, write)) is not None:
        return Items((window, Rest(value)))
    return value


def _inside(value: Value, write: Write, operands: Sequence[Value], place: Place) -> Value:
    """Return an object or list after something was done to a part of it."""
    key, rest = write.path[0], write.path[1:]

    def of(inner: Value) -> Value:
        if not isinstance(inner, Record) or not isinstance(key, str):
            part = _applied(BLANK, write.operation, operands, place.module, write, place)
            return (
                Keyed((Rest(inner), part))
                if not rest and inner is not BLANK and not isinstance(inner, Named)
                else inner
            )
        before = inner.fields.get(key, BLANK)
        deeper = write._replace(path=rest)
        after = (
            _inside(before, deeper, operands, place)
            if rest
            else _applied(before, write.operation, operands, place.module, write, place)
        )
        return Record({**inner.fields, key: after}, inner.rest)

    return through(value, of)
