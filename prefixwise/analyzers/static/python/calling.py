"""What calls evaluate to."""

from __future__ import annotations

import ast
import builtins
import re
import sys

from prefixwise.analyzers.static.names import Judgement, Use, use
from prefixwise.analyzers.static.python import sinks
from prefixwise.analyzers.static.python.calls import (
    LISTING,
    RETRIEVED,
    judge_call,
    judge_command,
    judge_method,
)
from prefixwise.analyzers.static.python.frames import Bound, Closure, Dotted, Frame, Instance
from prefixwise.analyzers.static.python.frameworks import framework_value
from prefixwise.analyzers.static.python.functions import Outcome, invoke
from prefixwise.analyzers.static.python.library import LIBRARY, is_seeded
from prefixwise.analyzers.static.python.lookups import named
from prefixwise.analyzers.static.python.loops import with_elements
from prefixwise.analyzers.static.python.methods import METHODS
from prefixwise.analyzers.static.python.modules import Class, Function, path_of
from prefixwise.analyzers.static.python.mutations import key_of, put
from prefixwise.analyzers.static.python.objects import construct
from prefixwise.analyzers.static.python.pieces import Element, Gap, Moving, leaves
from prefixwise.analyzers.static.python.printing import printed
from prefixwise.analyzers.static.python.sites import Site, site_of
from prefixwise.analyzers.static.python.templates import Filling
from prefixwise.analyzers.static.python.values import UNKNOWN, Built, Item, Made, Value, joined, movings, text_of
from prefixwise.analyzers.static.volatile import VolatileKind

_KEEPS_TEXT = re.compile(
    r"(?:^|_)(?:format|formatted|render|dump|dumps|as|join|text|str|string|escape|clean|strip|truncate|wrap|fill|indent|dedent"
    r"|markdown|xml|json|yaml|prompt|stringify|serialize|serialise|concat)(?:$|_)|^to_"
)
_READS = re.compile(
    r"^(?:read|exists|is_|has_|open|stat|write|mkdir|unlink|touch|count|index|find|startswith|endswith|close|wait|poll|kill)"
)
_TAKES_APART = re.compile(
    r"(?:^|_)(?:parse|validate|loads?|extract|from|search|find|lookup|query|fetch|retrieve)(?:$|_)"
)
"""What reads a text: which part of it gets where is not known."""
_CHOOSES = frozenset({"include", "exclude", "only", "ignore", "skip", "fields", "by_alias", "mode", "default"})
"""Arguments that say what is printed, and are not printed."""
_SETS = re.compile(r"_(?:ext|extension|path|dir|mode|type|format|encoding|ldel|rdel|delimiter)$")
"""Names of arguments that are settings of what prints."""
_BUILDS = re.compile(r"^_?a?(?:build|format|render|to|make|describe|compose|dump|as)_")
_LETTERS = ("string.", "'abc", "'ABC", "'012")
"""What a random name is drawn from."""
_RUNS_APART = frozenset({"submit", "create_task", "run_in_executor", "start_soon", "ensure_future", "Thread"})


def call(frame: Frame, node: ast.Call, *, awaited: bool = False) -> Value:
    """Return what a call gives, having taken note of what it sends to a model."""
    site = site_of(frame, node)
    value = _value(frame, site, awaited=awaited)
    sinks.at_call(frame, site)
    elements = tuple(element for element in site.elements() if not element.counter)
    if elements and not any(isinstance(piece, Element) for piece in leaves(text_of(value))):
        value = with_elements(value, elements)
    if value != UNKNOWN:
        return value
    value = named(frame, node, value, _telling_name(site))
    is_built = value.is_open and _BUILDS.match(site.name) and not any(map(_is_request, site.fillings))
    return Value(pieces=value.pieces, ref=Built()) if is_built else value


def _is_request(filling: Filling) -> bool:
    """Say whether an argument may be what the user asks, or what was looked up for it."""
    looked_up = any(moving.origin.kind is VolatileKind.RETRIEVED for moving in movings(filling.value))
    return looked_up or use(path_of(filling.node)) is Use.TURN


def _telling_name(site: Site) -> str:
    """Return what a call is called, '' where that tells nothing: what can be looked at is not judged by its name."""
    known = isinstance(site.callee.ref, Function | Bound | Closure | Class)
    if known or _READS.match(site.name) or site.name[:1].isupper() or site.name in METHODS:
        return ""
    root = site.dotted.split(".", 1)[0]
    if root in sys.stdlib_module_names or hasattr(builtins, root):
        return ""
    inner = site.node.func
    while isinstance(inner, ast.Attribute):
        inner = inner.value
    return site.path if isinstance(inner, ast.Name) else site.name


def _value(frame: Frame, site: Site, *, awaited: bool) -> Value:
    ref = site.callee.ref
    if isinstance(ref, Function | Bound | Closure | Class):
        return _in_package(frame, site, awaited=awaited)
    if isinstance(ref, Dotted) and not site.callee.pieces:
        found = _from_outside(frame, site)
        if found is not None:
            return found
    found = framework_value(frame, site)
    if found is not None:
        return found
    if site.base is not None:
        found = _of_method(frame, site, site.base)
        if found is not None:
            return found
    return _unknown_call(frame, site)


def _in_package(frame: Frame, site: Site, *, awaited: bool) -> Value:
    ref, given = site.callee.ref, site.arguments
    if isinstance(ref, Class):
        return construct(frame, ref, given)
    if isinstance(ref, Closure):
        apart = isinstance(ref.function.node, ast.AsyncFunctionDef) and not awaited and bool(frame.loops)
        outcome = invoke(frame, ref.function, given, None, ref.frame, apart=apart)
        _add(frame, site, ref.function, outcome)
    elif isinstance(ref, Bound):
        outcome = _of_object(frame, site, ref)
    elif isinstance(ref, Function):
        receiver = site.base if ref.owner is not None and "classmethod" in ref.decorators else None
        outcome = invoke(frame, ref, given, receiver)
        _add(frame, site, ref, outcome)
    else:
        return UNKNOWN
    return frame.returned(outcome.value)


def _of_object(frame: Frame, site: Site, bound: Bound) -> Outcome:
    """Call a method; what it leaves in the object's attributes is kept by who holds the object."""
    outcome = invoke(frame, bound.method, site.arguments, bound.self)
    node = site.node.func.value if isinstance(site.node.func, ast.Attribute) else None
    if isinstance(node, ast.Name) and node.id == "self":
        frame.env |= dict(outcome.selves)
    elif isinstance(node, ast.Name) and node.id in frame.env:
        fields = tuple((name.removeprefix("self."), value) for name, value in outcome.selves)
        held = frame.env[node.id]
        frame.env[node.id] = Value(held.pieces, held.literal, held.items, fields or held.fields, held.marks, held.ref)
    return outcome


def _add(frame: Frame, site: Site, function: Function, outcome: Outcome) -> None:
    """Add to the lists that were passed what the function added to them."""
    if not outcome.added:
        return
    names = [parameter.arg for parameter in function.parameters]
    for name, items in outcome.added:
        index = names.index(name) if name in names else -1
        filling = site.argument(index, name)
        if filling is None or not isinstance(filling.node, ast.Name | ast.Attribute) or not key_of(filling.node):
            continue
        held = filling.value
        before = held.items if held.items is not None else (Item(UNKNOWN, many=True),)
        put(frame, filling.node, Value(items=(*before, *items), marks=held.marks))


def _from_outside(frame: Frame, site: Site) -> Value | None:
    known = LIBRARY.get(site.dotted)
    if known is not None:
        return known(frame, site)
    judged = judge_command(site.dotted, site.node) or judge_call(site.dotted)
    if judged is None:
        return None
    if judged.kind is VolatileKind.IDENTIFIER and is_seeded(frame) and "random" in site.dotted:
        return UNKNOWN
    if judged.kind is VolatileKind.EXAMPLES and is_seeded(frame):
        return UNKNOWN
    return _judged(frame, site, judged)


def _judged(frame: Frame, site: Site, judged: Judgement) -> Value:
    if judged.kind is VolatileKind.EXAMPLES and site.node.args and ast.unparse(site.node.args[0]).startswith(_LETTERS):
        judged = judged._replace(kind=VolatileKind.IDENTIFIER)
    value = frame.moving(site.node, judged, site.path)
    if judged.kind not in (VolatileKind.UNORDERED, VolatileKind.EXAMPLES):
        return value
    marks = tuple(piece for piece in value.pieces if isinstance(piece, Moving))
    return Value(items=(Item(UNKNOWN, many=True),), marks=marks)


def _of_method(frame: Frame, site: Site, base: Value) -> Value | None:
    method = METHODS.get(site.name)
    if method is not None:
        found = method(frame, site, base)
        if found is not None:
            return found
    node = site.node.func
    receiver = path_of(node.value) if isinstance(node, ast.Attribute) else ""
    judged = judge_method(site.name, receiver)
    if judged is RETRIEVED and not site.positional and not site.keywords:
        return None
    if judged is LISTING and base.items is not None:
        return None
    if judged is not None:
        return _judged(frame, site, judged)
    if _READS.match(site.name):
        return UNKNOWN
    moving = tuple(piece for piece in leaves(site.callee.pieces) if isinstance(piece, Moving))
    return Value(pieces=moving) if moving else None


def _unknown_call(frame: Frame, site: Site) -> Value:
    """Return what is known of a call of which nothing is: its arguments, where its name says that it keeps them."""
    if site.name[:1].isupper() and site.name[1:2].islower():
        fields = tuple((name, filling.value) for name, filling in site.keywords.items())
        return Value(fields=fields, ref=Made(site.name)) if fields else UNKNOWN
    if site.name in _RUNS_APART:
        _run_apart(frame, site)
    if not _KEEPS_TEXT.search(site.name) or _TAKES_APART.search(site.name):
        return UNKNOWN
    keywords = (given for name, given in site.keywords.items() if name not in _CHOOSES and not _SETS.search(name))
    kept = [*site.positional, *keywords]
    texts = [
        printed(frame, filling.value, filling.node)
        for filling in kept
        if not _is_object(filling.value) or (filling is kept[0] and "prompt" not in site.name)
    ]
    found = joined([tuple(piece for piece in leaves(text) if isinstance(piece, Moving | Gap)) for text in texts])
    return Value(pieces=(*found.pieces, Gap())) if found.stirs else UNKNOWN


def _is_object(value: Value) -> bool:
    """Say whether a value is an object of a class: beside what is printed it says for whom, or how."""
    return isinstance(value.ref, Made | Instance) and not value.pieces


def _run_apart(frame: Frame, site: Site) -> None:
    for filling in site.fillings:
        ref = filling.value.ref
        if isinstance(ref, Closure) and frame.loops:
            invoke(frame, ref.function, site.arguments._replace(positional=()), None, ref.frame, apart=True)
