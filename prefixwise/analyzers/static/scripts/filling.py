"""Templates that are filled in: where their placeholders stand, and what is put there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from prefixwise.analyzers.static.scripts.values import (
    Const,
    Items,
    Joined,
    Place,
    Placeholder,
    Record,
    Rest,
    Value,
    core,
    joined,
    plain_text,
    through,
)

if TYPE_CHECKING:
    from prefixwise.analyzers.static.scripts.called import Call

_PLACEHOLDER = re.compile(
    r"\{\{\{?\s*([\w.]+)\s*\}?\}\}|\$\{\s*([\w.]+)\s*\}|\{\s*([A-Za-z_][\w.]*)\s*\}|<%[=-]?\s*([\w.]+)\s*%>"
)


def filled(template: Value, values: Value) -> Value:
    """Return a template with the fields of an object in the places of its placeholders."""
    if not isinstance(values, Record):
        return template

    def of(inner: Value) -> Value:
        constants = _constants(inner)
        if constants is None:
            return joined(inner, *values.fields.values(), inner) if values.fields else inner
        parts: list[Value] = []
        for constant in constants:
            parts += _pieces(constant, values)
        return Joined(parts)

    return through(template, of)


def _constants(value: Value) -> list[Const] | None:
    if isinstance(value, Const):
        return [value]
    if isinstance(value, Joined) and all(isinstance(part, Const) for part in value.parts):
        return [part for part in value.parts if isinstance(part, Const)]
    return None


def _pieces(constant: Const, values: Record) -> list[Value]:
    parts: list[Value] = []
    done = 0
    for match in _PLACEHOLDER.finditer(constant.text):
        name = next(filter(None, match.groups()))
        value = values.fields.get(name)
        if value is not None:
            parts += [_piece(constant, done, match.start()), value]
            done = match.end()
    return [*parts, _piece(constant, done, len(constant.text))]


def _piece(constant: Const, start: int, end: int) -> Const:
    place = constant.place
    if place is not None:
        place = Place(place.module, place.start + start, place.start + end)
    return Const(constant.text[start:end], place)


def replaced(call: Call, text: Value) -> Value:
    """Return `text.replace(old, new)`: the new text in the place of the old, somewhere in it where that is not seen."""
    if len(call.nodes) < 2:
        return text
    new = call.value(1)
    if plain_text(new) is not None:
        return text
    old = plain_text(call.value(0))
    parts = list(text.parts) if isinstance(text, Joined) else [text]
    for index, part in enumerate(parts):
        if old and isinstance(part, Const) and old in part.text:
            at = part.text.index(old)
            pieces = [_piece(part, 0, at), new, _piece(part, at + len(old), len(part.text))]
            return Joined([*parts[:index], *pieces, *parts[index + 1 :]])
    if isinstance(core(text), Const | Joined) and old is not None:
        return text
    return joined(text, new, text)


_VARIABLE = re.compile(r"(?<!\{)\{([A-Za-z_]\w*)\}(?!\})")


def expanded(value: Value) -> Value:
    """Return a value with the `{variables}` of its constant texts as values of that name."""

    def of(inner: Value) -> Value:
        if isinstance(inner, Const):
            return _with_variables(inner)
        if isinstance(inner, Joined):
            return Joined(of(part) for part in inner.parts)
        if isinstance(inner, Items):
            return type(inner)(expanded(item) for item in inner.items)
        if isinstance(inner, Rest):
            return Rest(expanded(inner.value))
        if isinstance(inner, Record):
            return Record({name: expanded(field) for name, field in inner.fields.items()}, inner.rest)
        return inner

    return through(value, of)


def _with_variables(constant: Const) -> Value:
    place = constant.place
    if place is None or "{" not in constant.text:
        return constant
    parts: list[Value] = []
    done = 0
    for match in _VARIABLE.finditer(constant.text):
        at = Place(place.module, place.start + match.start(), place.start + match.end())
        parts += [_piece(constant, done, match.start()), Placeholder(match[1], at)]
        done = match.end()
    return Joined([*parts, _piece(constant, done, len(constant.text))]) if parts else constant
