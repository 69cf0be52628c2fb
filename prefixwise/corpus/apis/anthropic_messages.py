"""Anthropic Messages (also Claude on Bedrock's InvokeModel and on Vertex)."""

from __future__ import annotations

import operator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.apis.openai_responses import section_of
from prefixwise.corpus.dialect import (
    DIALECTS,
    Dialect,
    Draft,
    is_given,
    key_params,
    list_section,
    marker_of,
    name_in,
    text_of,
    text_part,
    tool_turn,
)
from prefixwise.corpus.media import anthropic_tokens, media_part, unknown_tokens
from prefixwise.corpus.tokenizer import provider_of

_KEY_PARAMS = ("tool_choice", "thinking", "output_config", "speed", "cache_control")
_key_values = operator.attrgetter(*_KEY_PARAMS)
_BLOCK_TYPES = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})


class Body(msgspec.Struct):
    """The fields of a Messages body that matter to a cache, and those that only Chat Completions bodies have."""

    response_format: Raw | UnsetType = UNSET
    functions: Raw | UnsetType = UNSET
    max_completion_tokens: Raw | UnsetType = UNSET

    messages: list[Raw] | None = None
    system: str | list[Raw] | None = None
    model: Any = None
    tools: Raw | UnsetType = UNSET
    metadata: Any = None
    tool_choice: Raw | UnsetType = UNSET
    thinking: Raw | UnsetType = UNSET
    output_config: Raw | UnsetType = UNSET
    speed: Raw | UnsetType = UNSET
    cache_control: Raw | UnsetType = UNSET


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is a Messages body."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return 0
    model = str(body.get("model", ""))
    sure = 1 + 3 * ("anthropic_version" in body) + 4 * ("system" in body)
    sure += 2 * (model.startswith(("claude", "anthropic.", "global.anthropic", "us.anthropic", "eu.anthropic")))
    tools = body.get("tools")
    sure += 4 * (isinstance(tools, list) and any(isinstance(tool, dict) and "input_schema" in tool for tool in tools))
    contents = [message.get("content") for message in messages]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    sure += 4 * any(isinstance(block, dict) and str(block.get("type")) in _BLOCK_TYPES for block in blocks)
    return sure


def draft(body: Body) -> Draft:
    """Read a decoded body: tools, system, messages, in that order."""
    if body.messages is None:
        raise ValueError("no `messages` list")
    sections = []
    if is_given(body.tools):
        sections.append(list_section("tools", "/tools", body.tools))
    if body.system:
        sections.append(section_of("system", "/system", body.system))
    sections.append(Section("messages", "/messages", body.messages))
    return Draft(
        text_of(body.model) or "",
        tuple(sections),
        params=key_params(_key_values(body), _KEY_PARAMS),
        tenant=name_in(body.metadata, "tenant_id", "tenant", "user_id"),
        session=name_in(body.metadata, "session_id", "conversation_id", "thread_id"),
    )


def doubtful(body: Body) -> bool:
    """Say whether a decoded body has what only Chat Completions bodies have, or a tool of theirs, or their model."""
    if body.response_format is not UNSET or body.functions is not UNSET or body.max_completion_tokens is not UNSET:
        return True
    if body.tools is not UNSET and b'"function"' in bytes(body.tools):
        return True
    return provider_of(text_of(body.model) or "", "anthropic") == "openai"


def turn(kind: str, item: Any) -> Turn:
    """Read one tool, system block or message."""
    if kind == "tools":
        return tool_turn(item)
    if kind == "system":
        return Turn("system", (Part("", item),) if isinstance(item, str) else tuple(_block("", item)))
    if not isinstance(item, dict):
        raise ValueError(f"a message is {type(item).__name__}, not an object")
    content = item.get("content")
    parts: list[Part] = []
    if isinstance(content, list):
        for index, block in enumerate(content):
            parts.extend(_block(f"/content/{index}", block))
    elif content is not None:
        parts.append(text_part("/content", content))
    return Turn(str(item.get("role", "")), tuple(parts))


def _block(pointer: str, block: Any) -> list[Part]:
    """Read one content block; the last part carries the block's marker."""
    if not isinstance(block, dict):
        return [text_part(pointer, block)]
    parts = _block_parts(pointer, block)
    marker = marker_of(block)
    if marker is not None and parts:
        parts[-1] = msgspec.structs.replace(parts[-1], marker=marker)
    return parts


def _block_parts(pointer: str, block: dict[str, Any]) -> list[Part]:
    kind = block.get("type")
    if isinstance(block.get("text"), str):
        return [Part(f"{pointer}/text", block["text"])]
    if kind == "tool_use":
        return [text_part(f"{pointer}/{key}", block[key]) for key in ("id", "name", "input") if key in block]
    if kind == "tool_result":
        parts = [text_part(f"{pointer}/tool_use_id", block["tool_use_id"])] if "tool_use_id" in block else []
        content = block.get("content")
        if isinstance(content, list):
            for index, inner in enumerate(content):
                parts.extend(_block(f"{pointer}/content/{index}", inner))
        elif content is not None:
            parts.append(text_part(f"{pointer}/content", content))
        return parts
    if kind in ("thinking", "redacted_thinking"):
        return [text_part(f"{pointer}/{key}", block[key]) for key in ("thinking", "signature", "data") if key in block]
    if kind in ("image", "document") and isinstance(block.get("source"), dict):
        source = block["source"]
        data = source.get("data", source.get("url", source.get("file_id", source)))
        formula = anthropic_tokens if kind == "image" else unknown_tokens
        return [media_part(f"{pointer}/source", data, formula, None)]
    return [text_part(pointer, block)]


def reply(response: Any) -> Turn | None:
    """Read the content of a logged answer."""
    content = response.get("content") if isinstance(response, dict) else None
    if not isinstance(content, list) or not content:
        return None
    return turn("messages", {"role": "assistant", "content": content})


DIALECTS.add(
    "anthropic-messages", Dialect("anthropic-messages", "anthropic", Body, score, draft, turn, reply, doubtful)
)
