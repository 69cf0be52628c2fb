"""Codex CLI: rollouts, a file a thread under `~/.codex/sessions/<year>/<month>/<day>/`.

The shape is `RolloutLine` with `SessionMeta`, `TurnContextItem`, `ResponseItem` and `EventMsg` of the Rust sources
(openai/codex, codex-rs/protocol, 0.15x); its items are those of the Responses API, checked against openai 3.57. What
readers must know:

- what was said stands twice: as `response_item` and, for the screen, as `event_msg`;
- a response ends with a `token_count` event; `last_token_usage` is that response's, `total_token_usage` the thread's
  sum; the first one of a thread has `info: null`, and one is repeated when only the rate limits changed;
- a helper is a thread of its own, whose `source` names its parent.

A rollout holds the instructions but no tools, no tenant, no time to the first token, and a request that got no answer
leaves nothing.
"""

from __future__ import annotations

from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Usage, Workload, named_uuid
from formats.writers.plain import Files, lines


def thread_id(exchange: Exchange) -> str:
    """Return the thread of a request."""
    return exchange.session_uuid()


def _counts(usage: Usage) -> Json:
    return {
        "input_tokens": usage.prompt,
        "cached_input_tokens": usage.cached,
        "cache_write_input_tokens": usage.written,
        "output_tokens": usage.output,
        "reasoning_output_tokens": 0,
        "total_tokens": usage.prompt + usage.output,
    }


def _add(total: Usage, usage: Usage) -> Usage:
    return Usage(
        total.prompt + usage.prompt, total.cached + usage.cached, total.written + usage.written,
        total.output + usage.output,
    )  # fmt: skip


class _Rollout:
    """The lines of one thread."""

    def __init__(self, first: Exchange) -> None:
        self.lines: list[Json] = []
        self.total = Usage(0, 0, 0, 0)
        source: Any = "cli"
        if first.agent:
            spawn = {"parent_thread_id": named_uuid(first.session), "depth": 1, "agent_role": first.agent}
            source = {"subagent": {"thread_spawn": spawn}}
        self.add(first.start - 0.5, "session_meta", {
            "id": thread_id(first),
            "timestamp": bodies.iso(first.start - 0.5),
            "cwd": "/srv/quarry/yard",
            "originator": "codex_cli_rs",
            "cli_version": "0.156.1",
            "source": source,
            "model_provider": "openai",
            "base_instructions": {"text": first.system},
            "git": {"commit_hash": "0f3c5a9be1d24786", "branch": "main", "repository_url": None},
        })  # fmt: skip
        self.event(first.start - 0.25, {"type": "token_count", "info": None, "rate_limits": None})

    def add(self, at: float, kind: str, payload: Json) -> None:
        """Add a line."""
        self.lines.append({"timestamp": bodies.iso(at), "ordinal": len(self.lines), "type": kind, "payload": payload})

    def event(self, at: float, payload: Json) -> None:
        """Add a line for the screen."""
        self.add(at, "event_msg", payload)

    def exchange(self, exchange: Exchange, said: int) -> None:
        """Add what is new in a request, and its answer."""
        assert exchange.answer is not None
        assert exchange.usage is not None
        for message in exchange.messages[said:]:
            if message.role == "assistant":
                continue
            if message.role == "user":
                self._turn(exchange)
            for item in bodies.response_items(message):
                self.add(exchange.start, "response_item", item)
            if message.role == "user":
                shown = {"type": "user_message", "message": message.text, "images": [], "local_images": []}
                self.event(exchange.start, shown | {"text_elements": []})
        for item in bodies.response_items(exchange.answer):
            if item["type"] == "message":
                self.event(exchange.end, {"type": "agent_message", "message": exchange.answer.text})
            self.add(exchange.end, "response_item", item)
        self.total = _add(self.total, exchange.usage)
        info = {
            "total_token_usage": _counts(self.total),
            "last_token_usage": _counts(exchange.usage),
            "model_context_window": 258_400,
        }
        limits = {"primary": {"used_percent": 3.0, "window_minutes": 300, "resets_at": 1_773_060_000}}
        self.event(exchange.end, {"type": "token_count", "info": info, "rate_limits": limits | {"secondary": None}})
        if exchange.turn % 2:
            limits = {"primary": limits["primary"] | {"used_percent": 4.0}}
            self.event(exchange.end, {"type": "token_count", "info": info, "rate_limits": limits | {"secondary": None}})

    def _turn(self, exchange: Exchange) -> None:
        turn = exchange.uuid("turn")
        started = {"type": "task_started", "turn_id": turn, "model_context_window": 258_400}
        self.event(exchange.start - 0.125, started)
        self.add(exchange.start - 0.125, "turn_context", {
            "turn_id": turn,
            "cwd": "/srv/quarry/yard",
            "current_date": "2026-03-09",
            "approval_policy": "on-request",
            "sandbox_policy": {"type": "workspace-write", "network_access": False},
            "model": exchange.model,
            "effort": None,
            "summary": "auto",
        })  # fmt: skip


def rollouts(workload: Workload) -> Files:
    """A file a thread."""
    files = []
    for exchanges in workload.sessions().values():
        answered = [exchange for exchange in exchanges if exchange.answer]
        if not answered:
            continue
        rollout = _Rollout(answered[0])
        said = 0
        for exchange in answered:
            rollout.exchange(exchange, said)
            said = len(exchange.messages)
        stamp = bodies.iso(answered[0].start, digits=0, zone="").replace(":", "-")
        name = f"sessions/2026/03/09/rollout-{stamp}-{thread_id(answered[0])}.jsonl"
        files.append((name, lines(rollout.lines)))
    return files
