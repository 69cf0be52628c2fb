"""Vercel AI SDK 5: spans of `streamText` and `generateText` as an OTLP exporter writes them.

Taken from the document "Telemetry" (AI SDK Core) and, for the shape of `ai.prompt.messages` and `ai.prompt.tools`, the
provider interface of version 5 (`LanguageModelV2Prompt`, `LanguageModelV2FunctionTool`). There is no package on PyPI
to check against; the envelope is checked as OTLP.

Readers must know: the outer span (`ai.streamText`) tells the same call again with the same usage and is no request;
`ai.prompt.tools` is an array of JSON strings; the spans of `streamText` report cached tokens, those of
`generateText` do not; what the application gave as metadata stands in `ai.telemetry.metadata.…`.
"""

from __future__ import annotations

import json
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Message, Workload
from formats.writers import otlp
from formats.writers.plain import Files


def streams(exchange: Exchange) -> bool:
    """Say whether the application streams this call: chats do, agents do not."""
    return not exchange.tools


def _message(message: Message) -> Json:
    if message.role == "tool":
        content = [
            {"type": "tool-result", "toolCallId": call, "toolName": name, "output": {"type": "text", "value": text}}
            for call, name, text in message.results
        ]
        return {"role": "tool", "content": content}
    found: list[Json] = [{"type": "text", "text": message.text}] if message.text else []
    found += [
        {"type": "tool-call", "toolCallId": call.id, "toolName": call.name, "input": call.arguments}
        for call in message.calls
    ]
    return {"role": message.role, "content": found}


def _prompt(exchange: Exchange) -> str:
    system = {"role": "system", "content": exchange.system}
    return json.dumps([system, *map(_message, exchange.messages)], ensure_ascii=False, separators=(",", ":"))


def _basic(exchange: Exchange, operation: str) -> dict[str, Any]:
    return {
        "operation.name": f"{operation} dispatch",
        "resource.name": "dispatch",
        "ai.operationId": operation,
        "ai.telemetry.functionId": "dispatch",
        "ai.model.provider": "openai.chat",
        "ai.model.id": exchange.model,
        "ai.settings.temperature": 0.2,
        "ai.settings.maxOutputTokens": 900,
        "ai.settings.maxRetries": 2,
        "ai.telemetry.metadata.userId": exchange.tenant,
        "ai.telemetry.metadata.sessionId": exchange.session,
    }


def _answer(exchange: Exchange, *, stream: bool) -> dict[str, Any]:
    """Return what both spans of a call say of its answer."""
    answer, usage = exchange.answer, exchange.usage
    if answer is None or usage is None:
        return {}
    calls = [{"toolCallId": c.id, "toolName": c.name, "input": bodies.compact(c.arguments)} for c in answer.calls]
    found: dict[str, Any] = {
        "ai.response.finishReason": "tool-calls" if calls else "stop",
        "ai.response.text": answer.text or None,
        "ai.response.toolCalls": bodies.compact(calls) if calls else None,
    }
    if not stream:
        return found | {"ai.usage.promptTokens": usage.prompt, "ai.usage.completionTokens": usage.output}
    return found | {
        "ai.usage.inputTokens": usage.prompt,
        "ai.usage.outputTokens": usage.output,
        "ai.usage.totalTokens": usage.prompt + usage.output,
        "ai.usage.cachedInputTokens": usage.cached,
    }


def _spans(exchange: Exchange) -> list[Json]:
    stream = streams(exchange)
    outer_name = "ai.streamText" if stream else "ai.generateText"
    inner_name = f"{outer_name}.{'doStream' if stream else 'doGenerate'}"
    prompt = {"system": exchange.system, "messages": [_message(message) for message in exchange.messages]}
    outer = _basic(exchange, outer_name) | {"ai.prompt": bodies.compact(prompt)} | _answer(exchange, stream=stream)
    inner = _basic(exchange, inner_name) | {
        "ai.prompt.messages": _prompt(exchange),
        "gen_ai.system": "openai.chat",
        "gen_ai.request.model": exchange.model,
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 900,
    }
    if exchange.tools:
        inner["ai.prompt.tools"] = [
            bodies.compact({
                "type": "function", "name": tool.name, "description": tool.description, "inputSchema": tool.parameters,
            })
            for tool in exchange.tools
        ]  # fmt: skip
        inner["ai.prompt.toolChoice"] = '{"type":"auto"}'
    events = []
    if exchange.usage and exchange.first_token:
        inner |= _answer(exchange, stream=stream) | {
            "ai.response.id": (bodies.chat_response(exchange) or {})["id"],
            "ai.response.model": exchange.model,
            "ai.response.timestamp": bodies.iso(int(exchange.start)),
            "gen_ai.response.finish_reasons": ["tool-calls" if exchange.answer and exchange.answer.calls else "stop"],
            "gen_ai.response.id": (bodies.chat_response(exchange) or {})["id"],
            "gen_ai.response.model": exchange.model,
            "gen_ai.usage.input_tokens": exchange.usage.prompt,
            "gen_ai.usage.output_tokens": exchange.usage.output,
        }
        if stream:
            first = {"ai.response.msToFirstChunk": (exchange.first_token - exchange.start) * 1000}
            inner |= first | {"ai.response.msToFinish": (exchange.end - exchange.start) * 1000}
            events = [otlp.event("ai.stream.firstChunk", exchange.first_token, first)]
    times = (exchange.start - 0.0625, exchange.end + 0.0625)
    return [
        otlp.span(exchange, inner_name, inner, kind=otlp.INTERNAL, parent=otlp.span_id(exchange, "outer"),
                  events=events),
        otlp.span(exchange, outer_name, outer, what="outer", kind=otlp.INTERNAL, times=times,
                  parent=otlp.span_id(exchange, "server")),
    ]  # fmt: skip


def spans(workload: Workload) -> Files:
    """One document with everything; a call's two spans are twice where its record is."""
    found = [(e, one) for e in workload.delivered() for one in (*_spans(e), *otlp.around(e))]
    return [("traces.json", json.dumps(otlp.traces(found, "ai", "5.0.76"), ensure_ascii=False).encode())]
