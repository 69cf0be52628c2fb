"""AWS's binary event stream, read from pieces of any size (the vendor's `application/vnd.amazon.eventstream`).

A frame is: its length and that of its headers (4 bytes each, big-endian), the CRC-32 of these eight bytes, headers,
payload, and the CRC-32 of all of it. A header is a name, a type and a value; names and kinds of events are strings.
"""

from __future__ import annotations

import struct
import zlib

from prefixwise.clients.failures import ExchangeError, Failure
from prefixwise.clients.server_sent_events import Event

_PRELUDE = 12
_LARGEST = 16 * 1024 * 1024 + _PRELUDE
_STRING = 7
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
"""Bytes of a value by its type; 6 and 7 have their length in front."""


class FrameReader:
    """Takes bytes of a stream and gives back the events that they complete, as `EventReader` does."""

    def __init__(self) -> None:
        self._held = b""

    @property
    def open(self) -> bool:
        """Whether a frame has begun and not ended."""
        return bool(self._held)

    def feed(self, data: bytes, at: int) -> list[Event]:
        """Take bytes that came at `at`. Raises ExchangeError where they are no frames."""
        self._held += data
        events: list[Event] = []
        while len(self._held) >= _PRELUDE:
            length, of_headers, check = struct.unpack_from(">III", self._held)
            if zlib.crc32(self._held[:8]) != check or not _PRELUDE + of_headers + 4 <= length <= _LARGEST:
                raise ExchangeError(Failure.MALFORMED, "the event stream is damaged")
            if len(self._held) < length:
                break
            frame, self._held = self._held[:length], self._held[length:]
            if zlib.crc32(frame[:-4]) != int.from_bytes(frame[-4:], "big"):
                raise ExchangeError(Failure.MALFORMED, "an event of the stream is damaged")
            headers = _headers(frame[_PRELUDE : _PRELUDE + of_headers])
            kind = headers.get(":event-type") or headers.get(":exception-type") or headers.get(":error-code", "")
            payload = frame[_PRELUDE + of_headers : -4].decode("utf-8", "replace")
            events.append(Event(kind, payload or "{}", at))
        return events

    def finish(self, at: int) -> list[Event]:  # noqa: ARG002 - as `EventReader.finish`
        """Return nothing: a frame that is not whole is none."""
        return []


def _headers(data: bytes) -> dict[str, str]:
    """Return the headers that are strings."""
    found: dict[str, str] = {}
    place = 0
    try:
        while place < len(data):
            size = data[place]
            name = data[place + 1 : place + 1 + size].decode()
            place += 1 + size
            kind = data[place]
            place += 1
            if kind in (6, _STRING):
                size = int.from_bytes(data[place : place + 2], "big")
                place += 2
            else:
                size = _SIZES[kind]
            if kind == _STRING:
                found[name] = data[place : place + size].decode()
            place += size
    except (IndexError, KeyError, UnicodeDecodeError):
        raise ExchangeError(Failure.MALFORMED, "a header of the event stream is damaged") from None
    return found
