"""One request to a model as a log holds it, in the provider's cache order, not yet decoded further.

Message bodies stay raw JSON until somebody needs them: a corpus repeats most of its messages, and a repeated
message is recognised by its bytes.
"""

from __future__ import annotations

import enum
from typing import Literal

import msgspec

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.times import ABSENT
from prefixwise.core.usage import Usage


class Mark(enum.IntEnum):
    """What a log shows of a call beside its text; where a mark is set, its figures are to be read with care.

    The values are bits; unlike flags, testing one is plain arithmetic, and that is done for every request.
    """

    ABORTED = 1
    """Ended before the answer was whole, by the client or the engine."""
    CUT = 2
    """The exporter cut a text; a cut text is not a changed text."""
    REDACTED = 4
    """The exporter blotted out a text."""
    PARTIAL = 8
    """The log holds the conversation, but not the system prompt and tools before it."""
    REST_ONLY = 16
    """The prompt count in the log leaves out the cached tokens, though its format says that it holds them."""


class Ref(msgspec.Struct, frozen=True):
    """Where a record stands: `record` is 0-based and counts broken records; `line` is 1-based.

    `side` says which half of the exchange is meant.
    """

    path: str
    record: int
    line: int | None = None
    side: Literal["request", "response"] = "request"

    def __str__(self) -> str:
        return f"{self.path}#{self.record}"


class Section(msgspec.Struct, frozen=True, gc=False):
    """A run of items of one kind, at one place of the body.

    Attributes:
        kind: `tools`, `format`, `system`, `messages`, `prompt` (bare text) or `tokens` (bare token ids).
        pointer: Where the section stands in the body (RFC 6901).
        items: Raw JSON of each item; empty where the list is kept in one piece. As `bytes` where the same items come
            again and again: they keep their hash.
        listed: True when items are elements of the list at `pointer`, False when there is one item, at
            `pointer` itself.
        whole: Raw JSON of the whole list, where it is kept in one piece.
    """

    kind: str
    pointer: str
    items: list[msgspec.Raw] | list[bytes]
    listed: bool = True
    whole: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    def raw_items(self) -> list[msgspec.Raw] | list[bytes]:
        """Return the raw JSON of each item. Raises ValueError where the whole is no list."""
        if self.whole is msgspec.UNSET:
            return self.items
        try:
            return msgspec.json.decode(self.whole, type=list[msgspec.Raw])
        except msgspec.MsgspecError as problem:
            raise ValueError(f"`{self.pointer}`: {problem}") from None

    def item_pointer(self, index: int) -> str:
        """Return the pointer of item `index`."""
        return f"{self.pointer}/{index}" if self.listed else self.pointer


class Part(msgspec.Struct, frozen=True):
    """A stretch of a turn: text, media, or token ids.

    Attributes:
        pointer: Where the value stands, relative to the item it came from.
        text: The text; empty for media and ids.
        media: Content hash of an image, audio or file part; empty otherwise.
        tokens: (least, most) tokens of a media part; equal where the size is known.
        ids: Token ids handed over as such.
        marker: TTL in seconds of a cache marker that ends this part, else None.
        is_json: Whether `text` is our compact JSON of a value that is no string.
    """

    pointer: str
    text: str = ""
    media: bytes = b""
    tokens: tuple[int, int] = (0, 0)
    ids: tuple[int, ...] = ()
    marker: float | None = None
    is_json: bool = False


class Turn(msgspec.Struct, frozen=True):
    """One message as a template sees it: a role and its parts. Bare text and ids have no role."""

    role: str | None
    parts: tuple[Part, ...]
    name: str = ""


class Request(msgspec.Struct, gc=False):
    """A request and what the log says of its answer.

    Times are seconds since the epoch, NaN when absent; `sections` are in the provider's cache order.

    Attributes:
        api: Name of the body's API (`openai-chat`, `anthropic-messages`, …).
        params: Raw JSON of the parameters that enter the cache key, by name; `controls`: of what the request asks of
            the cache, which does not enter it.
        response: Raw JSON of what the log holds of the answer, empty where that is nothing.
        has_reply: Whether that holds the answer itself, not only its cost.
        automatic: TTL in seconds where the provider is asked to place a marker at the end by itself, else None.
        opens_reply: Whether the template opens the assistant's turn after the last message.
        id: What tells records of one call; empty where the log has no such thing.
        marks: `Mark` bits.
        raw: JSON of the record, or of the part of it that is this call; empty where the input has no such thing.
    """

    path: str
    record: int
    line: int
    api: str
    provider: str
    model: str
    sections: tuple[Section, ...]
    namespace: Namespace = SHARED
    params: tuple[tuple[str, bytes], ...] = ()
    start: float = ABSENT
    end: float = ABSENT
    ttft: float = ABSENT
    tenant: str = ""
    session: str = ""
    replica: str = ""
    response: bytes = b""
    has_reply: bool = False
    usage: Usage | None = None
    opens_reply: bool = True
    automatic: float | None = None
    id: str = ""
    marks: int = 0
    raw: bytes = b""
    controls: tuple[tuple[str, bytes], ...] = ()

    @property
    def ref(self) -> Ref:
        """Where the request stands."""
        return Ref(self.path, self.record, self.line or None)
