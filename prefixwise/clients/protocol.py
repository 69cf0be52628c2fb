"""What a wire protocol has to know: how a request is written, and what the events of its answer mean."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar, NamedTuple, TypeAlias

import msgspec

from prefixwise.clients.server_sent_events import Event
from prefixwise.core.errors import UserError
from prefixwise.core.registry import Registry

Body: TypeAlias = dict[str, Any]


class Output(StrEnum):
    """What a piece of an answer is. Each of them is a token that somebody waits for."""

    TEXT = "text"
    REASONING = "reasoning"
    REFUSAL = "refusal"
    TOOL = "tool"


class Piece(NamedTuple):
    """A piece of an answer, never empty."""

    kind: Output
    text: str


class Part(NamedTuple):
    """What one event of a stream says, or a whole answer.

    Attributes:
        pieces: Output in it; none in role-only, empty, ping and usage events.
        usage: The event, or the part of it, that holds token counts, as JSON; b'' where there are none.
        finish: Why the answer ended, '' while it goes on.
        error: What the server says went wrong in the middle of an answer.
        last: Whether nothing comes after it.
        id: The answer's id.
        server_s: Seconds that the server says it took from taking the request to its first token; None where it does
            not say.
    """

    pieces: tuple[Piece, ...] = ()
    usage: bytes = b""
    finish: str = ""
    error: str = ""
    last: bool = False
    id: str = ""
    server_s: float | None = None


class Cold(StrEnum):
    """A way to make sure that a prompt is in no cache."""

    NONCE = "nonce"
    """Text that no request had before, at the beginning of what is rendered."""
    SALT = "salt"
    """A cache namespace of its own; the prompt stays as it is."""
    ISOLATION_KEY = "isolation-key"
    """A key that keeps requests of others apart, by the provider's word."""
    FLUSH = "flush"
    """The server forgets its cache when asked to."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """A request in no protocol's words.

    Attributes:
        model: As the endpoint calls it.
        system: System prompt; '' for none.
        user: The newest message.
        max_tokens: Longest answer; `ignore_eos`: no shorter one either, where the server can.
        stream: Whether the answer comes in events.
        salt: Cache namespace; '' for none.
        key: Routing or isolation key; '' for none.
        marked: Whether the end of the system prompt carries a cache marker, where the protocol has them.
    """

    model: str
    system: str = ""
    user: str
    max_tokens: int = 1
    ignore_eos: bool = False
    stream: bool = True
    salt: str = ""
    key: str = ""
    marked: bool = True


class Framing(StrEnum):
    """How the events of a stream are framed."""

    SSE = "server-sent events"
    AWS = "AWS event stream"


class Protocol(ABC):
    """One wire protocol; an instance has no state.

    Attributes:
        name: As `--protocol` calls it; `title`: as people do.
        cold: Ways to be cold that it has, the best first.
        framing: How the events of a stream are framed.
        key_variable: Environment variable in which the vendor's own tools look for a key, '' for none.
        address: Where the vendor's endpoint is, '' for servers that anybody runs.
        flush: Path (with query) that a POST makes forget its cache; '' for none.
        metrics: Path of Prometheus metrics; '' for none.
        api: Whose request bodies it takes, by the name that `--input-format` has for them.
        tokenize: Path that returns the token ids of a request body; '' for none.
        request_id: Header field that names an answer.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    cold: ClassVar[tuple[Cold, ...]] = (Cold.NONCE,)
    framing: ClassVar[Framing] = Framing.SSE
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    flush: ClassVar[str] = ""
    metrics: ClassVar[str] = ""
    api: ClassVar[str] = "openai-chat"
    tokenize: ClassVar[str] = ""
    request_id: ClassVar[str] = "x-request-id"

    @abstractmethod
    def path(self, model: str, *, stream: bool) -> str:
        """Return the path of the endpoint below the address that the user gives."""

    @abstractmethod
    def headers(self, key: str) -> dict[str, str]:
        """Return the header fields that carry an API key ('' for none) and what else the protocol wants."""

    @abstractmethod
    def body(self, ask: Ask) -> Body:
        """Return the request body."""

    @abstractmethod
    def own_body(self, body: Mapping[str, Any], ask: Ask) -> Body:
        """Return a user's own request body with model, answer length, streaming, salt and key as `ask` has them.

        Its prompt and tools stay; `ask.system` and `ask.user` are not looked at.
        """

    @abstractmethod
    def with_nonce(self, body: Mapping[str, Any], nonce: str) -> Body:
        """Return a copy of a body that begins, as the model sees it, with `nonce`.

        Where tools are rendered in front of the system prompt, it stands in the description of the first tool.
        """

    @abstractmethod
    def part(self, event: Event) -> Part:
        """Return what an event of a stream says. Raises ValueError for what is no event of this protocol."""

    @abstractmethod
    def whole(self, answer: bytes) -> Part:
        """Return what an answer says that came at once. Raises ValueError for what is no answer of this protocol."""

    def problem(self, answer: bytes) -> str:
        """Return what the body of a refusal says, in words; b'' and pages give ''."""
        try:
            said = msgspec.json.decode(answer)
        except msgspec.DecodeError:
            return ""
        return error_text(said)


def error_text(said: Any) -> str:
    """Return the message in an error document of any vendor, '' where there is none."""
    if isinstance(said, str):
        return said
    if not isinstance(said, dict):
        return ""
    for name in ("error", "message", "detail", "Message"):
        if name in said:
            return error_text(said[name]) or (msgspec.json.encode(said[name]).decode() if said[name] else "")
    return ""


PROTOCOLS: Registry[Protocol] = Registry("protocol", "prefixwise.clients.protocols", group="protocol")
"""Every wire protocol, by name."""


def decoded(text: str | bytes) -> dict[str, Any]:
    """Return a JSON object. Raises ValueError where the text is none."""
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError as problem:
        raise ValueError(f"this is no JSON: {problem}") from None
    if not isinstance(value, dict):
        raise ValueError("this is no JSON object")
    return value


def pieces(*given: tuple[Output, Any]) -> tuple[Piece, ...]:
    """Return pieces of what is text and not empty."""
    return tuple(Piece(kind, text) for kind, text in given if isinstance(text, str) and text)


def seconds(said: Any, *names: str, unit: float = 1.0) -> float | None:
    """Return the sum of times in an object; None where one of them is absent or no time.

    Args:
        said: The object, whatever a server sent in its place.
        names: Its fields.
        unit: What one is in seconds.
    """
    values = [said.get(name) for name in names] if isinstance(said, dict) else [None]
    known = [one for one in values if isinstance(one, int | float) and not isinstance(one, bool) and one >= 0]
    return unit * math.fsum(known) if len(known) == len(values) else None


def first_text(content: Any, nonce: str, kind: str = "text") -> Any:
    """Return a message content, text or list of parts, that begins with `nonce`.

    Raises:
        UserError: It is neither.
    """
    if isinstance(content, str):
        return f"{nonce} {content}"
    if isinstance(content, list):
        for at, one in enumerate(content):
            if isinstance(one, dict) and isinstance(one.get("text"), str):
                return [*content[:at], {**one, "text": f"{nonce} {one['text']}"}, *content[at + 1 :]]
        return [{"type": kind, "text": nonce}, *content]
    raise UserError("the request has no text to put a nonce in front of", help="send a request whose prompt is text")


def described(tool: Mapping[str, Any], nonce: str) -> dict[str, Any]:
    """Return a tool, or its function, whose description begins with `nonce`."""
    return {**tool, "description": f"{nonce} {tool.get('description') or ''}".rstrip()}
