"""Spans of vendors with attributes of their own, by index: OpenLLMetry before 0.50, and OpenInference (Phoenix).

OpenLLMetry: opentelemetry-semantic-conventions-ai 0.4.13 and the OpenAI instrumentation of that time, which wrote
`gen_ai.prompt.N.…` and `llm.request.functions.N.…`; releases since write the current attributes of `otel.py`.
OpenInference: openinference-semantic-conventions 0.1.42 (`SpanAttributes`, `MessageAttributes`, `ToolCallAttributes`,
`ToolAttributes`), names compared by hand.
"""

from __future__ import annotations

import json
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Workload
from formats.writers import otlp
from formats.writers.plain import Files


def _document(workload: Workload, call: Any, scope: str, version: str) -> Files:
    spans = [(e, one) for e in workload.delivered() for one in (call(e), *otlp.around(e))]
    document = otlp.traces(spans, scope, version)
    return [("traces.json", json.dumps(document, ensure_ascii=False).encode())]


# -- OpenLLMetry --------------------------------------------------------------------------------------------------


def _indexed(prefix: str, message: Json) -> dict[str, Any]:
    found: dict[str, Any] = {f"{prefix}.role": message["role"], f"{prefix}.content": message["content"]}
    if "tool_call_id" in message:
        found[f"{prefix}.tool_call_id"] = message["tool_call_id"]
    for number, call in enumerate(message.get("tool_calls", [])):
        found[f"{prefix}.tool_calls.{number}.id"] = call["id"]
        found[f"{prefix}.tool_calls.{number}.name"] = call["function"]["name"]
        found[f"{prefix}.tool_calls.{number}.arguments"] = call["function"]["arguments"]
    return found


def _traceloop_span(exchange: Exchange) -> Json:
    of: dict[str, Any] = {
        "traceloop.workflow.name": "dispatch",
        "traceloop.association.properties.user_id": exchange.tenant,
        "traceloop.association.properties.session_id": exchange.session,
        "llm.request.type": "chat",
        "gen_ai.system": "OpenAI",
        "gen_ai.request.model": exchange.model,
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 900,
        "llm.headers": "None",
        "llm.is_streaming": False,
        "gen_ai.openai.api_base": "https://api.openai.example/v1/",
    }
    for number, message in enumerate(bodies.chat_messages(exchange)):
        of |= _indexed(f"gen_ai.prompt.{number}", message)
    for number, tool in enumerate(exchange.tools):
        of[f"llm.request.functions.{number}.name"] = tool.name
        of[f"llm.request.functions.{number}.description"] = tool.description
        of[f"llm.request.functions.{number}.parameters"] = json.dumps(tool.parameters)
    if exchange.answer and exchange.usage:
        usage = exchange.usage
        of |= {
            "gen_ai.response.model": exchange.model,
            "gen_ai.response.id": (bodies.chat_response(exchange) or {})["id"],
            "llm.usage.total_tokens": usage.prompt + usage.output,
            "gen_ai.usage.completion_tokens": usage.output,
            "gen_ai.usage.prompt_tokens": usage.prompt,
            "gen_ai.usage.cache_read_input_tokens": usage.cached,
            "gen_ai.completion.0.finish_reason": "tool_calls" if exchange.answer.calls else "stop",
        }
        of |= _indexed("gen_ai.completion.0", bodies.chat_message(exchange.answer)[0])
    return otlp.span(exchange, "openai.chat", of, parent=otlp.span_id(exchange, "server"))


def openllmetry(workload: Workload) -> Files:
    """OpenLLMetry's attributes by index."""
    return _document(workload, _traceloop_span, "opentelemetry.instrumentation.openai.v1", "0.47.5")


# -- OpenInference ------------------------------------------------------------------------------------------------


def _message(prefix: str, message: Json) -> dict[str, Any]:
    found: dict[str, Any] = {
        f"{prefix}.message.role": message["role"],
        f"{prefix}.message.content": message["content"],
        f"{prefix}.message.tool_call_id": message.get("tool_call_id"),
    }
    for number, call in enumerate(message.get("tool_calls", [])):
        at = f"{prefix}.message.tool_calls.{number}.tool_call"
        found[f"{at}.id"] = call["id"]
        found[f"{at}.function.name"] = call["function"]["name"]
        found[f"{at}.function.arguments"] = call["function"]["arguments"]
    return found


def _openinference_span(exchange: Exchange) -> Json:
    body = bodies.chat_request(exchange)
    parameters = {k: v for k, v in body.items() if k not in ("messages", "tools")}
    of: dict[str, Any] = {
        "openinference.span.kind": "LLM",
        "llm.system": "openai",
        "llm.provider": "openai",
        "llm.model_name": exchange.model,
        "llm.invocation_parameters": json.dumps(parameters),
        "input.mime_type": "application/json",
        "input.value": json.dumps(body, ensure_ascii=False),
        "session.id": exchange.session,
        "user.id": exchange.tenant,
    }
    for number, message in enumerate(bodies.chat_messages(exchange)):
        of |= _message(f"llm.input_messages.{number}", message)
    for number, tool in enumerate(bodies.chat_tools(exchange.tools)):
        of[f"llm.tools.{number}.tool.json_schema"] = json.dumps(tool)
    events = []
    if exchange.answer and exchange.usage and exchange.first_token:
        usage = exchange.usage
        of |= {
            "output.mime_type": "application/json",
            "output.value": json.dumps(bodies.chat_response(exchange), ensure_ascii=False),
            "llm.token_count.prompt": usage.prompt,
            "llm.token_count.completion": usage.output,
            "llm.token_count.total": usage.prompt + usage.output,
            "llm.token_count.prompt_details.cache_read": usage.cached,
            "llm.finish_reason": "tool_calls" if exchange.answer.calls else "stop",
        }
        of |= _message("llm.output_messages.0", bodies.chat_message(exchange.answer)[0])
        events.append(otlp.event("First Token Stream Event", exchange.first_token, {}))
    return otlp.span(exchange, "ChatCompletion", of, kind=otlp.INTERNAL, parent=otlp.span_id(exchange, "server"),
                     events=events)  # fmt: skip


def openinference(workload: Workload) -> Files:
    """OpenInference's attributes, as Phoenix receives them."""
    return _document(workload, _openinference_span, "openinference.instrumentation.openai", "0.1.66")
