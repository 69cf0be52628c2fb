"""Python sources: values that change by themselves, and their way into prompts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from prefixwise.analyzers.static.python import expressions, files, statements  # noqa: F401 - they register what they evaluate
from prefixwise.analyzers.static.python.frames import World
from prefixwise.analyzers.static.python.functions import run_method, run_root
from prefixwise.analyzers.static.python.globals import module_frame
from prefixwise.analyzers.static.python.hits import Hit, Strength
from prefixwise.analyzers.static.python.modules import Function, Module
from prefixwise.analyzers.static.python.package import Package
from prefixwise.analyzers.static.python.pieces import Hop
from prefixwise.analyzers.static.python.relevance import Relevance
from prefixwise.analyzers.static.sources import Quote, Source
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.finding import Confidence, Step


def read_python(
    sources: Mapping[str, Source], wanted: Collection[str], builders: Iterable[str] = ()
) -> tuple[tuple[Volatile, ...], tuple[str, ...]]:
    """Return what changes by itself in the prompts of Python files, and notes on files that could not be read.

    Nothing is imported or run.

    Args:
        sources: Files by path, notebooks too; those that are not wanted are only looked at where wanted ones use them.
        wanted: Paths whose prompts are looked at.
        builders: Functions that build prompts: `name`, `Class.name` or `package.module:name`.
    """
    world = World(Package(sources), frozenset(builders), len(wanted))
    relevance = Relevance(world.package, sources, wanted, bool(world.builders))
    for path, functions in relevance.modules.items():
        module = world.package.module(path)
        if module is not None:
            _look_at(world, module, functions)
    for path, note in world.budget.notes():
        world.package.notes.setdefault(path, note)
    found = [_volatile(world, hit) for hit in world.hits.all(world.bound)]
    return tuple(found), tuple(note for _, note in sorted(world.package.notes.items()))


def _look_at(world: World, module: Module, functions: Iterable[Function]) -> None:
    try:
        world.budget.begin(module.path, 1)
        module_frame(world, module)
    except RecursionError:
        world.package.notes[module.path] = f"{module.path}: not followed, it is nested too deeply"
        return
    for function in functions:
        try:
            world.budget.begin(module.path, function.node.lineno)
            if function.owner is not None:
                run_method(world, function)
            else:
                run_root(world, function)
        except RecursionError:
            note = f"{module.path}:{function.node.lineno}: {function.name} not followed, it is nested too deeply"
            world.package.notes[module.path] = note


def _volatile(world: World, hit: Hit) -> Volatile:
    origin = hit.moving.origin
    quote = _quote(world, origin.path, origin.start, origin.end)
    hops = [*hit.moving.hops, hit.sent]
    steps = [Step(hop.path, _quote(world, hop.path, hop.start, hop.end).span, hop.note) for hop in _distinct(hops)]
    return Volatile(
        kind=hit.kind,
        frequency=hit.frequency,
        path=origin.path,
        span=quote.span,
        quote=quote.text,
        area=hit.area,
        flow=tuple(steps),
        confidence=_confidence(hit),
        precision=origin.precision,
        stable_behind=hit.behind,
        name=origin.name,
        evidence=hit.evidence,
    )


def _distinct(hops: list[Hop]) -> Iterator[Hop]:
    """Go through steps, of several at one place only the last."""
    for index, hop in enumerate(hops):
        if index + 1 == len(hops) or hop[:3] != hops[index + 1][:3]:
            yield hop


def _confidence(hit: Hit) -> Confidence:
    """Return how sure both ends are: that it changes, and that it gets into a prompt."""
    origin = hit.moving.origin.confidence
    if origin is Confidence.POSSIBLE or (hit.strength is Strength.NAME and origin is Confidence.LIKELY):
        return Confidence.POSSIBLE
    return Confidence.CERTAIN if origin is Confidence.CERTAIN and hit.strength is Strength.CALL else Confidence.LIKELY


def _quote(world: World, path: str, start: int, end: int) -> Quote:
    """Return a stretch of the text that was parsed as one of the file."""
    module = world.package.module(path)
    if module is not None and (start, end) in module.remembered:
        start, end = module.sure_place(module.remembered[start, end])
    notebook = world.package.notebooks.get(path)
    if notebook is not None:
        start, end = notebook.place(start, end)
    return world.package.source(path).quote(start, end)
