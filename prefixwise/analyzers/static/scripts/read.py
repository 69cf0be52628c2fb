"""What moves in the prompts that scripts build: JavaScript and TypeScript, read and never run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from prefixwise.analyzers.static.scripts.evaluate import Evaluator
from prefixwise.analyzers.static.scripts.module import Module
from prefixwise.analyzers.static.scripts.program import Program
from prefixwise.analyzers.static.scripts.prompts import found_at
from prefixwise.analyzers.static.scripts.sinks import SINK_WORDS, Sink, sinks_in
from prefixwise.analyzers.static.scripts.tree import SUFFIXES, require_parser
from prefixwise.analyzers.static.scripts.values import Place
from prefixwise.analyzers.static.scripts.walk import Found, Passed
from prefixwise.analyzers.static.sources import Source
from prefixwise.analyzers.static.volatile import Volatile
from prefixwise.core.errors import MissingExtraError
from prefixwise.core.finding import Confidence, Span, Step

_LONGEST_FLOW = 10
_CONFIDENCE = list(Confidence)
_Key = tuple[str, int, int, str]


def read_scripts(
    sources: Mapping[str, Source], wanted: Collection[str], builders: Iterable[str] = ()
) -> tuple[tuple[Volatile, ...], tuple[str, ...]]:
    """Return what moves in prompts that are sent or named in scripts, and notes on what could not be read.

    Args:
        sources: All sources by path, with `/`; imports are followed among them.
        wanted: Paths of the scripts in which prompts are looked for; others are skipped.
        builders: Functions that make prompts, as `name` or `module:name`.
    """
    names = {builder.rpartition(":")[2].rpartition(".")[2] for builder in builders}
    paths = [path for path in sorted(wanted) if _is_script(path) and _may_hold_prompts(sources[path].text, names)]
    if not paths:
        return (), ()
    try:
        require_parser()
    except MissingExtraError as error:
        which = "1 script is" if len(paths) == 1 else f"{len(paths):,} scripts are"
        return (), (f"{which} not read: {error.what} ({error.help})",)
    program = Program(sources)
    found: dict[_Key, tuple[tuple[int, ...], Volatile]] = {}
    notes: list[str] = []
    bundles: list[str] = []
    for path in paths:
        module = program.module(path)
        if module is None:
            bundles.append(path)
            continue
        if not _read_module(program, module, names, found):
            notes.append(f"{path}: not read to its end, it is nested too deeply")
        program.forget()
        if module.tree.fault is not None:
            line, column = module.tree.source.position(module.tree.fault)
            notes.append(f"{path}:{line}:{column}: not understood from here on, as far as this statement goes")
    if bundles:
        few = ", ".join(bundles[:3]) + (" and others" if len(bundles) > 3 else "")
        notes.append(f"not read, as they look like bundles: {few}")
    ordered = sorted((volatile for _, volatile in found.values()), key=lambda one: (one.path, one.span.start, one.kind))
    return tuple(ordered), tuple(notes)


def _may_hold_prompts(text: str, builders: set[str]) -> bool:
    return SINK_WORDS.search(text) is not None or any(name in text for name in builders)


def _is_script(path: str) -> bool:
    return path[path.rfind(".") :].lower() in SUFFIXES and not path.endswith(".d.ts")


def _read_module(
    program: Program, module: Module, builders: set[str], found: dict[_Key, tuple[tuple[int, ...], Volatile]]
) -> bool:
    """Add what moves in a module's prompts: of several ways to one prompt, the surest and the most frequent.

    Says whether all of it could be read.
    """
    evaluator = Evaluator(program)
    excused: set[tuple[str, int]] = set()
    whole = True
    for sink in sinks_in(module, builders):
        try:
            walk = found_at(evaluator, module, sink)
        except RecursionError:
            whole = False
            continue
        excused |= walk.excused if sink.sure else set()
        for one in walk.found:
            place = one.moving.place
            if not sink.sure and (place.module.path, place.start) in excused:
                continue
            volatile = _volatile(one, sink, module)
            key = (volatile.path, place.start, place.end, volatile.kind)
            rank = (not sink.sure, volatile.frequency.rank, _CONFIDENCE.index(volatile.confidence))
            if key not in found or rank < found[key][0]:
                found[key] = rank, volatile
    return whole


def _volatile(found: Found, sink: Sink, module: Module) -> Volatile:
    moving = found.moving
    source = moving.place.module.tree.source
    inside = moving.place.module is module and sink.node.start <= moving.place.start < sink.node.end
    flow = () if inside and len(found.steps) == 1 else _flow(found.steps)
    return Volatile(
        kind=moving.kind,
        frequency=found.frequency,
        path=source.path,
        span=source.span(moving.place.start, moving.place.end),
        quote=source.text[moving.place.start : moving.place.end],
        area=found.area,
        flow=flow,
        confidence=moving.confidence if sink.sure else Confidence.POSSIBLE,
        precision=moving.precision,
        stable_behind=found.behind.tokens,
        name=moving.name,
        evidence=moving.evidence,
    )


def _flow(steps: tuple[Passed, ...]) -> tuple[Step, ...]:
    """Return the steps from the value to the prompt."""
    flow: list[Step] = []
    for place, note in reversed(steps):
        step = Step(place.module.path, _span(place), note)
        if flow and (flow[-1].path, flow[-1].span) == (step.path, step.span):
            flow.pop()
        flow.append(step)
    return tuple([*flow[: _LONGEST_FLOW - 1], flow[-1]] if len(flow) > _LONGEST_FLOW else flow)


def _span(place: Place) -> Span:
    return place.module.tree.source.span(place.start, place.end)
