"""Codex session transcripts (`rollout-*.jsonl`): each report of token counts ends a call.

Shape: rollouts of Codex CLI 0.40 and later (`RolloutLine` of its protocol), read 2026-11-30. The prompt of a call
is the instructions and all items before the model's own at its end. Tools are not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark, Section
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import Usage, counted
from prefixwise.corpus.call import Call, Found, Unread
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, encoded, given, listed, name_of, obj

_MODELS_OWN = frozenset({"reasoning", "function_call", "custom_tool_call", "local_shell_call", "web_search_call"})


class _Payload(msgspec.Struct):
    type: Any = None
    role: Any = None
    id: Any = None
    model: Any = None
    info: Any = None
    reason: Any = None
    instructions: Any = None
    base_instructions: Any = None
    replacement_history: RawField = UNSET


class _Line(msgspec.Struct):
    timestamp: Any = None
    type: Any = None
    payload: RawField = UNSET


class _Item(msgspec.Struct):
    data: bytes
    is_models: bool
    time: float


_decode = msgspec.json.Decoder(_Line).decode
_payload = msgspec.json.Decoder(_Payload).decode
_list = msgspec.json.Decoder(list[Raw]).decode


class Codex:
    """Decodes one transcript."""

    def __init__(self) -> None:
        self._session = ""
        self._model = ""
        self._instructions = b""
        self._items: list[_Item] = []
        self._total: Any = None
        self._calls = 0
        self._answered = 0

    def calls(self, record: bytes) -> Iterator[Found]:
        """Take in one line; return the call that it ends, if it ends one."""
        line = _decode(record)
        if line.payload is UNSET:
            if line.type is None:
                yield Unread("no line of a transcript: it has no type and no payload")
            return
        payload, time = _payload(line.payload), epoch_seconds(line.timestamp)
        if line.type == "session_meta":
            self._session = name_of(payload.id) or self._session
            text = payload.instructions or payload.base_instructions
            text = text.get("text") if isinstance(text, dict) else text
            self._instructions = encoded(text) if isinstance(text, str) and text else b""
        elif line.type == "turn_context":
            self._model = name_of(payload.model) or self._model
        elif line.type == "response_item":
            own = payload.type in _MODELS_OWN or (payload.type == "message" and payload.role == "assistant")
            self._items.append(_Item(bytes(line.payload), own, time))
        elif line.type == "compacted":
            history = given(payload.replacement_history)
            if history[:1] == b"[":
                self._items = [_Item(bytes(raw), False, time) for raw in _list(history)]
                self._answered = 0
        elif line.type == "event_msg":
            yield from self._event(payload, time)

    def _event(self, payload: _Payload, time: float) -> Iterator[Found]:
        if payload.type == "token_count" and isinstance(payload.info, dict):
            total = payload.info.get("total_token_usage")
            if total != self._total:  # the same counts are reported again at the end of a turn
                self._total = total
                yield from self._call(payload.info.get("last_token_usage"), time, 0)
        elif payload.type == "turn_aborted" and len(self._items) > self._answered:
            yield from self._call(None, time, Mark.ABORTED)

    def _call(self, usage: Any, time: float, marks: int) -> Iterator[Found]:
        end = len(self._items)
        while end and self._items[end - 1].is_models:
            end -= 1
        if not end:
            return
        answer = self._items[end:]
        prompt = [item.data for item in self._items[:end]]
        self._answered = len(self._items)
        self._calls += 1
        system = (Section("system", "/instructions", [self._instructions], listed=False),) if self._instructions else ()
        yield Call(
            b"",
            api="openai-responses",
            model=self._model,
            start=self._items[end - 1].time,
            end=time,
            session=self._session,
            usage=_usage(usage),
            response=obj((("output", listed(item.data for item in answer)),)) if answer else b"",
            has_reply=bool(answer),
            id=f"{self._session}/{self._calls}",
            marks=Mark.PARTIAL | marks,
            sections=(*system, Section("messages", "/input", prompt)),
        )

    def rest(self) -> Iterator[Found]:
        """Return nothing: what no count closed was not answered."""
        return iter(())


def _usage(counts: Any) -> Usage | None:
    names = ("input_tokens", "cached_input_tokens", "cache_write_input_tokens", "output_tokens")
    return counted(*map(counts.get, names)) if isinstance(counts, dict) else None


add_export(
    "codex",
    (
        frozenset({"timestamp", "type", "payload/cwd", "payload/id"}),
        frozenset({"timestamp", "type", "payload/type", "payload/role"}),
    ),
    Codex,
)
