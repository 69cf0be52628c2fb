"""A request rendered whole by its chat template, with what came from which value of the body.

Where the values stand is found by rendering a second time with a mark in the place of each text: what stands between
the marks is the template's own.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from prefixwise.core.request import Part, Request, Section, Turn
from prefixwise.corpus.dialect import SHAPE_ERRORS
from prefixwise.corpus.items import turn_of
from prefixwise.corpus.tokenizer import BYTES_PER_ID
from prefixwise.corpus.whole_prompts import WholePrompts

_MARK = re.compile("\ue002(\\d+)\ue003")


class Span(NamedTuple):
    """Tokens of one origin: `part` is None for what the template put there."""

    kind: str
    pointer: str
    role: str
    part: Part | None
    ids: bytes


class _Value(NamedTuple):
    kind: str
    pointer: str
    role: str
    part: Part
    shown: tuple[str, ...]
    """What the value may look like in the prompt, likeliest first."""


def whole_spans(request: Request, whole: WholePrompts) -> list[Span]:
    """Return the prompt of `request` as spans of tokens, in order.

    Raises:
        ValueError: An item is not what its API says, or the template refuses the conversation.
    """
    values: list[_Value] = []
    items = 0
    marks: list[int] = []
    for section in request.sections:
        for index, raw in enumerate(section.raw_items()):
            turn = turn_of(request.api, section.kind, raw)
            found = list(_values(section, index, turn, whole))
            decoded = msgspec.json.decode(raw)
            whole.take(items, request.api, section.kind, decoded)
            marks.append(-items - 1)
            whole.take(-items - 1, request.api, section.kind, _with_marks(decoded, found, len(values)))
            values.extend(found)
            items += 1
    text = whole.text(request, range(items))
    try:
        pattern = whole.text(request, marks)
    except ValueError:
        pattern = ""
    places = _placed(text, pattern, values)
    closed = whole.text(request, range(items), opens_reply=False)
    reply = len(closed) if text.startswith(closed) else len(text)
    return _spans(request, whole, text, places, reply)


def _values(section: Section, index: int, turn: Turn, whole: WholePrompts) -> Iterator[_Value]:
    for part in turn.parts:
        pointer = section.item_pointer(index) + part.pointer
        shown = (whole.medium(part),) if part.media else _shown(part.text, part.is_json or section.kind == "tools")
        yield _Value(section.kind, pointer, turn.role or "", part, shown)


def _shown(text: str, is_json: bool) -> tuple[str, ...]:
    """Return what a text may look like in a prompt: trimmed, or as the JSON that templates write."""
    forms = [text, text.strip(), text.rstrip(), text.lstrip()]
    try:
        decoded = [msgspec.json.decode(text)] if is_json or text.lstrip().startswith(("{", "[")) else []
    except msgspec.MsgspecError:
        decoded = []
    for value in decoded:
        for inner in (value, value.get("function") if isinstance(value, dict) else None):
            if inner is not None:
                forms += [json.dumps(inner, ensure_ascii=False, indent=indent) for indent in (None, 4, 2)]
    return tuple(dict.fromkeys(forms))


def _with_marks(item: Any, values: Sequence[_Value], first: int) -> Any:
    """Return `item` with a mark in the place of each string that a template writes as it is."""
    item = msgspec.json.decode(msgspec.json.encode(item))
    for number, value in enumerate(values, first):
        if value.part.media or value.part.is_json or not value.part.text:
            continue
        item = _replaced(item, value.part.pointer, f"\ue002{number}\ue003")
    return item


def _replaced(item: Any, pointer: str, mark: str) -> Any:
    """Put `mark` where `pointer` leads, if a content string stands there."""
    if not pointer:
        return mark if isinstance(item, str) else item
    *way, last = (key.replace("~1", "/").replace("~0", "~") for key in pointer[1:].split("/"))
    if last not in ("content", "text", "reasoning_content", "thinking", "reasoning"):
        return item
    at = item
    try:
        for key in way:
            at = at[int(key)] if isinstance(at, list) else at[key]
        if isinstance(at[last], str):
            at[last] = mark
    except SHAPE_ERRORS:
        pass
    return item


def _placed(text: str, pattern: str, values: Sequence[_Value]) -> list[tuple[int, int, _Value]]:
    """Return (start, end, value) of the values that stand in `text`, in order."""
    found: list[tuple[int, int, _Value]] = []
    rest = [*_MARK.split(pattern), ""] if pattern else [text, ""]
    framing, numbers = rest[0:-1:2], [int(number) for number in rest[1:-1:2]]
    marked = set(numbers)
    others = [value for number, value in enumerate(values) if number not in marked]
    if not text.startswith(framing[0]):
        return _searched(text, 0, len(text), list(values))
    found += _searched(text, 0, len(framing[0]), others)
    at = len(framing[0])
    for number, behind in zip(numbers, framing[1:], strict=True):
        value = values[number]
        form = next((f for f in value.shown if text.startswith(f, at) and text.startswith(behind, at + len(f))), None)
        if form is None:
            return found + _searched(text, at, len(text), list(values[number:]))
        found.append((at, at + len(form), value))
        at += len(form)
        found += _searched(text, at, at + len(behind), others)
        at += len(behind)
    return found


def _searched(text: str, start: int, end: int, values: list[_Value]) -> list[tuple[int, int, _Value]]:
    """Take those of `values` that stand one behind the other in a stretch of `text` out of the list."""
    found = []
    for value in list(values):
        places = [(at, len(form)) for form in value.shown if form and (at := text.find(form, start, end)) >= 0]
        if places:
            at, size = places[0]
            found.append((at, at + size, value))
            values.remove(value)
            start = at + size
    return found


def _spans(
    request: Request, whole: WholePrompts, text: str, places: Sequence[tuple[int, int, _Value]], reply: int
) -> list[Span]:
    """Return the tokens between and in the places; a token belongs to the place in which it begins.

    From `reply` on, they open the answer.
    """
    ids, starts = whole.starts(text, request.api == "completions")
    spans: list[Span] = []
    token = 0

    def take(end: int, value: _Value | None, kind: str = "template") -> None:
        nonlocal token
        first = token
        while token < len(starts) and starts[token] < end:
            token += 1
        data = ids[first * BYTES_PER_ID : token * BYTES_PER_ID]
        if value is not None:
            spans.append(Span(value.kind, value.pointer, value.role, value.part, data))
        elif data:
            spans.append(Span(kind, "", "assistant" if kind == "reply" else "", None, data))

    for start, end, value in places:
        take(start, None)
        take(end, value)
    take(reply, None)
    take(len(text) + 1, None, "reply")
    return spans
