"""Conversations in the shapes of the APIs, and the answers as the APIs log them."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.breakers.scene import Call, Exchange, Said

Json = dict[str, Any]


def compact(value: Any) -> str:
    """Return JSON as SDKs send it: no white space, no escapes, keys in their order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def openai_tools(tools: Iterable[Json]) -> list[Json]:
    """Return tools as Chat Completions takes them."""
    return [
        {
            "type": "function",
            "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["schema"]},
        }
        for tool in copy.deepcopy(list(tools))
    ]


def responses_tools(tools: Iterable[Json]) -> list[Json]:
    """Return tools as Responses takes them."""
    return [{"type": "function", **tool["function"]} for tool in openai_tools(tools)]


def anthropic_tools(tools: Iterable[Json]) -> list[Json]:
    """Return tools as Messages takes them."""
    return [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["schema"]}
        for tool in copy.deepcopy(list(tools))
    ]


def arguments_text(call: Call) -> str:
    """Return the arguments of a call as JSON, as the model wrote them unless the call says otherwise."""
    return call.written or json.dumps(call.arguments, ensure_ascii=False)


def openai_message(said: Said) -> Json:
    """Return a message as Chat Completions takes it."""
    if said.role == "tool":
        return {"role": "tool", "tool_call_id": said.call_id, "content": said.text}
    message: Json = {"role": said.role, "content": said.text}
    if said.calls:
        message["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": arguments_text(call)},
            }
            for call in said.calls
        ]
    return message


def openai_messages(system: str, history: Iterable[Said]) -> list[Json]:
    """Return a conversation as Chat Completions takes it."""
    return [{"role": "system", "content": system}, *map(openai_message, history)]


def responses_items(history: Iterable[Said]) -> list[Json]:
    """Return a conversation as input items of Responses."""
    items: list[Json] = []
    for said in history:
        if said.role == "tool":
            items.append({"type": "function_call_output", "call_id": said.call_id, "output": said.text})
            continue
        kind = "output_text" if said.role == "assistant" else "input_text"
        items.append({"type": "message", "role": said.role, "content": [{"type": kind, "text": said.text}]})
        for call in said.calls:
            item = {"type": "function_call", "call_id": call.id, "name": call.name}
            items.append({**item, "arguments": arguments_text(call)})
    return items


def anthropic_blocks(said: Said) -> list[Json]:
    """Return the content blocks of one message as Messages takes them."""
    if said.role == "tool":
        return [{"type": "tool_result", "tool_use_id": said.call_id, "content": said.text}]
    blocks: list[Json] = []
    if said.thinking:
        signature = f"{len(said.thinking):04x}{abs(hash_of(said.thinking)):016x}"
        blocks.append({"type": "thinking", "thinking": said.thinking, "signature": signature})
    if said.text:
        blocks.append({"type": "text", "text": said.text})
    blocks += [{"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments} for call in said.calls]
    return blocks


def hash_of(text: str) -> int:
    """Return a number that depends on the text alone, in every process."""
    number = 5381
    for char in text[:400]:
        number = (number * 33 + ord(char)) & 0xFFFF_FFFF_FFFF
    return number


def anthropic_messages(history: Iterable[Said]) -> list[Json]:
    """Return a conversation as Messages takes it: results of parallel calls in one user message."""
    messages: list[Json] = []
    for said in history:
        role = "user" if said.role == "tool" else said.role
        if messages and said.role == "tool" and messages[-1]["role"] == "user":
            messages[-1]["content"] += anthropic_blocks(said)
        else:
            messages.append({"role": role, "content": anthropic_blocks(said)})
    return messages


def marked(block: Json, ttl: str = "") -> Json:
    """Return a content block, tool or system block with a cache marker."""
    return {**block, "cache_control": {"type": "ephemeral", **({"ttl": ttl} if ttl else {})}}


def mark_last(messages: list[Json]) -> list[Json]:
    """Put a marker on the last block of the newest message, as clients do that move it along."""
    content = messages[-1]["content"]
    content[-1] = marked(content[-1])
    return messages


def chatml(system: str, history: Sequence[Said], head: str = "") -> str:
    """Return a conversation as an engine's template renders it, ready for the answer."""
    turns = [("system", system), *((said.role, said.text) for said in history)]
    return head + "".join(f"<|im_start|>{role}\n{text}<|im_end|>\n" for role, text in turns) + "<|im_start|>assistant\n"


def response(exchange: Exchange, id: str, usage: Json | None) -> Json:
    """Return what the API that the body is for answers."""
    if exchange.rejected:
        error = {"type": "invalid_request_error", "message": exchange.rejected}
        return {"status": 400, "error": error}
    body, model = exchange.body, exchange.served_model or exchange.body.get("model", "")
    said = exchange.answer if exchange.raw_text is None else Said("assistant", exchange.raw_text)
    if "system" in body or str(model).startswith("claude"):
        answer: Json = {"id": f"msg_{id}", "type": "message", "role": "assistant", "model": model}
        reason = "tool_use" if said.calls else "end_turn"
        answer |= {"content": anthropic_blocks(said), "stop_reason": reason}
    elif "input" in body:
        answer = {"id": f"resp_{id}", "object": "response", "status": "completed", "model": model}
        answer |= {"output": responses_items([said])}
    elif "messages" in body:
        reason = "tool_calls" if said.calls else "stop"
        choice = {"index": 0, "message": openai_message(said), "finish_reason": reason}
        answer = {"id": f"chatcmpl-{id}", "object": "chat.completion", "model": model, "choices": [choice]}
    else:
        choice = {"index": 0, "text": said.text, "finish_reason": "stop"}
        if exchange.answer_ids:
            choice["token_ids"] = list(exchange.answer_ids)
        answer = {"id": f"cmpl-{id}", "object": "text_completion", "model": model, "choices": [choice]}
    return answer if usage is None else {**answer, "usage": usage}
