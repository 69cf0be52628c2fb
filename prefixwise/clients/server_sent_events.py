"""Server-sent events, read from pieces of any size (WHATWG HTML, section 9.2)."""

from __future__ import annotations

from typing import NamedTuple

_BOM = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its type ('' for a message) and its data; `at` is when its last byte came, in nanoseconds."""

    type: str
    data: str
    at: int


class EventReader:
    """Takes bytes of a stream and gives back the events that they complete.

    Lines are decoded when they are whole, so a cut inside a character or a line end does no harm. Comments (pings of
    many servers) and ids are dropped. `open` says that an event had begun which the end of the stream cut off.
    """

    def __init__(self) -> None:
        self._held = b""
        self._first = True
        self._after_cr = False
        self._type = ""
        self._data: list[str] = []

    @property
    def open(self) -> bool:
        """Whether an event has begun and not ended."""
        return bool(self._held or self._data)

    def feed(self, data: bytes, at: int) -> list[Event]:
        """Take bytes that came at `at` and return the events that end in them."""
        if self._after_cr and data:  # the line end that the last bytes ended with may go on
            data = data.removeprefix(b"\n")
            self._after_cr = False
        held = self._held + data
        if self._first:
            if len(held) < len(_BOM) and _BOM.startswith(held):
                self._held = held
                return []
            held = held.removeprefix(_BOM)
            self._first = False
        events: list[Event] = []
        lines = held.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        self._after_cr = held.endswith(b"\r")
        self._held = lines.pop()
        for line in lines:
            if line:
                self._take(line)
            elif self._data:
                events.append(Event(self._type, "\n".join(self._data), at))
                self._type, self._data = "", []
            else:
                self._type = ""
        return events

    def finish(self, at: int) -> list[Event]:
        """Return an event that lacks only its empty line at the end: some servers leave that away."""
        return self.feed(b"\n\n", at) if self.open else []

    def _take(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value.decode("utf-8", "replace"))
        elif name == b"event":
            self._type = value.decode("utf-8", "replace")
