"""The constant beginning of a prompt: what caches keep of it, cut into segments that are hashed each by itself."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import NamedTuple

from prefixwise.analyzers.static.names import Use, judge, use
from prefixwise.analyzers.static.templates.parts import ControlKind, Part, Template, Text
from prefixwise.analyzers.static.templates.tokens import count_tokens
from prefixwise.corpus.tokenizer import cut_lines

_DIGEST_BYTES = 12
_BRANCHES = frozenset({ControlKind.LOOP, ControlKind.ALTERNATIVE})


class Segment(NamedTuple):
    """A piece of constant text that tokenizers never join to its neighbours, and its place in the file.

    Marks of messages and of settings that a deployment fills in are segments without tokens.
    """

    tokens: int
    digest: str
    start: int
    end: int


def static_prefix(template: Template) -> tuple[Segment, ...]:
    """Return the segments in front of the first value that is another one from request to request.

    Line ends count as line feeds, since a checkout may write them in another way; a byte-order mark counts as nothing.
    Text that a loop repeats, or that stands in for another, ends the prefix as a value does.
    """
    return tuple(_segments(template))


def _segments(template: Template) -> Iterator[Segment]:
    for message in template.messages:
        if message.parts:
            start = message.parts[0].start
            yield Segment(0, _digest(f"role {message.role or 'system'}", b"mark"), start, start)
        for part in message.parts:
            if not _is_constant(part):
                return
            if isinstance(part, Text):
                yield from _cut(part)
            else:
                names = ",".join(f"{value.name}|{'|'.join(value.filters)}" for value in part.values)
                yield Segment(0, _digest(f"setting {names}", b"mark"), part.start, part.end)


def _is_constant(part: Part) -> bool:
    if any(control.kind in _BRANCHES for control in part.within):
        return False
    if isinstance(part, Text):
        return True
    return all(use(value.name) is Use.SETTLED and judge(value.name, value.filters) is None for value in part.values)


def _cut(text: Text) -> Iterator[Segment]:
    as_written = text.end - text.start == len(text.text)  # else an offset in the text is none in the file
    at = text.start
    for piece in cut_lines(text.text):
        said = piece.replace("\r\n", "\n")
        said = said.removeprefix("\ufeff") if at == 0 else said
        start, end = (at, at + len(piece)) if as_written else (text.start, text.end)
        if said:
            yield Segment(count_tokens(said), _digest(said, b"text"), start, end)
        at += len(piece)


def _digest(text: str, person: bytes) -> str:
    data = text.encode("utf-8", "surrogatepass")
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES, person=person).hexdigest()
