"""OpenAI Chat Completions, and everything that speaks it (vLLM, SGLang, llama.cpp, gateways)."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.dialect import (
    DIALECTS,
    Dialect,
    Draft,
    is_given,
    key_params,
    list_section,
    marker_of,
    name_in,
    single_section,
    text_of,
    text_part,
    tool_turn,
)
from prefixwise.corpus.media import media_part, openai_tokens, unknown_tokens

# Section 3.1 of the cache-rule reference: what enters OpenAI's key beside tools and text. `tool_choice` does
# not, but engines' templates may print it.
_KEY_PARAMS = ("parallel_tool_calls", "reasoning_effort", "verbosity", "service_tier", "chat_template_kwargs")
_key_values = operator.attrgetter(*_KEY_PARAMS)
_namespace_values = operator.attrgetter("cache_salt", "prompt_cache_key", "lora_path", "extra_key")
_NO_PARTS = (None, None, None, None)


class Body(msgspec.Struct):
    """The fields of a Chat Completions body that matter to a cache, and those that only Messages bodies have."""

    system: Raw | UnsetType = UNSET
    anthropic_version: Raw | UnsetType = UNSET

    messages: list[Raw] | None = None
    model: Any = None
    tools: Raw | UnsetType = UNSET
    functions: Raw | UnsetType = UNSET
    response_format: Raw | UnsetType = UNSET
    prompt_cache_key: Any = None
    cache_salt: Any = None
    extra_key: Any = None
    lora_path: Any = None
    user: Any = None
    metadata: Any = None
    session_id: Any = None
    add_generation_prompt: Any = None
    parallel_tool_calls: Raw | UnsetType = UNSET
    reasoning_effort: Raw | UnsetType = UNSET
    verbosity: Raw | UnsetType = UNSET
    service_tier: Raw | UnsetType = UNSET
    chat_template_kwargs: Raw | UnsetType = UNSET


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
        sections.append(list_section("tools", "/tools", body.tools))
    if is_given(body.functions):
        sections.append(list_section("tools", "/functions", body.functions))
    if is_given(body.response_format):
        sections.append(single_section("format", "/response_format", body.response_format))
    sections.append(Section("messages", "/messages", body.messages))
    metadata = body.metadata
    return Draft(
        text_of(body.model) or "",
        tuple(sections),
        namespace_of(body),
        key_params(_key_values(body), _KEY_PARAMS),
        text_of(body.user) or name_in(metadata, "tenant_id", "tenant", "user_id"),
        text_of(body.session_id) or name_in(metadata, "session_id", "conversation_id", "thread_id"),
        body.add_generation_prompt is not False,
    )


def doubtful(body: Body) -> bool:
    """Say whether a decoded body has what only Messages bodies have."""
    return body.system is not UNSET or body.anthropic_version is not UNSET


def namespace_of(body: Any) -> Namespace:
    """Return what the body says of cache separation."""
    parts = _namespace_values(body)
    return SHARED if parts == _NO_PARTS else Namespace(*map(text_of, parts))


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


def content_parts(content: Any, pointer: str) -> list[Part]:
    """Read message content: a string, or a list of typed parts."""
    if content is None:
        return []
    if not isinstance(content, list):
        return [text_part(pointer, content)]
    return [_content_part(part, f"{pointer}/{index}") for index, part in enumerate(content)]


def _content_part(part: Any, pointer: str) -> Part:
    marker = marker_of(part)
    if not isinstance(part, dict):
        return text_part(pointer, part)
    for key in ("text", "refusal"):
        if isinstance(part.get(key), str):
            return Part(f"{pointer}/{key}", part[key], marker=marker)
    image = part.get("image_url")
    if image is not None:
        detail = image.get("detail", "auto") if isinstance(image, dict) else part.get("detail", "auto")
        url = image.get("url") if isinstance(image, dict) else image
        return media_part(f"{pointer}/image_url", url, partial(openai_tokens, detail=str(detail)), marker)
    for key in ("input_audio", "file", "file_data", "file_id", "video_url", "audio_url"):
        if key in part:
            data = part[key]
            data = (
                next((data[name] for name in ("data", "file_data", "url") if name in data), data)
                if isinstance(data, dict)
                else data
            )
            return media_part(f"{pointer}/{key}", data, unknown_tokens, marker)
    return text_part(pointer, part, marker)


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


DIALECTS.add("openai-chat", Dialect("openai-chat", "", Body, score, draft, turn, reply, doubtful))
