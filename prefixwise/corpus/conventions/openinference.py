"""OpenInference's flattened attributes (Phoenix, Arize): `llm.input_messages.N.message.content` and its kin.

Shape: openinference-semantic-conventions 0.1, read 2026-11-30.
"""

from __future__ import annotations

from typing import Any

import msgspec

from prefixwise.core.times import ABSENT
from prefixwise.core.usage import counted
from prefixwise.corpus.raw_json import encoded, listed, obj
from prefixwise.corpus.span import CONVENTIONS, Convention, Span, Spoken, count, indexed, named, session_of, tenant_of

_PLAIN_KEYS = frozenset({"message.role", "message.content"})
_PLAIN = len(_PLAIN_KEYS)
_FIRST = "First Token Stream Event"


def read(span: Span) -> Spoken | None:
    """Read a span of kind LLM."""
    attributes = span.attributes
    if "llm.input_messages.0.message.role" not in attributes:
        return None
    messages, given, answers = indexed(attributes, "llm.input_messages.", "llm.tools.", "llm.output_messages.")
    tools = [tool["tool.json_schema"] for tool in given if "tool.json_schema" in tool]
    body = obj(
        (
            ("messages", listed(map(_message, messages))),
            ("tools", listed(tool.encode() for tool in tools) if tools else b""),
        )
    )
    names = ("prompt", "prompt_details.cache_read", "prompt_details.cache_write", "completion")
    usage = counted(*(count(attributes, f"llm.token_count.{name}") for name in names))
    meta = _metadata(attributes.get("metadata"))
    return Spoken(
        body,
        "openai-chat",
        named(attributes, "llm.model_name"),
        tenant_of(span) or named(meta, "tenant", "tenant_id", "customer_id"),
        session_of(span) or named(meta, "session_id", "conversation_id"),
        named(attributes, "server.address"),
        usage,
        _message(answers[0]) if answers else b"",
        next((event.time - span.start for event in span.events if event.name == _FIRST), ABSENT),
    )


def _metadata(value: Any) -> dict[str, Any]:
    if isinstance(value, str) and value[:1] == "{":
        try:
            found = msgspec.json.decode(value)
        except msgspec.MsgspecError:  # cut off at the length an attribute may have
            return {}
        return found if isinstance(found, dict) else {}
    return value if isinstance(value, dict) else {}


def _message(said: dict[str, Any]) -> bytes:
    message: dict[str, Any] = {"role": said.get("message.role", "user"), "content": said.get("message.content")}
    if len(said) == _PLAIN and said.keys() == _PLAIN_KEYS:  # most are a role and a text
        return encoded(message)
    contents, calls = indexed(said, "message.contents.", "message.tool_calls.")
    if contents:
        message["content"] = [_content(content) for content in contents]
    if calls:
        message["tool_calls"] = [
            {
                "id": call.get("tool_call.id"),
                "function": {
                    "name": call.get("tool_call.function.name"),
                    "arguments": call.get("tool_call.function.arguments"),
                },
            }
            for call in calls
        ]
    if "message.tool_call_id" in said:
        message["tool_call_id"] = said["message.tool_call_id"]
    return encoded(message)


def _content(said: dict[str, Any]) -> dict[str, Any]:
    if "message_content.text" in said:
        return {"type": "text", "text": said["message_content.text"]}
    return {"type": "image_url", "image_url": {"url": said.get("message_content.image.image.url", "")}}


CONVENTIONS.add("openinference", Convention("openinference", 40, read))
