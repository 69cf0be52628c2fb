"""OpenAI Chat Completions, and everything that speaks it (vLLM, SGLang, llama.cpp, gateways)."""

from __future__ import annotations

import operator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.bodies import (
    CACHE_CONTROLS,
    MessagesBody,
    cache_controls,
    is_given,
    key_params,
    messages_telltale,
    namespace_of,
    session_of,
    single_section,
    tenant_of,
    text_of,
    tools_section,
)
from prefixwise.corpus.dialect import DIALECTS, Dialect, Draft, marker_of, text_part, tool_turn
from prefixwise.corpus.openai_parts import content_parts

# Section 3.1 of the cache-rule reference: what enters OpenAI's key beside tools and text; chat template arguments
# change what an engine renders. `reasoning`, `thinking` and `enable_thinking` are what gateways and others call it.
_KEY_PARAMS = (
    *("parallel_tool_calls", "reasoning_effort", "verbosity", "service_tier", "chat_template_kwargs"),
    *("reasoning", "thinking", "enable_thinking"),
)
_key_values = operator.attrgetter(*_KEY_PARAMS)


class Body(MessagesBody):
    """The fields of a Chat Completions body that matter to a cache."""

    system: Raw | UnsetType = UNSET
    session_id: Any = None
    add_generation_prompt: Any = None
    parallel_tool_calls: Raw | UnsetType = UNSET
    reasoning_effort: Raw | UnsetType = UNSET
    verbosity: Raw | UnsetType = UNSET
    service_tier: Raw | UnsetType = UNSET
    chat_template_kwargs: Raw | UnsetType = UNSET
    reasoning: Raw | UnsetType = UNSET
    thinking: Raw | UnsetType = UNSET
    enable_thinking: Raw | UnsetType = UNSET
    prompt_cache_options: Raw | UnsetType = UNSET
    prompt_cache_retention: Raw | UnsetType = UNSET


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is a Chat Completions body."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return 0
    sure = 2
    sure += 3 * any(message.get("role") in ("system", "developer", "tool", "function") for message in messages)
    sure += 3 * any("tool_calls" in message for message in messages)
    tools = body.get("tools")
    sure += 4 * (isinstance(tools, list) and any(isinstance(tool, dict) and "function" in tool for tool in tools))
    return sure


def draft(body: Body) -> Draft:
    """Read a decoded body: tools, response format, messages, in that order."""
    if body.messages is None:
        raise ValueError("no `messages` list")
    sections = []
    if is_given(body.tools):
        sections.append(tools_section("/tools", body.tools))
    if is_given(body.functions):
        sections.append(tools_section("/functions", body.functions))
    if is_given(body.response_format):
        sections.append(single_section("format", "/response_format", body.response_format))
    sections.append(Section("messages", "/messages", body.messages))
    return Draft(
        text_of(body.model) or "",
        tuple(sections),
        namespace_of(body),
        key_params(_key_values(body), _KEY_PARAMS),
        tenant_of(body),
        session_of(body, body.session_id),
        body.add_generation_prompt is not False,
        controls=key_params(cache_controls(body), CACHE_CONTROLS),
    )


def turn(kind: str, item: Any) -> Turn:
    """Read one tool, format or message."""
    if kind != "messages":
        return tool_turn(item)
    if not isinstance(item, dict):
        raise ValueError(f"a message is {type(item).__name__}, not an object")
    content = item.get("content")
    if len(item) == 2 and isinstance(content, str) and "role" in item:
        return Turn(str(item["role"]), (Part("/content", content),))
    parts = list(content_parts(content, "/content"))
    names = ("reasoning_content", "reasoning", "refusal", "tool_call_id")
    parts.extend(text_part(f"/{key}", item[key]) for key in names if item.get(key))
    if isinstance(item.get("function_call"), dict):
        parts.extend(_call_parts(item["function_call"], "/function_call"))
    calls = item.get("tool_calls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        parts.extend(_tool_call_parts(call, f"/tool_calls/{index}"))
    if parts and (marker := marker_of(item)) is not None:
        parts[-1] = msgspec.structs.replace(parts[-1], marker=marker)
    return Turn(str(item.get("role", "")), tuple(parts), text_of(item.get("name")) or "")


def _tool_call_parts(call: Any, pointer: str) -> list[Part]:
    if not isinstance(call, dict):
        return [text_part(pointer, call)]
    parts = [text_part(f"{pointer}/id", call["id"])] if call.get("id") else []
    for key in ("function", "custom"):
        if isinstance(call.get(key), dict):
            parts.extend(_call_parts(call[key], f"{pointer}/{key}"))
    return parts


def _call_parts(call: dict[str, Any], pointer: str) -> list[Part]:
    return [text_part(f"{pointer}/{key}", call[key]) for key in ("name", "arguments", "input") if key in call]


def reply(response: Any) -> Turn | None:
    """Read the first choice of a logged answer."""
    choices = response.get("choices") if isinstance(response, dict) else None
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        return None
    message = choices[0].get("message")
    return turn("messages", message) if isinstance(message, dict) else None


DIALECTS.add("openai-chat", Dialect("openai-chat", "", Body, score, draft, turn, reply, messages_telltale))
