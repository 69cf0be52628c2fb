"""Where code is looked at: what its names stand for, which loops it is in, what it has returned so far."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

from prefixwise.analyzers.static.names import Judgement
from prefixwise.analyzers.static.python.budget import Budget
from prefixwise.analyzers.static.python.hits import Hits
from prefixwise.analyzers.static.python.modules import Class, Function, Module
from prefixwise.analyzers.static.python.package import Package
from prefixwise.analyzers.static.python.pieces import Element, Hop, Moving, Origin, Piece, leaves
from prefixwise.analyzers.static.python.values import (
    UNKNOWN,
    Item,
    Value,
    either,
    light,
    mapped,
    moved,
    text_of,
    through,
)
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind


class Dotted(NamedTuple):
    """A name from outside the package, or of a builtin."""

    name: str


class Hidden(NamedTuple):
    """Marks what the package says, but was not looked at: nothing is known of it, and its name is not asked."""


class Instance(NamedTuple):
    """An object of a class of the package."""

    of: Class


class Bound(NamedTuple):
    """A method taken from an object."""

    method: Function
    self: Value


class Closure(NamedTuple):
    """A function inside a function, with the frame it was made in."""

    function: Function
    frame: Frame


class Global(NamedTuple):
    """A variable of another module, by the path of that."""

    path: str
    name: str


class Submodule(NamedTuple):
    """A module of the package, by its path."""

    path: str


class World:
    """All that one reading of sources shares.

    Attributes:
        package: The files; `hits`: what reached a prompt; `builders`: names of functions that build prompts; `budget`:
            how much more may be looked at.
        bound: Parameters that some call gives a value that is known to change.
        modules: Frames of modules whose bodies were looked at.
        calls, variants: What calls gave, and how many ways to call a function were looked at.
        attributes, selves: What attributes of objects hold, of classes and behind methods.
        busy, nesting: What is being looked at, and how deep; `cuts`: how often that was a reason to stop, `partial`:
            methods that were left half looked at for it.
    """

    def __init__(self, package: Package, builders: frozenset[str] = frozenset(), files: int = 1) -> None:
        self.package = package
        self.builders = builders
        self.hits = Hits()
        self.budget = Budget(files)
        self.bound: set[tuple[str, str]] = set()
        self.modules: dict[str, Frame] = {}
        self.calls: dict[Hashable, Any] = {}
        self.variants: dict[str, int] = {}
        self.attributes: dict[tuple[int, str], Value] = {}
        self.selves: dict[str, dict[str, Value]] = {}
        self.busy: set[Hashable] = set()
        self.nesting = 0
        self.cuts = 0
        self.partial: set[str] = set()
        self._loops = 0

    def new_loop(self) -> int:
        """Return a number for a loop."""
        self._loops += 1
        return self._loops


class Frame:
    """A module, class body or function that is being looked at.

    Attributes:
        env: Values of names; attributes of `self` under `self.name`.
        parent: The frame of the function around it.
        cap: How often what stands here can change at most.
        loops: Loops around the place that is looked at; `depths`: in how many of them each name was bound.
        whens: Conditions around it.
        returns, yields, yield_marks: What it has given so far; `nested`: functions inside it.
        changed: Names of lists that were added to; `stars`: modules of which all names were imported.
        exits: What names stood for where a loop was left; `apart`: it runs beside others of its kind.
        depth: How many calls deep it is.
    """

    def __init__(
        self,
        world: World,
        module: Module,
        *,
        function: Function | None = None,
        parent: Frame | None = None,
        cap: Frequency = Frequency.CALL,
        loops: tuple[int, ...] = (),
        depth: int = 0,
    ) -> None:
        self.world = world
        self.module = module
        self.function = function
        self.parent = parent
        self.cap = cap
        self.loops = loops
        self.depth = depth
        self.env: dict[str, Value] = {}
        self.depths: dict[str, int] = {}
        self.whens: tuple[ast.expr, ...] = ()
        self.returns: list[Value] = []
        self.yields: list[Item] = []
        self.yield_marks: tuple[Moving, ...] = ()
        self.nested: list[Closure] = []
        self.changed: set[str] = set()
        self.exits: list[dict[str, Value]] = []
        self.apart = False
        self.stars: list[Module] = []

    def value(self, node: ast.AST) -> Value:
        """Return what an expression evaluates to."""
        self.world.budget.spend()
        evaluate = EVALUATORS.get(type(node))
        return evaluate(self, node) if evaluate is not None else UNKNOWN

    def run(self, body: list[ast.stmt]) -> bool:
        """Look at statements in order; False where what follows is not reached."""
        for statement in body:
            execute = EXECUTORS.get(type(statement))
            if execute is not None and not execute(self, statement):
                return False
        return True

    def hop(self, node: ast.expr | ast.stmt, note: str) -> Hop:
        """Return a step at a node."""
        return Hop(self.module.path, *self.module.place(node), note)

    def origin(self, node: ast.expr, judged: Judgement, name: str) -> Origin:
        """Return a node as the place where something that changes comes from."""
        self.module.remembered[self.module.place(node)] = node
        frequency = judged.frequency
        if frequency.rank < self.cap.rank and not self.loops:
            frequency = self.cap
        return Origin(
            kind=judged.kind,
            frequency=frequency,
            path=self.module.path,
            start=self.module.place(node)[0],
            end=self.module.place(node)[1],
            name=name,
            precision=judged.precision,
            confidence=judged.confidence,
            because=judged.because,
        )

    def moving(self, node: ast.expr, judged: Judgement, name: str) -> Value:
        """Return a value that changes by itself and comes from `node`."""
        return Value(pieces=(Moving(self.origin(node, judged, name), (), self.loops),))

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value."""
        self.env[name] = light(value)
        self.depths[name] = len(self.loops)

    def shown(self, mark: Moving, node: ast.expr) -> Moving:
        """Return what moves the members of a set, at the place where they are gone through."""
        origin = mark.origin
        if not origin.movable:
            return mark
        start, end = self.module.place(node)
        if (origin.path, origin.start, origin.end) == (self.module.path, start, end):
            return mark._replace(origin=origin._replace(movable=False))
        self.module.remembered[start, end] = node
        made = Hop(origin.path, origin.start, origin.end, "a set is made here")
        here = origin._replace(path=self.module.path, start=start, end=end, movable=False)
        return Moving(here, (made, *mark.hops), self.loops)

    def gathered(self, name: str, value: Value) -> tuple[Value, tuple[Moving, ...]]:
        """Return a value that is added to what `name` holds, and what its place there depends on.

        An element of something without order is one thing among others; only where they come together, in a variable
        that outlives the loop, does the order show.
        """
        if not any(isinstance(piece, Element) for piece in leaves(text_of(value))):
            return value, ()
        depth = self.depths.get(name, 0)
        inner = frozenset(self.loops[depth:])
        return self.closed(value, inner)

    def closed(self, value: Value, loops: frozenset[int]) -> tuple[Value, tuple[Moving, ...]]:
        """Return a value without the elements of some loops, and the marks that those leave on what gathers them."""
        marks: dict[Moving, None] = {}

        def gather(piece: Piece) -> Piece | None:
            if not isinstance(piece, Element) or piece.loop not in loops:
                return piece
            if not piece.counter:
                marks.setdefault(piece.moving)
            return None

        return mapped(value, gather), tuple(marks)

    def returned(self, value: Value) -> Value:
        """Return what a call gives, as something made here."""

        def here(piece: Moving) -> Piece | None:
            if piece.origin.frequency.rank < self.cap.rank and not self.loops:
                piece = piece._replace(origin=piece.origin._replace(frequency=self.cap))
            return piece._replace(loops=self.loops)

        return moved(value, here)


Evaluator = Callable[[Frame, ast.AST], Value]
Executor = Callable[[Frame, ast.AST], bool]
EVALUATORS: dict[type[ast.AST], Evaluator] = {}
"""What evaluates each kind of expression; filled by the modules that do."""
EXECUTORS: dict[type[ast.AST], Executor] = {}


def merged(first: dict[str, Value], second: dict[str, Value]) -> dict[str, Value]:
    """Return what names stand for where two ways through the code meet."""
    if first is second:
        return first
    found = dict(first)
    for name, value in second.items():
        known = found.get(name)
        found[name] = value if known is None else either(known, value)
    return found


def stepped(frame: Frame, value: Value, node: ast.expr | ast.stmt, note: str) -> Value:
    """Return a value with one more step on its way, where it has a way at all."""
    return through(value, frame.hop(node, note)) if any(True for _ in _moving_leaves(value)) else value


def _moving_leaves(value: Value) -> list[Moving]:
    found = [*value.marks, *(piece for piece in leaves(text_of(value)) if isinstance(piece, Moving))]
    return [piece for piece in found if piece.origin.kind is not VolatileKind.WHITE_SPACE]
