"""What statements do to the names of a frame."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.python import sinks
from prefixwise.analyzers.static.python.annotations import annotated
from prefixwise.analyzers.static.python.branches import decided
from prefixwise.analyzers.static.python.expressions import taken_apart
from prefixwise.analyzers.static.python.frames import (
    EXECUTORS,
    Closure,
    Dotted,
    Frame,
    Global,
    Submodule,
    merged,
    stepped,
)
from prefixwise.analyzers.static.python.identities import of_what_is_called
from prefixwise.analyzers.static.python.loops import element_of
from prefixwise.analyzers.static.python.modules import Class, FunctionNode, path_of
from prefixwise.analyzers.static.python.mutations import extended, key_of, put, set_key, without_first
from prefixwise.analyzers.static.python.pieces import Element, Moving, Piece
from prefixwise.analyzers.static.python.printing import added, is_number
from prefixwise.analyzers.static.python.values import UNKNOWN, Item, Value, mapped, unknown
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind

Handler = TypeVar("Handler", bound=Callable[..., bool])
_COUNTED = Judgement(VolatileKind.COUNTER, Frequency.CALL, because="it is counted up")


def _executes(*kinds: type[ast.AST]) -> Callable[[Handler], Handler]:
    """Register what executes some kinds of statement."""

    def register(function: Handler) -> Handler:
        EXECUTORS.update(dict.fromkeys(kinds, function))
        return function

    return register


@_executes(ast.Expr)
def _expr(frame: Frame, node: ast.Expr) -> bool:
    frame.value(node.value)
    return True


@_executes(ast.Assign)
def _assign(frame: Frame, node: ast.Assign) -> bool:
    value = frame.value(node.value)
    for target in node.targets:
        assign(frame, target, value)
    return True


@_executes(ast.AnnAssign)
def _ann_assign(frame: Frame, node: ast.AnnAssign) -> bool:
    value = frame.value(node.value) if node.value is not None else UNKNOWN
    typed = annotated(frame, node.annotation)
    if typed is not None and (value.is_open or (typed.marks and not value.marks and not value.items)):
        value = typed
    if node.value is not None or typed is not None:
        assign(frame, node.target, value)
    return True


def assign(frame: Frame, target: ast.expr, value: Value) -> None:
    """Let the target of an assignment hold a value."""
    if isinstance(target, ast.Name | ast.Attribute):
        value = of_what_is_called(value, path_of(target))
    if isinstance(target, ast.Name):
        value = stepped(frame, value, target, f"assigned to `{target.id}`")
        frame.bind(target.id, value)
        frame.changed.discard(target.id)
        sinks.at_name(frame, target, target.id, value)
    elif isinstance(target, ast.Attribute):
        value = stepped(frame, value, target, f"assigned to `{path_of(target)}`")
        put(frame, target, value)
        sinks.at_name(frame, target, target.attr, value)
    elif isinstance(target, ast.Subscript):
        _assign_key(frame, target, value)
    elif isinstance(target, ast.Tuple | ast.List):
        for inner, member in zip(target.elts, taken_apart(value, len(target.elts)), strict=True):
            assign(frame, inner.value if isinstance(inner, ast.Starred) else inner, member)


def _assign_key(frame: Frame, target: ast.Subscript, value: Value) -> None:
    held = frame.value(target.value)
    key = target.slice.value if isinstance(target.slice, ast.Constant) else None
    if isinstance(key, str):
        sinks.at_name(frame, target, key, value)
    if held.items is not None:
        if isinstance(target.slice, ast.Slice):
            put(frame, target.value, extended(frame, target.value, Value(items=()), value, target))
        elif isinstance(key, int) and -len(held.items) <= key < len(held.items):
            items = list(held.items)
            items[key] = Item(value)
            put(frame, target.value, Value(items=tuple(items), marks=held.marks))
        return
    put(frame, target.value, set_key(frame, target, held, value))


@_executes(ast.AugAssign)
def _aug_assign(frame: Frame, node: ast.AugAssign) -> bool:
    before, given = frame.value(node.target), frame.value(node.value)
    if not isinstance(node.op, ast.Add):
        return _other_aug_assign(frame, node, before, given)
    if is_number(given) and not before.items:
        if isinstance(node.target, ast.Attribute):
            put(frame, node.target, _counter(frame, node.target))
        return True
    if is_number(before):
        put(frame, node.target, UNKNOWN)
        return True
    if before.items is not None:
        put(frame, node.target, extended(frame, node.target, before, given, node.value))
        return True
    given = stepped(frame, given, node, f"added to `{path_of(node.target)}`")
    value = added(frame, before, node.target, given, node.value)
    value = _kept_order(frame, key_of(node.target), value)
    put(frame, node.target, value)
    if isinstance(node.target, ast.Name):
        sinks.at_name(frame, node.target, node.target.id, value)
    return True


def _kept_order(frame: Frame, name: str, value: Value) -> Value:
    """Return a text in which elements that were gathered tell that their order is not fixed."""
    inner = frozenset(frame.loops[frame.depths.get(name, 0) :])

    def gather(piece: Piece) -> Piece | None:
        if not isinstance(piece, Element) or piece.loop not in inner:
            return piece
        return None if piece.counter else piece.moving

    return mapped(value, gather)


def _counter(frame: Frame, node: ast.Attribute) -> Value:
    return Value(pieces=(Moving(frame.origin(node, _COUNTED, path_of(node)), (), frame.loops),))


def _other_aug_assign(frame: Frame, node: ast.AugAssign, before: Value, given: Value) -> bool:
    if isinstance(node.op, ast.BitOr) and (before.marks or given.marks or before.fields is not None):
        fields = (*(before.fields or ()), *(given.fields or ())) if before.fields is not None else None
        put(frame, node.target, Value(items=before.items, fields=fields, marks=before.marks or given.marks))
    elif not before.marks:
        put(frame, node.target, UNKNOWN)
    return True


@_executes(ast.Return)
def _return(frame: Frame, node: ast.Return) -> bool:
    if node.value is not None:
        value = frame.value(node.value)
        if frame.function is not None:
            value = stepped(frame, value, node.value, f"returned by `{frame.function.name}()`")
        value = mapped(value, lambda piece: None if isinstance(piece, Element) else piece)
        frame.returns.append(value)
        sinks.at_return(frame, node.value, value)
    return False


@_executes(ast.Raise)
def _raise(frame: Frame, node: ast.Raise) -> bool:  # noqa: ARG001
    return False


@_executes(ast.Break, ast.Continue)
def _leave(frame: Frame, node: ast.Break | ast.Continue) -> bool:  # noqa: ARG001
    frame.exits.append(frame.env)
    return False


@_executes(ast.Delete)
def _delete(frame: Frame, node: ast.Delete) -> bool:
    for target in node.targets:
        if isinstance(target, ast.Subscript) and _is_first(target.slice):
            now = without_first(frame, target, frame.value(target.value))
            if now is not None:
                put(frame, target.value, now)
    return True


def _is_first(index: ast.expr) -> bool:
    if isinstance(index, ast.Slice):
        return index.lower is None or (isinstance(index.lower, ast.Constant) and index.lower.value in (0, 1))
    return isinstance(index, ast.Constant) and index.value in (0, 1)


def _both(frame: Frame, first: Callable[[], bool], second: Callable[[], bool]) -> bool:
    """Look at two ways from here, and go on with what both may have left."""
    before, changed = frame.env, set(frame.changed)
    frame.env = dict(before)
    on_first = first()
    after_first, frame.env = frame.env, dict(before)
    on_second = second()
    if on_first and on_second:
        frame.env = merged(after_first, frame.env)
    elif on_first:
        frame.env = after_first
    frame.changed |= changed
    return on_first or on_second


@_executes(ast.If)
def _if(frame: Frame, node: ast.If) -> bool:
    frame.value(node.test)

    def then() -> bool:
        whens = frame.whens
        frame.whens = (*whens, node.test)
        try:
            return frame.run(node.body)
        finally:
            frame.whens = whens

    known = decided(frame, node.test)
    if known is not None:
        return then() if known else frame.run(node.orelse)
    return _both(frame, then, lambda: frame.run(node.orelse))


@_executes(ast.For, ast.AsyncFor)
def _for(frame: Frame, node: ast.For | ast.AsyncFor) -> bool:
    iterable = frame.value(node.iter)

    def body(loop: int) -> None:
        assign(frame, node.target, element_of(frame, iterable, node.iter, loop))
        frame.run(node.body)

    _loop(frame, body)
    return frame.run(node.orelse)


@_executes(ast.While)
def _while(frame: Frame, node: ast.While) -> bool:
    frame.value(node.test)

    def body(loop: int) -> None:  # noqa: ARG001
        whens = frame.whens
        frame.whens = (*whens, node.test)
        try:
            frame.run(node.body)
        finally:
            frame.whens = whens

    _loop(frame, body)
    return frame.run(node.orelse)


def _loop(frame: Frame, body: Callable[[int], None]) -> None:
    loops, loop = frame.loops, frame.world.new_loop()
    exits, frame.exits = frame.exits, []

    def once() -> bool:
        frame.loops = (*loops, loop)
        try:
            body(loop)
        finally:
            frame.loops = loops
        for end in frame.exits:
            frame.env = merged(frame.env, end)
        frame.exits = exits
        return True

    _both(frame, once, lambda: True)


@_executes(ast.Try, ast.TryStar)
def _try(frame: Frame, node: ast.Try | ast.TryStar) -> bool:
    before = frame.env
    frame.env = dict(before)
    alive = frame.run(node.body) and frame.run(node.orelse)
    after = frame.env
    ends = [after] if alive else []
    for handler in node.handlers:
        frame.env = dict(merged(before, after))
        if handler.name is not None:
            frame.bind(handler.name, UNKNOWN)
        if frame.run(handler.body):
            ends.append(frame.env)
    frame.env = ends[0] if ends else after
    for end in ends[1:]:
        frame.env = merged(frame.env, end)
    return frame.run(node.finalbody) and bool(ends)


@_executes(ast.With, ast.AsyncWith)
def _with(frame: Frame, node: ast.With | ast.AsyncWith) -> bool:
    for item in node.items:
        value = frame.value(item.context_expr)
        if item.optional_vars is not None:
            assign(frame, item.optional_vars, value)
    return frame.run(node.body)


@_executes(ast.Match)
def _match(frame: Frame, node: ast.Match) -> bool:
    frame.value(node.subject)
    before, ends = frame.env, []
    for case in node.cases:
        frame.env = dict(before)
        for inner in ast.walk(case.pattern):
            if isinstance(inner, ast.MatchAs | ast.MatchStar) and inner.name is not None:
                frame.bind(inner.name, unknown(inner.name))
        if case.guard is not None:
            frame.value(case.guard)
        if frame.run(case.body):
            ends.append(frame.env)
    frame.env = before
    for end in ends:
        frame.env = merged(frame.env, end)
    return True


@_executes(ast.FunctionDef, ast.AsyncFunctionDef)
def _function(frame: Frame, node: FunctionNode) -> bool:
    if frame.function is None:
        frame.bind(node.name, Value(ref=frame.module.functions.get(node.name) or frame.module.function(node)))
    else:
        closure = Closure(frame.module.function(node), frame)
        frame.bind(node.name, Value(ref=closure))
        frame.nested.append(closure)
    return True


@_executes(ast.ClassDef)
def _class(frame: Frame, node: ast.ClassDef) -> bool:
    owner = frame.module.classes.get(node.name) if frame.function is None else None
    frame.bind(node.name, Value(ref=owner or Class(node, frame.module)))
    return True


@_executes(ast.Import)
def _import(frame: Frame, node: ast.Import) -> bool:
    for alias in node.names:
        name = alias.name if alias.asname is not None else alias.name.split(".")[0]
        frame.bind(alias.asname or name, _module_value(frame, 0, name))
    return True


def _module_value(frame: Frame, level: int, dotted: str) -> Value:
    path = frame.world.package.find(frame.module.path, level, dotted)
    is_other = path is not None and path != frame.module.path
    return Value(ref=Submodule(path)) if path is not None and is_other else Value(ref=Dotted(dotted))


@_executes(ast.ImportFrom)
def _import_from(frame: Frame, node: ast.ImportFrom) -> bool:
    package, dotted = frame.world.package, node.module or ""
    path = package.find(frame.module.path, node.level, dotted)
    path = None if path == frame.module.path else path
    for alias in node.names:
        if alias.name == "*":
            module = package.module(path) if path is not None else None
            if module is not None:
                frame.stars.append(module)
            continue
        inner = package.find(frame.module.path, node.level, f"{dotted}.{alias.name}")
        if inner is not None and inner not in (path, frame.module.path):
            value = Value(ref=Submodule(inner))
        elif path is not None:
            value = Value(ref=Global(path, alias.name))
        else:
            value = Value(ref=Dotted(f"{dotted}.{alias.name}" if dotted else alias.name))
        frame.bind(alias.asname or alias.name, value)
    return True
