"""Moves in prompt files: the line or sentence with a value that changes goes behind the text that does not."""

from __future__ import annotations

import re
from typing import NamedTuple

from prefixwise.analyzers.fixes.bench import Bench
from prefixwise.analyzers.fixes.edits import Mended
from prefixwise.analyzers.fixes.passages import ESCAPED_BREAKS, LINE_BREAKS, Body, Change, moved_behind, moved_to
from prefixwise.analyzers.static.templates.found import Stranded
from prefixwise.analyzers.static.templates.parts import Message, Placeholder, Template, Text
from prefixwise.analyzers.static.volatile import Frequency, Volatile
from prefixwise.core.finding import Edit, Safety

_TAGS = re.compile(r"\{%.*?%\}|\{#.*?#\}|\{\{~?!.*?\}\}", re.DOTALL)
_CONTROLS = re.compile(r"\{%.*?%\}|\{\{~?[#/^].*?\}\}|\{\{~?\s*else.*?\}\}", re.DOTALL)
_NESTED = (".yaml", ".yml", ".json")
_QUOTES = ("'", '"')


class _Place(NamedTuple):
    template: Template
    message: Message
    part: Placeholder


def moved_in_template(found: Volatile | Stranded, bench: Bench) -> Mended | None:
    """Return the move of a value of a prompt file behind the constant text; None where it is not plain.

    What changes on every call goes into the message of the user where the file has one, anything else to the end of
    its own message.
    """
    span = found.flow[-1].span if isinstance(found, Volatile) and found.flow else found.span
    place = _placed(bench.templates(found.path), span.start, span.end)
    if place is None or place.part.within or place.template.chat:
        return None
    text = bench.source(found.path).text
    body = _body(found.path, text, place.message)
    if body is None:
        return None
    value = (place.part.start, place.part.end)
    changes = _into_question(found, place, body)
    changes = changes or moved_behind(body, value)
    if changes is None:
        return None
    return Mended(tuple(Edit(found.path, *change) for change in changes), Safety.UNSAFE)


def _placed(templates: tuple[Template, ...], start: int, end: int) -> _Place | None:
    for template in templates:
        for message in template.messages:
            for part in message.parts:
                if isinstance(part, Placeholder) and part.start <= start and end <= part.end:
                    return _Place(template, message, part)
    return None


def _body(path: str, text: str, message: Message) -> Body | None:
    start, end = message.parts[0].start, message.parts[-1].end
    if start > end or (path.endswith(_NESTED[:2]) and text[start - 1 : start] in _QUOTES):
        return None
    values = {(part.start, part.end) for part in message.parts if isinstance(part, Placeholder)}
    values |= {match.span() for match in _TAGS.finditer(text, start, end)}
    closed = [(part.start, part.end) for part in message.parts if part.within]
    closed += [match.span() for match in _CONTROLS.finditer(text, start, end) if "set " not in match[0]]
    breaks = ESCAPED_BREAKS if path.endswith(_NESTED[2]) else LINE_BREAKS
    return Body(text, start, end, tuple(sorted(values)), tuple(closed), breaks)


def _into_question(found: Volatile | Stranded, place: _Place, body: Body) -> tuple[Change, ...] | None:
    """Return the move of what changes on every call into the message of the user, None where there is none."""
    messages = place.template.messages
    asked = messages[-1]
    is_call = isinstance(found, Volatile) and found.frequency is Frequency.CALL
    if not is_call or asked.role != "user" or asked is place.message or found.path.endswith(_NESTED):
        return None
    first = asked.parts[0]
    if first.within or any(isinstance(part, Text) and part.end - part.start != len(part.text) for part in asked.parts):
        return None
    start = first.start
    if isinstance(first, Text):
        start += len(first.text) - len(first.text.lstrip())
        if start >= first.end and len(asked.parts) > 1 and asked.parts[1].within:
            return None
    return moved_to(body, (place.part.start, place.part.end), start)
