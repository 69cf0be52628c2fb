"""Amazon Bedrock's Converse, by an API key (signed requests are the business of the vendor's SDK)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import quote

from prefixwise.clients.protocol import (
    PROTOCOLS,
    Ask,
    Body,
    Framing,
    Output,
    Part,
    Piece,
    Protocol,
    decoded,
    described,
    error_text,
    pieces,
)
from prefixwise.clients.server_sent_events import Event


class Bedrock(Protocol):
    """`POST /model/MODEL/converse-stream`; prompts are cached up to a cache point."""

    name: ClassVar[str] = "bedrock"
    title: ClassVar[str] = "Bedrock Converse"
    api: ClassVar[str] = "bedrock-converse"
    framing: ClassVar[Framing] = Framing.AWS
    key_variable: ClassVar[str] = "AWS_BEARER_TOKEN_BEDROCK"
    request_id: ClassVar[str] = "x-amzn-requestid"

    def path(self, model: str, *, stream: bool) -> str:
        """Return the path of the endpoint, in which the model stands."""
        return f"/model/{quote(model, safe='')}/{'converse-stream' if stream else 'converse'}"

    def headers(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: Ask) -> Body:
        """Return the request body."""
        own: Body = {"messages": [{"role": "user", "content": [{"text": ask.user}]}]}
        own["inferenceConfig"] = {"temperature": 0}
        if ask.system:
            point = [{"cachePoint": {"type": "default"}}] if ask.marked else []
            own["system"] = [{"text": ask.system}, *point]
        return self.own_body(own, ask)

    def own_body(self, body: Mapping[str, Any], ask: Ask) -> Body:
        """Return a user's own body, with the settings of `ask`; model and streaming stand in the path."""
        own = {name: value for name, value in body.items() if name != "modelId"}
        return own | {"inferenceConfig": {**(own.get("inferenceConfig") or {}), "maxTokens": ask.max_tokens}}

    def with_nonce(self, body: Mapping[str, Any], nonce: str) -> Body:
        """Return the body with the nonce in the first tool's description, else in system or the first message."""
        config = body.get("toolConfig") or {}
        tools = config.get("tools")
        if isinstance(tools, list) and tools and isinstance(tools[0], dict) and "toolSpec" in tools[0]:
            first = {**tools[0], "toolSpec": described(tools[0]["toolSpec"], nonce)}
            return {**body, "toolConfig": {**config, "tools": [first, *tools[1:]]}}
        if body.get("system"):
            return {**body, "system": _begun(body["system"], nonce)}
        messages = list(body.get("messages") or [{"role": "user", "content": []}])
        messages[0] = {**messages[0], "content": _begun(messages[0].get("content") or [], nonce)}
        return {**body, "messages": messages}

    def part(self, event: Event) -> Part:
        """Return what an event says; its type is that of the frame."""
        value = decoded(event.data)
        match event.type:
            case "contentBlockDelta":
                return Part(tuple(_pieces_of(value.get("delta") or {})))
            case "contentBlockStart":
                tool = (value.get("start") or {}).get("toolUse") or {}
                return Part(pieces((Output.TOOL, tool.get("name"))))
            case "messageStop":
                return Part(finish=str(value.get("stopReason") or ""))
            case "metadata":
                return Part(usage=event.data.encode(), last=True)
        if event.type.endswith(("Exception", "exception")):
            return Part(error=error_text(value) or event.type, last=True)
        return Part()

    def whole(self, answer: bytes) -> Part:
        """Return what an answer says."""
        value = decoded(answer)
        blocks = ((value.get("output") or {}).get("message") or {}).get("content") or ()
        found = tuple(piece for block in blocks for piece in _pieces_of(block))
        usage = answer if isinstance(value.get("usage"), dict) else b""
        return Part(found, usage, str(value.get("stopReason") or ""), last=True)


def _pieces_of(block: dict[str, Any]) -> Iterator[Piece]:
    """Yield the output of a content block or of a delta of one."""
    reasoning = block.get("reasoningContent") or {}
    thought = reasoning.get("text") or (reasoning.get("reasoningText") or {}).get("text")
    tool = block.get("toolUse") or {}
    yield from pieces((Output.REASONING, thought), (Output.TEXT, block.get("text")))
    yield from pieces((Output.TOOL, tool.get("name")), (Output.TOOL, tool.get("input")))


def _begun(blocks: list[Any], nonce: str) -> list[Any]:
    for at, one in enumerate(blocks):
        if isinstance(one, dict) and isinstance(one.get("text"), str):
            return [*blocks[:at], {**one, "text": f"{nonce} {one['text']}"}, *blocks[at + 1 :]]
    return [{"text": nonce}, *blocks]


PROTOCOLS.add(Bedrock.name, Bedrock())
