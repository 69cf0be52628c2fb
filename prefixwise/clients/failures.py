"""What came of an exchange with an endpoint: the times of an answer, or why there is none."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Failure(StrEnum):
    """What went wrong; each is a cause for which a measurement may leave an exchange out."""

    CONNECT = "connect"
    """No connection: name, route, refusal or TLS."""
    LOST = "lost"
    """The server closed a kept connection before it answered: the request may or may not have been served."""
    CUT = "cut"
    """The answer ended before it was complete."""
    MALFORMED = "malformed"
    """What came is not HTTP/1.1, or not the framing that its head announced."""
    TIMEOUT = "timeout"


class Exchanged(msgspec.Struct, frozen=True):
    """What was seen of an answer; times in nanoseconds of `perf_counter_ns`, 0 for what did not happen.

    Attributes:
        status, fields: Of the head; names of fields in lower case.
        sent: Right before the first byte of the request was written.
        first_byte: Arrival of the first byte of the answer; `head`: of the last byte of its head; `end`: of its last.
        reads: How many times bytes arrived: one alone means that a proxy held the answer back.
        size: Bytes of the body.
    """

    status: int
    fields: dict[str, str]
    sent: int
    first_byte: int
    head: int
    end: int
    reads: int
    size: int


class ExchangeError(Exception):
    """An exchange that gave no complete answer: the kind of failure, and what was seen of an answer."""

    def __init__(self, failure: Failure, what: str, seen: Exchanged | None = None) -> None:
        super().__init__(what)
        self.failure = failure
        self.what = what
        self.seen = seen
