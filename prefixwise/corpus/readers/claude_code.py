"""Claude Code session transcripts: each answer of the API is a call whose prompt is the chain of lines above it.

Shape: transcripts of versions 1.0 to 2.1, read 2026-11-30. One answer may be written as several lines that share
a request id and repeat one usage; they are joined. The system prompt and the tools are not in the file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark, Section
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import from_json
from prefixwise.corpus.call import Call, Found, LeftOut, Unread
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, encoded, given, listed, name_of

_WITHOUT_PROMPT = LeftOut("what it answers is not in the file")
_INTERRUPTED = "[Request interrupted by user"


class _Message(msgspec.Struct):
    role: Any = None
    id: Any = None
    model: Any = None
    content: RawField = UNSET
    usage: RawField = UNSET
    stop_reason: Any = None


class _Line(msgspec.Struct):
    type: Any = None
    uuid: Any = None
    parentUuid: Any = None  # noqa: N815 - the wire's own names
    sessionId: Any = None  # noqa: N815
    requestId: Any = None  # noqa: N815
    isApiErrorMessage: Any = None  # noqa: N815
    timestamp: Any = None
    message: RawField = UNSET


class _Node(msgspec.Struct):
    """A line in the tree of a session; `item` is its message, None for lines that hold none."""

    parent: str
    item: bytes | None
    time: float
    answer: _Answer | None = None


class _Answer(msgspec.Struct):
    """The lines of one answer."""

    key: str
    parent: str
    model: str
    session: str
    end: float
    blocks: list[bytes] = msgspec.field(default_factory=list)
    usage: bytes = b""
    is_whole: bool = False
    marks: int = Mark.PARTIAL
    line: bytes = b""
    replies: list[str] = msgspec.field(default_factory=list)
    """Lines that follow one of its lines: results of tools that it called in parallel hang at different ones."""
    said: bytes = b""

    def item(self) -> bytes:
        """Return the answer as a message of the next prompt."""
        self.said = self.said or b'{"role":"assistant","content":%s}' % listed(self.blocks)
        return self.said


_decode = msgspec.json.Decoder(_Line).decode
_message = msgspec.json.Decoder(_Message).decode
_list = msgspec.json.Decoder(list[Raw]).decode


class ClaudeCode:
    """Decodes one transcript; calls are given out at its end, when every line of an answer is known."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Node] = {}
        self._answers: dict[str, _Answer] = {}
        self._prompts: dict[str, list[bytes]] = {}

    def calls(self, record: bytes) -> Iterator[Found]:
        """Take in one line."""
        line = _decode(record)
        uuid, parent = name_of(line.uuid), name_of(line.parentUuid)
        time = epoch_seconds(line.timestamp)
        if line.type is None and not uuid:
            yield Unread("no line of a transcript: it has no type and no uuid")
        if uuid in self._nodes:  # a session that is resumed writes lines again
            return
        if uuid and line.type == "assistant" and line.isApiErrorMessage is not True:
            self._add_answer(uuid, parent, time, line, record)
        elif uuid and line.type == "user" and given(line.message)[:1] == b"{":
            item = given(line.message)
            if _INTERRUPTED.encode() in item:
                self._interrupt(parent)
            self._nodes[uuid] = _Node(parent, item, time)
            above = self._nodes.get(parent)
            if above is not None and above.answer is not None and b'"tool_result"' in item:
                above.answer.replies.append(uuid)
        elif uuid:
            self._nodes[uuid] = _Node(parent, None, time)

    def _add_answer(self, uuid: str, parent: str, time: float, line: _Line, record: bytes) -> None:
        message = _message(said) if (said := given(line.message)) else _Message()
        if name_of(message.model) == "<synthetic>":  # written by the client, not by a model
            self._nodes[uuid] = _Node(parent, None, time)
            return
        key = name_of(message.id, line.requestId, uuid)
        answer = self._answers.get(key)
        if answer is None:
            session = name_of(line.sessionId)
            answer = self._answers[key] = _Answer(key, parent, name_of(message.model), session, time, line=record)
        if b'"cache_miss_reason"' in record:  # a later line may say what an earlier one did not yet
            answer.line = record
        answer.end = time
        answer.usage = given(message.usage) or answer.usage
        answer.is_whole = answer.is_whole or message.stop_reason is not None
        content = given(message.content)
        answer.blocks += [bytes(block) for block in _list(content)] if content[:1] == b"[" else _text_block(content)
        self._nodes[uuid] = _Node(parent, None, time, answer)

    def _interrupt(self, parent: str) -> None:
        """Mark the answer above an interruption as aborted, unless it had ended."""
        node = self._nodes.get(parent)
        if node is not None and node.answer is not None and not node.answer.is_whole:
            node.answer.marks |= Mark.ABORTED

    def rest(self) -> Iterator[Found]:
        """Return the calls of the transcript, in order of their first lines."""
        for answer in self._answers.values():
            items, start = self._prompt(answer)
            if not items:
                yield _WITHOUT_PROMPT
                continue
            yield Call(
                b"",
                api="anthropic-messages",
                model=answer.model,
                start=start,
                end=answer.end,
                session=answer.session,
                usage=from_json(answer.usage) if answer.usage else None,
                response=answer.item() if answer.blocks else b"",
                has_reply=bool(answer.blocks),
                id=answer.key,
                marks=answer.marks,
                record=answer.line,
                sections=(Section("messages", "/messages", items),),
            )

    def _prompt(self, answer: _Answer) -> tuple[list[bytes], float]:
        """Return the messages above an answer, and when the last of them was written."""
        users: list[str] = []
        start = epoch_seconds(None)
        seen: set[str] = set()
        at = answer.parent
        above: _Answer | None = None
        while at and at not in seen and (node := self._nodes.get(at)) is not None:
            seen.add(at)
            if node.item is not None:
                users.append(at)
                start = node.time if start != start else start
            elif node.answer is not None and node.answer is not answer:
                above = node.answer
                break
            at = node.parent
        before: list[bytes] = []
        if above is not None:
            users += reversed([reply for reply in above.replies if reply not in seen])
            before = [*self._prompts.get(above.key, []), above.item()]
        items = [self._nodes[uuid].item or b"" for uuid in reversed(users)]
        self._prompts[answer.key] = before + _one(items)
        return self._prompts[answer.key], start


def _one(users: list[bytes]) -> list[bytes]:
    if len(users) < 2:
        return users
    blocks: list[bytes] = []
    for message in users:
        content = given(_message(message).content)
        blocks += [bytes(block) for block in _list(content)] if content[:1] == b"[" else _text_block(content)
    return [b'{"role":"user","content":%s}' % listed(blocks)]


def _text_block(content: bytes) -> list[bytes]:
    """Return a bare text as a list of one text block."""
    return [encoded({"type": "text", "text": msgspec.json.decode(content)})] if content else []


add_export(
    "claude-code",
    (
        frozenset({"parentUuid", "sessionId", "uuid", "message/role"}),
        frozenset({"parentUuid", "sessionId", "uuid", "type"}),
    ),
    ClaudeCode,
)
