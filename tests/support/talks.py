"""One conversation in the body of several APIs, turn by turn, with what its provider reports."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

SYSTEM = "You are the desk of a ferry line. " + "Name the quay, the time and the fare in every answer. " * 450
_WORDS = (
    *("quay", "boat", "lift", "north", "bell", "tide", "rope", "lamp", "stairs", "ticket", "dog", "window", "bridge"),
    *("pier", "fog", "gull", "salt", "ramp", "coach", "timetable"),
)
_QUESTIONS = ("When does it leave?", "And on Sundays?", "From where?", "Is there a lift?", "Thank you!")


def said(turn: int, topic: int = 0) -> list[str]:
    """Return what user and assistant have said by a turn (from 0 on) of the conversation of a topic."""
    words = random.Random(topic)
    texts = []
    for question in _QUESTIONS[: turn + 1]:
        texts += [f"{question} {' '.join(words.choices(_WORDS, k=600))}", " ".join(words.choices(_WORDS, k=600))]
    return texts[:-1]


APIS = ("chat", "responses", "anthropic", "gemini", "bedrock")
MODELS = {
    "chat": "gpt-4.1",
    "responses": "gpt-5.6",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
    "bedrock": "anthropic.claude-sonnet-4-5-20250929-v1:0",
}
_START = 1_770_000_000
_TOOLS = {
    "find_quay": {"type": "object", "properties": {"name": {"type": "string"}, "day": {"type": "string"}}},
    "next_ferry": {"type": "object", "properties": {"quay": {"type": "integer"}}},
    "book_seat": {"type": "object", "properties": {"ferry": {"type": "string"}}},
    "fares": {"type": "object", "properties": {}},
}
NAMES = tuple(_TOOLS)


def tool(api: str, name: str, says: str = "", schema: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return one tool in the words of an API."""
    schema = _TOOLS.get(name, {}) if schema is None else schema
    said = says or f"The tool {name} of the ferry line."
    if api == "chat":
        return {"type": "function", "function": {"name": name, "description": said, "parameters": schema}}
    if api == "responses":
        return {"type": "function", "name": name, "description": said, "parameters": schema}
    if api == "bedrock":
        return {"toolSpec": {"name": name, "description": said, "inputSchema": {"json": schema}}}
    key = "parameters" if api == "gemini" else "input_schema"
    return {"name": name, "description": said, key: schema}


def tools(api: str, *names: str) -> list[dict[str, Any]]:
    """Return tools of an API, all of them without names."""
    return [tool(api, name) for name in names or NAMES]


def body(api: str, turn: int, given: list[dict[str, Any]] | None = None, topic: int = 0, **more: Any) -> dict[str, Any]:
    """Return the request of a turn (from 0 on) of a conversation, with these tools and these further fields."""
    texts = said(turn, topic)
    roles = ("user", "model" if api == "gemini" else "assistant")
    if api in ("gemini", "bedrock"):
        key = "parts" if api == "gemini" else "content"
        messages = [{"role": roles[i % 2], key: [{"text": text}]} for i, text in enumerate(texts)]
    else:
        messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(texts)]
    made: dict[str, Any] = {"modelId" if api == "bedrock" else "model": MODELS[api]}
    given = None if given is None else copy.deepcopy(given)
    if api == "chat":
        made |= {"messages": [{"role": "system", "content": SYSTEM}, *messages]}
    elif api == "responses":
        made |= {"instructions": SYSTEM, "input": messages}
    elif api == "anthropic":
        made |= {"max_tokens": 300, "system": SYSTEM, "messages": messages}
    elif api == "gemini":
        made |= {"systemInstruction": {"parts": [{"text": SYSTEM}]}, "contents": messages}
    else:
        made |= {"system": [{"text": SYSTEM}], "messages": messages}
    if given is not None and api == "gemini":
        given = [{"functionDeclarations": given}]
    if given is not None:
        made |= {"toolConfig": {"tools": given}} if api == "bedrock" else {"tools": given}
    return made | more


def record(api: str, request: dict[str, Any], at: float, cached: int | None = None, **around: Any) -> dict[str, Any]:
    """Return the record of a request at so many seconds; `cached` tokens were read, None reports no usage."""
    made = {"ts": _START + at, "request": request, **around}
    if cached is not None:
        made["response"] = {"usage": usage(api, size(request), cached)}
    return made


def size(request: dict[str, Any]) -> int:
    """Return the tokens that a provider would report of a request, about."""
    return round(len(json.dumps(request)) / 5)


def usage(api: str, prompt: int, cached: int) -> dict[str, Any]:
    """Return what a provider reports, in its own words."""
    if api == "chat":
        return {"prompt_tokens": prompt, "completion_tokens": 9, "prompt_tokens_details": {"cached_tokens": cached}}
    if api == "responses":
        return {"input_tokens": prompt, "output_tokens": 9, "input_tokens_details": {"cached_tokens": cached}}
    if api == "gemini":
        return {"promptTokenCount": prompt, "cachedContentTokenCount": cached, "candidatesTokenCount": 9}
    if api == "bedrock":
        written = prompt - cached - 4
        return {
            "inputTokens": 4,
            "cacheReadInputTokens": cached,
            "cacheWriteInputTokens": written,
            "outputTokens": 9,
        }
    return {
        "input_tokens": 4,
        "cache_read_input_tokens": cached,
        "cache_creation_input_tokens": prompt - cached - 4,
        "output_tokens": 9,
    }


def talk(
    api: str, *requests: dict[str, Any], hits: str = "", gap: float = 40, start: float = 0
) -> list[dict[str, Any]]:
    """Return the records of one conversation.

    Args:
        api: Whose words.
        requests: The bodies.
        hits: A letter a turn: `h` where all of the turn before was read, `s` where the system text was, `-` where
            nothing was, `?` where nothing is reported; the last one counts for the turns behind it. Without it, none
            reports anything.
        gap, start: Seconds between turns, and before the first.
    """
    made = []
    for turn, request in enumerate(requests):
        letter = (hits[turn] if turn < len(hits) else hits[-1]) if hits else "?"
        cached: dict[str, int | None] = {"-": 0, "?": None, "s": round(len(SYSTEM) / 5)}
        read = size(requests[turn - 1]) - 4 if letter == "h" and turn else 0
        made.append(record(api, request, start + gap * turn, cached.get(letter, read)))
    return made
