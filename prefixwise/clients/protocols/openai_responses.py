"""OpenAI's Responses."""

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

_SHORTEST = 16
"""Fewest output tokens that the API takes."""

_DELTAS = {
    "response.output_text.delta": Output.TEXT,
    "response.refusal.delta": Output.REFUSAL,
    "response.reasoning_text.delta": Output.REASONING,
    "response.reasoning_summary_text.delta": Output.REASONING,
    "response.function_call_arguments.delta": Output.TOOL,
    "response.custom_tool_call_input.delta": Output.TOOL,
    "response.mcp_call_arguments.delta": Output.TOOL,
    "response.code_interpreter_call_code.delta": Output.TOOL,
}
_ENDS = ("response.completed", "response.incomplete", "response.failed")


class OpenAIResponses(Protocol):
    """`POST /v1/responses`; nothing is stored, and answers have at least 16 tokens."""

    name: ClassVar[str] = "openai-responses"
    title: ClassVar[str] = "OpenAI Responses"
    api: ClassVar[str] = "openai-responses"
    key_variable: ClassVar[str] = "OPENAI_API_KEY"
    address: ClassVar[str] = "https://api.openai.com"

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002
        """Return the path of the endpoint."""
        return "/v1/responses"

    def headers(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: Ask) -> Body:
        """Return the request body."""
        own: Body = {"input": ask.user, "store": False}
        if ask.system:
            own["instructions"] = ask.system
        return self.own_body(own, ask)

    def own_body(self, body: Mapping[str, Any], ask: Ask) -> Body:
        """Return a user's own body, with the settings of `ask`."""
        length = max(_SHORTEST, ask.max_tokens)
        own = {**body, "model": ask.model, "max_output_tokens": length, "stream": ask.stream}
        if ask.key:
            own["prompt_cache_key"] = ask.key
        return own

    def with_nonce(self, body: Mapping[str, Any], nonce: str) -> Body:
        """Return the body with the nonce in the first tool's description, else in instructions or input."""
        tools = body.get("tools")
        if isinstance(tools, list) and tools and isinstance(tools[0], dict) and "name" in tools[0]:
            return {**body, "tools": [described(tools[0], nonce), *tools[1:]]}
        if body.get("instructions"):
            return {**body, "instructions": f"{nonce} {body['instructions']}"}
        given = body.get("input")
        if isinstance(given, list) and given and isinstance(given[0], dict):
            first = {**given[0], "content": first_text(given[0].get("content"), nonce, "input_text")}
            return {**body, "input": [first, *given[1:]]}
        return {**body, "input": f"{nonce} {given or ''}"}

    def part(self, event: Event) -> Part:
        """Return what an event says."""
        value = decoded(event.data)
        kind = value.get("type") or event.type
        if kind in _DELTAS:
            return Part(pieces((_DELTAS[kind], value.get("delta"))))
        if kind == "error":
            return Part(error=error_text(value) or "an error without a message", last=True)
        answer: dict[str, Any] = value["response"] if isinstance(value.get("response"), dict) else {}
        if kind in _ENDS:
            failed = error_text(answer.get("error")) if kind == "response.failed" else ""
            error = failed or ("the answer failed" if kind == "response.failed" else "")
            usage = event.data.encode() if isinstance(answer.get("usage"), dict) else b""
            return Part((), usage, str(answer.get("status") or ""), error, last=True, id=str(answer.get("id") or ""))
        if kind == "response.output_item.added" and isinstance(value.get("item"), dict):
            return Part(pieces((Output.TOOL, value["item"].get("name"))))
        return Part(id=str(answer.get("id") or ""))

    def whole(self, answer: bytes) -> Part:
        """Return what a `response` says."""
        value = decoded(answer)
        if value.get("error"):
            return Part(error=error_text(value) or "an error without a message", last=True)
        found = tuple(piece for item in value.get("output") or () for piece in _pieces_of(item))
        usage = answer if isinstance(value.get("usage"), dict) else b""
        return Part(found, usage, str(value.get("status") or ""), last=True, id=str(value.get("id") or ""))


def _pieces_of(item: dict[str, Any]) -> Iterator[Piece]:
    """Yield the output of an item of an answer."""
    for summary in item.get("summary") or ():
        yield from pieces((Output.REASONING, summary.get("text")))
    for content in item.get("content") or ():
        kind = Output.REASONING if item.get("type") == "reasoning" else Output.TEXT
        yield from pieces((kind, content.get("text")), (Output.REFUSAL, content.get("refusal")))
    yield from pieces((Output.TOOL, item.get("name")), (Output.TOOL, item.get("arguments")))


PROTOCOLS.add(OpenAIResponses.name, OpenAIResponses())
