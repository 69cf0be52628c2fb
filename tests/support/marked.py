"""Requests to caches that must be asked for, in the shapes of several APIs, and what their providers report."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

RULES = "You answer questions on the ferries of the northern islands. " + "Name quay, time and fare. " * 400
START = 1_780_000_000
MODELS = {
    "anthropic": "claude-sonnet-4-5-20250929",
    "bedrock": "eu.anthropic.claude-opus-4-8-20260301-v1:0",
    "chat": "anthropic/claude-sonnet-4.5",
}
APIS = tuple(MODELS)
_MARKER = {"type": "ephemeral"}


def block(text: str, marker: bool | str = False) -> dict[str, Any]:
    """Return a text block; `marker` is True, or the lifetime that it asks for."""
    made: dict[str, Any] = {"type": "text", "text": text}
    if marker:
        made["cache_control"] = {**_MARKER, **({"ttl": marker} if isinstance(marker, str) else {})}
    return made


def request(
    api: str,
    said: Sequence[str],
    marked: Collection[int] = (),
    *,
    system: str = RULES,
    on_system: bool | str = False,
    **more: Any,
) -> dict[str, Any]:
    """Return a request that says `said`, user first; `marked` are the messages that carry a marker at their end."""
    texts = [(("user", "assistant")[at % 2], text, at in marked) for at, text in enumerate(said)]
    if api == "bedrock":
        point = {"cachePoint": {"type": "default"}}
        messages = [
            {"role": role, "content": [{"text": text}, *([point] if mark else [])]} for role, text, mark in texts
        ]
        body = {"modelId": MODELS[api], "system": [{"text": system}, *([point] if on_system else [])]}
        return {**body, "messages": messages, **more}
    messages = [{"role": role, "content": [block(text, mark)]} for role, text, mark in texts]
    head = [block(system, on_system)]
    if api == "chat":
        return {"model": MODELS[api], "messages": [{"role": "system", "content": head}, *messages], **more}
    return {"model": MODELS[api], "max_tokens": 90, "system": head, "messages": messages, **more}


def usage(api: str, rest: int, written: int, read: int) -> dict[str, Any]:
    """Return the usage object of an API: tokens that were neither read nor written, written, read."""
    if api == "bedrock":
        return {"inputTokens": rest, "cacheWriteInputTokens": written, "cacheReadInputTokens": read, "outputTokens": 9}
    if api == "chat":
        details = {"cached_tokens": read, "cache_write_tokens": written}
        return {"prompt_tokens": rest + written + read, "completion_tokens": 9, "prompt_tokens_details": details}
    counts = {"input_tokens": rest, "cache_creation_input_tokens": written, "cache_read_input_tokens": read}
    return {**counts, "output_tokens": 9}


def record(
    api: str, body: dict[str, Any], counts: tuple[int, int, int] | None, at: float = 0, **around: Any
) -> dict[str, Any]:
    """Return the record of a request at so many seconds; without `counts` nothing is reported."""
    made = {"ts": START + at, "request": body, **around}
    if counts is not None:
        made["response"] = {"usage": usage(api, *counts)}
    return made


def asks(api: str, count: int, counts: Sequence[tuple[int, int, int] | None], **given: Any) -> list[dict[str, Any]]:
    """Return single questions behind one text, 20 seconds apart; the last of `counts` goes on for the rest."""
    found = []
    for number in range(count):
        body = request(api, [f"Does boat number {number} leave on time?"], **given)
        found.append(record(api, body, counts[min(number, len(counts) - 1)], at=20 * number))
    return found


def turns(
    api: str, count: int, counts: Sequence[tuple[int, int, int] | None], gap: float = 20, long: int = 1, **given: Any
) -> list[dict[str, Any]]:
    """Return the turns of a conversation; `marked` may be "newest" for a marker that moves along."""
    marked = given.pop("marked", ())
    found = []
    for number in range(count):
        said = [f"Message {at} of the talk. " * long for at in range(2 * number + 1)]
        places = {len(said) - 1} if marked == "newest" else marked
        body = request(api, said, places, **given)
        found.append(record(api, body, counts[min(number, len(counts) - 1)], at=gap * number))
    return found
