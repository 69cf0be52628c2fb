"""OpenAI Responses."""

from __future__ import annotations

import operator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.bodies import (
    CACHE_CONTROLS,
    CommonBody,
    cache_controls,
    is_given,
    key_params,
    namespace_of,
    section_of,
    session_of,
    tenant_of,
    text_of,
    tools_section,
)
from prefixwise.corpus.dialect import DIALECTS, Dialect, Draft, block_part, text_part, tool_turn
from prefixwise.corpus.openai_parts import content_parts

_KEY_PARAMS = ("parallel_tool_calls", "reasoning", "text", "service_tier", "truncation", "previous_response_id")
_key_values = operator.attrgetter(*_KEY_PARAMS)
# Fields of an input item that name it on the server and are not part of the prompt.
_ITEM_NAMES = frozenset({"id", "status"})


class Body(CommonBody):
    """The fields of a Responses body that matter to a cache."""

    input: list[Raw] | str | None = None
    instructions: str | list[Raw] | None = None
    conversation: Any = None
    parallel_tool_calls: Raw | UnsetType = UNSET
    reasoning: Raw | UnsetType = UNSET
    text: Raw | UnsetType = UNSET
    service_tier: Raw | UnsetType = UNSET
    truncation: Raw | UnsetType = UNSET
    previous_response_id: Raw | UnsetType = UNSET
    prompt_cache_options: Raw | UnsetType = UNSET
    prompt_cache_retention: Raw | UnsetType = UNSET


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is a Responses body."""
    given = body.get("input")
    if not isinstance(given, (str, list)) or "messages" in body:
        return 0
    if isinstance(given, list) and not all(isinstance(item, dict) for item in given):
        return 0
    keys = ("instructions", "text", "reasoning", "previous_response_id", "max_output_tokens")
    typed = isinstance(given, list) and any("role" in item or "type" in item for item in given)
    return 2 + 3 * typed + sum(key in body for key in keys)


def draft(body: Body) -> Draft:
    """Read a decoded body: tools, text format, instructions, input, in that order."""
    if body.input is None:
        raise ValueError("no `input`")
    sections = []
    if is_given(body.tools):
        sections.append(tools_section("/tools", body.tools))
    if (text_format := _format_of(body.text)) is not None:
        sections.append(Section("format", "/text/format", [text_format], listed=False))
    if body.instructions:
        sections.append(section_of("system", "/instructions", body.instructions))
    sections.append(section_of("messages", "/input", body.input))
    return Draft(
        text_of(body.model) or "",
        tuple(sections),
        namespace_of(body),
        key_params(_key_values(body), _KEY_PARAMS),
        tenant_of(body),
        session_of(body, body.conversation),
        controls=key_params(cache_controls(body), CACHE_CONTROLS),
    )


def _format_of(text: Raw | UnsetType) -> Raw | None:
    """Return the output format unless it is the default, plain text."""
    if text is UNSET:
        return None
    settings = msgspec.json.decode(text)
    chosen = settings.get("format") if isinstance(settings, dict) else None
    if not isinstance(chosen, dict) or chosen.get("type") == "text":
        return None
    return Raw(msgspec.json.encode(chosen))


def turn(kind: str, item: Any) -> Turn:
    """Read one tool, format, instruction or input item."""
    if kind in ("tools", "format"):
        return tool_turn(item)
    if isinstance(item, str):
        return Turn("developer" if kind == "system" else "user", (Part("", item),))
    if not isinstance(item, dict):
        raise ValueError(f"an input item is {type(item).__name__}, not an object")
    if "role" in item:
        return Turn(str(item["role"]), tuple(content_parts(item.get("content"), "/content")))
    kind_of_item = str(item.get("type", ""))
    role = "tool" if kind_of_item.endswith("_output") else "assistant"
    return Turn(role, _item_parts(item, kind_of_item))


def _item_parts(item: dict[str, Any], kind_of_item: str) -> tuple[Part, ...]:
    named = [key for key in ("call_id", "name", "arguments", "input", "output", "encrypted_content") if item.get(key)]
    if kind_of_item.startswith("reasoning") or named:
        parts = []
        for key in named:
            is_list = isinstance(item[key], list) and key == "output"
            parts += content_parts(item[key], f"/{key}") if is_list else [text_part(f"/{key}", item[key])]
        summary = item.get("summary")
        if isinstance(summary, list):
            parts += [text_part(f"/summary/{index}", line) for index, line in enumerate(summary)]
        return tuple(parts)
    return (block_part("", {key: value for key, value in item.items() if key not in _ITEM_NAMES}),)


def reply(response: Any) -> Turn | None:
    """Read the output items of a logged answer as one assistant turn."""
    output = response.get("output") if isinstance(response, dict) else None
    if not isinstance(output, list) or not output:
        return None
    parts: list[Part] = []
    for item in output:
        if isinstance(item, dict):
            parts.extend(turn("messages", item).parts)
    return Turn("assistant", tuple(parts)) if parts else None


DIALECTS.add("openai-responses", Dialect("openai-responses", "openai", Body, score, draft, turn, reply))
