"""What methods of texts, lists, mappings, sets, clocks and paths give, and what they do to what they are called on."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from prefixwise.analyzers.static.python import mutations
from prefixwise.analyzers.static.python.calls import AGE, DATES
from prefixwise.analyzers.static.python.frames import Dotted, Frame
from prefixwise.analyzers.static.python.frameworks import note_template
from prefixwise.analyzers.static.python.identities import is_handed_on
from prefixwise.analyzers.static.python.pieces import Element, Gap, Moving, Piece, leaves
from prefixwise.analyzers.static.python.printing import at_precision, in_format, is_clock, printed
from prefixwise.analyzers.static.python.sites import Site
from prefixwise.analyzers.static.python.templates import (
    Filling,
    Template,
    brace_format,
    filled,
    inserted,
    replaced,
)
from prefixwise.analyzers.static.python.values import MISSING, UNKNOWN, Item, Value, joined, listed, text_of

Method = Callable[[Frame, Site, Value], Value | None]
METHODS: dict[str, Method] = {}
"""What evaluates a method, by its name; None where the receiver is none of its kind."""


def _methods(names: str) -> Callable[[Method], Method]:
    def register(function: Method) -> Method:
        METHODS.update(dict.fromkeys(names.split(), function))
        return function

    return register


def receiver_node(site: Site) -> ast.expr:
    """Return the expression that a method is called on."""
    return site.node.func.value if isinstance(site.node.func, ast.Attribute) else site.node.func


_TIMESPECS: dict[object, str] = {
    "microseconds": "second",
    "milliseconds": "second",
    "seconds": "second",
    "minutes": "minute",
    "hours": "hour",
}
_SAME_TEXT = """strip lstrip rstrip lower upper title capitalize casefold swapcase encode decode expandtabs removeprefix
removesuffix center ljust rjust zfill translate getvalue as_posix resolve absolute joinpath astimezone to_pydatetime
tz_localize tz_convert hexdigest hex"""


@_methods(_SAME_TEXT)
def _same_text(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    if base.items is not None or base.fields is not None:
        return joined([text_of(base)]) if site.name == "getvalue" else None
    if isinstance(base.literal, str) and site.name in ("strip", "lstrip", "rstrip", "lower", "upper"):
        text = getattr(base.literal, site.name)() if not site.positional else base.literal
        return Value(pieces=(text,), literal=text)
    return replace(base, literal=MISSING, ref=None)


@_methods("split rsplit splitlines partition rpartition")
def _split(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    if base.items is not None or base.fields is not None:
        return None
    return Value(items=(Item(Value(pieces=base.pieces), many=True),))


@_methods("join")
def _join(frame: Frame, site: Site, base: Value) -> Value | None:
    members = site.argument(0, "iterable")
    if members is None or base.items is not None:
        return None
    between = base.literal if isinstance(base.literal, str) else ""
    return join(frame, between, members)


def join(frame: Frame, between: str, members: Filling) -> Value:
    """Return the text of members with a text between them."""
    value, node = members
    if value.items is None:
        return Value(pieces=printed(frame, value, node))
    nodes = node.elts if isinstance(node, ast.List | ast.Tuple) and len(node.elts) == len(value.items) else None
    texts: list[tuple[Piece, ...]] = []
    for index, item in enumerate(value.items):
        texts.append(printed(frame, item.value, nodes[index] if nodes else node))
    marks = tuple(frame.shown(mark, node) for mark in value.marks)
    return joined([text_of(Value(marks=marks)), *texts] if marks else texts, between)


@_methods("format format_map format_messages format_prompt aformat aformat_messages")
def _format(frame: Frame, site: Site, base: Value) -> Value | None:
    fillings = dict(site.keywords)
    mapping = site.positional[0] if site.name == "format_map" and site.positional else None
    if mapping is not None:
        fillings = {name: Filling(inner, mapping.node) for name, inner in mapping.value.fields or ()}
    if isinstance(base.ref, Template):
        return _noted(frame, site, filled(frame, base, fillings))
    if is_clock(base):  # arrow and pendulum have a `format` of their own
        text = site.literal(0, "fmt")
        return in_format(base, text) if isinstance(text, str) else at_precision(base, "")
    fillings = _with_locals(frame, site, fillings)
    if isinstance(base.literal, str):
        return brace_format(frame, base.literal, site.positional, fillings)
    if base.items is not None or base.fields is not None:
        return None
    constant = "".join(piece for piece in leaves(base.pieces) if isinstance(piece, str))
    known = [name for name in fillings if f"{{{name}}}" in constant]
    for name in known:
        base = replaced(frame, base, f"{{{name}}}", fillings[name])
    if known:
        return base
    return inserted(base, [printed(frame, item.value, item.node) for item in (*site.positional, *fillings.values())])


def _with_locals(frame: Frame, site: Site, fillings: dict[str, Filling]) -> dict[str, Filling]:
    """Return keywords with the names of a scope that is unpacked into them."""
    for keyword in site.node.keywords:
        is_scope = isinstance(keyword.value, ast.Call) and ast.unparse(keyword.value) in ("locals()", "vars()")
        if keyword.arg is None and is_scope:
            names = {name: Filling(value, keyword.value) for name, value in frame.env.items() if "." not in name}
            return {**names, **fillings}
    return fillings


@_methods("replace")
def _replace(frame: Frame, site: Site, base: Value) -> Value | None:
    if is_clock(base) and site.keywords:
        return at_precision(base, _unit_left(site))
    if len(site.positional) < 2 or base.items is not None:
        return base if base.items is None and base.fields is None else None
    marker = site.positional[0].value.literal
    if isinstance(base.ref, Dotted) and not base.pieces:
        base = Value(pieces=(Gap(base.ref.name, fixed=True),))
    return replaced(frame, base, marker, site.positional[1]) if isinstance(marker, str) else base


def _unit_left(site: Site) -> str:
    """Return the finest unit of a clock of which smaller ones are set to constants."""
    units = ("microsecond", "second", "minute", "hour", "day")
    kept = [unit for unit in units if unit not in site.keywords]
    return "second" if not kept or kept[0] == "microsecond" else kept[0]


@_methods("substitute safe_substitute render render_async arender")
def _render(frame: Frame, site: Site, base: Value) -> Value | None:
    fillings = dict(site.keywords)
    for given in site.positional:
        fillings |= {name: Filling(inner, given.node) for name, inner in given.value.fields or ()}
    if isinstance(base.ref, Template):
        return filled(frame, base, fillings)
    if base.items is not None or not any(True for _ in fillings) or isinstance(base.ref, Dotted):
        return None  # of a module: what it takes beside the text is not all printed
    opened = base if base.pieces else UNKNOWN
    return inserted(opened, [printed(frame, item.value, item.node) for item in fillings.values()])


@_methods("partial invoke ainvoke stream astream batch abatch from_messages")
def _fill(frame: Frame, site: Site, base: Value) -> Value | None:
    if not isinstance(base.ref, Template):
        return None
    fillings = dict(site.keywords)
    for given in site.positional[:1]:
        inner_nodes = _nodes_by_key(given.node)
        for name, inner in given.value.fields or ():
            fillings[name] = Filling(inner, inner_nodes.get(name, given.node))
    return _noted(frame, site, filled(frame, base, fillings))


def _noted(frame: Frame, site: Site, template: Value) -> Value:
    return note_template(frame, site.node, template) if template.items is not None else template


def _nodes_by_key(node: ast.expr) -> dict[object, ast.expr]:
    if not isinstance(node, ast.Dict):
        return {}
    pairs = zip(node.keys, node.values, strict=True)
    return {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}


@_methods("strftime")
def _strftime(frame: Frame, site: Site, base: Value) -> Value | None:
    text = site.literal(0, "format", "fmt")
    if isinstance(text, str) and not base.stirs and any(part in text for part in ("%x", "%X", "%c")):
        return frame.moving(site.node, DATES, site.path)
    return in_format(base, text) if isinstance(text, str) else at_precision(base, "")


@_methods("isoformat ctime timestamp time timetz to_iso8601_string to_datetime_string")
def _clock_text(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    if not is_clock(base):
        return None
    timespec = site.literal(1, "timespec") if site.name == "isoformat" else None
    return base if timespec is None else at_precision(base, _TIMESPECS.get(timespec, ""))


@_methods("date weekday isoweekday toordinal isocalendar to_date_string start_of floor day_name")
def _to_the_day(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    if not is_clock(base):
        return None
    unit = site.literal(0) if site.name in ("start_of", "floor") else "day"
    return at_precision(base, unit if unit in ("day", "hour", "minute", "month", "year") else "")


@_methods("humanize diff_for_humans")
def _age(frame: Frame, site: Site, base: Value) -> Value | None:
    return frame.moving(site.node, AGE, site.path) if is_clock(base) else None


@_methods("keys values items copy reversed most_common elements tolist to_list to_dict")
def _members(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    if base.fields is None:
        return base if base.items is not None else None
    known = [(key, value) for key, value in base.fields if key != "*"]
    if site.name == "items":
        pairs = tuple(Item(listed([Value(pieces=(key,), literal=key), value]), many=True) for key, value in known)
        return Value(items=pairs or (Item(listed([UNKNOWN, UNKNOWN]), many=True),), marks=base.marks)
    if site.name == "values":
        return Value(items=tuple(Item(value, many=True) for _, value in base.fields), marks=base.marks)
    if site.name == "keys":
        return Value(items=tuple(Item(Value(pieces=(key,), literal=key)) for key, _ in known), marks=base.marks)
    return base


@_methods("get setdefault pop")
def _get(frame: Frame, site: Site, base: Value) -> Value | None:
    key = site.literal(0)
    if site.name != "get":
        mutations.changed(frame, site, base)
    field = base.field(key) if isinstance(key, str) else None
    if field is not None:
        return field
    moving = tuple(piece for piece in leaves(base.pieces) if isinstance(piece, Moving | Element))
    if isinstance(key, str):
        moving = tuple(piece for piece in moving if isinstance(piece, Element) or is_handed_on(piece, key))
    if moving:
        return Value(pieces=moving)
    return UNKNOWN if base.items is not None or base.fields is not None else None


@_methods("union intersection difference symmetric_difference")
def _set_method(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    marks = base.marks or tuple(mark for item in site.positional for mark in item.value.marks)
    return Value(items=base.items or (Item(UNKNOWN, many=True),), marks=marks) if marks else None


@_methods("append appendleft extend insert add update sort reverse remove discard clear popleft write writelines")
def _mutate(frame: Frame, site: Site, base: Value) -> Value | None:
    return mutations.changed(frame, site, base)
