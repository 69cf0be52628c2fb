"""OpenAI's caches: fixed steps up to GPT-5.5, breakpoints from GPT-5.6 on."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

from benchmarks.breakers.bodies import Json, compact
from benchmarks.breakers.oracles.tokens import BYTES, count, framed, ids, opening
from benchmarks.breakers.scene import Exchange

MINIMUM, STEP = 1024, 128
IDLE_S = 420.0  # the guides say 5 to 10 minutes
LIFETIME_S = 1800.0  # from GPT-5.6 on
FIRST_TOKEN_S = 0.8  # when what a request computed can be read by others
LOOKED_UP = 20  # earlier message endings
WRITTEN = 4


class Layout(NamedTuple):
    """A prompt as the model sees it, and where a breakpoint may stand in it, in tokens."""

    prompt: bytes
    explicit: list[int]
    user_ends: list[int]
    developer_end: int | None


def lay_out(body: Json) -> Layout:
    """Put a prompt together: tools, output format, then instructions and messages."""
    parts: list[bytes] = []
    if body.get("tools"):
        parts.append(framed("tools", compact(body["tools"])))
    form = body.get("response_format") or body.get("text", {}).get("format")
    if form and form["type"] != "text":
        parts.append(framed("format", compact(form)))
    if body.get("instructions"):
        parts.append(framed("developer", body["instructions"]))
    at = sum(map(count, parts))
    explicit: list[int] = []
    user_ends: list[int] = []
    developer_end: int | None = None
    for item in body.get("messages") or body["input"]:
        role = item.get("role") or ("tool" if "output" in item else "assistant")
        if any("prompt_cache_breakpoint" in part for part in _parts(item)):
            explicit.append(at + count(framed(role, _text(item))))
        parts.append(framed(role, _text(item)))
        at += count(parts[-1])
        if role in ("user", "tool"):
            user_ends.append(at)
        elif role in ("system", "developer") and not user_ends:
            developer_end = at
    return Layout(b"".join(parts) + opening("assistant"), explicit, user_ends, developer_end)


def _parts(item: Json) -> list[Json]:
    content = item.get("content")
    return content if isinstance(content, list) else []


def _text(item: Json) -> str:
    content = item.get("content") or ""
    pieces = [content] if isinstance(content, str) else [part["text"] for part in content]
    pieces += [str(item[key]) for key in ("call_id", "tool_call_id", "name", "arguments", "output") if item.get(key)]
    for call in item.get("tool_calls", ()):
        pieces += [call["id"], call["function"]["name"], call["function"]["arguments"]]
    return "\n".join(pieces)


def scope(exchange: Exchange) -> Hashable:
    """Return what must be equal for two requests to reach the same entries."""
    body = exchange.body
    settings = (compact(body.get("reasoning")), body.get("reasoning_effort"), body.get("service_tier"))
    return (body["model"], body.get("prompt_cache_key"), exchange.extra.get("deployment"), settings)


class IntervalCache:
    """Up to GPT-5.5: every 128 tokens from 1,024 on, as long as somebody reads them."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[float, float]] = {}
        """By scope and prefix: when it became readable, when it was used last."""

    def serve(self, exchange: Exchange) -> Json:
        """Return the usage of the next request in order of time."""
        prompt = lay_out(exchange.body).prompt
        where, now = scope(exchange), exchange.at
        cached = 0
        for length in range(MINIMUM, count(prompt) + 1, STEP):
            key = (where, prompt[: length * BYTES])
            readable, used = self._entries.get(key, (0.0, float("-inf")))
            is_alive = now - used <= IDLE_S
            if is_alive and readable <= now:
                cached = length
            self._entries[key] = (readable if is_alive else now + FIRST_TOKEN_S, now)
        return usage(exchange, count(prompt), cached)


class BreakpointCache:
    """From GPT-5.6 on: written at explicit markers and at the newest message, looked up at known places only."""

    def __init__(self) -> None:
        self._entries: dict[Hashable, tuple[float, float]] = {}

    def serve(self, exchange: Exchange) -> Json:
        """Return the usage of the next request in order of time."""
        layout = lay_out(exchange.body)
        where, now, prompt = scope(exchange), exchange.at, layout.prompt
        written = sorted({*layout.explicit[-(WRITTEN - 1) :], *layout.user_ends[-1:]})
        places = {*layout.explicit, *layout.user_ends[-LOOKED_UP - 1 :]}
        if layout.developer_end is not None:
            places.add(layout.developer_end)
        cached = 0
        for length in sorted(place for place in places if place >= MINIMUM):
            key = (where, prompt[: length * BYTES])
            readable, used = self._entries.get(key, (0.0, float("-inf")))
            if now - used <= LIFETIME_S and readable <= now:
                cached = length
                self._entries[key] = (readable, now)
        for length in written:
            if length >= MINIMUM:
                key = (where, prompt[: length * BYTES])
                self._entries.setdefault(key, (now + FIRST_TOKEN_S, now))
        new = max(0, max((length for length in written if length >= MINIMUM), default=0) - cached)
        return usage(exchange, count(prompt), cached, new)


def usage(exchange: Exchange, prompt: int, cached: int, written: int | None = None) -> Json:
    """Return a usage object as Chat Completions or Responses writes it."""
    output = count(ids(exchange.answer.text)) + 12 * len(exchange.answer.calls) + 1
    details: Json = {"cached_tokens": cached}
    if written is not None:
        details["cache_write_tokens"] = written
    if "input" in exchange.body:
        found = {"input_tokens": prompt, "input_tokens_details": details, "output_tokens": output}
    else:
        found = {"prompt_tokens": prompt, "completion_tokens": output, "prompt_tokens_details": details}
    return {**found, "total_tokens": prompt + output}
