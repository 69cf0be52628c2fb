"""Gemini generateContent (Gemini API and Vertex)."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.request import Part, Section, Turn
from prefixwise.corpus.bodies import is_given, key_params, single_section, text_of, tools_section
from prefixwise.corpus.dialect import DIALECTS, Dialect, Draft, block_part, name_in, text_part, tool_turn
from prefixwise.corpus.media import gemini_tokens, media_part, unknown_tokens

_GENERATION = ("thinkingConfig", "responseSchema", "responseJsonSchema", "responseMimeType")
_KEY_PARAMS = ("toolConfig", *(f"generationConfig/{name}" for name in _GENERATION))


class GenerationConfig(msgspec.Struct):
    """The settings of the answer that change what the model is told."""

    thinkingConfig: Raw | UnsetType = UNSET  # noqa: N815 - the wire's own names
    responseSchema: Raw | UnsetType = UNSET  # noqa: N815
    responseJsonSchema: Raw | UnsetType = UNSET  # noqa: N815
    responseMimeType: Raw | UnsetType = UNSET  # noqa: N815


_generation = msgspec.json.Decoder(GenerationConfig)
_generation_values = operator.attrgetter(*_GENERATION)
_NO_VALUES = (UNSET,) * len(_GENERATION)


class Body(msgspec.Struct):
    """The fields of a generateContent body that matter to a cache."""

    contents: list[Raw] | str | None = None
    systemInstruction: Raw | UnsetType = UNSET  # noqa: N815 - the wire's own name
    system_instruction: Raw | UnsetType = UNSET
    model: Any = None
    tools: Raw | UnsetType = UNSET
    cachedContent: Any = None  # noqa: N815
    labels: Any = None
    toolConfig: Raw | UnsetType = UNSET  # noqa: N815
    generationConfig: Raw | UnsetType = UNSET  # noqa: N815


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` is a generateContent body."""
    contents = body.get("contents")
    if not isinstance(contents, (list, str)):
        return 0
    parts = isinstance(contents, list) and any(isinstance(item, dict) and "parts" in item for item in contents)
    return 3 + 3 * parts + 2 * ("generationConfig" in body) + 2 * ("systemInstruction" in body)


def draft(body: Body) -> Draft:
    """Read a decoded body: function declarations, system instruction, contents, in that order."""
    if body.contents is None:
        raise ValueError("no `contents`")
    sections = []
    if is_given(body.tools):
        sections.append(tools_section("/tools", body.tools))
    for name in ("systemInstruction", "system_instruction"):
        raw = getattr(body, name)
        if is_given(raw):
            sections.append(single_section("system", f"/{name}", raw))
    if isinstance(body.contents, str):
        text = Raw(msgspec.json.encode(body.contents))
        sections.append(Section("messages", "/contents", [text], listed=False))
    else:
        sections.append(Section("messages", "/contents", body.contents))
    cached = text_of(body.cachedContent)
    values = (body.toolConfig, *_settings(body.generationConfig))
    return Draft(
        text_of(body.model) or "",
        tuple(sections),
        Namespace(cached_content=cached) if cached else SHARED,
        key_params(values, _KEY_PARAMS),
        name_in(body.labels, "tenant_id", "tenant", "user_id"),
        name_in(body.labels, "session_id", "conversation_id"),
    )


def _settings(raw: Raw | UnsetType) -> tuple[Raw | UnsetType, ...]:
    """Return those settings of the answer that count, in the order of their names."""
    if raw is UNSET or not is_given(raw):
        return _NO_VALUES
    try:
        values: tuple[Raw | UnsetType, ...] = _generation_values(_generation.decode(raw))
    except msgspec.ValidationError:  # no object: what it means is not ours to say
        return _NO_VALUES
    return values


def turn(kind: str, item: Any) -> Turn:
    """Read one tool, the system instruction, or one content."""
    if kind == "tools":
        return tool_turn(item)
    role = "system" if kind == "system" else "user"
    if isinstance(item, str):
        return Turn(role, (Part("", item),))
    if not isinstance(item, dict):
        raise ValueError(f"a content is {type(item).__name__}, not an object")
    if kind != "system":
        named = str(item.get("role", role))
        role = "assistant" if named == "model" else named  # as the template opens the answer
    parts = item.get("parts")
    if isinstance(parts, dict):
        return Turn(role, tuple(_parts("/parts", parts)))
    if not isinstance(parts, list):
        return Turn(role, (text_part("", item),))
    return Turn(role, tuple(found for index, part in enumerate(parts) for found in _parts(f"/parts/{index}", part)))


def _parts(pointer: str, part: Any) -> Iterator[Part]:
    """Yield the sealed thoughts that a part carries, and what it says."""
    if isinstance(part, dict):
        for key in ("thoughtSignature", "thought_signature"):
            if isinstance(part.get(key), str) and part[key]:
                yield Part(f"{pointer}/{key}", part[key])
    yield _part(pointer, part)


def _part(pointer: str, part: Any) -> Part:
    if not isinstance(part, dict):
        return text_part(pointer, part)
    if isinstance(part.get("text"), str):
        return Part(f"{pointer}/text", part["text"])
    for key in ("inlineData", "inline_data", "fileData", "file_data"):
        if isinstance(part.get(key), dict):
            blob = part[key]
            kind = str(blob.get("mimeType", blob.get("mime_type", "")))
            data = blob.get("data", blob.get("fileUri", blob.get("file_uri", blob)))
            return media_part(f"{pointer}/{key}", data, gemini_tokens if "image" in kind else unknown_tokens, None)
    for key in ("functionCall", "functionResponse", "executableCode", "codeExecutionResult"):
        if key in part:
            return text_part(f"{pointer}/{key}", part[key])
    return block_part(pointer, part)


def reply(response: Any) -> Turn | None:
    """Read the first candidate of a logged answer."""
    candidates = response.get("candidates") if isinstance(response, dict) else None
    if not isinstance(candidates, list) or not candidates or not isinstance(candidates[0], dict):
        return None
    content = candidates[0].get("content")
    return turn("messages", content) if isinstance(content, dict) and content.get("parts") else None


DIALECTS.add("gemini", Dialect("gemini", "gemini", Body, score, draft, turn, reply))
