"""The workload's requests and answers as the bodies of the APIs: what the other formats wrap.

The shapes are those of the vendors' SDK types, against which `test_shapes.py` checks them: openai 3.57
(`CompletionCreateParams`, `ChatCompletion`, `ResponseCreateParams`, `Response`), anthropic 2.14
(`MessageCreateParams`, `Message`) and google-genai 3.6 (`Content`, `GenerateContentResponse`).
"""

from __future__ import annotations

import base64
import hashlib
import json
from datetime import UTC, datetime
from typing import Any

from formats.workload import Call, Exchange, Message, Tool

Json = dict[str, Any]


def compact(value: Any) -> str:
    """Return JSON without white space, as models write a call's arguments."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


# -- OpenAI Chat Completions --------------------------------------------------------------------------------------


def chat_messages(exchange: Exchange) -> list[Json]:
    """Return the messages as Chat Completions takes them; tool results are a message each."""
    found: list[Json] = [{"role": "system", "content": exchange.system}] if exchange.system else []
    for message in exchange.messages:
        found.extend(chat_message(message))
    return found


def chat_message(message: Message) -> list[Json]:
    """Return one message; several where it holds several tool results."""
    if message.role == "tool":
        return [{"role": "tool", "tool_call_id": call, "content": text} for call, _, text in message.results]
    if message.calls:
        calls = [_chat_call(call) for call in message.calls]
        return [{"role": "assistant", "content": message.text or None, "tool_calls": calls}]
    return [{"role": message.role, "content": message.text}]


def _chat_call(call: Call) -> Json:
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": compact(call.arguments)}}


def chat_tools(tools: tuple[Tool, ...]) -> list[Json]:
    """Return tool definitions as Chat Completions takes them."""
    return [
        {
            "type": "function",
            "function": {"name": tool.name, "description": tool.description, "parameters": tool.parameters},
        }
        for tool in tools
    ]


def chat_request(exchange: Exchange) -> Json:
    """Return the body of a Chat Completions request."""
    body: Json = {"model": exchange.model, "messages": chat_messages(exchange), "temperature": 0.2}
    if exchange.tools:
        body["tools"] = chat_tools(exchange.tools)
    return body | {"max_completion_tokens": 900}


def chat_usage(exchange: Exchange) -> Json | None:
    """Return usage as Chat Completions reports it; tokens written are not reported."""
    usage = exchange.usage
    return usage and {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.output,
        "total_tokens": usage.prompt + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0, "audio_tokens": 0, "accepted_prediction_tokens": 0, "rejected_prediction_tokens": 0,
        },
    }  # fmt: skip


def chat_response(exchange: Exchange) -> Json | None:
    """Return the body of the answer."""
    if exchange.answer is None:
        return None
    (message,) = chat_message(exchange.answer)
    message |= {"refusal": None, "annotations": []}
    reason = "tool_calls" if exchange.answer.calls else "stop"
    return {
        "id": f"chatcmpl-{exchange.hex('chat', 29)}",
        "object": "chat.completion",
        "created": int(exchange.start),
        "model": exchange.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": reason}],
        "usage": chat_usage(exchange),
        "service_tier": "default",
        "system_fingerprint": "fp_5d3c1e0a7b",
    }


# -- OpenAI Responses ---------------------------------------------------------------------------------------------


def response_items(message: Message) -> list[Json]:
    """Return the input items of one message: a call and a result is an item each."""
    if message.role == "tool":
        return [{"type": "function_call_output", "call_id": call, "output": text} for call, _, text in message.results]
    if message.role == "user":
        return [{"type": "message", "role": "user", "content": [{"type": "input_text", "text": message.text}]}]
    items: list[Json] = []
    if message.text:
        content = {"type": "output_text", "text": message.text, "annotations": []}
        own = "msg_" + hashlib.sha256(message.text.encode()).hexdigest()[:48]
        items.append({
            "id": own, "type": "message", "status": "completed", "role": "assistant", "content": [content],
        })  # fmt: skip
    items += [
        {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": compact(call.arguments)}
        for call in message.calls
    ]
    return items


def response_tools(tools: tuple[Tool, ...]) -> list[Json]:
    """Return tool definitions as Responses takes them."""
    return [
        {
            "type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters,
            "strict": False,
        }
        for tool in tools
    ]  # fmt: skip


def responses_request(exchange: Exchange) -> Json:
    """Return the body of a Responses request that keeps its state itself."""
    body: Json = {"model": exchange.model}
    if exchange.system:
        body["instructions"] = exchange.system
    body["input"] = [item for message in exchange.messages for item in response_items(message)]
    if exchange.tools:
        body |= {"tools": response_tools(exchange.tools), "parallel_tool_calls": True}
    return body | {"max_output_tokens": 900, "store": False, "temperature": 0.2}


def responses_usage(exchange: Exchange) -> Json | None:
    """Return usage as Responses reports it."""
    usage = exchange.usage
    return usage and {
        "input_tokens": usage.prompt,
        "input_tokens_details": {"cached_tokens": usage.cached, "cache_write_tokens": usage.written},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": usage.prompt + usage.output,
    }


def responses_response(exchange: Exchange) -> Json | None:
    """Return the body of the answer."""
    if exchange.answer is None:
        return None
    output = []
    for number, item in enumerate(response_items(exchange.answer)):
        output.append({"id": f"fc_{exchange.hex(f'item{number}', 48)}", "status": "completed"} | item)
    return {
        "id": f"resp_{exchange.hex('response', 48)}",
        "object": "response",
        "created_at": int(exchange.start),
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "instructions": exchange.system,
        "max_output_tokens": 900,
        "model": exchange.model,
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": None, "summary": None},
        "temperature": 0.2,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": response_tools(exchange.tools),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": responses_usage(exchange),
        "user": None,
        "metadata": {},
    }


# -- Anthropic Messages -------------------------------------------------------------------------------------------


def anthropic_message(message: Message) -> Json:
    """Return one message as the Messages API takes it; tool results are blocks of a user's message."""
    if message.role == "tool":
        blocks = [{"type": "tool_result", "tool_use_id": call, "content": text} for call, _, text in message.results]
        return {"role": "user", "content": blocks}
    if message.calls:
        return {"role": "assistant", "content": anthropic_blocks(message)}
    return {"role": message.role, "content": message.text}


def anthropic_blocks(message: Message) -> list[Json]:
    """Return the content blocks of an assistant's message."""
    blocks: list[Json] = [{"type": "text", "text": message.text}] if message.text else []
    return blocks + [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in message.calls
    ]


def anthropic_tools(tools: tuple[Tool, ...]) -> list[Json]:
    """Return tool definitions as the Messages API takes them."""
    return [
        {"name": tool.name, "description": tool.description, "input_schema": tool.parameters} for tool in tools
    ]  # fmt: skip


def anthropic_request(exchange: Exchange) -> Json:
    """Return the body of a Messages request, with a cache marker behind the system prompt."""
    body: Json = {"model": exchange.model, "max_tokens": 900}
    if exchange.system:
        body["system"] = [{"type": "text", "text": exchange.system, "cache_control": {"type": "ephemeral"}}]
    if exchange.tools:
        body["tools"] = anthropic_tools(exchange.tools)
    return body | {"messages": [anthropic_message(message) for message in exchange.messages]}


def anthropic_usage(exchange: Exchange) -> Json | None:
    """Return usage as the Messages API reports it: `input_tokens` is what was neither read nor written."""
    usage = exchange.usage
    return usage and {
        "input_tokens": usage.prompt - usage.cached - usage.written,
        "cache_creation_input_tokens": usage.written,
        "cache_read_input_tokens": usage.cached,
        "cache_creation": {"ephemeral_5m_input_tokens": usage.written, "ephemeral_1h_input_tokens": 0},
        "output_tokens": usage.output,
        "service_tier": "standard",
    }


def anthropic_response(exchange: Exchange) -> Json | None:
    """Return the body of the answer."""
    if exchange.answer is None:
        return None
    return {
        "id": f"msg_{exchange.hex('message', 24)}",
        "type": "message",
        "role": "assistant",
        "model": exchange.model,
        "content": anthropic_blocks(exchange.answer),
        "stop_reason": "tool_use" if exchange.answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": anthropic_usage(exchange),
    }


# -- Gemini generateContent ---------------------------------------------------------------------------------------


def gemini_content(message: Message) -> Json:
    """Return one message as generateContent takes it; calls and results have no ids there."""
    if message.role == "tool":
        parts = [
            {"functionResponse": {"name": name, "response": {"result": text}}} for _, name, text in message.results
        ]
        return {"role": "user", "parts": parts}
    if message.role == "user":
        return {"role": "user", "parts": [{"text": message.text}]}
    parts = [{"text": message.text}] if message.text else []
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in message.calls]
    return {"role": "model", "parts": parts}


def gemini_request(exchange: Exchange) -> Json:
    """Return the body of a generateContent request. The model is no part of the body; it stands in the URL."""
    body: Json = {
        "contents": [gemini_content(message) for message in exchange.messages],
        "systemInstruction": {"parts": [{"text": exchange.system}]},
    }
    if exchange.tools:
        declarations = [
            {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
            for tool in exchange.tools
        ]
        body["tools"] = [{"functionDeclarations": declarations}]
    return body | {"generationConfig": {"temperature": 0.2, "maxOutputTokens": 900}}


def gemini_usage(exchange: Exchange) -> Json | None:
    """Return usage as generateContent reports it: no cached tokens at all where there are none."""
    usage = exchange.usage
    if usage is None:
        return None
    counts: Json = {
        "promptTokenCount": usage.prompt,
        "candidatesTokenCount": usage.output,
        "totalTokenCount": usage.prompt + usage.output,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": usage.prompt}],
    }
    if usage.cached:
        counts["cachedContentTokenCount"] = usage.cached
        counts["cacheTokensDetails"] = [{"modality": "TEXT", "tokenCount": usage.cached}]
    return counts


def gemini_response(exchange: Exchange) -> Json | None:
    """Return the body of the answer."""
    if exchange.answer is None:
        return None
    return {
        "candidates": [{"content": gemini_content(exchange.answer), "finishReason": "STOP", "index": 0}],
        "usageMetadata": gemini_usage(exchange),
        "modelVersion": exchange.model,
        "createTime": iso(exchange.start),
        "responseId": base64.urlsafe_b64encode(bytes.fromhex(exchange.hex("gemini", 32))).decode().rstrip("="),
    }


# -- times --------------------------------------------------------------------------------------------------------


def iso(seconds: float, *, digits: int = 3, zone: str = "Z", between: str = "T") -> str:
    """Return an ISO 8601 time in UTC with so many digits of a second."""
    moment = datetime.fromtimestamp(seconds, UTC)
    text = moment.strftime(f"%Y-%m-%d{between}%H:%M:%S.%f")
    return (text[: digits - 6] if digits < 6 else text).rstrip(".") + zone
