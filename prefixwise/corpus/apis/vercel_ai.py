"""Prompts as the Vercel AI SDK writes them into its telemetry: a role, and a text or typed parts."""

from __future__ import annotations

from typing import Any

import msgspec

from prefixwise.core.request import Part, Turn
from prefixwise.corpus.bodies import ToolsAndMessages, tools_then_messages
from prefixwise.corpus.dialect import DIALECTS, Dialect, block_part, marker_of, text_part, tool_turn
from prefixwise.corpus.media import media_part, openai_tokens, unknown_tokens

_OWN_TYPES = frozenset({"tool-call", "tool-result"})


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is of this shape, which is Chat Completions' but for tool parts."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return 0
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    types = {
        part.get("type") for parts in contents if isinstance(parts, list) for part in parts if isinstance(part, dict)
    }
    return 9 if types & _OWN_TYPES else 0


def turn(kind: str, item: Any) -> Turn:
    """Read one tool or message."""
    if kind != "messages":
        return tool_turn(item)
    if not isinstance(item, dict):
        raise ValueError(f"a message is {type(item).__name__}, not an object")
    content = item.get("content")
    parts: list[Part] = []
    if isinstance(content, list):
        for index, part in enumerate(content):
            parts.extend(_part(f"/content/{index}", part))
    elif content is not None:
        parts.append(text_part("/content", content))
    calls = item.get("toolCalls")
    for index, call in enumerate(calls if isinstance(calls, list) else ()):
        parts.extend(_call(f"/toolCalls/{index}", call))
    return Turn(str(item.get("role", "")), tuple(parts))


def _part(pointer: str, part: Any) -> list[Part]:
    if not isinstance(part, dict):
        return [text_part(pointer, part)]
    kind = part.get("type")
    marker = _marker(part)
    if isinstance(part.get("text"), str):
        return [Part(f"{pointer}/text", part["text"], marker=marker)]
    if kind == "tool-call":
        parts = _call(pointer, part)
    elif kind == "tool-result":
        parts = [
            *_result(pointer, part),
            *([text_part(f"{pointer}/toolCallId", part["toolCallId"])] if "toolCallId" in part else []),
        ]
    elif kind in ("image", "file"):
        key = next((name for name in ("image", "data") if name in part), "")
        is_image = kind == "image" or str(part.get("mediaType", part.get("mimeType", ""))).startswith("image")
        return [media_part(f"{pointer}/{key}", part.get(key), openai_tokens if is_image else unknown_tokens, marker)]
    else:
        return [block_part(pointer, part)]
    if parts and marker is not None:
        parts[-1] = msgspec.structs.replace(parts[-1], marker=marker)
    return parts


def _call(pointer: str, call: Any) -> list[Part]:
    if not isinstance(call, dict):
        return [text_part(pointer, call)]
    keys = ("toolCallId", "toolName", "input" if "input" in call else "args")
    return [text_part(f"{pointer}/{key}", call[key]) for key in keys if key in call]


def _result(pointer: str, part: dict[str, Any]) -> list[Part]:
    """Read a tool's result: `output` with a type and a value (5), or `result` (4)."""
    output = part.get("output", part.get("result"))
    if isinstance(output, dict) and "value" in output and "type" in output:
        return [text_part(f"{pointer}/output/value", output["value"])]
    return [text_part(f"{pointer}/output", output)]


def _marker(part: dict[str, Any]) -> float | None:
    """Return the TTL of an Anthropic cache marker, which the SDK takes as a provider's option."""
    options = part.get("providerOptions", part.get("providerMetadata"))
    anthropic = options.get("anthropic") if isinstance(options, dict) else None
    if not isinstance(anthropic, dict):
        return None
    return marker_of({"cache_control": anthropic.get("cacheControl", anthropic.get("cache_control"))})


def reply(_response: Any) -> Turn | None:
    """Return None: the reader hands answers over as messages."""
    return None


DIALECTS.add("vercel-ai", Dialect("vercel-ai", "", ToolsAndMessages, score, tools_then_messages, turn, reply))
