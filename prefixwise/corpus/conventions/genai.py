"""OpenTelemetry's GenAI semantic conventions: messages as attributes (1.37 and later) or as events (before)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prefixwise.core.times import ABSENT
from prefixwise.core.usage import Usage
from prefixwise.corpus.raw_json import encoded, listed, obj
from prefixwise.corpus.span import (
    CONVENTIONS,
    Convention,
    Event,
    Span,
    Spoken,
    count,
    first,
    named,
    session_of,
    tenant_of,
)

_INPUT = ("gen_ai.input.messages", "gen_ai.prompt")
_DETAILS = "gen_ai.client.inference.operation.details"
_ROLES = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
_READ = ("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens")
_WRITTEN = ("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens")


def as_json(value: Any) -> bytes:
    """Return an attribute as JSON: text that is JSON as it is, structured values encoded, b'' for none."""
    if value is None:
        return b""
    if isinstance(value, str):
        return value.encode() if value.lstrip()[:1] in ("{", "[") else encoded(value)
    return encoded(value)


def usage_of(attributes: Mapping[str, Any]) -> Usage | None:
    """Return the usage that the convention's attributes say: `input_tokens` holds cached and written ones."""
    prompt = count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    if prompt is None:
        return None
    output = count(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    return Usage(prompt, count(attributes, *_READ), count(attributes, *_WRITTEN), output)


def model_of(attributes: Mapping[str, Any]) -> str:
    """Return the model of the call."""
    return named(attributes, "gen_ai.response.model", "gen_ai.request.model")


def read(span: Span) -> Spoken | None:
    """Read a span whose messages are attributes of its own or of its details event."""
    attributes: Mapping[str, Any] = span.attributes
    for event in span.events:
        if event.name == _DETAILS:
            attributes = {**attributes, **event.attributes}
    given = attributes.get(_INPUT[0])
    if given is None:
        return None
    body = obj(
        (
            ("tool_definitions", as_json(attributes.get("gen_ai.tool.definitions"))),
            ("system_instructions", as_json(attributes.get("gen_ai.system_instructions"))),
            ("input_messages", as_json(given)),
        )
    )
    return _spoken(span, body, "otel-genai", as_json(attributes.get("gen_ai.output.messages")))


def read_events(span: Span) -> Spoken | None:
    """Read a span whose messages are events."""
    messages = [_message(event) for event in span.events if event.name in _ROLES]
    if not messages:
        return None
    body = obj((("messages", listed(messages)), ("tools", as_json(span.attributes.get("gen_ai.tool.definitions")))))
    choices = [event for event in span.events if event.name == "gen_ai.choice"]
    answer = b""
    if choices:
        said = _value(choices[0].attributes.get("message"))
        said = said if isinstance(said, dict) else {"content": first(choices[0].attributes, "content", "message")}
        answer = encoded({"role": "assistant", **said})
    return _spoken(span, body, "openai-chat", answer)


def _message(event: Event) -> bytes:
    role = named(event.attributes, "role") or _ROLES[event.name]
    message = {"role": role, "content": event.attributes.get("content")}
    if (calls := _value(event.attributes.get("tool_calls"))) is not None:
        message["tool_calls"] = calls
    if role == "tool" and (called := event.attributes.get("id")) is not None:
        message["tool_call_id"] = called
    return encoded(message)


def _value(value: Any) -> Any:
    """Return a value that may have been written as JSON text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        return msgspec.json.decode(value)
    return value


def _spoken(span: Span, body: bytes, api: str, response: bytes) -> Spoken:
    attributes = span.attributes
    ttft = first(attributes, "gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token")
    return Spoken(
        body,
        api,
        model_of(attributes),
        tenant_of(span),
        session_of(span),
        named(attributes, "server.address"),
        usage_of(attributes),
        response,
        float(ttft) if isinstance(ttft, (int, float)) else ABSENT,
    )


CONVENTIONS.add("gen-ai", Convention("gen-ai", 10, read))
CONVENTIONS.add("gen-ai-events", Convention("gen-ai-events", 20, read_events))
