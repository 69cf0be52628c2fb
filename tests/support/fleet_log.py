"""A log of three tenants and two models over four hours: a clock, shuffled tools, and one that does it right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

_START = 1_772_438_400
_RULES = {
    "harbour": "You answer for a ferry line. Name the quay, the time and the fare in every answer. ",
    "library": "You answer for a city library. Name the branch, the shelf and the opening hours. ",
    "workshop": "You answer for a bicycle workshop. Name the part, its price and how long a repair takes. ",
}
_TOOLS = ("opening_hours", "prices", "weather", "lost_property")
_MODELS = {"harbour": "gpt-4.1", "library": "gpt-4.1", "workshop": "gpt-4.1-mini"}


def fleet(requests: int = 72, *, hostile: str = "") -> list[dict[str, Any]]:
    """Return records in turn of each tenant; `hostile` is put into what each of them says and is called."""
    return [_record(number, hostile) for number in range(requests)]


def write_fleet(path: Path, requests: int = 72, *, hostile: str = "") -> Path:
    """Write them as JSON Lines."""
    lines = (json.dumps(record) for record in fleet(requests, hostile=hostile))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def _record(number: int, hostile: str) -> dict[str, Any]:
    tenant = ("harbour", "harbour", "library", "workshop")[number % 4]
    moment = _START + 200 * number
    system = f"{hostile}{_RULES[tenant] * 40}"
    if tenant == "harbour":
        hour, minute = divmod(8 * 60 + 200 * number // 60, 60)
        system = f"It is 2026-03-02T{hour:02}:{minute:02}:{200 * number % 60:02}Z. {system}"
    turn = number % 4 if tenant == "library" else number % 3
    tools = [_tool(name) for name in (_TOOLS if tenant != "workshop" else _TOOLS[turn:] + _TOOLS[:turn])]
    said = f"{hostile}Question {number} of {tenant}: what is it today, and what does it cost?"
    prompt = 1_150 if tenant == "workshop" else 1_100
    return {
        "ts": moment,
        "tenant": f"{tenant}{hostile}",
        "request": {
            "model": _MODELS[tenant],
            "messages": [{"role": "system", "content": system}, {"role": "user", "content": said}],
            "tools": tools,
        },
        "usage": {
            "prompt_tokens": prompt,
            "prompt_tokens_details": {"cached_tokens": 1_024 if tenant == "library" and number > 4 else 0},
        },
    }


def _tool(name: str) -> dict[str, Any]:
    about = f"Looks up {name.replace('_', ' ')} by place and day, in the language of the asker. " * 3
    return {"type": "function", "function": {"name": name, "description": about, "parameters": {"type": "object"}}}
