"""What a message is made of: texts, thoughts, tool calls and their results, media; the same for every API.

An API's reader says where each stretch of a message stands, and the names on the way there say what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import cached_property
from typing import Any

import msgspec

from prefixwise.analyzers.lint.documents import Entry
from prefixwise.core.pointer import parse_pointer, resolve
from prefixwise.core.request import Part

_IDS = frozenset({"id", "call_id", "tool_call_id", "tool_use_id", "toolCallId", "toolUseId"})
_NAMES = frozenset({"name", "toolName"})
_NO_WORDS = _IDS | {"is_error", "status"}
_ARGUMENTS = frozenset({"arguments", "input", "args"})
_THOUGHTS = frozenset(
    {"reasoning_content", "reasoning", "thinking", "signature", "encrypted_content", "reasoningContent", "summary"}
)
_SEALED = frozenset({"thoughtSignature", "thought_signature"})
"""Thoughts that ride on what they belong to."""
_THOUGHT_TYPES = frozenset({"reasoning", "thinking", "redacted_thinking"})
_LIST_ITEM = re.compile(r"^(.*/\d+)(?:/|$)")
_CALLED = ("functionCall", "functionResponse", "function_call")


class BlockKind(StrEnum):
    """What a stretch of a message is."""

    TEXT = "text"
    THOUGHT = "thought"
    CALL = "call"
    RESULT = "result"
    MEDIA = "media"
    OTHER = "other"


class Block(msgspec.Struct, frozen=True, dict=True):
    """A stretch of a message.

    Attributes:
        kind: What it is.
        pointer: Where it stands, relative to the message.
        parts: What it says.
        value: Decoded JSON of it, None where it is no value of its own.
    """

    kind: BlockKind
    pointer: str
    parts: tuple[Part, ...]
    value: Any = None

    @cached_property
    def said(self) -> tuple[Any, ...]:
        """What it says, for comparison: the same for two blocks that a model sees as one."""
        return (self.kind, *[part.text or part.media or part.ids for part in self.parts])

    @cached_property
    def id(self) -> Part | None:
        """The id of a call or result; None where the API has none."""
        return self._named(_IDS)

    @cached_property
    def name(self) -> str:
        """The name of the tool that is called."""
        part = self._named(_NAMES)
        return self._from_json("name") if part is None else part.text

    @cached_property
    def arguments(self) -> Part | None:
        """The arguments of a call: a text as the model wrote it, or JSON."""
        return self._named(_ARGUMENTS) or (self.parts[0] if self.kind is BlockKind.CALL and self._is_one_json else None)

    @cached_property
    def text(self) -> str:
        """Its words: of a result, what the tool said; without ids."""
        return "\n".join(part.text for part in self.texts)

    @cached_property
    def texts(self) -> tuple[Part, ...]:
        """The parts that hold its words."""
        return tuple(part for part in self.parts if part.text and last_name(part.pointer) not in _NO_WORDS)

    @property
    def media(self) -> tuple[Part, ...]:
        """Images, audio and files in it."""
        return tuple(part for part in self.parts if part.media)

    @property
    def place(self) -> str:
        """Pointer of its first words, relative to the message; its own where it has none."""
        return self.texts[0].pointer if self.texts else self.pointer

    @property
    def _is_one_json(self) -> bool:
        return len(self.parts) == 1 and self.parts[0].is_json

    def _named(self, names: frozenset[str]) -> Part | None:
        return next((part for part in self.parts if last_name(part.pointer) in names), None)

    def _from_json(self, key: str) -> str:
        if not self._is_one_json:
            return ""
        value = msgspec.json.decode(self.parts[0].text)
        return str(value.get(key, "")) if isinstance(value, dict) else ""


def blocks_of(entry: Entry) -> tuple[Block, ...]:
    """Return the blocks of a message, in order."""
    parts = entry.parts
    named = {_parent(part.pointer) for part in parts if last_name(part.pointer) in _IDS}
    owners = sorted(named, key=len, reverse=True)
    grouped: dict[str, list[Part]] = {}
    whole = _decoded(entry.raw)
    thinks = isinstance(whole, dict) and _is_thought(whole)
    for part in parts:
        grouped.setdefault("" if thinks else _owner(part.pointer, owners), []).append(part)
    return tuple(_block(pointer, tuple(found), whole, pointer in named) for pointer, found in grouped.items())


def last_name(pointer: str) -> str:
    """Return the last segment of a pointer."""
    return pointer.rpartition("/")[2]


def _parent(pointer: str) -> str:
    head = pointer.rpartition("/")[0]
    return head.removesuffix("/function").removesuffix("/custom")


def _owner(pointer: str, owners: Iterable[str]) -> str:
    """Return the pointer of the block that a part belongs to."""
    for owner in owners:
        if pointer.startswith(owner + "/"):
            return owner
    item = _LIST_ITEM.match(pointer)
    if item is not None:
        return pointer if last_name(pointer) in _SEALED else item[1]
    head, _, name = pointer.rpartition("/")
    return head if name in _NAMES | _ARGUMENTS and head else pointer


def _block(pointer: str, parts: tuple[Part, ...], whole: Any, has_id: bool) -> Block:
    value = next(resolve(whole, parse_pointer(pointer)), None)
    names = {name for part in parts for name in part.pointer[len(pointer) :].split("/")} | {last_name(pointer)}
    if isinstance(value, dict) and _is_thought(value):
        kind = BlockKind.THOUGHT
    elif has_id:
        kind = BlockKind.CALL if names & _ARGUMENTS or names & _NAMES else BlockKind.RESULT
    elif names & _ARGUMENTS and names & _NAMES:
        kind = BlockKind.CALL
    elif names & (_THOUGHTS | _SEALED):
        kind = BlockKind.THOUGHT
    elif any(part.media for part in parts):
        kind = BlockKind.MEDIA
    elif called := names.intersection(_CALLED):
        kind = BlockKind.RESULT if "functionResponse" in called else BlockKind.CALL
    else:
        kind = BlockKind.OTHER if any(part.is_json or part.ids for part in parts) else BlockKind.TEXT
    return Block(kind, pointer, parts, value)


def _is_thought(value: dict[str, Any]) -> bool:
    return value.get("thought") is True or str(value.get("type")) in _THOUGHT_TYPES


def _decoded(raw: bytes) -> Any:
    try:
        return msgspec.json.decode(raw)
    except msgspec.MsgspecError:
        return None
