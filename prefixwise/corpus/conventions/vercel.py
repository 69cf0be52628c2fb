"""Vercel AI SDK telemetry: the spans of single calls (`ai.generateText.doGenerate`, `ai.streamText.doStream`, …).

Shape: AI SDK 4 and 5, read 2026-11-30. The spans around them hold the same prompt again and are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefixwise.core.times import ABSENT
from prefixwise.core.usage import Usage, counted
from prefixwise.corpus.conventions.genai import as_json
from prefixwise.corpus.raw_json import encoded, listed, obj
from prefixwise.corpus.span import CONVENTIONS, Convention, Span, Spoken, count, first, named

_DETAILS = (
    "ai.usage.inputTokenDetails.cacheReadTokens",
    "ai.usage.inputTokenDetails.cacheWriteTokens",
    "ai.usage.inputTokenDetails.noCacheTokens",
)
_OWN = "ai.telemetry.metadata."
_TENANTS = ("tenant", "tenantId", "tenant_id", "customerId", "customer_id", "userId", "user_id")
_SESSIONS = ("sessionId", "session_id", "conversationId", "conversation_id", "threadId", "chatId")


def read(span: Span) -> Spoken | None:
    """Read the span of one call."""
    attributes = span.attributes
    prompt = attributes.get("ai.prompt.messages")
    operation = named(attributes, "ai.operationId") or span.name
    if prompt is None or ".do" not in operation:
        return None
    tools = attributes.get("ai.prompt.tools")
    tools_json = listed(as_json(tool) for tool in tools) if isinstance(tools, list) and tools else b""
    milliseconds = first(attributes, "ai.response.msToFirstChunk")
    return Spoken(
        obj((("messages", as_json(prompt)), ("tools", tools_json))),
        "vercel-ai",
        named(attributes, "ai.response.model", "ai.model.id", "gen_ai.request.model"),
        named(attributes, *(f"{_OWN}{name}" for name in _TENANTS)),
        named(attributes, *(f"{_OWN}{name}" for name in _SESSIONS)),
        "",
        _usage(attributes),
        _answer(attributes),
        milliseconds / 1000 if isinstance(milliseconds, (int, float)) else ABSENT,
    )


def _usage(attributes: Mapping[str, Any]) -> Usage | None:
    prompt = count(attributes, "ai.usage.inputTokens", "ai.usage.promptTokens", "gen_ai.usage.input_tokens")
    if prompt is None:
        return None
    cached = count(attributes, "ai.usage.cachedInputTokens", _DETAILS[0])
    written = count(attributes, _DETAILS[1])
    output = count(attributes, "ai.usage.outputTokens", "ai.usage.completionTokens", "gen_ai.usage.output_tokens")
    if named(attributes, "ai.model.provider").startswith("anthropic") and not any(map(attributes.get, _DETAILS)):
        prompt += cached or 0  # up to version 5 Anthropic's own count is handed on, of which cached tokens are no part
    return counted(prompt, cached, written, output)


def _answer(attributes: Mapping[str, Any]) -> bytes:
    content: list[Any] = []
    if text := attributes.get("ai.response.text"):
        content.append({"type": "text", "text": text})
    answer = obj((("role", b'"assistant"'), ("content", encoded(content))))
    calls = as_json(attributes.get("ai.response.toolCalls"))
    if calls[:1] == b"[":
        answer = obj((("role", b'"assistant"'), ("content", encoded(content)), ("toolCalls", calls)))
    return answer if content or calls[:1] == b"[" else b""


CONVENTIONS.add("vercel-ai", Convention("vercel-ai", 50, read))
