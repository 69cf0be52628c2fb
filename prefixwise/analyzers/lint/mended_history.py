"""Messages as they would have been sent again in one and the same form: ids, arguments, shapes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from prefixwise.analyzers.lint.blocks import Block, BlockKind, blocks_of
from prefixwise.analyzers.lint.documents import Entry
from prefixwise.analyzers.lint.mending import value_at, with_mended_items
from prefixwise.analyzers.lint.raw_values import with_value
from prefixwise.core.pointer import parse_pointer
from prefixwise.core.request import Part, Request

_PREFIX = re.compile(r"^(?:call|toolu|tooluse|fc|chatcmpl-tool)(?:[_-])")


def with_numbered_ids(request: Request) -> Request:
    """Return a request whose tool calls are called by their place in the conversation, as are their results."""
    numbers: dict[str, str] = {}

    def mend(entry: Entry) -> bytes:
        raw = entry.raw
        for block in _calls_and_results(entry):
            if block.id is not None:
                old = block.id.text
                new = numbers.setdefault(old, f"{_beginning(old)}{len(numbers) + 1}")
                raw = raw if new == old else with_value(raw, parse_pointer(block.id.pointer), msgspec.json.encode(new))
        return raw

    return with_mended_items(request, mend)


def _beginning(name: str) -> str:
    found = _PREFIX.match(name)
    return "call_" if found is None else found[0]


def with_canonical_json(request: Request) -> Request:
    """Return a request whose arguments of tool calls, and results that are JSON, are written compactly, keys sorted."""

    def mend(entry: Entry) -> bytes:
        raw = entry.raw
        for block in _calls_and_results(entry):
            parts = [block.arguments] if block.kind is BlockKind.CALL else block.texts
            for part in parts:
                raw = raw if part is None else _with_canonical(raw, part)
        return raw

    return with_mended_items(request, mend)


def _calls_and_results(entry: Entry) -> list[Block]:
    if entry.kind != "messages":
        return []
    found = [block for block in blocks_of(entry) if block.kind in (BlockKind.CALL, BlockKind.RESULT)]
    if not found and entry.role in ("tool", "function"):
        return [msgspec.structs.replace(block, kind=BlockKind.RESULT) for block in blocks_of(entry)]
    return found


def _with_canonical(raw: bytes, part: Part) -> bytes:
    keys = parse_pointer(part.pointer)
    if part.is_json:
        value = value_at(raw, keys)
        mended = canonical(value)
        return raw if mended == msgspec.json.encode(value) else with_value(raw, keys, mended)
    text = canonical_text(part.text)
    return raw if text == part.text else with_value(raw, keys, msgspec.json.encode(text))


def canonical_text(text: str) -> str:
    """Return a text that is a JSON object or list in its one form, any other as it is."""
    if text.lstrip()[:1] not in ("{", "["):
        return text
    try:
        return canonical(msgspec.json.decode(text)).decode()
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text


def canonical(value: Any) -> bytes:
    """Return the one form of a JSON value: sorted keys, no spaces, `2` for `2.0`."""
    return msgspec.json.encode(_plain(value), order="sorted")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value


def with_lists_of_blocks(request: Request) -> Request:
    """Return a request whose messages are all lists of blocks, none a bare string."""

    def mend(entry: Entry) -> bytes:
        return as_blocks(entry.raw) if entry.kind == "messages" else entry.raw

    return with_mended_items(request, mend)


def as_blocks(raw: bytes, wrapped: Callable[[str], Any] = lambda text: [{"type": "text", "text": text}]) -> bytes:
    """Return a message whose content is a list of one text, where it was a string that is not empty."""
    message = msgspec.json.decode(raw)
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(content, str) or not content:
        return raw
    return with_value(raw, ("content",), msgspec.json.encode(wrapped(content)))
