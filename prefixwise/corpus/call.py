"""What an export of calls says, one record after another: calls, answers that came later, and what was no call.

An export format (`readers/`) turns its records into these; `export_log` turns calls into requests.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import msgspec

from prefixwise.core.times import ABSENT
from prefixwise.core.usage import Usage


class Call(msgspec.Struct, gc=False):
    """One call to a model as an export holds it.

    Attributes:
        body: JSON of the request body.
        api: Whose body it is; empty where that is to be recognised.
        model: Whose cache it is; wins over the body's, which may be a gateway's alias.
        start, end: Seconds since the epoch; `ttft`: seconds.
        usage: What the provider reported, in our accounting.
        response: JSON of what the export holds of the answer.
        has_reply: Whether that holds the answer itself.
        id: What tells records of one call.
        marks: `Mark` bits.
        record: JSON of the part of the record that is this call, where the record holds several.
    """

    body: bytes
    api: str = ""
    model: str = ""
    start: float = ABSENT
    end: float = ABSENT
    ttft: float = ABSENT
    tenant: str = ""
    session: str = ""
    replica: str = ""
    usage: Usage | None = None
    response: bytes = b""
    has_reply: bool = False
    id: str = ""
    marks: int = 0
    record: bytes = b""


class Answer(msgspec.Struct, gc=False):
    """What a later record says of the call `id`: fills in what is not known of it yet."""

    id: str
    start: float = ABSENT
    end: float = ABSENT
    ttft: float = ABSENT
    usage: Usage | None = None
    response: bytes = b""
    marks: int = 0


class LeftOut(msgspec.Struct, frozen=True):
    """A call that no model computed: it failed, or a gateway answered it from a store of its own."""

    reason: str


FAILED = LeftOut("failed")
GATEWAY = LeftOut("answered by the gateway's own cache")

Found = Call | Answer | LeftOut


class Decoder(Protocol):
    """Reads the records of one file of an export format."""

    def calls(self, record: bytes) -> Iterable[Found]:
        """Return what one record holds; it may be nothing. Raises one of `SHAPE_ERRORS` for a broken record."""
        ...

    def rest(self) -> Iterable[Found]:
        """Return what was held back until the end of the file."""
        ...


class RecordDecoder:
    """A decoder whose records stand for themselves."""

    def rest(self) -> Iterable[Found]:
        """Return nothing."""
        return ()
