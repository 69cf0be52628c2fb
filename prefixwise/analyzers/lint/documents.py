"""A request with its text, item by item, decoded as far as somebody looks."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.core.finding import Where
from prefixwise.core.request import Part, Request, Turn
from prefixwise.corpus.items import HEAD_KINDS, HEAD_ROLES, turn_of

_MOST_KNOWN = 2_000
"""Items that are kept decoded: a conversation comes again soon or hardly ever."""


class Entry(NamedTuple):
    """One item of a prompt: a tool, a system block or a message.

    Attributes:
        kind: Section (`tools`, `format`, `system`, `messages`, `prompt`, `tokens`).
        pointer: Where it stands in the body.
        raw: Its JSON.
        turn: What it says.
    """

    kind: str
    pointer: str
    raw: bytes
    turn: Turn

    @property
    def role(self) -> str:
        """Who speaks; empty for tools and bare text."""
        return self.turn.role or ""

    @property
    def parts(self) -> tuple[Part, ...]:
        """Its stretches of text, media and ids."""
        return self.turn.parts

    @property
    def text(self) -> str:
        """All its text, a line a part."""
        return "\n".join(part.text for part in self.turn.parts if part.text)

    @property
    def where(self) -> Where:
        """Which area of a prompt it belongs to."""
        if self.kind == "tools":
            return Where.TOOLS
        if self.kind == "format":
            return Where.PARAMS
        return Where.SYSTEM if self.kind in HEAD_KINDS or self.role in HEAD_ROLES else Where.MESSAGES


class Document:
    """One request; `row` is its row, `len` the number of its items in cache order."""

    def __init__(self, row: int, request: Request, reader: TurnReader) -> None:
        self.row = row
        self.request = request
        self._reader = reader
        self._items = [
            (section.kind, section.item_pointer(index), raw)
            for section in request.sections
            for index, raw in enumerate(section.raw_items())
        ]

    def __len__(self) -> int:
        return len(self._items)

    def entry(self, index: int) -> Entry | None:
        """Return item `index`, None behind the last one."""
        if index >= len(self._items):
            return None
        kind, pointer, item = self._items[index]
        raw = bytes(item)
        return Entry(kind, pointer, raw, self._reader.read(self.request.api, kind, raw))

    @property
    def size(self) -> int:
        """Bytes of JSON of all its items."""
        return sum(len(memoryview(raw)) for _, _, raw in self._items)

    def raw(self, index: int) -> bytes:
        """Return the JSON of item `index`."""
        return bytes(self._items[index][2])

    def entries(self, start: int = 0) -> list[Entry]:
        """Return the items from `start` on."""
        return [entry for index in range(start, len(self._items)) if (entry := self.entry(index)) is not None]

    def of_kind(self, kind: str) -> list[Entry]:
        """Return the items of one section."""
        wanted = [index for index, item in enumerate(self._items) if item[0] == kind]
        return [entry for index in wanted if (entry := self.entry(index)) is not None]


class TurnReader:
    """Decodes items, each once: the messages of a conversation come again with every request."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, str, bytes], Turn] = {}

    def read(self, api: str, kind: str, raw: bytes) -> Turn:
        """Return what an item says; it has been read before, so it is of its API's shape."""
        key = (api, kind, raw)
        turn = self._known.get(key)
        if turn is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            turn = self._known[key] = turn_of(api, kind, raw)
        return turn
