"""Amazon Bedrock Converse (botocore 1.44 service model `bedrock-runtime`, read 2026-11-30)."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.bodies import key_params, text_of
from prefixwise.corpus.dialect import DIALECTS, Dialect, Draft, block_part, marker_of, name_in, text_part
from prefixwise.corpus.media import anthropic_tokens, media_part, unknown_tokens

_KEY_PARAMS = ("additionalModelRequestFields", "performanceConfig", "guardrailConfig", "toolConfig/toolChoice")


class ToolConfig(msgspec.Struct):
    """Tools, and the choice between them."""

    tools: list[Raw] | None = None
    toolChoice: Raw | UnsetType = UNSET  # noqa: N815 - the wire's own names


class Body(msgspec.Struct):
    """The fields of a Converse body that matter to a cache."""

    messages: list[Raw] | None = None
    system: list[Raw] | None = None
    toolConfig: ToolConfig | None = None  # noqa: N815
    modelId: Any = None  # noqa: N815
    requestMetadata: Any = None  # noqa: N815
    additionalModelRequestFields: Raw | UnsetType = UNSET  # noqa: N815
    performanceConfig: Raw | UnsetType = UNSET  # noqa: N815
    guardrailConfig: Raw | UnsetType = UNSET  # noqa: N815


_TYPED = frozenset({"text", "toolUse", "toolResult", "image", "document", "cachePoint", "reasoningContent"})


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is a Converse body: its content blocks have no `type`."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        return 0
    contents = [message.get("content") for message in messages]
    blocks = [block for content in contents if isinstance(content, list) for block in content]
    if not blocks or not all(isinstance(block, dict) and "type" not in block for block in blocks):
        return 0
    if not all(_TYPED & block.keys() for block in blocks):
        return 0
    return 4 + 4 * ("toolConfig" in body) + 2 * ("inferenceConfig" in body) + 4 * ("modelId" in body)


def draft(body: Body) -> Draft:
    """Read a decoded body: tools, system, messages, in that order."""
    if body.messages is None:
        raise ValueError("no `messages` list")
    sections = []
    if body.toolConfig is not None and body.toolConfig.tools:
        sections.append(Section("tools", "/toolConfig/tools", body.toolConfig.tools))
    if body.system:
        sections.append(Section("system", "/system", body.system))
    sections.append(Section("messages", "/messages", body.messages))
    choice = UNSET if body.toolConfig is None else body.toolConfig.toolChoice
    values = (body.additionalModelRequestFields, body.performanceConfig, body.guardrailConfig, choice)
    return Draft(
        text_of(body.modelId) or "",
        tuple(sections),
        params=key_params(values, _KEY_PARAMS),
        tenant=name_in(body.requestMetadata, "tenant_id", "tenant", "user_id"),
        session=name_in(body.requestMetadata, "session_id", "conversation_id"),
    )


def turn(kind: str, item: Any) -> Turn:
    """Read one tool, system block or message."""
    if kind == "messages":
        if not isinstance(item, dict):
            raise ValueError(f"a message is {type(item).__name__}, not an object")
        content = item.get("content")
        blocks = content if isinstance(content, list) else [content]
        return Turn(str(item.get("role", "")), _blocks(blocks, "/content"))
    if marker_of(item) is not None:  # a cache point among tools or system blocks ends the one before it
        return Turn(None, _blocks([item], ""))
    return Turn(None, (block_part("", item),)) if kind == "tools" else Turn("system", _blocks([item], ""))


def _blocks(blocks: list[Any], pointer: str) -> tuple[Part, ...]:
    """Read content blocks; a cache point marks the end of the block before it and is no text itself."""
    parts: list[Part] = []
    for index, block in enumerate(blocks):
        at = f"{pointer}/{index}" if pointer else ""
        marker = marker_of(block)
        if marker is not None and parts:
            parts[-1] = msgspec.structs.replace(parts[-1], marker=marker)
        elif marker is not None:
            parts.append(Part(at, marker=marker))
        else:
            parts.extend(_block(at, block))
    return tuple(parts)


def _block(pointer: str, block: Any) -> list[Part]:
    if not isinstance(block, dict):
        return [text_part(pointer, block)] if block is not None else []
    if isinstance(block.get("text"), str):
        return [Part(f"{pointer}/text", block["text"])]
    if isinstance(use := block.get("toolUse"), dict):
        return [text_part(f"{pointer}/toolUse/{key}", use[key]) for key in ("toolUseId", "name", "input") if key in use]
    if isinstance(result := block.get("toolResult"), dict):
        return _result_parts(f"{pointer}/toolResult", result)
    if isinstance(thought := block.get("reasoningContent"), dict):
        inner = thought.get("reasoningText", thought)
        keys = ("text", "signature", "redactedContent")
        return [text_part(f"{pointer}/reasoningContent/{key}", inner[key]) for key in keys if key in inner]
    for key, formula in (("image", anthropic_tokens), ("document", unknown_tokens), ("video", unknown_tokens)):
        if isinstance(media := block.get(key), dict):
            source = media.get("source", media)
            data = source.get("bytes", source) if isinstance(source, dict) else source
            return [media_part(f"{pointer}/{key}", data, formula, None)]
    return [block_part(pointer, block)]


def _result_parts(pointer: str, result: dict[str, Any]) -> list[Part]:
    parts = [text_part(f"{pointer}/toolUseId", result["toolUseId"])] if "toolUseId" in result else []
    if result.get("status") == "error":
        parts.append(Part(f"{pointer}/status", "error"))
    content = result.get("content")
    for index, inner in enumerate(content if isinstance(content, list) else ()):
        at = f"{pointer}/content/{index}"
        is_json = isinstance(inner, dict) and "json" in inner
        parts.extend([text_part(f"{at}/json", inner["json"])] if is_json else _block(at, inner))
    return parts


def reply(response: Any) -> Turn | None:
    """Read the message of a logged answer."""
    output = response.get("output") if isinstance(response, dict) else None
    message = output.get("message") if isinstance(output, dict) else None
    return turn("messages", message) if isinstance(message, dict) and message.get("content") else None


DIALECTS.add("bedrock-converse", Dialect("bedrock-converse", "bedrock", Body, score, draft, turn, reply))
