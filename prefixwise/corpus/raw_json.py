"""JSON put together from raw pieces, so that what is passed on is not decoded on the way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.corpus.records import repaired

RawField = Raw | UnsetType
_NOTHING = frozenset({b"", b"null", b'""', b"{}", b"[]"})
_ANSWER_KEYS = frozenset(
    {"choices", "content", "role", "output", "candidates", "parts", "generations", "usage", "usageMetadata"}
)
_BODY_KEYS = ("messages", "contents", "input", "prompt", "system", "prompt_token_ids")


def given(raw: RawField | bytes) -> bytes:
    """Return the bytes of a raw value, b'' where it is absent, null or empty."""
    data = b"" if raw is UNSET else bytes(raw)
    return b"" if data in _NOTHING else data


def unpacked(raw: RawField | bytes) -> bytes:
    """Return the same of a value that an exporter may have written as a string of JSON; other strings stay."""
    data = given(raw)
    if data[:1] != b'"':
        return data
    inner = msgspec.json.decode(data, type=str).strip().encode()
    if inner[:1] not in (b"{", b"["):
        return data
    try:
        msgspec.json.decode(inner, type=Raw)  # it is all JSON
    except (msgspec.MsgspecError, RecursionError):
        mended = repaired(inner)
        return data if mended is None else given(mended)  # None: a text that begins like JSON
    return given(inner)


def answer_in(text: str) -> Any:
    """Return the answer of an API that a text holds as JSON, None where the text is the answer itself."""
    if text[:1] not in ("{", "["):
        return None
    try:
        value = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        return None
    first = value[0] if isinstance(value, list) and value else value
    return value if isinstance(first, dict) and not _ANSWER_KEYS.isdisjoint(first) else None


def unpacked_answer(raw: RawField | bytes) -> bytes:
    """Return a raw answer that an exporter may have written as a string of JSON; an answer that is text stays."""
    data = given(raw)
    if data[:1] != b'"':
        return data
    text = msgspec.json.decode(data, type=str)
    return data if answer_in(text) is None else text.encode()


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
    if prompt[:1] == b'"':
        inner = unpacked(prompt)
        if inner[:1] != b'"' and not _holds_prompt(inner):
            return obj((("prompt", prompt),))  # a text that is JSON itself
        prompt = inner
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


def _holds_prompt(data: bytes) -> bool:
    """Say whether JSON holds a list of messages, a message or a body."""
    if data[:1] == b"[":
        items = msgspec.json.decode(data, type=list[Raw])
        return bool(items) and all(bytes(memoryview(item)[:1]) in (b"{", b"[") for item in items)
    keys = msgspec.json.decode(data, type=dict[str, Raw]) if data[:1] == b"{" else {}
    return any(key in keys for key in (*_BODY_KEYS, "role", "content"))


def name_of(*values: Any) -> str:
    """Return the first of `values` that names something, as text."""
    for value in values:
        if isinstance(value, str) and value:
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
    return ""
