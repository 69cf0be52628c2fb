"""What an export of calls says, one record after another: calls, answers that came later, and what was no call.

An export format (`readers/`) turns its records into these; `export_log` turns calls into requests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Protocol

import msgspec

from prefixwise.core.request import Section
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
        sections: The prompt itself, for decoders that put prompts together; then `body` is empty.
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
    sections: tuple[Section, ...] = ()


class Answer(msgspec.Struct, gc=False):
    """What a later record says of the call `id`: fills in what is not known of it yet."""

    id: str
    start: float = ABSENT
    end: float = ABSENT
    ttft: float = ABSENT
    tenant: str = ""
    session: str = ""
    replica: str = ""
    usage: Usage | None = None
    response: bytes = b""
    marks: int = 0


class LeftOut(msgspec.Struct, frozen=True):
    """A call that no model computed: it failed, or a gateway answered it from a store of its own."""

    reason: str


class Unread(msgspec.Struct, frozen=True):
    """Something in a record that could not be read; the rest of the record could."""

    reason: str


FAILED = LeftOut("failed")
NO_PROMPT = LeftOut("not a call to a language model")
GATEWAY = LeftOut("answered by the gateway's own cache")

_REFUSED = re.compile(
    r"(?i)rate.?limit|throttl|quota|overload|unavailable|authenti|unauthori|permission|denied|forbidden|not.?found"
    r"|bad.?request|invalid|validation|unsupported|context.?(length|window)|too.?(long|large)|content.?(policy|filter)"
)
_ENDED_BY_CALLER = frozenset({408, 499, 504})


def fate(*said: Any) -> LeftOut | None:
    """Say what became of a call that did not end well: `FAILED` where it was refused, None where it was given up.

    What was given up (cancelled, timed out, for unknown reasons) had been sent, and a model may have read it.

    Args:
        said: What the log says of the error: HTTP status, class, code, message; None is nothing.
    """
    for value in said:
        code = int(value) if isinstance(value, (int, str)) and str(value).isdecimal() else 0
        if code in _ENDED_BY_CALLER:
            return None
        if 400 <= code < 600 or (isinstance(value, str) and _REFUSED.search(value)):
            return FAILED
    return None


Found = Call | Answer | LeftOut | Unread


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
