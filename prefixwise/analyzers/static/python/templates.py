"""Templates in code: constant texts with placeholders, and what fills them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from string import Formatter
from typing import NamedTuple

from prefixwise.analyzers.static.names import Use, use
from prefixwise.analyzers.static.python.frames import Frame
from prefixwise.analyzers.static.python.naming import judge_placeholder
from prefixwise.analyzers.static.python.pieces import Gap, Moving, Piece, Slot, is_fixed, leaves, spliced
from prefixwise.analyzers.static.python.printing import formatted, printed
from prefixwise.analyzers.static.python.values import Value, joined, unknown

_PERCENT = re.compile(r"%(?:\((\w+)\))?[-#0 +]*(?:\*|\d+)?(?:\.(?:\*|\d+))?[hlL]?([diouxXeEfFgGcrsa%])")
_DOLLAR = re.compile(r"\$(?:\{(\w+)\}|(\w+)|\$)")
_MUSTACHE = re.compile(r"\{\{-?\s*([\w.]+)[^{}]*\}\}|\{%-?\s*for\s+\w+\s+in\s+([\w.]+)[^%]*%\}|\{%.*?%\}", re.S)
_BRACES = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_FORMATTER = Formatter()


class Filling(NamedTuple):
    """What fills a placeholder: its value, and the expression that gives it."""

    value: Value
    node: ast.expr


Fillings = Mapping[str, Filling]


class Template(NamedTuple):
    """Marks a value as a template whose placeholders are filled by name."""

    style: str


def _text(frame: Frame, name: str, filling: Filling | None, spec: str = "") -> tuple[Piece, ...]:
    """Return the text of a filled placeholder; one that is filled by what is not known is judged by its name."""
    if filling is None:
        return (Gap(name),)
    pieces = formatted(frame, filling.value, filling.node, spec)
    if filling.value.is_open and all(isinstance(piece, Gap) for piece in pieces):
        judged = judge_placeholder(name) if name.isidentifier() else None
        if judged is not None:
            return frame.moving(filling.node, judged, name).pieces
        if use(name) is Use.TURN and not is_fixed(pieces):
            return (Gap(name),)
    return pieces


def brace_format(frame: Frame, text: str, positional: Sequence[Filling], named: Fillings) -> Value:
    """Return what `text.format(…)` gives."""
    try:
        fields = list(_FORMATTER.parse(text))
    except ValueError:
        return unknown("a text with braces")
    found: list[tuple[Piece, ...]] = []
    next_index = 0
    for constant, name, spec, _ in fields:
        found.append((constant,))
        if name is None:
            continue
        first = re.split(r"[.\[]", name, maxsplit=1)[0]
        if first == "" or first.isdigit():
            index = int(first) if first else next_index
            next_index += 1
            filling = positional[index] if index < len(positional) else None
            found.append(_text(frame, name, filling, spec or ""))
        else:
            found.append(_text(frame, first, named.get(first), spec or ""))
    return joined(found)


def percent(frame: Frame, node: ast.BinOp, text: str, right: Value) -> Value:
    """Return what `text % right` gives."""
    nodes: list[ast.expr] = list(node.right.elts) if isinstance(node.right, ast.Tuple) else [node.right]
    values = [item.value for item in right.items] if isinstance(node.right, ast.Tuple) and right.items else [right]
    found: list[tuple[Piece, ...]] = []
    position = index = 0
    for match in _PERCENT.finditer(text):
        found.append((text[position : match.start()],))
        position = match.end()
        if match[2] == "%":
            found.append(("%",))
        elif match[1]:
            inner = right.field(match[1])
            found.append(_text(frame, match[1], Filling(inner, _value_node(node.right, match[1])) if inner else None))
        elif index < min(len(nodes), len(values)):
            found.append(printed(frame, values[index], nodes[index]))
            index += 1
        else:
            found.append((Gap(),))
    found.append((text[position:],))
    return joined(found)


def _value_node(node: ast.expr, key: str) -> ast.expr:
    if isinstance(node, ast.Dict):
        for name, inner in zip(node.keys, node.values, strict=True):
            if isinstance(name, ast.Constant) and name.value == key:
                return inner
    return node


def replaced(frame: Frame, base: Value, marker: str, filling: Filling) -> Value:
    """Return a text with each `marker` in its constant parts replaced."""
    word = re.sub(r"\W+", "", marker)

    def parts(piece: Piece) -> list[Piece]:
        if not isinstance(piece, str) or marker not in piece:
            return [piece]
        found: list[Piece] = []
        for number, part in enumerate(piece.split(marker)):
            found += [*_text(frame, word, filling), part] if number else [part]
        return found

    if not marker:
        return base
    if any(isinstance(piece, str) and marker in piece for piece in leaves(base.pieces)):
        return Value(pieces=spliced(base.pieces, parts))
    return inserted(base, [printed(frame, filling.value, filling.node)])


def inserted(base: Value, texts: Iterable[tuple[Piece, ...]]) -> Value:
    """Return a text that is not known with texts put somewhere into it; one that is known has no place for them."""
    moving = [piece for text in texts for piece in leaves(text) if isinstance(piece, Moving)]
    if not any(isinstance(piece, Gap) for piece in leaves(base.pieces)):
        return base
    return joined([tuple(moving), base.pieces])


def slotted(frame: Frame, value: Value, node: ast.expr, style: str) -> Value:
    """Return a template: the constant parts of a text taken apart at their placeholders.

    Args:
        frame: Where it is.
        value: The text.
        node: Where the text is written, to say where a placeholder stands.
        style: `f-string`, `jinja2`, `mustache` or `dollar`.
    """
    start, end = frame.module.place(node)
    written = frame.module.source.text[start:end]
    pattern = {"f-string": _BRACES, "dollar": _DOLLAR}.get(style, _MUSTACHE)

    def parts(piece: Piece) -> list[Piece]:
        if not isinstance(piece, str):
            return [piece]
        found: list[Piece] = []
        position = 0
        for match in pattern.finditer(piece):
            found.append(piece[position : match.start()])
            position = match.end()
            name = next((group for group in match.groups() if group), None)
            if name is not None:
                at = written.find(match[0])
                place = (start + at, start + at + len(match[0])) if at >= 0 else (start, end)
                found.append(Slot(name, frame.module.path, *place))
            elif match[0] in ("{{", "}}", "$$"):
                found.append(match[0][0])
        return [part for part in (*found, piece[position:]) if part != ""]

    return Value(pieces=spliced(value.pieces or (Gap(),), parts), ref=Template(style))


def filled(frame: Frame, template: Value, fillings: Fillings) -> Value:
    """Return a template with its placeholders filled, those that nothing fills left as they are."""

    def parts(piece: Piece) -> tuple[Piece, ...]:
        if not isinstance(piece, Slot):
            return (piece,)
        filling = fillings.get(piece.name) or fillings.get(piece.name.split(".")[0])
        if filling is None:
            return (piece,)
        frame.world.bound.add((piece.path, str(piece.start)))  # what fills it is told, not the placeholder
        return _text(frame, piece.name, filling)

    def value_of(value: Value) -> Value:
        items = fields = None
        if value.items is not None:
            items = tuple(item._replace(value=value_of(item.value)) for item in value.items)
        if value.fields is not None:
            fields = tuple((key, value_of(inner)) for key, inner in value.fields)
        return replace(value, pieces=spliced(value.pieces, parts), items=items, fields=fields)

    return value_of(template)
