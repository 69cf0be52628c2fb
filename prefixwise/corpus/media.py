"""Images, audio and files in a prompt: a content hash in their place, and how many tokens they take.

Formulas (providers' vision guides, read 2026-11): OpenAI tiles: fit into 2,048 px, short side to 768 px,
85 + 170 for each 512 px tile, 85 at low detail. Anthropic: width x height / 750, long side at most 1,568 px,
at most about 1,600. Gemini: 258 for an image up to 384 px a side, else 258 for each 768 px tile. A size that
cannot be read gives the band of what is possible.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import math
from collections.abc import Callable
from typing import Any

from prefixwise.core.request import Part

Band = tuple[int, int]
_OPENAI_BAND: Band = (85, 1445)
_ANTHROPIC_BAND: Band = (1, 1600)
_GEMINI_BAND: Band = (258, 258 * 16)


def media_part(
    pointer: str, data: Any, formula: Callable[[tuple[int, int] | None], Band], marker: float | None
) -> Part:
    """Return the part for `data`: base64 text, a data URL, or a reference of which only the name is known."""
    content = _content(data) if isinstance(data, str) else None
    size = image_size(content) if content is not None else None
    identity = content if content is not None else repr(data).encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(identity, digest_size=16).digest()
    return Part(pointer, media=digest, tokens=formula(size), marker=marker)


def _content(text: str) -> bytes | None:
    if text.startswith("data:"):
        text = text.partition(",")[2]
    elif "://" in text[:16]:
        return None
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return None


def openai_tokens(size: tuple[int, int] | None, detail: str = "auto") -> Band:
    """Return (least, most) tokens of an image on OpenAI's tile formula."""
    if detail == "low":
        return (85, 85)
    if size is None:
        return _OPENAI_BAND
    width, height = size
    scale = min(1.0, 2048 / max(width, height))
    width, height = width * scale, height * scale  # type: ignore[assignment]
    scale = min(1.0, 768 / min(width, height))
    tiles = math.ceil(width * scale / 512) * math.ceil(height * scale / 512)
    return (85 + 170 * tiles,) * 2


def anthropic_tokens(size: tuple[int, int] | None) -> Band:
    """Return (least, most) tokens of an image on Anthropic's area formula."""
    if size is None:
        return _ANTHROPIC_BAND
    scale = min(1.0, 1568 / max(size))
    tokens = max(1, min(1600, round(size[0] * scale * size[1] * scale / 750)))
    return (tokens, tokens)


def gemini_tokens(size: tuple[int, int] | None) -> Band:
    """Return (least, most) tokens of an image on Gemini's tile formula."""
    if size is None:
        return _GEMINI_BAND
    tiles = 1 if max(size) <= 384 else math.ceil(size[0] / 768) * math.ceil(size[1] / 768)
    return (258 * tiles, 258 * tiles)


def unknown_tokens(_size: tuple[int, int] | None) -> Band:
    """Return the band for audio and documents, whose length in tokens cannot be read off their bytes."""
    return (1, 4096)


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return (width, height) in pixels from a PNG, GIF, WebP or JPEG header, else None."""
    size: tuple[int, int] | None = None
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        size = (int.from_bytes(data[16:20]), int.from_bytes(data[20:24]))
    elif data[:4] == b"GIF8" and len(data) >= 10:
        size = (int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little"))
    elif data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8X" and len(data) >= 30:
        size = (int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1)
    elif data[:2] == b"\xff\xd8":
        size = _jpeg_size(data)
    return size if size and min(size) > 0 else None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    """Walk the segments of a JPEG to its frame header (SOF0 to SOF15 without DHT, JPG and DAC)."""
    at = 2
    while at + 9 < len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if 0xC0 <= kind <= 0xCF and kind not in (0xC4, 0xC8, 0xCC):
            return (int.from_bytes(data[at + 7 : at + 9]), int.from_bytes(data[at + 5 : at + 7]))
        at += 2 + int.from_bytes(data[at + 2 : at + 4])
    return None
