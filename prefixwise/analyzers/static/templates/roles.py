"""Roles that are written into the text of a prompt: `system:` on a line of its own, message tags, chat marks."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from prefixwise.analyzers.static.templates.parts import Message, Part, Text

_NAMES = "system|developer|user|assistant|function|tool"
_LINES = re.compile(
    rf"^[ \t]*(?:#[ \t]*)?({_NAMES})[ \t]*(?:\[[^\]\n]*\])?:[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE | re.IGNORECASE
)
_TAGS = re.compile(
    r"""<message\s+role\s*=\s*["'](\w+)["'][^>]*>|<\|im_start\|>(\w+)[^\S\n]*\n?|<\|start_header_id\|>(\w+)<\|end_header_id\|>"""
    r"|</message>|<\|im_end\|>|<\|eot_id\|>"
)


def by_role(messages: list[Message], lines: bool) -> list[Message]:
    """Return messages cut where their text names roles.

    Args:
        messages: What was read; those with a role stay as they are.
        lines: Whether a role alone on a line begins a message, as in Prompty and prompt flow.
    """
    if len(messages) != 1 or messages[0].role:
        return messages
    pattern = _LINES if lines else _TAGS
    parts = messages[0].parts
    first = next((part for part in parts if isinstance(part, Text) and part.text.strip()), None)
    if first is None or not any(isinstance(part, Text) and pattern.search(part.text) for part in parts):
        return messages
    if lines and _LINES.match(first.text.lstrip()) is None:
        return messages
    return _cut(parts, pattern)


def _cut(parts: Sequence[Part], pattern: re.Pattern[str]) -> list[Message]:
    found: list[tuple[str, list[Part]]] = [("", [])]
    for part in parts:
        if not isinstance(part, Text):
            found[-1][1].append(part)
            continue
        last = 0
        for mark in _marks(part, pattern):
            _add(found[-1][1], part, last, mark.start())
            found.append((next((group.lower() for group in mark.groups() if group), ""), []))
            last = mark.end()
        _add(found[-1][1], part, last, len(part.text))
    return [Message(role, tuple(inner)) for role, inner in found]


def _marks(part: Text, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    if part.end - part.start == len(part.text):  # else an offset in the text is none in the file
        yield from pattern.finditer(part.text)


def _add(parts: list[Part], text: Text, start: int, end: int) -> None:
    if start < end:
        parts.append(Text(text.text[start:end], text.start + start, text.start + end, text.within))
