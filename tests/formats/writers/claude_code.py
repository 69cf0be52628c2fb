"""Claude Code: session transcripts, a file a session under `~/.claude/projects/<directory>/`.

Anthropic documents no schema; the shape is that of transcripts of versions 1.0 and 2.1 as they are described in
public tools that read them. The message of a line is a message of the API, and that is checked against anthropic
2.14. What readers must know:

- an answer is a line a content block; its lines share `message.id` and `requestId`, and only the last has the final
  `output_tokens` and a `stop_reason`;
- a tool result is a line each, and its parent is the line of the call that it answers: with two calls at once the
  lines are no chain, and the API is sent both results in one message;
- a helper's lines are marked `isSidechain` and begin a chain of their own, in the same file (1.0) or in
  `<session>/subagents/agent-<id>.jsonl` (2.1);
- a resumed session repeats earlier lines in a new file, under their old `uuid`s.

A transcript holds no system prompt, no tools, no tenant and no time to the first token, and a request that got no
answer leaves no line.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Message, Workload, named_uuid
from formats.writers.plain import Files, lines


def session_id(exchange: Exchange) -> str:
    """Return the session that the lines of a request name; a helper's lines name its parent's."""
    return named_uuid(exchange.session)


@dataclass
class _Transcript:
    """The lines of one conversation."""

    version: str
    session: str
    agent: str
    lines: list[Json] = field(default_factory=list)
    last: str | None = None
    line_of_call: dict[str, str] = field(default_factory=dict)

    def _add(self, at: float, parent: str | None, line: Json) -> str:
        name = f"{self.session}/{self.agent}/{len(self.lines)}"
        around: Json = {
            "parentUuid": parent,
            "isSidechain": bool(self.agent),
            "userType": "external",
            "cwd": "/srv/quarry/yard",
            "sessionId": self.session,
            "version": self.version,
            "gitBranch": "main",
        }
        if self.agent and self.version.startswith("2"):
            around["agentId"] = hashlib.sha256(self.agent.encode()).hexdigest()[:7]
        uuid = named_uuid(name)
        self.lines.append(around | line | {"uuid": uuid, "timestamp": bodies.iso(at)})
        self.last = uuid
        return uuid

    def user(self, at: float, message: Message) -> None:
        """Add what the user said, or the results of tools."""
        if message.role == "user":
            self._add(at, self.last, {"type": "user", "message": {"role": "user", "content": message.text}})
        for call, name, text in message.results:
            block = {"tool_use_id": call, "type": "tool_result", "content": text}
            asked = self.line_of_call[call]
            line: Json = {"type": "user", "message": {"role": "user", "content": [block]}}
            line["toolUseResult"] = {"type": "text", "tool": name, "text": text}
            if self.version.startswith("2"):
                line["sourceToolAssistantUUID"] = asked
            self._add(at, asked, line)

    def answer(self, exchange: Exchange) -> None:
        """Add an answer: a line a block."""
        whole = bodies.anthropic_response(exchange)
        assert whole is not None
        assert exchange.first_token is not None
        blocks = whole["content"]
        for number, block in enumerate(blocks):
            final = number == len(blocks) - 1
            usage = whole["usage"] if final else whole["usage"] | {"output_tokens": 1}
            message = whole | {"content": [block], "usage": usage}
            message["stop_reason"] = whole["stop_reason"] if final else None
            at = exchange.end if final else exchange.first_token + 0.5 + number / 4
            line = {"message": message, "requestId": f"req_{exchange.hex('anthropic', 24)}", "type": "assistant"}
            uuid = self._add(at, self.last, line)
            if block["type"] == "tool_use":
                self.line_of_call[block["id"]] = uuid


def _conversation(exchanges: list[Exchange], version: str) -> _Transcript:
    """Return the transcript of a conversation; what it says twice because of a retry it has once."""
    first = exchanges[0]
    transcript = _Transcript(version, session_id(first), first.agent)
    said = 0
    for exchange in exchanges:
        if exchange.answer is None:
            continue
        for message in exchange.messages[said:]:
            if message.role != "assistant":
                transcript.user(exchange.start, message)
        said = len(exchange.messages)
        transcript.answer(exchange)
    return transcript


def _extras(transcript: _Transcript) -> tuple[list[Json], list[Json]]:
    """Return the lines before and after a session that are no messages."""
    leaf = transcript.lines[-1]["uuid"]
    first = transcript.lines[0]
    snapshot = {"messageId": first["uuid"], "trackedFileBackups": {}, "timestamp": first["timestamp"]}
    before: list[Json] = [
        {"type": "summary", "summary": "Desk questions, answered", "leafUuid": named_uuid("an older session")},
        {
            "type": "file-history-snapshot", "messageId": first["uuid"], "snapshot": snapshot,
            "isSnapshotUpdate": False,
        },
    ]  # fmt: skip
    duration = {
        "parentUuid": leaf, "isSidechain": False, "userType": "external", "cwd": "/srv/quarry/yard",
        "sessionId": transcript.session, "version": transcript.version, "gitBranch": "main", "type": "system",
        "subtype": "turn_duration", "durationMs": 2375, "isMeta": False, "timestamp": transcript.lines[-1]["timestamp"],
        "uuid": named_uuid(f"{transcript.session}/duration"),
    }  # fmt: skip
    return before, [duration]


def _write(workload: Workload, version: str, *, apart: bool) -> Files:
    conversations = {key: _conversation(exchanges, version) for key, exchanges in workload.sessions().items()}
    conversations = {key: transcript for key, transcript in conversations.items() if transcript.lines}
    files: list[tuple[str, bytes]] = []
    folder = "-srv-quarry-yard"
    for (session, agent), transcript in conversations.items():
        if agent:
            continue
        helpers = [other for (whose, who), other in conversations.items() if whose == session and who]
        body: list[Any] = list(transcript.lines)
        if apart:
            for helper in helpers:
                name = f"{folder}/{transcript.session}/subagents/agent-{helper.lines[0]['agentId']}.jsonl"
                files.append((name, lines(helper.lines)))
        else:
            body = sorted([*body, *(line for h in helpers for line in h.lines)], key=lambda line: line["timestamp"])
        before, after = _extras(transcript)
        files.append((f"{folder}/{transcript.session}.jsonl", lines([*before, *body, *after])))
    return files


def transcripts(workload: Workload) -> Files:
    """Version 1.0: a helper's lines stand between its parent's, in the same file."""
    return _write(workload, "1.0.119", apart=False)


def transcripts_apart(workload: Workload) -> Files:
    """Version 2.1: a helper has a file of its own; a resumed session repeats the lines of the session it resumes."""
    files = _write(workload, "2.1.96", apart=True)
    name, data = next((name, data) for name, data in files if "subagents" not in name)
    resumed = named_uuid("resumed")
    files.append((f"{name.rpartition('/')[0]}/{resumed}.jsonl", data))
    return files
