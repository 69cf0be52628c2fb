"""OpenAI's Chat Completions, and the engines and vendors that speak it."""

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


class OpenAIChat(Protocol):
    """`POST /v1/chat/completions`; what hosted OpenAI has of its own is the cache key and the length of answers."""

    name: ClassVar[str] = "openai-chat"
    title: ClassVar[str] = "OpenAI Chat Completions"
    key_variable: ClassVar[str] = "OPENAI_API_KEY"
    address: ClassVar[str] = "https://api.openai.com"
    length_field: ClassVar[str] = "max_completion_tokens"
    key_field: ClassVar[str] = "prompt_cache_key"
    salt_field: ClassVar[str] = ""
    tools_first: ClassVar[bool] = True
    """Whether tools are rendered in front of the first message."""

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002
        """Return the path of the endpoint."""
        return "/v1/chat/completions"

    def headers(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: Ask) -> Body:
        """Return the request body."""
        messages = [{"role": "system", "content": ask.system}] if ask.system else []
        messages.append({"role": "user", "content": ask.user})
        return self.own_body({"messages": messages, "temperature": 0}, ask)

    def own_body(self, body: Mapping[str, Any], ask: Ask) -> Body:
        """Return a user's own body, with the settings of `ask`."""
        own = {name: value for name, value in body.items() if name not in _LENGTHS and name != "stream_options"}
        own |= {"model": ask.model, self.length_field: ask.max_tokens, "stream": ask.stream}
        if ask.stream:
            own["stream_options"] = {"include_usage": True}
        if ask.salt and self.salt_field:
            own[self.salt_field] = ask.salt
        if ask.key and self.key_field:
            own[self.key_field] = ask.key
        return own | self.extras(ask)

    def extras(self, ask: Ask) -> Body:  # noqa: ARG002
        """Return fields that only this server takes."""
        return {}

    def with_nonce(self, body: Mapping[str, Any], nonce: str) -> Body:
        """Return the body with the nonce in the first tool's description, else in the first message."""
        tools = body.get("tools")
        if self.tools_first and isinstance(tools, list) and tools and isinstance(tools[0], dict):
            function = described(tools[0].get("function") or {}, nonce)
            return {**body, "tools": [{**tools[0], "function": function}, *tools[1:]]}
        messages = list(body.get("messages") or [{"role": "user", "content": ""}])
        messages[0] = {**messages[0], "content": first_text(messages[0].get("content"), nonce)}
        return {**body, "messages": messages}

    def server_time(self, value: Mapping[str, Any]) -> float | None:  # noqa: ARG002
        """Return the seconds that the server says it took to the first token, where it says so in this object."""
        return None

    def part(self, event: Event) -> Part:
        """Return what a chunk says."""
        if event.data.strip() == "[DONE]":
            return Part(last=True)
        return self._read(decoded(event.data), event.data.encode(), "delta")

    def whole(self, answer: bytes) -> Part:
        """Return what a `chat.completion` says."""
        return self._read(decoded(answer), answer, "message")._replace(last=True)

    def _read(self, value: dict[str, Any], raw: bytes, field: str) -> Part:
        if value.get("error"):
            return Part(error=error_text(value) or "an error without a message", last=True)
        found: list[Piece] = []
        finish = ""
        for choice in value.get("choices") or ():
            found += _pieces_of(choice.get(field) or {})
            finish = choice.get("finish_reason") or finish
        usage = raw if isinstance(value.get("usage"), dict) else b""
        return Part(tuple(found), usage, finish, id=str(value.get("id") or ""), server_s=self.server_time(value))


def _pieces_of(delta: dict[str, Any]) -> Iterator[Piece]:
    """Yield the output of a delta or message; reasoning has a name of its own at every vendor."""
    reasoning = delta.get("reasoning_content") or delta.get("reasoning")
    content = delta.get("content")
    if isinstance(content, list):  # parts, as Mistral sends them
        content = "".join(str(one.get("text") or "") for one in content if isinstance(one, dict))
    yield from pieces((Output.REASONING, reasoning), (Output.REFUSAL, delta.get("refusal")), (Output.TEXT, content))
    for call in delta.get("tool_calls") or ():
        function = call.get("function") or {}
        yield from pieces((Output.TOOL, f"{function.get('name') or ''}{function.get('arguments') or ''}"))


_LENGTHS = ("max_tokens", "max_completion_tokens")

PROTOCOLS.add(OpenAIChat.name, OpenAIChat())
