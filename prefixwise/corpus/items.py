"""Items (messages, tools, system blocks) by their raw bytes: decoded, rendered and tokenised once each.

Bytes and lines are recognised by Python's own 64-bit keyed hash instead of being kept: that halves the memory of a
corpus and spares the comparison. Two among a million distinct items are taken for one with a chance of 3e-8.

Rendering is put off until a long run of requests has been taken in: the tokenizer's tables and the JSON compete for
the processor's caches, and tokenising in a row takes about half the time of tokenising between records.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, cast

import msgspec

from prefixwise.core.request import Section, Turn
from prefixwise.corpus.dialect import DIALECTS, SHAPE_ERRORS
from prefixwise.corpus.exporter_marks import marks_of
from prefixwise.corpus.layouts import Layouts
from prefixwise.corpus.outlines import Outlines
from prefixwise.corpus.prompt_tokenizer import PromptTokenizer
from prefixwise.corpus.template import AssumedTemplate
from prefixwise.corpus.tokenizer import BYTES_PER_ID, Tokenizer
from prefixwise.corpus.tree import TokenTree
from prefixwise.corpus.whole_prompts import WholePrompts

HEAD_KINDS = frozenset({"tools", "format", "system"})
HEAD_ROLES = frozenset({"system", "developer"})
_MOST_REPLIES = 10_000
_SHORT = 32


class Vocabulary:
    """One tokenizer in use: its template, its root in the tree, its known items."""

    def __init__(self, tokenizer: Tokenizer, tree: TokenTree) -> None:
        self.tokenizer = tokenizer
        self.template = AssumedTemplate(tokenizer)
        self.root = tree.add_root()
        self.whole = WholePrompts(tokenizer, tree, self.root) if isinstance(tokenizer, PromptTokenizer) else None
        """Renders prompts whole, where the tokenizer is an open model's own."""
        self.items: dict[tuple[str, str], dict[int, int]] = {}
        self.lists: dict[tuple[str, str], dict[int, list[int]]] = {}
        self.lines: dict[int, int] = {}
        self.short: dict[str, bytes] = {}
        self.frames: dict[bytes, int] = {}
        self.replies: dict[str, bytes] = {}
        self.opening = -1
        """The item that opens the answer."""

    def whole_for(self, api: str) -> WholePrompts | None:
        """Return what renders prompts of this API whole; None where they are put together from items."""
        return self.whole if self.whole is not None and self.whole.renders(api) else None


class Special(msgspec.Struct, frozen=True):
    """What few items have: cache markers (offset in tokens, TTL in seconds) and media of unknown size.

    Where prompts are rendered whole, a marker stands at the end of its item and its offset is 0.
    """

    markers: tuple[tuple[int, float], ...]
    band: tuple[int, int]


class Items:
    """All items of a corpus, by number. What `add` queues has segments once `render` has run."""

    def __init__(self, tree: TokenTree, outlines: Outlines | None = None, layouts: Layouts | None = None) -> None:
        self.segments: list[tuple[int, ...]] = []
        self.is_head = bytearray()
        self.special: dict[int, Special] = {}
        self.marks: dict[int, int] = {}
        """`Mark` bits of the few items in which an exporter cut or blotted out text."""
        self.bytes_queued = 0
        """Raw bytes of the items that wait for `render`."""
        self.outlines = outlines
        self.layouts = layouts
        self._tree = tree
        self._queue: list[tuple[int, Vocabulary, Turn]] = []

    def of_section(self, vocabulary: Vocabulary, api: str, section: Section) -> list[int]:
        """Return the items of a section, those that are new queued.

        Raises:
            ValueError: An item is not what its API says.
        """
        where = (api, section.kind)
        if section.whole is msgspec.UNSET:
            return self._of_list(vocabulary, where, section.items)
        memo = vocabulary.lists.setdefault(where, {})
        key = hash(bytes(section.whole))
        known = memo.get(key)
        if known is None:
            known = memo[key] = self._of_list(vocabulary, where, section.raw_items())
        return known

    def _of_list(
        self, vocabulary: Vocabulary, where: tuple[str, str], raw_items: list[msgspec.Raw] | list[bytes]
    ) -> list[int]:
        memo = vocabulary.items.get(where)
        if memo is None:
            memo = vocabulary.items[where] = {}
        raws = list(map(bytes, raw_items))
        found = list(map(memo.get, map(hash, raws)))
        if None not in found:
            return cast("list[int]", found)
        items = []
        for raw, known in zip(raws, found, strict=True):
            item = memo.get(hash(raw)) if known is None else known
            if item is None:
                item = memo[hash(raw)] = self._add_raw(vocabulary, where, raw)
                self.bytes_queued += len(raw)
            items.append(item)
        return items

    def _add_raw(self, vocabulary: Vocabulary, where: tuple[str, str], raw: bytes) -> int:
        turn = turn_of(*where, raw)
        is_head = where[1] in HEAD_KINDS or turn.role in HEAD_ROLES
        whole = vocabulary.whole_for(where[0])
        if whole is None:
            item = self.add(vocabulary, turn, is_head)
        else:
            item = len(self.segments)
            whole.take(item, *where, msgspec.json.decode(raw))
            markers = tuple((0, part.marker) for part in turn.parts if part.marker is not None)
            band = _band(turn)
            if markers or band != (0, 0):
                self.special[item] = Special(markers, band)
            self.add_segments((), is_head)
        if marks := marks_of(raw, turn):
            self.marks[item] = marks
        if self.outlines is not None:
            self.outlines.add_item(item, turn)
        if self.layouts is not None:
            tail = 0 if turn.role is None else len(vocabulary.template.end) // BYTES_PER_ID
            self.layouts.add_item(item, where[1], turn, tail)
        return item

    def add(self, vocabulary: Vocabulary, turn: Turn, is_head: bool = False) -> int:
        """Queue a turn and return its number."""
        item = self.add_segments((), is_head)
        self._queue.append((item, vocabulary, turn))
        return item

    def add_segments(self, segments: tuple[int, ...], is_head: bool = False) -> int:
        """Add an item whose segments are known, and return its number."""
        self.segments.append(segments)
        self.is_head.append(is_head)
        return len(self.segments) - 1

    def add_reply(self, vocabulary: Vocabulary, turn: Turn) -> int:
        """Add the part of an answer that has KV, and return its number, -1 where nothing is left.

        The prompt has opened the answer's turn already; the last sampled token (the end of the turn, or the last
        of a bare text) has no KV.
        """
        pieces = vocabulary.template.pieces(turn)
        inner = pieces[1:-1] if turn.role is not None else pieces
        ids = b"".join(piece.ids or vocabulary.tokenizer.encode(piece.text) for piece in inner)
        if len(turn.parts) == 1 and turn.parts[0].text:  # it comes again as a message of the next request
            if len(vocabulary.replies) >= _MOST_REPLIES:
                vocabulary.replies.clear()
            vocabulary.replies[turn.parts[0].text] = ids
        if turn.role is None:
            ids = ids[:-BYTES_PER_ID]
        if not ids:
            return -1
        item = self.add_segments((self._tree.add_segment(ids),))
        if self.outlines is not None:
            self.outlines.add_item(item, turn)
        return item

    def render(self) -> None:
        """Give every queued item its segments."""
        for item, vocabulary, turn in self._queue:
            plain = vocabulary.template.plain_text(turn)
            if plain is None:
                self._render(item, vocabulary, turn)
                continue
            opening, texts, end = plain
            if len(texts) == 1:
                ids = opening + self._encode(vocabulary, texts[0]) + end
                self.segments[item] = (self._tree.add_segment(ids),)
            else:
                frame = [self._frame_segment(vocabulary, ids) for ids in (opening, end) if ids]
                lines = [self._line_segment(vocabulary, text) for text in texts]
                self.segments[item] = (*frame[:1], *lines, *frame[1:])
        self._queue.clear()
        self.bytes_queued = 0

    def _render(self, item: int, vocabulary: Vocabulary, turn: Turn) -> None:
        """Render a turn of several parts; short pieces are joined into one segment, cut lines stay shared."""
        segments: list[int] = []
        markers: list[tuple[int, float]] = []
        ends: list[int] = []
        pending = bytearray()
        tokens = 0
        pieces = vocabulary.template.pieces(turn)
        for index, piece in enumerate(pieces):
            if piece.cut:
                if pending:
                    segments.append(self._tree.add_segment(bytes(pending)))
                    pending.clear()
                segments.append(self._line_segment(vocabulary, piece.text))
                tokens += len(self._tree.segments[segments[-1]]) // BYTES_PER_ID
            else:
                ids = piece.ids or self._encode(vocabulary, piece.text)
                pending += ids
                tokens += len(ids) // BYTES_PER_ID
            if piece.part >= 0 and (index + 1 == len(pieces) or pieces[index + 1].part != piece.part):
                ends.append(tokens)
                if (marker := turn.parts[piece.part].marker) is not None:
                    markers.append((tokens, marker))
        if pending:
            segments.append(self._tree.add_segment(bytes(pending)))
        self.segments[item] = tuple(segments)
        if self.layouts is not None:
            self.layouts.add_blocks(item, turn, ends)
        band = _band(turn)
        if markers or band != (0, 0):
            self.special[item] = Special(tuple(markers), band)

    def _frame_segment(self, vocabulary: Vocabulary, ids: bytes) -> int:
        segment = vocabulary.frames.get(ids)
        if segment is None:
            segment = vocabulary.frames[ids] = self._tree.add_segment(ids)
        return segment

    def _line_segment(self, vocabulary: Vocabulary, text: str) -> int:
        key = hash(text)
        segment = vocabulary.lines.get(key)
        if segment is None:
            segment = vocabulary.lines[key] = self._tree.add_segment(vocabulary.tokenizer.encode(text))
        return segment

    def _encode(self, vocabulary: Vocabulary, text: str) -> bytes:
        """Encode a text, unless it was encoded as a logged answer."""
        if len(text) <= _SHORT:  # names and ids of tools and calls come again
            ids = vocabulary.short.get(text)
            if ids is None:
                ids = vocabulary.short[text] = vocabulary.tokenizer.encode(text)
            return ids
        ids = vocabulary.replies.pop(text, None) if vocabulary.replies else None
        return vocabulary.tokenizer.encode(text) if ids is None else ids


@functools.cache
def _turn_reader(api: str) -> Callable[[str, Any], Turn]:
    return DIALECTS.get(api).turn


def turn_of(api: str, kind: str, raw: bytes | msgspec.Raw) -> Turn:
    """Decode one raw item as a turn. Raises ValueError where it is not what its API says."""
    try:
        return _turn_reader(api)(kind, msgspec.json.decode(raw))
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except ValueError:
        raise
    except SHAPE_ERRORS as problem:
        raise ValueError(f"an item of {kind} is not of the shape of its API ({problem})") from None


def _band(turn: Turn) -> tuple[int, int]:
    """Return how many tokens fewer and more the media of unknown size in `turn` may take than counted."""
    low = high = 0
    for part in turn.parts:
        if part.media and part.tokens[0] != part.tokens[1]:
            middle = max(1, sum(part.tokens) // 2)
            low += middle - part.tokens[0]
            high += part.tokens[1] - middle
    return low, high
