"""Jinja source cut into text, tags and tokens, with offsets as they stand: no line end is changed."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator, Sequence
from enum import IntEnum
from typing import NamedTuple

from prefixwise.analyzers.static.templates.parts import UnreadableTemplateError


class ChunkKind(IntEnum):
    """What a chunk of a template is."""

    TEXT = 0
    OUTPUT = 1
    STATEMENT = 2


class Token(NamedTuple):
    """A token of an expression; `kind` is `name`, `string`, `number` or `operator`."""

    kind: str
    text: str
    start: int
    end: int


class Chunk(NamedTuple):
    """A stretch of a template; tags come with their tokens."""

    kind: ChunkKind
    start: int
    end: int
    tokens: tuple[Token, ...] = ()


_OPENING = re.compile(r"\{[{%#]")
_TOKEN = re.compile(
    r"""\s+
    |(?P<number>\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?)
    |(?P<name>[^\W\d]\w*)
    |(?P<string>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
    |(?P<operator>//|\*\*|==|!=|<=|>=|[-+*/%~|.,:;()\[\]{}<>=!&?@$\#^`])""",
    re.VERBOSE | re.DOTALL,
)
_RAW = re.compile(r"\{%[-+]?\s*(?:raw|verbatim)\s*([-+]?)%\}")
_END_RAW = re.compile(r"\{%([-+]?)\s*end(?:raw|verbatim)\s*([-+]?)%\}")
_PAIRS = {"(": ")", "[": "]", "{": "}"}


def chunks(text: str, literal: Sequence[tuple[int, int]] = ()) -> Iterator[Chunk]:
    """Yield the chunks of a template in order; white space that tags take away is left out.

    Args:
        text: The template.
        literal: Stretches in which no tag begins, in order.

    Raises:
        UnreadableTemplateError: A tag does not end.
    """
    position = 0
    strips = False
    skipped = iter((*literal, (len(text) + 1, len(text) + 1)))
    block = next(skipped)
    opening = _OPENING.search(text)
    while opening is not None:
        while block[1] <= opening.start():
            block = next(skipped)
        if block[0] <= opening.start():
            opening = _OPENING.search(text, block[1])
            continue
        start = opening.start()
        yield from _text(text, position, start, strips, text[start + 2 : start + 3] == "-")
        if opening[0] == "{#":
            position, strips = _comment_end(text, start)
        elif raw := _RAW.match(text, start):
            position, strips = yield from _raw(text, raw)
        else:
            chunk, strips = _tag(text, start, opening[0])
            position = chunk.end
            yield chunk
        opening = _OPENING.search(text, position)
    yield from _text(text, position, len(text), strips, False)


def _text(text: str, start: int, end: int, left: bool, right: bool) -> Iterator[Chunk]:
    if left:
        start = end - len(text[start:end].lstrip())
    if right:
        end = start + len(text[start:end].rstrip())
    if start < end:
        yield Chunk(ChunkKind.TEXT, start, end)


def _comment_end(text: str, start: int) -> tuple[int, bool]:
    end = text.find("#}", start + 2)
    if end < 0:
        raise UnreadableTemplateError("a comment does not end", start)
    return end + 2, text[end - 1] == "-"


def _raw(text: str, opening: re.Match[str]) -> Generator[Chunk, None, tuple[int, bool]]:
    closing = _END_RAW.search(text, opening.end())
    if closing is None:
        raise UnreadableTemplateError("a raw block does not end", opening.start())
    yield from _text(text, opening.end(), closing.start(), opening[1] == "-", closing[1] == "-")
    return closing.end(), closing[2] == "-"


def _tag(text: str, start: int, opening: str) -> tuple[Chunk, bool]:
    closing, kind = ("}}", ChunkKind.OUTPUT) if opening == "{{" else ("%}", ChunkKind.STATEMENT)
    position = start + 2
    if text[position : position + 1] in ("-", "+"):
        position += 1
    tokens: list[Token] = []
    expected: list[str] = []
    match = _TOKEN.match
    while True:
        if not expected:
            if text.startswith(closing, position):
                return Chunk(kind, start, position + 2, tuple(tokens)), False
            if text.startswith(closing, position + 1) and text[position] in "-+":
                return Chunk(kind, start, position + 3, tuple(tokens)), text[position] == "-"
        found = match(text, position)
        if found is None:
            problem = "a tag does not end" if position >= len(text) else f"{text[position]!r} is unexpected"
            raise UnreadableTemplateError(problem, min(position, len(text)) if position < len(text) else start)
        position = found.end()
        group = found.lastgroup
        if group is None:
            continue
        said = found[0]
        if group == "operator":
            _balance(said, expected, found.start())
        tokens.append(Token(group, said, found.start(), position))


def _balance(said: str, expected: list[str], offset: int) -> None:
    if said in _PAIRS:
        expected.append(_PAIRS[said])
    elif said in _PAIRS.values() and (not expected or expected.pop() != said):
        raise UnreadableTemplateError(f"{said!r} is unexpected", offset)
