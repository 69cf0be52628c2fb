"""What statements and methods do to the variables that hold lists, mappings and sets."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from prefixwise.analyzers.static.name_words import words
from prefixwise.analyzers.static.names import judge, name_words
from prefixwise.analyzers.static.python.calls import FINISHED, WINDOW
from prefixwise.analyzers.static.python.frames import Frame, stepped
from prefixwise.analyzers.static.python.modules import path_of
from prefixwise.analyzers.static.python.pieces import Hop, Moving
from prefixwise.analyzers.static.python.sites import Site
from prefixwise.analyzers.static.python.values import UNKNOWN, Item, Value, settled


def key_of(node: ast.expr) -> str:
    """Return the name under which a frame keeps what an expression holds: of a variable or attribute of `self`."""
    if isinstance(node, ast.Subscript):
        return key_of(node.value)
    path = path_of(node)
    return path if path.startswith("self.") and path.count(".") == 1 else path.split(".", 1)[0]


def put(frame: Frame, node: ast.expr, value: Value) -> None:
    """Let a variable, attribute or key hold a changed value."""
    if isinstance(node, ast.Name):
        holder = _holder(frame, node.id) or frame
        holder.env[node.id] = value
        holder.changed.add(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        if node.value.id == "self":
            frame.env[f"self.{node.attr}"] = value
        elif node.value.id in frame.env:
            frame.env[node.value.id] = frame.env[node.value.id].with_field(node.attr, value)
    elif isinstance(node, ast.Subscript):
        key = node.slice.value if isinstance(node.slice, ast.Constant) else None
        if isinstance(key, str):
            put(frame, node.value, frame.value(node.value).with_field(key, value))


def _holder(frame: Frame, name: str) -> Frame | None:
    """Return the frame, this one or one around it, that has a name."""
    holder: Frame | None = frame
    while holder is not None and name not in holder.env:
        holder = holder.parent
    return holder


def _beside_others(frame: Frame, node: ast.expr, target: ast.expr) -> tuple[Moving, ...]:
    """Return what it does to a list outside a function that many calls of it, at the same time, add to it."""
    if not frame.apart or _holder(frame, key_of(target)) is frame:
        return ()
    return (Moving(frame.origin(node, FINISHED, ast.unparse(node)[:60]), (), frame.loops),)


def changed(frame: Frame, site: Site, base: Value) -> Value | None:
    """Let a method change what it is called on; None where it is called on nothing that is known to change."""
    change = _CHANGES.get(site.name)
    if change is None or not isinstance(site.node.func, ast.Attribute):
        return None
    now = change(frame, site, base)
    if now is None:
        return None
    put(frame, site.node.func.value, now)
    return Value(pieces=UNKNOWN.pieces)


def _list_of(base: Value) -> Value | None:
    """Return what a list holds, of one that is not known that it holds something."""
    if base.items is not None:
        return base
    if base.fields is not None or base.ref is not None:
        return None
    return Value(items=(Item(Value(pieces=base.pieces or UNKNOWN.pieces), many=True),), marks=base.marks)


def condition(frame: Frame) -> Hop | None:
    """Return the condition around a place that asks for something that changes from call to call."""
    for test in reversed(frame.whens):
        for node in ast.walk(test):
            if isinstance(node, ast.Name | ast.Attribute) and _asks_of_a_call(path_of(node)):
                return frame.hop(test, f"only if `{ast.unparse(test)[:60]}`")
    return None


_STATES = words("connected is_connected online available is_available mode plan_mode is_admin role")


def _asks_of_a_call(path: str) -> bool:
    judged = judge(path)
    return judged is not None or path.rsplit(".", 1)[-1] in _STATES


def _append(frame: Frame, site: Site, base: Value) -> Value | None:
    held = _list_of(base)
    if held is None or not site.positional:
        return None
    added = stepped(frame, site.positional[0].value, site.node, f"added to `{_named(site)}`")
    value, marks = frame.gathered(key_of(_target(site)), added)
    marks += _beside_others(frame, site.node, _target(site))
    item = Item(value, many=False, when=condition(frame))
    items = held.items or ()
    items = (item, *items) if site.name == "appendleft" else (*items, item)
    return replace(held, items=items[:200], marks=_and(held.marks, marks))


def _named(site: Site) -> str:
    return path_of(_target(site))


def _target(site: Site) -> ast.expr:
    return site.node.func.value if isinstance(site.node.func, ast.Attribute) else site.node.func


def _and(marks: tuple[Moving, ...], others: tuple[Moving, ...]) -> tuple[Moving, ...]:
    return marks if not others else tuple(dict.fromkeys((*marks, *others)))


def _extend(frame: Frame, site: Site, base: Value) -> Value | None:
    held = _list_of(base)
    if held is None or not site.positional:
        return None
    given, node = site.positional[0]
    return extended(frame, _target(site), held, given, node)


def extended(frame: Frame, target: ast.expr, held: Value, given: Value, node: ast.expr) -> Value:
    """Return a list with the members of another behind its own."""
    value, marks = frame.gathered(key_of(target), given)
    value = stepped(frame, value, node, f"added to `{path_of(target)}`")
    marks = (*marks, *(frame.shown(mark, node) for mark in value.marks))
    members = (
        value.items if value.items is not None else (Item(Value(pieces=value.pieces or UNKNOWN.pieces), many=True),)
    )
    return replace(held, items=(*(held.items or ()), *members)[:200], marks=_and(held.marks, marks))


def _insert(frame: Frame, site: Site, base: Value) -> Value | None:
    held = _list_of(base)
    if held is None or len(site.positional) < 2:
        return None
    position = site.positional[0].value.literal
    added = stepped(frame, site.positional[1].value, site.node, f"added to `{_named(site)}`")
    value, marks = frame.gathered(key_of(_target(site)), added)
    items = held.items or ()
    at = position if isinstance(position, int) and 0 <= position <= len(items) else len(items)
    return replace(held, items=(*items[:at], Item(value), *items[at:])[:200], marks=_and(held.marks, marks))


def _add_to_set(frame: Frame, site: Site, base: Value) -> Value | None:
    return base if base.marks and site.positional and frame is not None else None


def _update(frame: Frame, site: Site, base: Value) -> Value | None:
    if base.fields is None:
        return base if base.marks else None
    found = base
    for given in site.positional[:1]:
        value, marks = frame.gathered(key_of(_target(site)), given.value)
        for name, inner in value.fields or ():
            found = found.with_field(name, inner)
        found = replace(found, marks=_and(found.marks, (*marks, *value.marks)))
    for name, filling in site.keywords.items():
        found = found.with_field(name, filling.value)
    return found


def set_key(frame: Frame, target: ast.Subscript, held: Value, value: Value) -> Value:
    """Return a mapping with a key set."""
    key = frame.value(target.slice)
    if isinstance(key.literal, str):
        inner, marks = frame.gathered(key_of(target), value)
        return replace(held.with_field(key.literal, inner), marks=_and(held.marks, marks))
    _, marks = frame.gathered(key_of(target), key)
    marks += _beside_others(frame, target, target)
    inner, _ = frame.gathered(key_of(target), value)
    found = held.with_field("*", inner) if inner.stirs else replace(held, fields=held.fields or ())
    return replace(found, marks=_and(found.marks, marks))


def _setdefault(frame: Frame, site: Site, base: Value) -> Value | None:
    if base.fields is None or not site.positional:
        return None
    _, marks = frame.gathered(key_of(_target(site)), site.positional[0].value)
    return replace(base, marks=_and(base.marks, marks)) if marks else None


def _sort(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    return settled(base) if base.items is not None else None


def _clear(frame: Frame, site: Site, base: Value) -> Value | None:  # noqa: ARG001
    return Value(items=()) if base.items is not None else None


def _drop_first(frame: Frame, site: Site, base: Value) -> Value | None:
    if site.name == "pop" and site.literal(0) != 0:
        return None
    return without_first(frame, site.node, base)


_PARTS = words("content contents parts part text item items args arguments tokens lines words")
"""Names of lists that are parts of one message."""


def _emptied(node: ast.expr) -> ast.expr:
    """Return the list from which something is taken: of `held.pop(0)` and `held[0]`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value
    return node.value if isinstance(node, ast.Subscript) else node


def without_first(frame: Frame, node: ast.expr, base: Value) -> Value | None:
    """Return a list that loses its first members when it has grown too long, None where that is not asked before."""
    asks_length = any(
        isinstance(inner, ast.Call) and path_of(inner) == "len" for test in frame.whens for inner in ast.walk(test)
    )
    held = _list_of(base)
    name = name_words(path_of(_emptied(node)).rsplit(".", 1)[-1])
    if held is None or not asks_length or not name or name[-1] in _PARTS:
        return None
    mark = Moving(frame.origin(node, WINDOW, ast.unparse(node)[:60]), (), frame.loops)
    return replace(held, marks=_and(held.marks, (mark,)))


_CHANGES: dict[str, Callable[[Frame, Site, Value], Value | None]] = {
    "append": _append,
    "appendleft": _append,
    "write": _append,
    "extend": _extend,
    "writelines": _extend,
    "insert": _insert,
    "add": _add_to_set,
    "update": _update,
    "setdefault": _setdefault,
    "sort": _sort,
    "clear": _clear,
    "pop": _drop_first,
    "popleft": _drop_first,
}
