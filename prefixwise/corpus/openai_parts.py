"""Message content as OpenAI's APIs write it: a string, or a list of typed parts."""

from __future__ import annotations

from functools import partial
from typing import Any

from prefixwise.core.request import Part
from prefixwise.corpus.dialect import block_part, marker_of, text_part
from prefixwise.corpus.media import media_part, openai_tokens, unknown_tokens


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
    return block_part(pointer, part)
