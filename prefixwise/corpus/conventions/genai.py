"""OpenTelemetry's GenAI semantic conventions: messages as attributes (1.37 and later) or as events (before)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from prefixwise.core.times import ABSENT
from prefixwise.core.usage import Usage, counted
from prefixwise.corpus.raw_json import encoded, listed, obj, unpacked
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
        return unpacked(encoded(value))
    return encoded(value)


def usage_of(attributes: Mapping[str, Any]) -> Usage | None:
    """Return the usage that the convention's attributes say: `input_tokens` holds cached and written ones."""
    prompt = count(attributes, "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens")
    output = count(attributes, "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens")
    return counted(prompt, count(attributes, *_READ), count(attributes, *_WRITTEN), output)


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
    body, answer = spoken_in(span.events, as_json(span.attributes.get("gen_ai.tool.definitions")))
    return _spoken(span, body, "openai-chat", answer) if body else None


def spoken_in(events: Iterable[Event], tools: bytes = b"") -> tuple[bytes, bytes]:
    """Return (body, answer) of the messages among `events`, b'' for what is not there."""
    messages: list[bytes] = []
    answer = b""
    for event in events:
        if event.name == "gen_ai.content.prompt":  # up to 1.27: all messages in one event
            prompt = _value(event.attributes.get("gen_ai.prompt"))
            if not isinstance(prompt, list):
                raise ValueError("its messages are no list: cut off at the length an attribute may have?")
            messages += map(encoded, prompt)
        elif event.name == "gen_ai.content.completion" and not answer:
            choices = _value(event.attributes.get("gen_ai.completion"))
            first_choice = choices[0] if isinstance(choices, list) and choices else None
            answer = encoded({"role": "assistant", **first_choice}) if isinstance(first_choice, dict) else b""
        elif event.name in _ROLES:
            messages.append(_message(event.name, _said(event)))
        elif event.name == "gen_ai.choice" and not answer:
            said = _said(event)
            message = _value(said.get("message"))
            message = message if isinstance(message, dict) else {"content": first(said, "content", "message")}
            answer = encoded({"role": "assistant", **message})
    return (obj((("messages", listed(messages)), ("tools", tools))) if messages else b""), answer


def _said(event: Event) -> Mapping[str, Any]:
    """Return what an event says: in one attribute as JSON, or in attributes of its own."""
    content = _value(event.attributes.get("gen_ai.event.content"))
    return content if isinstance(content, dict) else event.attributes


def _message(name: str, said: Mapping[str, Any]) -> bytes:
    role = named(said, "role") or _ROLES[name]
    message = {"role": role, "content": said.get("content")}
    if (calls := _value(said.get("tool_calls"))) is not None:
        message["tool_calls"] = calls
    if role == "tool" and (called := said.get("id")) is not None:
        message["tool_call_id"] = called
    return encoded(message)


def _value(value: Any) -> Any:
    """Return a value that may have been written as JSON text."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except msgspec.MsgspecError:  # a text that begins like JSON
            return value
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
