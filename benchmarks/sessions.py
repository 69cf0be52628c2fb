"""Applications and the sessions that talk through them: each turn is one request, ready as JSON text.

Message texts are made and escaped once; a request is their concatenation. What a turn shares with earlier
requests is known by construction, in estimated tokens: `usage` and the hashed trace are written from it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from benchmarks.text import Writer, escape
from benchmarks.traffic import Profile, Traffic

PROSE_CHARS = 4.9  # characters a token, measured with o200k_base on this text
JSON_CHARS = 3.9
MESSAGE_TOKENS = 4  # role and delimiters
EPOCH = datetime(2026, 3, 2, 8, tzinfo=UTC).timestamp()
MODELS = ("gpt-4.1-2025-04-14", "gpt-4o-2024-08-06", "gpt-4.1-mini-2025-04-14", "o4-mini-2025-04-16")


def clock(ms: int) -> str:
    """Return the moment `ms` after the log's beginning as ISO 8601 with milliseconds."""
    return f"{datetime.fromtimestamp(EPOCH + ms // 1000, UTC):%Y-%m-%dT%H:%M:%S}.{ms % 1000:03d}Z"


def message_tokens(text: str, chars: float = PROSE_CHARS) -> int:
    """Estimate the tokens of a message with this text."""
    return int(len(text) / chars) + MESSAGE_TOKENS


class Application:
    """One system prompt in two halves, a list of tools, a model."""

    def __init__(self, number: int, profile: Profile, write: Writer) -> None:
        words = write.between(profile.system_words)
        self.name = "-".join(write.words(2)) + f"-{number}"
        self.model = MODELS[number % len(MODELS)]
        head = f"You are the assistant of {self.name}. {write.prose(40)}\n\n{write.manual(words // 2)}\n\n"
        tail = write.manual(words // 2)
        self.head, self.tail = escape(head), escape(tail)
        self.tool_names = [f"{'_'.join(write.words(2))}_{index}" for index in range(write.between(profile.tools))]
        self.tools = [_tool(name, write) for name in self.tool_names]
        self.tools_json = ",".join(self.tools)
        self.tools_tokens = int(len(self.tools_json) / JSON_CHARS)
        self.head_tokens = self.tools_tokens + message_tokens(head)
        self.tokens = self.head_tokens + int(len(tail) / PROSE_CHARS)
        self.warm = False  # whether a session has sent its prompt unbroken


def _tool(name: str, write: Writer) -> str:
    properties = {
        word: {"type": write.rng.choice(("string", "integer", "boolean")), "description": write.prose(8)}
        for word in write.words(3)
    }
    schema = {"type": "object", "properties": properties, "required": list(properties)[:1]}
    function = {"name": name, "description": write.prose(22), "parameters": schema}
    return json.dumps({"type": "function", "function": function}, separators=(",", ":"))


@dataclass(frozen=True)
class Turn:
    """One request: its body's parts as JSON text, and what it holds in estimated tokens."""

    messages: str
    tools: str
    prompt_tokens: int
    shared_tokens: int  # how much of it an earlier prompt began with: this session's last one, else the application's
    completion_tokens: int


class Session:
    """One conversation of a user with an application."""

    def __init__(self, name: str, application: Application, traffic: Traffic, broken: str, write: Writer) -> None:
        self.name = name
        self.application = application
        self.tenant = f"tenant-{write.between((1, 24)):02d}"
        self.left = write.between(traffic.turns)
        self.plain = broken in ("", "history_rewritten")  # sends the application's own system prompt and tools
        self._traffic, self._broken, self._write = traffic, broken, write
        self._user = f"User: {write.prose(12)} Plan {write.identifier(10)}.\n\n" if broken == "user_first" else ""
        self._messages: list[str] = []
        self._sizes: list[int] = []
        self._turns = 0
        self._next = self._ask()

    def turn(self, now: int) -> Turn:
        """Return the next request, sent `now` ms after the log's beginning."""
        for text, size in self._next:
            self._messages.append(text)
            self._sizes.append(size)
        rewritten = self._rewrite() if self._broken == "history_rewritten" and self._turns >= 2 else None
        shared = self._shared(rewritten)
        system = f'{{"role":"system","content":"{self._system(now)}"}}'
        tools = self.application.tools_json
        if self._broken == "tools_shuffled":
            tools = ",".join(self._write.rng.sample(self.application.tools, len(self.application.tools)))
        prompt = self.application.tokens + sum(self._sizes) + len(self._user) // 5
        self.application.warm |= self.plain
        self._turns, self.left = self._turns + 1, self.left - 1
        self._next = self._work() if self._traffic.kind == "agent" else self._answer()
        return Turn(",".join([system, *self._messages]), tools, prompt, shared, self._next[0][1])

    def _shared(self, rewritten: int | None) -> int:
        if self._broken == "tools_shuffled" or not (self._turns or self.application.warm):
            return 0
        if self._broken == "clock_first" or (self._broken == "user_first" and not self._turns):
            return self.application.tools_tokens
        if self._broken == "uuid_middle":
            return self.application.head_tokens
        if not self._turns:
            return self.application.tokens
        known = sum(self._sizes[: -len(self._next) if rewritten is None else rewritten])
        return self.application.tokens + len(self._user) // 5 + known

    def _system(self, now: int) -> str:
        first = escape(self._user)
        if self._broken == "clock_first":
            first = f"Current time: {clock(now)}\\n\\n"
        middle = f"Request id: {self._write.uuid()}\\n\\n" if self._broken == "uuid_middle" else ""
        return f"{first}{self.application.head}{middle}{self.application.tail}"

    def _rewrite(self) -> int:
        """Replace an old answer by a summary written anew, as history compaction does. Returns its index."""
        at = max(1, len(self._messages) // 2) | 1  # odd: an answer, never the question
        if at >= len(self._messages) - 1 or "tool_calls" in self._messages[at]:
            at = 0
        role = "assistant" if at else "user"
        self._messages[at], self._sizes[at] = _message(role, f"(condensed) {self._write.prose(16)}")
        return at

    def _ask(self) -> list[tuple[str, int]]:
        return [_message("user", self._write.prose(self._write.between(self._traffic.question_words)))]

    def _answer(self) -> list[tuple[str, int]]:
        write, traffic = self._write, self._traffic
        answer = write.prose(write.between(traffic.answer_words))
        if write.rng.random() < 0.06:
            answer += f"\n\n```python\n{write.code(max(12, traffic.answer_words[0]))}\n```"
        return [_message("assistant", answer), *self._ask()]

    def _work(self) -> list[tuple[str, int]]:
        """Return an assistant message that calls a tool, and the tool's result."""
        write, traffic = self._write, self._traffic
        call = f"call_{write.identifier()}"
        arguments = json.dumps({"query": " ".join(write.words(5)), "limit": write.between((1, 50))})
        name = write.rng.choice(self.application.tool_names)
        said = write.prose(count) if (count := write.between(traffic.answer_words)) >= 4 else ""
        content = f'"{escape(said)}"' if said else "null"
        text = (
            f'{{"role":"assistant","content":{content},"tool_calls":[{{"id":"{call}","type":"function",'
            f'"function":{{"name":"{name}","arguments":"{escape(arguments)}"}}}}]}}'
        )
        result = write.tool_result(write.between(traffic.result_words))
        reply = f'{{"role":"tool","tool_call_id":"{call}","content":"{escape(result)}"}}'
        asked = message_tokens(said) + message_tokens(arguments + name)
        return [(text, asked), (reply, message_tokens(result, JSON_CHARS))]


def _message(role: str, text: str) -> tuple[str, int]:
    return f'{{"role":"{role}","content":"{escape(text)}"}}', message_tokens(text)
