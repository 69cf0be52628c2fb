"""Whether two messages are one and the same with changes."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from prefixwise.analyzers.lint.blocks import Block, BlockKind
from prefixwise.analyzers.values.hunks import common_prefix, common_suffix

if TYPE_CHECKING:
    from prefixwise.analyzers.lint.alignment import Message

_SENTENCES = re.compile(r"[\n.?!<>\]]+")
_TELLING = 12
_LONGEST = 8_000
_ENDS = 0.6
"""Share of the shorter text that two texts must have in common at their ends."""
_WORDS = 0.6
"""Share of words that two texts must have in common."""
_SHORT, _LETTERS = 200, 0.6
"""Length of texts of which letters are compared too, and share of their neighbours that must agree."""


def alike(left: Message, right: Message) -> float:
    """Return from 0 to 1 how surely two messages are one: the same call or result, the same words with changes."""
    if left.entry.role != right.entry.role:
        return 0.0
    if left.entry.turn == right.entry.turn:
        return 1.0
    calls, others = _calls(left.blocks), _calls(right.blocks)
    if calls or others:
        return _alike_calls(left.blocks, right.blocks, calls, others)
    one, other = _words_of(left.blocks), _words_of(right.blocks)
    if one or other:
        return 0.8 if alike_texts(one, other) else 0.0
    return 0.5 if _kinds(left.blocks) & _kinds(right.blocks) else 0.0


def _alike_calls(
    left: tuple[Block, ...], right: tuple[Block, ...], calls: list[tuple[str, str]], others: list[tuple[str, str]]
) -> float:
    """Return how surely calls or results are the same; (name, id) of each.

    An id alone proves little where calls are numbered by their place.
    """
    same_tools = [name for name, _ in calls] == [name for name, _ in others]
    if same_tools and _without_ids(left) == _without_ids(right):
        return 0.95
    if {number for _, number in calls if number} & {number for _, number in others if number}:
        return 0.9 if {name for name, _ in calls} & {name for name, _ in others} else 0.3
    return 0.6 if same_tools else 0.0


def alike_texts(one: str, other: str) -> bool:
    """Say whether two texts are one with changes: the one holds the other, or they have much in common."""
    one, other = plain(one), plain(other)
    shorter, longer = sorted((one, other), key=len)
    if not shorter:
        return not longer
    if shorter in longer:
        return True
    start = common_prefix(one, other)
    if start + common_suffix(one, other, len(shorter) - start) >= _ENDS * len(shorter):
        return True
    if _sentences(one) & _sentences(other):
        return True
    one, other = one.casefold(), other.casefold()
    words, others = set(one.split()), set(other.split())
    if len(words & others) >= _WORDS * max(len(words), len(others)):
        return True
    return alike_letters(one, other)


def alike_letters(one: str, other: str) -> bool:
    """Say whether two short texts agree in most of their letters, small and capital ones being the same."""
    if max(len(one), len(other)) > _SHORT:
        return False
    first, second = _letters(one), _letters(other)
    return 2 * len(first & second) >= _LETTERS * (len(first) + len(second))


def _letters(text: str) -> set[str]:
    """Return the pairs of neighbouring characters."""
    text = text.casefold()
    return {*map(str.__add__, text, text[1:])}


def plain(text: str) -> str:
    """Return a text in one Unicode form, its white space made single spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text)
    return " ".join(text[:_LONGEST].split())


def _sentences(text: str) -> set[str]:
    return {piece for piece in map(str.strip, _SENTENCES.split(text)) if len(piece) >= _TELLING}


def _words_of(blocks: tuple[Block, ...]) -> str:
    said = (BlockKind.TEXT, BlockKind.RESULT, BlockKind.OTHER)
    return "\n".join(block.text for block in blocks if block.kind in said)


def _calls(blocks: tuple[Block, ...]) -> list[tuple[str, str]]:
    found = [block for block in blocks if block.kind in (BlockKind.CALL, BlockKind.RESULT)]
    return [(block.name or block.kind, block.id.text if block.id else "") for block in found]


def _without_ids(blocks: tuple[Block, ...]) -> list[str]:
    return [part.text for block in blocks for part in block.parts if part is not block.id]


def _kinds(blocks: tuple[Block, ...]) -> set[BlockKind]:
    return {block.kind for block in blocks}
