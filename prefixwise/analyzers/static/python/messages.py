"""Prompts as calls put them together: system text, tools, messages, in the order in which caches see them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.python.layout import Section
from prefixwise.analyzers.static.python.pieces import Gap, Moving, Origin, Piece
from prefixwise.analyzers.static.python.values import Item, Value, text_of
from prefixwise.analyzers.static.volatile import Frequency, VolatileKind
from prefixwise.core.finding import Confidence, Where

_SYSTEM = frozenset({"system", "developer"})
_ROLES = frozenset({*_SYSTEM, "user", "human", "assistant", "ai", "model", "tool", "function", "placeholder"})
_CONTENTS = ("content", "parts", "text", "contents")


class Messages(NamedTuple):
    """The messages of a prompt.

    Attributes:
        sections: Their texts.
        history: Whether a conversation of unknown length is among them.
        marks: What moves the list as a whole: a window over it, a choice of some of its messages, no order.
    """

    sections: tuple[Section, ...] = ()
    history: bool = False
    marks: tuple[Moving, ...] = ()


def role_of(message: Value) -> str:
    """Return the role of a message, '' where it is none or its role is not known."""
    role = message.field("role") or message.field("type")
    if role is None and message.items is not None and len(message.items) == 2:
        role = message.items[0].value
    return _role_named(role) if role is not None else ""


def _role_named(value: Value) -> str:
    if isinstance(value.literal, str):
        name = value.literal
    else:
        names = [piece.name for piece in value.pieces if isinstance(piece, Gap)]
        name = names[0] if names else getattr(value.ref, "name", "")
    found = str(name).rsplit(".", 1)[-1].lower()
    return found if found in _ROLES else ""


def content_of(message: Value) -> tuple[Piece, ...]:
    """Return the text of a message."""
    for name in _CONTENTS:
        found = message.field(name)
        if found is not None:
            return text_in(found)
    if message.items is not None and len(message.items) == 2:
        return text_in(message.items[1].value)
    return ()


def text_in(value: Value) -> tuple[Piece, ...]:
    """Return the text of a content: a text, or a list of parts of which those count that have text."""
    if value.items is None:
        inner = value.field("text") or value.field("content") or value.field("parts")
        return text_in(inner) if inner is not None else text_of(value)
    found: list[Piece] = list(value.marks)
    for item in value.items:
        part = item.value
        if part.fields is not None:
            text = part.field("text") or part.field("content")
            found += text_of(text) if text is not None else ()
        else:
            found += text_of(part)
    return tuple(found)


def messages_of(value: Value) -> Messages:
    """Return the messages that a value holds."""
    if value.items is None:
        windows = tuple(mark for mark in value.marks if mark.origin.kind is VolatileKind.WINDOW)
        if value.fields is not None and role_of(value):
            return _sections((Item(value),), windows)
        is_text = any(not isinstance(piece, Gap) for piece in value.pieces)
        sections = (Section(Where.MESSAGES, value.pieces),) if is_text else ()
        return Messages(sections, not is_text, windows)
    return _sections(value.items, value.marks)


def _sections(items: tuple[Item, ...], marks: tuple[Moving, ...]) -> Messages:
    found: list[Section] = []
    history = seen_user = False
    before = 0
    for item in items:
        message = item.value
        role = role_of(message)
        nested = tuple(mark for mark in message.marks if mark.origin.kind is VolatileKind.WINDOW)
        marks += nested
        if not role or item.many:
            is_text = (
                not item.many and message.fields is None and any(isinstance(piece, str) for piece in message.pieces)
            )
            history = history or not is_text
            before = len(found) if item.many else before
            if is_text:
                found.append(Section(Where.MESSAGES, message.pieces, told=not history and not seen_user))
                seen_user = True
        elif role in _SYSTEM:
            found.append(Section(Where.SYSTEM, content_of(message)))
        elif role in ("user", "human"):
            found.append(Section(Where.MESSAGES, content_of(message), told=not history and not seen_user))
            seen_user = True
        else:
            history = history or role == "placeholder"
            found.append(Section(Where.MESSAGES, content_of(message), told=False))
    sections = (section._replace(again=index < before) for index, section in enumerate(found))
    return Messages(tuple(sections), history, marks)


def tools_of(value: Value) -> Iterator[Section]:
    """Go through the sections of a tool list."""
    yield Section(Where.TOOLS, text_of(value))
    for item in value.items or ():
        if item.when is not None:
            yield Section(Where.TOOLS, (_conditional(item),))


def _conditional(item: Item) -> Moving:
    hop = item.when
    path, start, end, note = hop if hop is not None else ("", 0, 0, "")
    origin = Origin(
        VolatileKind.TOOLS,
        Frequency.SESSION,
        path,
        start,
        end,
        note,
        confidence=Confidence.POSSIBLE,
        because=f"a tool is added {note}",
    )
    return Moving(origin)
