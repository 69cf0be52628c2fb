"""Which blocks a prompt is made of: where each ends and what it is. Caches with breakpoints count in blocks.

A layout is a path in a tree of items, one step an item, so conversations that begin alike share it: a turn costs what
it adds. It is built only where an analysis asks for it.
"""

from __future__ import annotations

import copy
from array import array
from collections.abc import Iterator, Mapping, Sequence
from enum import IntEnum
from typing import TYPE_CHECKING

from prefixwise.core.request import Part, Turn
from prefixwise.corpus.tree import ROOT, PrefixTree

if TYPE_CHECKING:
    from prefixwise.corpus.taken import Taken

EMPTY = 0
"""The layout of an empty prompt; every other one grows from it."""
UNKNOWN = -1
"""The layout of a prompt whose blocks nobody knows."""


class Block(IntEnum):
    """What a block is, as far as caches tell blocks apart."""

    TEXT = 0
    CALL = 1
    RESULT = 2
    THINKING = 3
    MEDIA = 4
    TOOL = 5
    """A tool definition or a response format."""


class Speaker(IntEnum):
    """Whose item it is."""

    OTHER = 0
    USER = 1
    TOOL = 2
    HEAD = 3
    """System and developer messages."""
    MODEL = 4
    DEFINITION = 5
    """Tools and response formats."""


_SPEAKERS = {
    "user": Speaker.USER,
    "tool": Speaker.TOOL,
    "function": Speaker.TOOL,
    "system": Speaker.HEAD,
    "developer": Speaker.HEAD,
    "assistant": Speaker.MODEL,
    "model": Speaker.MODEL,
}
_LISTS = frozenset({"content", "parts", "tool_calls"})
_RESULTS = ("/tool_use_id", "/toolResult/", "/functionResponse")
_CALLS = ("/toolUse/", "/functionCall", "/tool_calls/", "/arguments")
_THOUGHTS = ("/thinking", "/reasoningContent/", "/signature", "/summary/", "/encrypted_content")


class _Shape:
    """What an item adds to a layout: its blocks as (tokens up to its end, kind), or one that ends `tail` before it."""

    __slots__ = ("blocks", "has_media", "kind", "speaker", "tail")

    def __init__(self, speaker: Speaker, kind: Block, tail: int, has_media: bool) -> None:
        self.speaker = speaker
        self.kind = kind
        self.tail = tail
        self.has_media = has_media
        self.blocks: tuple[tuple[int, Block], ...] | None = None


class Layouts:
    """The layouts of a corpus, by number; a layout is the item that it ends with and the layout before that item.

    Attributes:
        of_row: By row, its layout.
        parent: The layout before the last item.
        node: Where the last item ends in the prefix tree.
        speaker: Whose the last item is.
        has_media: Whether any item so far holds an image or another medium.
        first: Number of the first block of the last item; its blocks run up to the first of the next layout.
        ends: By block, tokens from the start of the prompt to its end, framing behind it left out.
        kinds: By block, what it is.
    """

    def __init__(self) -> None:
        self.of_row = array("i")
        self.parent = array("i", [UNKNOWN])
        self.node = array("i", [ROOT])
        self.speaker = bytearray([Speaker.OTHER])
        self.has_media = bytearray([False])
        self.first = array("i", [0, 0])
        self.ends = array("i")
        self.kinds = bytearray()
        self._shapes: dict[int, _Shape] = {}
        self._known: dict[int, int] = {}
        self._nodes = array("i")

    def emptied(self) -> Layouts:
        """Return the same layouts, of which no row has one yet."""
        other = copy.copy(self)
        other.of_row, other._nodes = array("i"), array("i")
        return other

    def forget_nodes(self) -> None:
        """Forget on which edges blocks end: the tree has other edges now."""
        self._nodes = array("i")

    def replaced(self, changed: Mapping[int, int], other: Layouts) -> Layouts:
        """Return these layouts with those of `other` for some rows: by row, the row of `other`."""
        made = self.emptied()
        made.of_row.extend(self.of_row)
        for row, instead in changed.items():
            made.of_row[row] = other.of_row[instead]
        return made

    def only(self, chosen: Sequence[int], tree: PrefixTree) -> Layouts:
        """Return these layouts with those of some rows, of a tree that grows no more."""
        self.block_nodes(tree)
        other = copy.copy(self)
        other.of_row = array("i", [self.of_row[row] for row in chosen])
        return other

    def add_item(self, item: int, section: str, turn: Turn, tail: int) -> None:
        """Take in an item that was not met before; `tail` counts the tokens of framing behind its last block."""
        speaker = Speaker.DEFINITION if section in ("tools", "format") else _speaker(section, turn.role)
        kind = _kind(speaker, turn.parts)
        self._shapes[item] = _Shape(speaker, kind, tail, any(part.media for part in turn.parts))

    def add_blocks(self, item: int, turn: Turn, ends: Sequence[int]) -> None:
        """Take in where the parts of an item of several parts end, in tokens from its start."""
        shape = self._shapes.get(item)
        if shape is None:
            return
        blocks: list[tuple[int, Block]] = []
        for parts, end in _grouped(turn.parts, ends):
            if not all(_is_point(part) for part in parts):
                blocks.append((end, _kind(shape.speaker, parts)))
        shape.blocks = tuple(blocks)

    def add_row(self, taken: Taken, walked: Mapping[int, int], tree: PrefixTree) -> None:
        """Take in the next row; a prompt rendered whole has a layout that nobody knows.

        Args:
            taken: Its items.
            walked: By node and item, where the item leads from there.
            tree: Where they lead.
        """
        layout = UNKNOWN
        if taken.place is None:
            head = taken.head
            if head.layout < 0:
                head.layout = self._behind(EMPTY, head.items, taken.vocabulary.root, walked, tree)
            rest = taken.rest[:-1] if taken.opened else taken.rest
            layout = self._behind(head.layout, rest, head.node, walked, tree)
        self.of_row.append(layout)

    def _behind(self, layout: int, items: Sequence[int], node: int, walked: Mapping[int, int], tree: PrefixTree) -> int:
        """Return the layout behind `items`, the first of which begins at `node`."""
        known = self._known
        for item in items:
            after = known.get(layout << 32 | item)
            if after is None:
                before = node if layout == EMPTY else self.node[layout]
                after = self.grow(layout, item, before, walked[before << 32 | item], tree)
            layout = after
        return layout

    def step(self, layout: int, item: int) -> int | None:
        """Return the layout behind one more item, None where it was not met before."""
        return self._known.get(layout << 32 | item)

    def grow(self, layout: int, item: int, before: int, node: int, tree: PrefixTree) -> int:
        """Add the layout behind one more item, which leads from the tree's node `before` to `node`; return it."""
        shape = self._shapes[item]
        depth = tree.depth
        blocks = shape.blocks
        if blocks is None:
            blocks = ((depth[node] - depth[before] - shape.tail, shape.kind),)
        for end, kind in blocks:
            self.ends.append(depth[before] + end)
            self.kinds.append(kind)
        number = len(self.parent)
        self.parent.append(layout)
        self.node.append(node)
        self.speaker.append(shape.speaker)
        self.has_media.append(self.has_media[layout] or shape.has_media)
        self.first.append(len(self.ends))
        self._known[layout << 32 | item] = number
        return number

    def path(self, layout: int) -> Iterator[int]:
        """Yield the layout itself, the one before its last item, and so on, without the empty one."""
        parent = self.parent
        while layout > EMPTY:
            yield layout
            layout = parent[layout]

    def block_nodes(self, tree: PrefixTree) -> array[int]:
        """Return by block the node of the finished tree on whose edge it ends: with its end, it names the prefix."""
        if len(self._nodes) != len(self.ends):
            parent, depth = tree.parent, tree.depth
            self._nodes = array("i", bytes(4 * len(self.ends)))
            for layout in range(1, len(self.parent)):
                node = self.node[layout]
                for block in range(self.first[layout + 1] - 1, self.first[layout] - 1, -1):
                    while parent[node] != ROOT and depth[parent[node]] >= self.ends[block]:
                        node = parent[node]
                    self._nodes[block] = node
        return self._nodes


def _speaker(section: str, role: str | None) -> Speaker:
    if role is None:
        return Speaker.HEAD if section == "system" else Speaker.USER  # a bare prompt is what a user says
    return _SPEAKERS.get(role, Speaker.OTHER)


def _kind(speaker: Speaker, parts: Sequence[Part]) -> Block:
    if speaker is Speaker.DEFINITION:
        return Block.TOOL
    if speaker is Speaker.TOOL or any(sign in part.pointer for part in parts for sign in _RESULTS):
        return Block.RESULT
    if any(part.media for part in parts):
        return Block.MEDIA
    if any(sign in part.pointer for part in parts for sign in _CALLS) or _is_tool_use(parts):
        return Block.CALL
    if any(sign in part.pointer for part in parts for sign in _THOUGHTS):
        return Block.THINKING
    return Block.TEXT


def _is_tool_use(parts: Sequence[Part]) -> bool:
    names = {part.pointer.rpartition("/")[2] for part in parts}
    return {"name", "input"} <= names


def _is_point(part: Part) -> bool:
    """Say whether a part is nothing but a marker."""
    return part.marker is not None and not (part.text or part.media or part.ids)


def _grouped(parts: Sequence[Part], ends: Sequence[int]) -> Iterator[tuple[list[Part], int]]:
    """Yield (parts of one block, where it ends)."""
    block: list[Part] = []
    last, last_end = "", 0
    for part, end in zip(parts, ends, strict=True):
        name = _block_name(part.pointer, last)
        if block and name != last:
            yield block, last_end
            block = []
        block.append(part)
        last, last_end = name, end
    if block:
        yield block, last_end


def _block_name(pointer: str, last: str) -> str:
    """Return which block a part is of: the element of the list that it stands in, else that of the part before it."""
    steps = pointer.split("/")
    if len(steps) > 2 and steps[1] in _LISTS and steps[2].isdecimal():
        return f"{steps[1]}/{steps[2]}"
    return last or pointer
