"""OpenTelemetry's conventions for generative AI, in the forms in which spans hold what was said.

- Current: JSON in the attributes `gen_ai.input.messages`, `gen_ai.output.messages`, `gen_ai.system_instructions` and
  `gen_ai.tool.definitions` (semantic conventions 1.38 and on; the JSON schemas `gen_ai-input-messages.json` and its
  fellows; attribute names from opentelemetry-semantic-conventions 0.66b2).
- Up to 1.27: two events, `gen_ai.content.prompt` and `gen_ai.content.completion`, with JSON in `gen_ai.prompt` and
  `gen_ai.completion`; Langtrace 3.8 still writes them.
- From 1.28 to 1.36: an event a message, `gen_ai.user.message` and so on, as events of the span with their
  content in `gen_ai.event.content`, or as log records that name the span.

Readers must know: usage is `gen_ai.usage.input_tokens` (all of them) with `gen_ai.usage.cache_read.input_tokens`
among them; arguments of calls are JSON values; tools are not in the event forms; spans of tools and of servers are no
requests. The tenant stands in `user.id`, the session in `gen_ai.conversation.id`; the conventions have no other place.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Message, Workload
from formats.writers import otlp
from formats.writers.plain import Files, lines

_SCOPE = ("opentelemetry.instrumentation.openai_v2", "2.4b0")
_SCHEMA = "https://opentelemetry.io/schemas/1.38.0"


def request_attributes(exchange: Exchange, provider: str) -> dict[str, Any]:
    """Return what a span says of a call apart from what was said."""
    usage, answer = exchange.usage, exchange.answer
    found: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        provider: "openai",
        "gen_ai.request.model": exchange.model,
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 900,
        "server.address": "api.openai.example",
        "server.port": 443,
    }
    if answer and usage and exchange.first_token:
        found |= {
            "gen_ai.response.id": (bodies.chat_response(exchange) or {})["id"],
            "gen_ai.response.model": exchange.model,
            "gen_ai.response.finish_reasons": ["tool_calls" if answer.calls else "stop"],
            "gen_ai.usage.input_tokens": usage.prompt,
            "gen_ai.usage.output_tokens": usage.output,
        }
    return found


def _caller(exchange: Exchange) -> dict[str, Any]:
    return {"user.id": exchange.tenant, "gen_ai.conversation.id": exchange.session, "session.id": exchange.session}


def _current_cached(exchange: Exchange) -> dict[str, Any]:
    usage = exchange.usage
    if usage is None or exchange.first_token is None:
        return {}
    return {
        "gen_ai.usage.cache_read.input_tokens": usage.cached,
        "gen_ai.response.time_to_first_chunk": round(exchange.first_token - exchange.start, 3),
    }


# -- current: attributes ------------------------------------------------------------------------------------------


def parts(message: Message) -> list[Json]:
    """Return the parts of a message."""
    if message.role == "tool":
        return [{"type": "tool_call_response", "id": call, "response": text} for call, _, text in message.results]
    found: list[Json] = [{"type": "text", "content": message.text}] if message.text else []
    return found + [
        {"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments} for call in message.calls
    ]


def input_messages(exchange: Exchange) -> list[Json]:
    """Return `gen_ai.input.messages`; each tool result is a message, as it was in the request."""
    found: list[Json] = []
    for message in exchange.messages:
        if message.role == "tool":
            found += [{"role": "tool", "parts": [part]} for part in parts(message)]
        else:
            found.append({"role": message.role, "parts": parts(message)})
    return found


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _current_span(exchange: Exchange, write: Callable[[Any], Any] = _text) -> Json:
    of = request_attributes(exchange, "gen_ai.provider.name") | _current_cached(exchange) | _caller(exchange)
    of["gen_ai.system_instructions"] = write([{"type": "text", "content": exchange.system}])
    of["gen_ai.input.messages"] = write(input_messages(exchange))
    if exchange.tools:
        of["gen_ai.tool.definitions"] = write([
            {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in exchange.tools
        ])  # fmt: skip
    if exchange.answer:
        reason = "tool_call" if exchange.answer.calls else "stop"
        of["gen_ai.output.messages"] = write([
            {"role": "assistant", "parts": parts(exchange.answer), "finish_reason": reason}
        ])  # fmt: skip
    return otlp.span(exchange, f"chat {exchange.model}", of, parent=otlp.span_id(exchange, "server"))


def _spans(exchanges: list[Exchange], call: Any) -> list[tuple[Exchange, Json]]:
    return [(e, one) for e in exchanges for one in (call(e), *otlp.around(e))]


def current(workload: Workload) -> Files:
    """Attributes, one document with everything, a span of it twice."""
    document = otlp.traces(_spans(workload.delivered(), _current_span), *_SCOPE, _SCHEMA)
    return [("traces.json", json.dumps(document, ensure_ascii=False, indent=1).encode())]


def structured(workload: Workload) -> Files:
    """Attributes that are structured values instead of JSON, as the conventions prefer where an exporter can."""
    spans = _spans(workload.delivered(), lambda exchange: _current_span(exchange, lambda value: value))
    return [("traces.json", _text(otlp.traces(spans, *_SCOPE, _SCHEMA)).encode())]


def current_lines(workload: Workload) -> Files:
    """Attributes, as the file exporter writes them: a batch a line; one batch was delivered again."""
    exchanges = workload.delivered()
    batches = [exchanges[n : n + 5] for n in range(0, len(exchanges), 5)]
    return [("traces.jsonl", lines(otlp.traces(_spans(batch, _current_span), *_SCOPE, _SCHEMA) for batch in batches))]


# -- before: events -----------------------------------------------------------------------------------------------


def _event_bodies(exchange: Exchange) -> list[tuple[str, Json]]:
    """Return (name, body) of each message's event; bodies are near to Chat Completions."""
    found: list[tuple[str, Json]] = []
    for message in bodies.chat_messages(exchange):
        role = message["role"]
        body = {"content": message["content"], "role": role}
        if role == "tool":
            body = {"content": message["content"], "id": message["tool_call_id"]}
        if "tool_calls" in message:
            body["tool_calls"] = message["tool_calls"]
        found.append((f"gen_ai.{role}.message", {k: v for k, v in body.items() if v is not None}))
    return found


def _choice(exchange: Exchange) -> Json | None:
    if exchange.answer is None:
        return None
    (message,) = bodies.chat_message(exchange.answer)
    kept = {k: v for k, v in message.items() if v is not None}
    return {"index": 0, "finish_reason": "tool_calls" if exchange.answer.calls else "stop", "message": kept}


def _event_span(exchange: Exchange, events: list[Json]) -> Json:
    of = request_attributes(exchange, "gen_ai.system") | _caller(exchange)
    if exchange.usage:
        of["gen_ai.usage.cache_read_input_tokens"] = exchange.usage.cached
    parent = otlp.span_id(exchange, "server")
    return otlp.span(exchange, f"chat {exchange.model}", of, parent=parent, events=events)


def content_events(workload: Workload) -> Files:
    """Two events of the span, with all messages in the one and the choices in the other; no cached tokens."""

    def call(exchange: Exchange) -> Json:
        of = request_attributes(exchange, "gen_ai.system") | _caller(exchange)
        events = [
            otlp.event(
                "gen_ai.content.prompt", exchange.start, {"gen_ai.prompt": _text(bodies.chat_messages(exchange))}
            )
        ]
        if exchange.answer:
            said = _text(bodies.chat_message(exchange.answer))
            events.append(otlp.event("gen_ai.content.completion", exchange.end, {"gen_ai.completion": said}))
        return otlp.span(exchange, f"chat {exchange.model}", of, parent=otlp.span_id(exchange, "server"), events=events)

    document = otlp.traces(_spans(workload.delivered(), call), "langtrace_python_sdk", "3.8.21")
    return [("traces.json", _text(document).encode())]


def span_events(workload: Workload) -> Files:
    """Events of the span: the message is JSON in `gen_ai.event.content`."""

    def call(exchange: Exchange) -> Json:
        events = [
            otlp.event(name, exchange.start, {"gen_ai.system": "openai", "gen_ai.event.content": _text(body)})
            for name, body in _event_bodies(exchange)
        ]
        choice = _choice(exchange)
        if choice:
            content = {"gen_ai.system": "openai", "gen_ai.event.content": _text(choice)}
            events.append(otlp.event("gen_ai.choice", exchange.end, content))
        return _event_span(exchange, events)

    document = otlp.traces(_spans(workload.delivered(), call), "azure.ai.inference", "1.0.0b9")
    return [("traces.json", json.dumps(document, ensure_ascii=False).encode())]


def log_events(workload: Workload) -> Files:
    """Log records beside the spans, to be joined by trace and span; bodies are structured values."""
    records: list[tuple[Exchange, Json]] = []
    for exchange in workload.exchanges:
        named = [(exchange.start, *pair) for pair in _event_bodies(exchange)]
        choice = _choice(exchange)
        if choice:
            named.append((exchange.end, "gen_ai.choice", choice))
        for at, name, body in named:
            records.append((exchange, {
                "timeUnixNano": otlp.nanoseconds(at),
                "observedTimeUnixNano": otlp.nanoseconds(at),
                "severityNumber": 9,
                "severityText": "INFO",
                "body": otlp.value(body),
                "attributes": otlp.attributes({"gen_ai.system": "openai", "event.name": name}),
                "eventName": name,
                "traceId": otlp.trace_id(exchange),
                "spanId": otlp.span_id(exchange),
                "flags": 1,
            }))  # fmt: skip
    spans = _spans(workload.delivered(), lambda exchange: _event_span(exchange, []))
    scope = ("opentelemetry.instrumentation.openai_v2", "2.1b0")
    return [
        ("traces.jsonl", lines([otlp.traces(spans, *scope)])),
        ("logs.jsonl", lines([otlp.logs(records, *scope)])),
    ]
