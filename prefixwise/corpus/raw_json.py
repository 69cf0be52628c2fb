"""JSON put together from raw pieces, so that what is passed on is not decoded on the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

RawField = Raw | UnsetType
_NOTHING = frozenset({b"", b"null", b'""', b"{}", b"[]"})
_BODY_KEYS = ("messages", "contents", "input", "prompt", "system", "prompt_token_ids")


def given(raw: RawField | bytes) -> bytes:
    """Return the bytes of a raw value, b'' where it is absent, null or empty; JSON inside a string is unpacked."""
    data = b"" if raw is UNSET else bytes(raw)
    if data[:1] == b'"':
        text = msgspec.json.decode(data, type=str)
        if text.lstrip()[:1] in ("{", "["):
            data = text.strip().encode()
    return b"" if data in _NOTHING else data


def obj(pairs: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the JSON object of (key, JSON of the value) pairs, those without a value left out."""
    return b"{%s}" % b",".join(b'"%s":%s' % (key.encode(), value) for key, value in pairs if value)


def listed(items: Iterable[bytes]) -> bytes:
    """Return the JSON list of `items`, each JSON."""
    return b"[%s]" % b",".join(items)


def encoded(value: Any) -> bytes:
    """Return `value` as JSON."""
    return msgspec.json.encode(value)


def body_of(prompt: bytes, tools: bytes = b"") -> bytes:
    """Return the request body for what an exporter calls a call's input.

    Args:
        prompt: JSON of a body, of a list of messages, of one message, or of a bare text.
        tools: JSON of the tool list, where it stands apart.

    Raises:
        ValueError: It is none of these.
    """
    start = prompt[:1]
    if start == b"[":
        return obj((("messages", prompt), ("tools", tools)))
    if start == b'"':
        return obj((("prompt", prompt),))
    if start == b"{":
        keys = msgspec.json.decode(prompt, type=dict[str, Raw])
        if any(key in keys for key in _BODY_KEYS):
            return obj([("tools", tools), *((key, bytes(raw)) for key, raw in keys.items())]) if tools else prompt
        if "role" in keys or "content" in keys:
            return obj((("messages", listed((prompt,))), ("tools", tools)))
    raise ValueError("the input holds no messages and no text")


def name_of(*values: Any) -> str:
    """Return the first of `values` that names something, as text."""
    for value in values:
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""
