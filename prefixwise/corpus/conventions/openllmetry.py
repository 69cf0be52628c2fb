"""OpenLLMetry's indexed attributes: `gen_ai.prompt.N.content` and its kin (also `llm.prompts.N.content`)."""

from __future__ import annotations

from typing import Any

import msgspec

from prefixwise.corpus.conventions.genai import model_of, usage_of
from prefixwise.corpus.raw_json import encoded, listed, obj
from prefixwise.corpus.span import CONVENTIONS, Convention, Span, Spoken, indexed, named, session_of, tenant_of

_PLAIN = 2
_PREFIXES = ("gen_ai.prompt.", "llm.prompts.")
_OWN = "traceloop.association.properties."


def read(span: Span) -> Spoken | None:
    """Read a span with indexed prompts."""
    prefix = next((name for name in _PREFIXES if f"{name}0.role" in span.attributes), None)
    if prefix is None:
        return None
    prompts, functions, answers = indexed(
        span.attributes, prefix, "llm.request.functions.", prefix.replace("prompt", "completion")
    )
    tools = [_tool(function) for function in functions]
    body = obj((("messages", listed(map(_message, prompts))), ("tools", listed(tools) if tools else b"")))
    return Spoken(
        body,
        "openai-chat",
        model_of(span.attributes) or named(span.attributes, "llm.request.model"),
        tenant_of(span, *(f"{_OWN}{name}" for name in ("tenant", "tenant_id", "customer_id", "user_id"))),
        session_of(span, *(f"{_OWN}{name}" for name in ("session_id", "conversation_id", "thread_id", "chat_id"))),
        named(span.attributes, "server.address", "gen_ai.openai.api_base", "llm.openai.api_base"),
        usage_of(span.attributes),
        _message({"role": "assistant", **answers[0]}) if answers else b"",
    )


def _message(said: dict[str, Any]) -> bytes:
    message: dict[str, Any] = {"role": said.get("role", "user"), "content": _content(said.get("content"))}
    if len(said) <= _PLAIN:  # most are a role and a text
        return encoded(message)
    (calls,) = indexed(said, "tool_calls.")
    if calls:
        message["tool_calls"] = [
            {"id": call.get("id"), "function": {key: call[key] for key in ("name", "arguments") if key in call}}
            for call in calls
        ]
    if "tool_call_id" in said:
        message["tool_call_id"] = said["tool_call_id"]
    return encoded(message)


def _content(content: Any) -> Any:
    """Return message content; lists of parts are written as JSON text."""
    if isinstance(content, str) and content.startswith('[{"'):
        try:
            return msgspec.json.decode(content)
        except msgspec.MsgspecError:
            return content
    return content


def _tool(said: dict[str, Any]) -> bytes:
    function: dict[str, Any] = {key: said[key] for key in ("name", "description") if key in said}
    if isinstance(parameters := said.get("parameters"), str):
        function["parameters"] = msgspec.json.decode(parameters)
    return encoded({"type": "function", "function": function})


CONVENTIONS.add("openllmetry", Convention("openllmetry", 30, read))
