"""Conversations with the desk of a ferry line, as records of a log."""

from __future__ import annotations

from typing import Any

RULES = "You are the desk of a ferry line. " + "Name the quay, the time and the fare in every answer. " * 160
SAID = ("When does the last ferry leave?", "At 21:30 from quay 4.", "And on Sundays?", "At 20:00.", "Thank you!")


def body(system: str, *said: str, **more: Any) -> dict[str, Any]:
    roles = ("user", "assistant")
    messages = [{"role": roles[i % 2], "content": text} for i, text in enumerate(said)]
    return {"model": "gpt-4o", "messages": [{"role": "system", "content": system}, *messages], **more}


def usage(prompt: int, cached: int | None) -> dict[str, Any]:
    return {"prompt_tokens": prompt, **({} if cached is None else {"prompt_tokens_details": {"cached_tokens": cached}})}


def talk(system: Any, cached: tuple[int | None, ...] = (), prompt: int = 1_960, **more: Any) -> list[dict[str, Any]]:
    """Return a conversation of three requests; `system` is a text, or says what it is in turn N."""
    records = []
    for turn in range(3):
        text = system(turn) if callable(system) else system
        record: dict[str, Any] = {"request": body(text, *SAID[: 2 * turn + 1], **more), "ts": 1_767_225_600 + 20 * turn}
        if cached:
            record["usage"] = usage(prompt + 12 * turn, cached[turn])
        records.append(record)
    return records


def clock(turn: int) -> str:
    return f"{RULES}It is 09:14:{10 + turn}. {RULES}"
