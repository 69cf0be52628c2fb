"""Anthropic's Messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from prefixwise.clients.protocol import (
    PROTOCOLS,
    Ask,
    Body,
    Output,
    Part,
    Piece,
    Protocol,
    decoded,
    described,
    error_text,
    first_text,
    pieces,
)
from prefixwise.clients.server_sent_events import Event

VERSION = "2023-06-01"
_KINDS = {
    "text": Output.TEXT,
    "thinking": Output.REASONING,
    "partial_json": Output.TOOL,
}


class Anthropic(Protocol):
    """`POST /v1/messages`; prompts are cached up to a marker, which a body without one is given."""

    name: ClassVar[str] = "anthropic"
    title: ClassVar[str] = "Anthropic Messages"
    api: ClassVar[str] = "anthropic-messages"
    key_variable: ClassVar[str] = "ANTHROPIC_API_KEY"
    address: ClassVar[str] = "https://api.anthropic.com"
    request_id: ClassVar[str] = "request-id"

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002
        """Return the path of the endpoint."""
        return "/v1/messages"

    def headers(self, key: str) -> dict[str, str]:
        """Return the key and the version of the API."""
        return {"anthropic-version": VERSION} | ({"x-api-key": key} if key else {})

    def body(self, ask: Ask) -> Body:
        """Return the request body."""
        own: Body = {"messages": [{"role": "user", "content": ask.user}], "temperature": 0}
        if ask.system:
            block: Body = {"type": "text", "text": ask.system}
            own["system"] = [block | {"cache_control": {"type": "ephemeral"}} if ask.marked else block]
        return self.own_body(own, ask)

    def own_body(self, body: Mapping[str, Any], ask: Ask) -> Body:
        """Return a user's own body, with the settings of `ask`."""
        return {**body, "model": ask.model, "max_tokens": ask.max_tokens, "stream": ask.stream}

    def with_nonce(self, body: Mapping[str, Any], nonce: str) -> Body:
        """Return the body with the nonce in the first tool's description, else in system or the first message."""
        tools = body.get("tools")
        if isinstance(tools, list) and tools and isinstance(tools[0], dict) and "input_schema" in tools[0]:
            return {**body, "tools": [described(tools[0], nonce), *tools[1:]]}
        if body.get("system"):
            return {**body, "system": first_text(body["system"], nonce)}
        messages = list(body.get("messages") or [{"role": "user", "content": ""}])
        messages[0] = {**messages[0], "content": first_text(messages[0].get("content"), nonce)}
        return {**body, "messages": messages}

    def part(self, event: Event) -> Part:
        """Return what an event says."""
        value = decoded(event.data)
        match value.get("type") or event.type:
            case "content_block_delta":
                delta = value.get("delta") or {}
                return Part(pieces(*((kind, delta.get(name)) for name, kind in _KINDS.items())))
            case "content_block_start":
                return Part(tuple(_pieces_of(value.get("content_block") or {})))
            case "message_start":
                message = value.get("message") or {}
                return Part(usage=event.data.encode(), id=str(message.get("id") or ""))
            case "message_delta":
                delta = value.get("delta") or {}
                return Part(usage=event.data.encode(), finish=str(delta.get("stop_reason") or ""))
            case "message_stop":
                return Part(last=True)
            case "error":
                return Part(error=error_text(value) or "an error without a message", last=True)
        return Part()

    def whole(self, answer: bytes) -> Part:
        """Return what a `message` says."""
        value = decoded(answer)
        if value.get("type") == "error":
            return Part(error=error_text(value) or "an error without a message", last=True)
        found = tuple(piece for block in value.get("content") or () for piece in _pieces_of(block))
        usage = answer if isinstance(value.get("usage"), dict) else b""
        return Part(found, usage, str(value.get("stop_reason") or ""), last=True, id=str(value.get("id") or ""))


def _pieces_of(block: dict[str, Any]) -> Iterator[Piece]:
    """Yield the output of a content block, or of its beginning."""
    match block.get("type"):
        case "text":
            yield from pieces((Output.TEXT, block.get("text")))
        case "thinking":
            yield from pieces((Output.REASONING, block.get("thinking")))
        case "redacted_thinking":
            yield from pieces((Output.REASONING, block.get("data")))
        case "tool_use" | "server_tool_use" | "mcp_tool_use":
            yield from pieces((Output.TOOL, block.get("name")))


PROTOCOLS.add(Anthropic.name, Anthropic())
