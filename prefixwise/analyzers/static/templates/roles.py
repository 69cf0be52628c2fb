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


_USER_FILE = re.compile(r"(?:^|[._-])(?:user|human)[._-]?(?:prompt|message|template)\b|\.user\.\w+$", re.IGNORECASE)


def role_of_file(path: str) -> str:
    """Return `user` where a file's name says that it is what the user sends, else ''."""
    return "user" if _USER_FILE.search(path.replace("\\", "/").rsplit("/", 1)[-1]) else ""


def by_role(messages: list[Message], lines: bool) -> list[Message]:
    """Return messages cut where their text names roles.

    Args:
        messages: What was read; those with a role stay as they are.
        lines: Whether a role alone on a line begins a message, as in Prompty and prompt flow.
    """
    if len(messages) != 1 or messages[0].role:
        return messages
    parts = messages[0].parts
    texts = [part.text for part in parts if isinstance(part, Text)]
    first = next((text for text in texts if text.strip()), "")
    if lines and _LINES.match(first.lstrip()):
        return _cut(parts, _LINES)
    return _cut(parts, _TAGS) if any(map(_TAGS.search, texts)) else messages


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
