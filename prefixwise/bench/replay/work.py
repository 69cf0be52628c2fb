"""The requests of a replay, ready to be sent: their bodies in a file, what is needed to pace them in memory."""

from __future__ import annotations

import tempfile
from collections import Counter
from typing import IO

import msgspec

from prefixwise.clients.protocol import Body


class Item(msgspec.Struct, frozen=True):
    """A request that is to be sent.

    Attributes:
        number: Its place in the replay, in order of arrival.
        record: Where the input has it.
        at: Seconds of the log since its first request.
        session: Its conversation, '' where that is not known: later turns wait for earlier ones in closed loop.
        protocol: Name of the protocol of its body.
        salt: Cache namespace that it was sent in.
        tokens: Tokens of its prompt by our count.
        place, size: Where its body stands.
    """

    number: int
    record: str
    at: float
    session: str
    protocol: str
    salt: str
    tokens: int
    place: int
    size: int


class Work:
    """Items and their bodies. Bodies go to a file that has no name: a log may be larger than memory."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.left_out: Counter[str] = Counter()
        """Why, and how many, requests cannot be sent."""
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by `close`

    def keep(self, body: Body) -> tuple[int, int]:
        """Write a body; return its place and size."""
        content = msgspec.json.encode(body)
        place = self._file.seek(0, 2)
        self._file.write(content)
        return place, len(content)

    def content(self, item: Item) -> bytes:
        """Return the body of an item, as JSON."""
        self._file.seek(item.place)
        return self._file.read(item.size)

    def sort(self) -> None:
        """Put the items, kept in any order, in the order of their numbers."""
        self.items.sort(key=lambda item: item.number)

    def close(self) -> None:
        """Let go of the bodies."""
        self._file.close()

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()
