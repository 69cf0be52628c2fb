"""The items of each request by what they say: enough to see which request continues which, without their text.

An item's content is a hash of role and parts, the same for a string and a list of one block, with and without a cache
marker, and in every tokenizer's vocabulary.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from array import array
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from prefixwise.core.request import Part, Request, Section, Turn
from prefixwise.corpus.rendered_turns import start_tokens, turns_in
from prefixwise.corpus.tree import PrefixTree

_LONGEST_CLUE = 4_000
_FIRST_CLUES = 8
_LAST_CLUES = 4
_SHORTEST_CLUE = 12
_CLUE_ENDS = (": ", *".?!<>]。？！؟।")
"""What ends a clue besides a line end."""
_RESULT_IDS = ("/call_id", "/tool_call_id", "/tool_use_id", "/toolUseId")
_QUOTES = " \t\"'`{}[],-*"
_PLAIN = frozenset({"", "/content"})
_HEAD_ROLES = frozenset({"system", "developer"})
_MODEL_ROLES = frozenset({"assistant", "model"})
_SUMMARIES = (
    "summar",
    "compact",
    "recap",
    "conversation so far",
    "previous conversation",
    "earlier conversation",
    "earlier messages",
    "continued from",
    "zusammenfass",
    "resumen",
    "résumé",
    "riassunt",
    "riepilogo",
    "resumo",
    "samenvatting",
    "sammanfattning",
    "sammendrag",
    "podsumowani",
    "сводка",
    "резюме",
    "краткое",
    "özet",
    "要約",
    "まとめ",
    "摘要",
    "总结",
    "總結",
    "概要",
    "요약",
    "ملخص",
    "סיכום",
)
_SUMMARY_WITHIN = 400
_LONGEST_SPELT, _WORDS = 400, 3
_WORD, _ASCII_WORD = re.compile(r"[^\W\d_]{5,}"), re.compile(r"[a-z]{5,}")


class Shape(IntEnum):
    """How an item writes its text; what says the same in two shapes is one text to most caches, not to all."""

    STRING = 0
    ONE_BLOCK = 1
    """A list of one text."""
    OTHER = 2


class Beside(NamedTuple):
    """What of a request its items do not show: see `Outlines.head_ends` and `Outlines.answered`."""

    head_end: str
    is_answered: bool

    @classmethod
    def of(cls, request: Request, heads: int, messages: int) -> Beside:
        """Return it for a request with so many items in its head and behind it."""
        return cls(_head_end(request.sections, messages) if heads else "", bool(request.response))


class Outlines:
    """By row: the contents of its leading items (tools, format, system), of its messages, and of its answer.

    Attributes:
        head, messages: Contents by row, in cache order.
        answer: Content of the logged answer by row, 0 where there is none.
        clues: By content of a message that is not the model's: hashes of its lines and sentences, by which a message
            is recognised that was wrapped, trimmed or added to.
        short_clues: The same of what is too short to tell much by itself (`Yes`).
        is_model: By content of a message: whether the model said it.
        summaries: Contents of messages that speak of a summary of what was said before.
        shapes: By row: the `Shape` of each item, head and messages.
        inner: By content of a prompt that came rendered: contents of the turns in it, behind the system prompt.
        starts: By content of a bare prompt, a text or ids: how often it begins with the start token.
        head_ends: By row: pointer of the last item in front of the conversation (`/system`, `/messages/0`); empty
            where there is none.
        answered: By row: whether the record holds something of the answer.
    """

    def __init__(self) -> None:
        self.head: list[tuple[int, ...]] = []
        self.messages: list[array[int]] = []
        self.answer = array("q")
        self.clues: dict[int, tuple[int, ...]] = {}
        self.short_clues: dict[int, tuple[int, ...]] = {}
        self.is_model: dict[int, bool] = {}
        self.summaries: set[int] = set()
        self.shapes: list[bytes] = []
        self.inner: dict[int, array[int]] = {}
        self.starts: dict[int, int] = {}
        self.head_ends: list[str] = []
        self.answered = bytearray()
        self._spellings: dict[int, int] = {}
        self._shape_of: dict[int, int] = {}
        self._known_shapes: dict[bytes, bytes] = {}
        self._contents: dict[int, int] = {}
        self._heads: dict[tuple[int, ...], tuple[int, ...]] = {}
        self._known_ends: dict[str, str] = {}

    def add_item(self, item: int, turn: Turn) -> None:
        """Take in an item that was not met before."""
        content = content_of(turn)
        self._contents[item] = content
        self._shape_of[item] = _shape(turn)
        if turn.role is not None:
            self._add_said(content, turn)
        elif content not in self.starts:
            self._add_prompt(content, turn)

    def _add_prompt(self, content: int, turn: Turn) -> None:
        """Take in a prompt that came rendered, or as ids."""
        if len(turn.parts) != 1 or turn.parts[0].is_json or turn.parts[0].media:
            return
        text, ids = turn.parts[0].text, turn.parts[0].ids
        self.starts[content] = start_tokens(text) if text else 1 + (len(ids) > 1 and ids[0] == ids[1])
        found = [Turn(role, (Part("", said),)) for role, said in turns_in(text)] if text else []
        turns = list(itertools.dropwhile(lambda said: said.role in _HEAD_ROLES, found))
        for said in turns:
            self._add_said(content_of(said), said)
        if turns:
            self.inner[content] = array("q", map(content_of, turns))

    def _add_said(self, content: int, turn: Turn) -> None:
        """Take in who said something, and how it may be known again."""
        if content in self.is_model:
            return
        self.is_model[content] = turn.role in _MODEL_ROLES
        if turn.role not in _MODEL_ROLES:
            self.clues[content], self.short_clues[content] = _clues(turn)
            if spelling := _spelling(turn):
                self._spellings[content] = spelling
        if _speaks_of_summary(turn):
            self.summaries.add(content)

    def add_row(self, head: tuple[int, ...], rest: list[int], answer: int, beside: Beside) -> None:
        """Take in the items of the next row; `answer` is -1 where there is none."""
        contents = self._contents
        if head not in self._heads:
            self._heads[head] = tuple([contents[item] for item in head])
        self.head.append(self._heads[head])
        self.messages.append(array("q", [contents[item] for item in rest]))
        self.answer.append(contents.get(answer, 0))
        shapes = bytes(map(self._shape_of.__getitem__, (*head, *rest)))
        self.shapes.append(self._known_shapes.setdefault(shapes, shapes))
        self.head_ends.append(self._known_ends.setdefault(beside.head_end, beside.head_end))
        self.answered.append(beside.is_answered)

    def is_bare(self, row: int) -> bool:
        """Say whether the prompt of a row is one text or list of ids, with no template to come."""
        messages = self.messages[row]
        return len(messages) == 1 and messages[0] in self.starts and not self.head[row]

    def spelling(self, row: int) -> int:
        """Return a hash of the first message of a row that stays where its spelling is put right, 0 for none."""
        messages = self.turns(row)
        return self._spellings.get(messages[0], 0) if messages else 0

    def turns(self, row: int) -> array[int]:
        """Return the contents of the messages of a row, those inside a prompt that came rendered included."""
        messages = self.messages[row]
        return self.inner.get(messages[0], messages) if len(messages) == 1 else messages


def _head_end(sections: Sequence[Section], messages: int) -> str:
    heads = len(sections[-1].items) - messages
    if heads > 0:
        return sections[-1].item_pointer(heads - 1)
    return sections[-2].pointer if len(sections) > 1 else ""


def _shape(turn: Turn) -> Shape:
    parts = [part for part in turn.parts if not part.pointer.endswith(_RESULT_IDS)]
    if len(parts) != 1 or not parts[0].text or parts[0].is_json:
        return Shape.OTHER
    return Shape.STRING if parts[0].pointer in _PLAIN else Shape.ONE_BLOCK


def content_of(turn: Turn) -> int:
    """Return the hash of what a turn says."""
    return hash((turn.role, turn.name, *[part.text or part.media or part.ids for part in turn.parts]))


def _clues(turn: Turn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the hashes of the first and last lines and sentences of a turn: the telling ones, and the short ones."""
    pieces: list[str] = []
    for part in turn.parts:
        if part.text and not part.is_json:
            text = part.text
            if len(text) > _LONGEST_CLUE:
                text = f"{text[: _LONGEST_CLUE // 2]}\n{text[-_LONGEST_CLUE // 2 :]}"
            if not text.isascii():
                text = unicodedata.normalize("NFC", text)
            pieces += map(str.strip, _sentences(text))
    telling = [piece for piece in pieces if len(piece) >= _SHORTEST_CLUE]
    ids = {part.text for part in turn.parts if part.pointer.endswith(_RESULT_IDS)}
    if ids and ids.issuperset(telling):
        telling.append(_said_by_tool(turn))  # a short result is known by all that it says
    short = [piece for piece in pieces if 1 < len(piece) < _SHORTEST_CLUE]
    return _ends(telling), _ends(short)


def _sentences(text: str) -> list[str]:
    """Cut a text into lines and sentences, some of them empty."""
    for end in _CLUE_ENDS:  # a search for one character at a time is far quicker than a pattern
        text = text.replace(end, "\n")
    return text.split("\n")


def _said_by_tool(turn: Turn) -> str:
    return "\n".join(["result", *(part.text for part in turn.parts if not part.pointer.endswith(_RESULT_IDS))])


def sentences_of(text: str) -> frozenset[int]:
    """Return the hashes of all telling lines and sentences of a text, one inside quotes or JSON included."""
    plain = text.replace("\\n", "\n").replace('\\"', '"')
    if not plain.isascii():
        plain = unicodedata.normalize("NFC", plain)
    pieces = (piece.strip(_QUOTES) for piece in _sentences(plain))
    return frozenset(hash(piece) for piece in pieces if len(piece) >= _SHORTEST_CLUE)


def _spelling(turn: Turn) -> int:
    """Return the hash of the longest words of a short text, 0 where it has too few."""
    if len(turn.parts) != 1 or not 0 < len(turn.parts[0].text) <= _LONGEST_SPELT:
        return 0
    text = turn.parts[0].text.casefold()
    words = sorted(set((_ASCII_WORD if text.isascii() else _WORD).findall(text)))
    longest = sorted(words, key=len, reverse=True)[:_WORDS]
    return hash(tuple(sorted(longest))) if len(longest) == _WORDS else 0


def _ends(pieces: list[str]) -> tuple[int, ...]:
    if len(pieces) > _FIRST_CLUES + _LAST_CLUES:
        pieces = pieces[:_FIRST_CLUES] + pieces[-_LAST_CLUES:]
    return tuple(map(hash, pieces))


def _speaks_of_summary(turn: Turn) -> bool:
    for part in turn.parts:
        if part.text and not part.is_json:
            beginning = part.text[:_SUMMARY_WITHIN].lower()
            for word in _SUMMARIES:  # plainly: this is asked of every message
                if word in beginning:
                    return True
    return False


def common_tokens(tree: PrefixTree, one: int, other: int) -> int:
    """Return how many tokens the prompts that end at two nodes share from their start."""
    parent, depth = tree.parent, tree.depth
    while one != other:
        if depth[one] < depth[other]:
            one, other = other, one
        if parent[one] < 0:  # the roots of two vocabularies
            return 0
        one = parent[one]
    return depth[one]
