"""One body of each API, and what it says in cache order."""

from __future__ import annotations

from typing import Any

CHAT: dict[str, Any] = {
    "model": "gpt-4o",
    "messages": [
        {"role": "system", "content": "Be kind."},
        {
            "role": "user",
            "name": "ann",
            "content": [{"type": "text", "text": "Look"}, {"type": "text", "text": "here"}],
        },
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "find", "arguments": '{"q": 1}'}}],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "found"},
    ],
    "response_format": {"type": "json_object"},
    "tools": [{"type": "function", "function": {"name": "find", "parameters": {"b": 1, "a": 2}}}],
    "temperature": 1,
    "user": "ann-co",
    "prompt_cache_key": "key",
    "cache_salt": "salt",
    "reasoning_effort": "low",
}
RESPONSES: dict[str, Any] = {
    "model": "gpt-5",
    "input": [
        {"role": "user", "content": [{"type": "input_text", "text": "Look"}]},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "opaque"},
        {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "find", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "found"},
    ],
    "instructions": "Be kind.",
    "text": {"format": {"type": "json_schema", "name": "s", "schema": {}}},
    "tools": [{"type": "function", "name": "find"}],
    "conversation": "conv_1",
}
ANTHROPIC: dict[str, Any] = {
    "model": "claude-opus-5",
    "max_tokens": 10,
    "messages": [
        {"role": "user", "content": "Look"},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "sig"},
                {"type": "tool_use", "id": "tu_1", "name": "find", "input": {"q": 1}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "tu_1", "content": [{"type": "text", "text": "found"}]},
                {"type": "text", "text": "go on", "cache_control": {"type": "ephemeral"}},
            ],
        },
    ],
    "system": [{"type": "text", "text": "Be kind.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "tools": [{"name": "find", "input_schema": {"b": 1, "a": 2}, "cache_control": {"type": "ephemeral"}}],
    "metadata": {"user_id": "ann"},
}
GEMINI: dict[str, Any] = {
    "contents": [
        {"role": "user", "parts": [{"text": "Look"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "find", "args": {"q": 1}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": "find", "response": {"r": 1}}}]},
    ],
    "systemInstruction": {"parts": [{"text": "Be kind."}]},
    "tools": [{"functionDeclarations": [{"name": "find"}]}],
    "generationConfig": {"temperature": 0},
    "model": "gemini-3-pro",
    "labels": {"tenant": "ann-co"},
}
COMPLETION: dict[str, Any] = {"model": "m", "prompt": "Once upon", "max_tokens": 5, "cache_salt": "s"}
TOKEN_IDS: dict[str, Any] = {"model": "m", "prompt_token_ids": [5, 6, 7]}
BODIES = {
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "anthropic-messages": ANTHROPIC,
    "gemini": GEMINI,
    "completions": COMPLETION,
}

EXPECTED: dict[str, list[tuple[str, str | None, list[str]]]] = {
    "openai-chat": [
        ("tools", None, ['{"type":"function","function":{"name":"find","parameters":{"b":1,"a":2}}}']),
        ("format", None, ['{"type":"json_object"}']),
        ("messages", "system", ["Be kind."]),
        ("messages", "user", ["Look", "here"]),
        ("messages", "assistant", ["call_1", "find", '{"q": 1}']),
        ("messages", "tool", ["found", "call_1"]),
    ],
    "openai-responses": [
        ("tools", None, ['{"type":"function","name":"find"}']),
        ("format", None, ['{"type":"json_schema","name":"s","schema":{}}']),
        ("system", "developer", ["Be kind."]),
        ("messages", "user", ["Look"]),
        ("messages", "assistant", ["opaque"]),
        ("messages", "assistant", ["call_1", "find", "{}"]),
        ("messages", "tool", ["call_1", "found"]),
    ],
    "anthropic-messages": [
        ("tools", None, ['{"name":"find","input_schema":{"b":1,"a":2}}']),
        ("system", "system", ["Be kind."]),
        ("messages", "user", ["Look"]),
        ("messages", "assistant", ["hm", "sig", "tu_1", "find", '{"q":1}']),
        ("messages", "user", ["tu_1", "found", "go on"]),
    ],
    "gemini": [
        ("tools", None, ['{"functionDeclarations":[{"name":"find"}]}']),
        ("system", "system", ["Be kind."]),
        ("messages", "user", ["Look"]),
        ("messages", "assistant", ['{"name":"find","args":{"q":1}}']),
        ("messages", "user", ['{"name":"find","response":{"r":1}}']),
    ],
    "completions": [("prompt", None, ["Once upon"])],
}
