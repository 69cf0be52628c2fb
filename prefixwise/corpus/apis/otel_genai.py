"""Messages as OpenTelemetry's GenAI conventions write them: a role and typed parts.

Shape: `gen_ai.input.messages`, `gen_ai.system_instructions` and `gen_ai.tool.definitions` of the semantic
conventions 1.37 and later, put into one body by the reader.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.bodies import is_given, tools_section
from prefixwise.corpus.dialect import DIALECTS, Dialect, Draft, block_part, text_part, tool_turn
from prefixwise.corpus.media import media_part, unknown_tokens


class Body(msgspec.Struct):
    """What a span holds of a request."""

    input_messages: list[Raw] | None = None
    system_instructions: list[Raw] | None = None
    tool_definitions: Raw | UnsetType = UNSET
    model: str = ""


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is of this shape; only the reader makes it."""
    return 9 if isinstance(body.get("input_messages"), list) else 0


def draft(body: Body) -> Draft:
    """Read a decoded body: tools, system instructions, messages, in that order."""
    if body.input_messages is None:
        raise ValueError("no input messages")
    sections = []
    if is_given(body.tool_definitions):
        sections.append(tools_section("/tool_definitions", body.tool_definitions))
    if body.system_instructions:
        sections.append(Section("system", "/system_instructions", body.system_instructions))
    sections.append(Section("messages", "/input_messages", body.input_messages))
    return Draft(body.model, tuple(sections))


def turn(kind: str, item: Any) -> Turn:
    """Read one tool, system part or message."""
    if kind == "tools":
        return tool_turn(item)
    if kind == "system":
        return Turn("system", tuple(_part("", item)))
    if not isinstance(item, dict):
        raise ValueError(f"a message is {type(item).__name__}, not an object")
    parts: list[Part] = []
    given = item.get("parts")
    for index, part in enumerate(given if isinstance(given, list) else ()):
        parts.extend(_part(f"/parts/{index}", part))
    if not parts and item.get("content") is not None:
        parts.append(text_part("/content", item["content"]))
    return Turn(str(item.get("role", "")), tuple(parts), str(item.get("name") or ""))


def _part(pointer: str, part: Any) -> list[Part]:
    if not isinstance(part, dict):
        return [text_part(pointer, part)]
    kind = part.get("type")
    if kind in ("text", "reasoning", None) and "content" in part:
        return [text_part(f"{pointer}/content", part["content"])]
    if kind == "tool_call":
        return [text_part(f"{pointer}/{key}", part[key]) for key in ("id", "name", "arguments") if part.get(key)]
    if kind == "tool_call_response":
        answer = next((key for key in ("response", "result") if key in part), "")
        keys = [key for key in (answer, "id") if key and part.get(key) is not None]
        return [text_part(f"{pointer}/{key}", part[key]) for key in keys]
    if kind in ("blob", "uri", "file"):
        data = next((part[key] for key in ("content", "uri", "file_id") if key in part), part)
        return [media_part(pointer, data, unknown_tokens, None)]
    return [block_part(pointer, part)]


def reply(response: Any) -> Turn | None:
    """Read the first message of `gen_ai.output.messages`."""
    first = response[0] if isinstance(response, list) and response else None
    return turn("messages", {**first, "role": "assistant"}) if isinstance(first, dict) else None


DIALECTS.add("otel-genai", Dialect("otel-genai", "", Body, score, draft, turn, reply))
