"""Anthropic Messages (also Claude on Bedrock's InvokeModel and on Vertex)."""

from __future__ import annotations

import operator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.bodies import (
    MessagesBody,
    is_given,
    key_params,
    messages_telltale,
    namespace_of,
    section_of,
    session_of,
    tenant_of,
    text_of,
    tools_section,
)
from prefixwise.corpus.dialect import DIALECTS, Dialect, Draft, block_part, marker_of, text_part, tool_turn
from prefixwise.corpus.media import anthropic_tokens, media_part, unknown_tokens

_KEY_PARAMS = ("tool_choice", "thinking", "output_config", "output_format", "speed")
_key_values = operator.attrgetter(*_KEY_PARAMS)
_BLOCK_TYPES = frozenset({"tool_use", "tool_result", "thinking", "redacted_thinking", "document"})


class Body(MessagesBody):
    """The fields of a Messages body that matter to a cache."""

    system: str | list[Raw] | None = None
    cache_control: Any = None
    tool_choice: Raw | UnsetType = UNSET
    thinking: Raw | UnsetType = UNSET
    output_config: Raw | UnsetType = UNSET
    output_format: Raw | UnsetType = UNSET
    speed: Raw | UnsetType = UNSET


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
        sections.append(tools_section("/tools", body.tools))
    if body.system:
        sections.append(section_of("system", "/system", body.system))
    sections.append(Section("messages", "/messages", body.messages))
    return Draft(
        text_of(body.model) or "",
        tuple(sections),
        namespace_of(body),
        key_params(_key_values(body), _KEY_PARAMS),
        tenant_of(body),
        session_of(body),
        automatic=None if body.cache_control is None else marker_of({"cache_control": body.cache_control}),
    )


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
        parts = [text_part(f"{pointer}/{key}", block[key]) for key in ("tool_use_id", "is_error") if block.get(key)]
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
    return [block_part(pointer, block)]


def reply(response: Any) -> Turn | None:
    """Read the content of a logged answer."""
    content = response.get("content") if isinstance(response, dict) else None
    if not isinstance(content, list) or not content:
        return None
    return turn("messages", {"role": "assistant", "content": content})


DIALECTS.add(
    "anthropic-messages",
    Dialect("anthropic-messages", "anthropic", Body, score, draft, turn, reply, messages_telltale),
)
