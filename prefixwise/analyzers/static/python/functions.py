"""What functions of the package give when they are called, and what attributes of its objects hold."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.python.annotations import annotated
from prefixwise.analyzers.static.python.frames import Frame, Instance, World, stepped
from prefixwise.analyzers.static.python.identities import (
    is_asked_for_first,
    kept_for_a_conversation,
    of_what_is_called,
)
from prefixwise.analyzers.static.python.modules import Function
from prefixwise.analyzers.static.python.pieces import is_fixed
from prefixwise.analyzers.static.python.values import (
    UNKNOWN,
    Item,
    Value,
    capped,
    either,
    light,
    movings,
    one_of,
    unknown,
)
from prefixwise.analyzers.static.volatile import Frequency

MOST_DEPTH = 3
"""How many calls a value is followed through."""
MOST_DEPTH_BY_NAME = 2
"""The same for a value for which only its name speaks."""
MOST_NESTED = 5
_QUESTIONS = frozenset({"query", "question", "search_query", "user_query", "user_question"})
"""Parameters that hold what is asked, though some call asks something fixed."""
_MOST_VARIANTS = 12
CACHED = frozenset({"cache", "lru_cache", "cache_data", "cache_resource", "memoize", "memoized", "cached", "ttl_cache"})


class Arguments(NamedTuple):
    """What a call passes."""

    positional: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()

    @property
    def values(self) -> Iterator[Value]:
        """All values passed."""
        yield from self.positional
        yield from (value for _, value in self.keywords)


class Outcome(NamedTuple):
    """What a call does: what it returns, what `self` holds behind it, what it adds to lists that it was given."""

    value: Value
    selves: tuple[tuple[str, Value], ...] = ()
    added: tuple[tuple[str, tuple[Item, ...]], ...] = ()


_NO_OUTCOME = Outcome(UNKNOWN)


def _plain(value: Value) -> Value:
    """Return an argument without what matters only to its name."""
    return UNKNOWN if value.is_open and not is_fixed(value.pieces) else light(value)


def invoke(
    frame: Frame,
    function: Function,
    given: Arguments,
    receiver: Value | None = None,
    closure: Frame | None = None,
    *,
    apart: bool = False,
) -> Outcome:
    """Return what a call of a function of the package does.

    Args:
        frame: Where it is called.
        function: What is called.
        given: What with.
        receiver: The object that it is a method of.
        closure: The frame of the function that it stands in.
        apart: It runs beside other calls of the same function.
    """
    world = frame.world
    moves = any(value.stirs for value in given.values) or (receiver is not None and receiver.stirs)
    if moves and frame.depth >= (MOST_DEPTH if any(map(_is_sure, given.values)) else MOST_DEPTH_BY_NAME):
        given, receiver, moves = Arguments(), _bare(receiver), False
    given = Arguments(
        tuple(map(_plain, given.positional)), tuple((name, _plain(value)) for name, value in given.keywords)
    )
    receiver = light(receiver) if receiver is not None else None
    loops = frame.loops if moves or closure is not None else ()
    depth = frame.depth + 1 if moves else 0
    key = (function.key, given, receiver, loops, depth, closure, apart)
    if key not in world.calls:
        variants = world.variants.get(function.key, 0)
        if variants >= _MOST_VARIANTS and not moves:
            given, receiver = Arguments(), _bare(receiver)
            key = (function.key, given, receiver, loops, depth, closure, apart)
    if key not in world.calls:
        is_busy = function.key in world.busy or world.nesting >= MOST_NESTED
        if is_busy or variants >= 4 * _MOST_VARIANTS or not world.budget.allows():
            world.cuts += 1
            return _NO_OUTCOME
        world.variants[function.key] = variants + 1
        found = _outcome(world, function, given, receiver, Calling(loops, depth, closure, apart))
        if not world.budget.is_spent:
            world.calls[key] = found
        return found
    outcome: Outcome = world.calls[key]
    return outcome


def _bare(receiver: Value | None) -> Value | None:
    return Value(ref=receiver.ref) if receiver is not None else None


def _is_sure(value: Value) -> bool:
    return any(not moving.origin.named for moving in movings(value))


class Calling(NamedTuple):
    """Where a call is made from."""

    loops: tuple[int, ...] = ()
    depth: int = 0
    closure: Frame | None = None
    apart: bool = False


def _outcome(world: World, function: Function, given: Arguments, receiver: Value | None, calling: Calling) -> Outcome:
    frame = Frame(
        world,
        function.module,
        function=function,
        parent=calling.closure,
        loops=calling.loops,
        depth=calling.depth,
    )
    frame.apart = calling.apart
    _bind_parameters(frame, function, given, receiver)
    bound = dict(frame.env)
    _run(frame, function)
    return Outcome(
        value=light(result(frame, function)),
        selves=tuple((name, light(value)) for name, value in frame.env.items() if name.startswith("self.")),
        added=tuple(_added(frame, bound)),
    )


def _run(frame: Frame, function: Function) -> None:
    world = frame.world
    world.busy.add(function.key)
    world.nesting += 1
    try:
        if isinstance(function.node, ast.Lambda):
            frame.returns.append(frame.value(function.node.body))
        else:
            frame.run(function.node.body)
    finally:
        world.nesting -= 1
        world.busy.discard(function.key)


def result(frame: Frame, function: Function) -> Value:
    """Return what a function that has been looked at gives."""
    if function.is_generator:
        value = Value(items=tuple(frame.yields), marks=frame.yield_marks)
    else:
        value = one_of(frame.returns)
    if any(name.rsplit(".", 1)[-1] in CACHED for name in function.decorators):
        value = capped(value, Frequency.PROCESS)
    elif function.kept:
        per_object = all(path.startswith("self.") for path in function.kept)
        value = capped(value, Frequency.SESSION if per_object else Frequency.PROCESS)
    elif value.stirs and is_asked_for_first(function.node):
        value = kept_for_a_conversation(value)
    elif "cached_property" in function.decorators or "functools.cached_property" in function.decorators:
        value = capped(value, Frequency.SESSION)
    return value


def _added(frame: Frame, bound: dict[str, Value]) -> Iterator[tuple[str, tuple[Item, ...]]]:
    """Go through the lists that were passed and changed, with what was put behind their members."""
    for name in sorted(frame.changed & bound.keys()):
        now, before = frame.env.get(name), bound[name]
        if now is None or now.items is None:
            continue
        kept = len(before.items) if before.items is not None else 1
        if before.items is None or now.items[:kept] == before.items:
            yield name, now.items[kept:]


def _bind_parameters(frame: Frame, function: Function, given: Arguments, receiver: Value | None) -> None:
    parameters = function.parameters
    names = [parameter.arg for parameter in parameters]
    if receiver is not None and names:
        for name, value in receiver.fields or ():
            frame.bind(f"self.{name}", value)
        frame.bind(names[0], Value(ref=receiver.ref))
        names, parameters = names[1:], parameters[1:]
    passed = dict(zip(names, given.positional, strict=False))
    keywords = dict(given.keywords)
    for parameter in parameters:
        name = parameter.arg
        given_value = passed.get(name, keywords.pop(name, None))
        value = of_what_is_called(given_value, name) if given_value is not None else UNKNOWN
        if any(True for _ in movings(value)):
            frame.world.bound.add((function.key, name))
            value = stepped(frame, value, _as_place(parameter), f"passed as `{name}`")
        elif name in _QUESTIONS and value.pieces and not value.stirs:
            value = unknown(name)  # one question among others
        frame.bind(name, value if not value.is_open else unbound(frame, function, parameter))
    rest = function.node.args
    if rest.vararg is not None:
        items = tuple(Item(value) for value in given.positional[len(names) :])
        frame.bind(rest.vararg.arg, Value(items=(*items, Item(UNKNOWN, many=True))))
    if rest.kwarg is not None:
        frame.bind(rest.kwarg.arg, Value(fields=tuple(keywords.items())))


def _as_place(parameter: ast.arg) -> ast.expr:
    return ast.copy_location(ast.Name(parameter.arg, ast.Load()), parameter)


def unbound(frame: Frame, function: Function, parameter: ast.arg) -> Value:
    """Return what a parameter is where no call says it: by its default and its annotation."""
    typed = annotated(frame, parameter.annotation)
    value = typed if typed is not None else unknown(parameter.arg)
    default = _default(frame.world, function, parameter.arg)
    if default is not None and default.stirs:
        value = either(value, default)
    return value


def _default(world: World, function: Function, name: str) -> Value | None:
    arguments = function.node.args
    positional = [*arguments.posonlyargs, *arguments.args]
    first = len(positional) - len(arguments.defaults)
    pairs = [*zip(positional[first:], arguments.defaults, strict=True)]
    pairs += [(arg, node) for arg, node in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if node]
    for parameter, node in pairs:
        if parameter.arg == name and not isinstance(node, ast.Constant):
            return Frame(world, function.module, cap=Frequency.PROCESS).value(node)
    return None


def run_root(world: World, function: Function, parent: Frame | None = None) -> Frame:
    """Look at a function by itself: nothing is known of its arguments but what their names and types say."""
    loops = (*parent.loops, world.new_loop()) if parent is not None else ()
    frame = Frame(world, function.module, function=function, parent=parent, loops=loops)
    is_method = function.owner is not None and "staticmethod" not in function.decorators
    receiver = Value(ref=Instance(function.owner)) if is_method and function.owner is not None else None
    _bind_parameters(frame, function, Arguments(), receiver)
    if function.key not in world.busy:
        _run(frame, function)
    for closure in frame.nested:
        if world.nesting < MOST_NESTED:
            run_root(world, closure.function, frame)
    return frame


def selves_of(world: World, method: Function) -> dict[str, Value]:
    """Return what a method leaves in the attributes of `self`."""
    if method.key not in world.selves:
        if method.key in world.busy or world.nesting >= MOST_NESTED:
            world.cuts += 1
            return {}
        world.selves[method.key] = {}
        cuts = world.cuts
        root = run_root(world, method)
        world.selves[method.key] = {name: value for name, value in root.env.items() if name.startswith("self.")}
        if world.cuts != cuts:
            world.partial.add(method.key)
    return world.selves[method.key]


def run_method(world: World, method: Function) -> None:
    """Look at a method by itself, unless that was done in full when its object was asked for."""
    if method.key in world.partial:
        world.partial.discard(method.key)
        del world.selves[method.key]
    selves_of(world, method)
