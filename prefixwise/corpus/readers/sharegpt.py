"""ShareGPT: conversations without times, usage or tenants. Each answer in one is a call with all before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Raw

from prefixwise.core.request import Section
from prefixwise.corpus.call import Call, Found, RecordDecoder
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import encoded, name_of

_ROLES = {
    "human": "user", "user": "user", "system": "system", "tool": "tool", "observation": "tool",
    "gpt": "assistant", "chatgpt": "assistant", "bing": "assistant", "bard": "assistant", "assistant": "assistant",
    "model": "assistant", "function_call": "assistant",
}  # fmt: skip


class _Conversation(msgspec.Struct):
    conversations: list[dict[str, Any]]
    id: Any = None
    model: Any = None
    system: Any = None
    tools: Any = None


_decode = msgspec.json.Decoder(_Conversation).decode


class ShareGPT(RecordDecoder):
    """Decodes conversations."""

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return one call for each answer of the conversation."""
        one = _decode(record)
        messages: list[bytes] = []
        if isinstance(one.system, str) and one.system:
            messages.append(encoded({"role": "system", "content": one.system}))
        tools = _tools(one.tools)
        head = (Section("tools", "/tools", [], whole=Raw(tools)),) if tools else ()
        for turn in one.conversations:
            said = str(turn.get("from", turn.get("role", "")))
            role = _ROLES.get(said.lower(), said or "user")
            text = turn.get("value", turn.get("content", ""))
            if role == "assistant" and messages:
                yield Call(
                    b"",
                    api="openai-chat",
                    model=name_of(one.model),
                    session=name_of(one.id),
                    response=encoded(text),
                    has_reply=True,
                    sections=(*head, Section("messages", "/messages", messages[:])),
                )
            messages.append(encoded({"role": role, "content": text}))


def _tools(tools: Any) -> bytes:
    """Return the tool list as JSON; data sets write it as a string of JSON."""
    if isinstance(tools, str) and tools.lstrip()[:1] == "[":
        return tools.encode()
    return encoded(tools) if isinstance(tools, list) and tools else b""


add_export(
    "sharegpt",
    (
        frozenset({"conversations/*/from", "conversations/*/value"}),
        frozenset({"conversations/*/role", "conversations/*/content"}),
    ),
    ShareGPT,
)
