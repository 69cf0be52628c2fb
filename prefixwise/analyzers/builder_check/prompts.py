"""What a builder returned, read as a prompt, and the part of it that has to be stable."""

from __future__ import annotations

import json
from typing import Any, Literal

import msgspec

from prefixwise.core.request import Request, Section
from prefixwise.corpus.items import turn_of
from prefixwise.corpus.reader import ReadOptions
from prefixwise.corpus.readers.body_log import BodyLog
from prefixwise.corpus.records import RawRecord

Until = Literal["system", "tools", "last-user"]

_INSTRUCTIONS = ("system", "developer")
_BEFORE_MESSAGES = ("tools", "format", "system")


def prompt_of(value: str) -> Request:
    """Read a result (JSON): a text, messages, or a request body. Raises ValueError where it is no prompt."""
    body = _body(json.loads(value))
    data = json.dumps(body).encode()
    found = next(iter(BodyLog("result", ReadOptions()).records([RawRecord(0, 1, data)])))
    if not isinstance(found, Request):
        raise ValueError(found.reason)
    return found


def _body(value: Any) -> dict[str, Any]:
    """Return the request body that `value` is, or stands for."""
    if isinstance(value, str):
        return {"prompt": value}
    if isinstance(value, dict):
        if "role" in value and "content" in value:
            return {"messages": [value]}
        if ("system" in value or "tools" in value) and not value.keys() & {"messages", "contents", "input", "prompt"}:
            return {**value, "messages": []}
        return value
    if isinstance(value, list) and value:
        if len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], list):
            return {"system": value[0], "messages": value[1]}
        if all(isinstance(item, str) for item in value):
            return {"messages": [{"role": "system", "content": [{"type": "text", "text": item} for item in value]}]}
        if all(isinstance(item, dict) for item in value):
            blocks = all("text" in item and "role" not in item and item.get("type") == "text" for item in value)
            return {"messages": [{"role": "system", "content": value}] if blocks else value}
        raise ValueError("the result is a list of neither texts nor messages")
    kind = {list: "an empty list", type(None): "None"}.get(type(value), f"{type(value).__name__}")
    raise ValueError(f"the result is {kind}: no text, no messages, no request body")


def head_of(request: Request, until: Until) -> tuple[Request, bool]:
    """Return the prompt up to where it has to be stable, and whether that is all of it, since nothing stands there.

    `tools` is the tools and what the provider puts before them, `system` also the instructions that open the
    conversation, `last-user` everything before the last message of the user. A bare text is one piece.
    """
    sections: list[Section] = []
    for section in request.sections:
        if section.kind in _BEFORE_MESSAGES:
            sections.append(section)
        elif section.kind == "messages" and section.listed and until != "tools":
            kept = _messages(request.api, section, until)
            if kept:
                sections.append(msgspec.structs.replace(section, items=kept, whole=msgspec.UNSET))
    if until == "tools":
        last = max((i for i, section in enumerate(sections) if section.kind == "tools"), default=-1)
        sections = sections[: last + 1]
    if not sections:
        return msgspec.structs.replace(request, opens_reply=False), True
    return msgspec.structs.replace(request, sections=tuple(sections), opens_reply=False), False


def _messages(api: str, section: Section, until: Until) -> list[msgspec.Raw]:
    """Return the messages that belong to the head."""
    items = [msgspec.Raw(raw) for raw in section.raw_items()]
    roles = [turn_of(api, section.kind, raw).role for raw in items]
    if until == "last-user":
        users = [index for index, role in enumerate(roles) if role == "user"]
        return items[: users[-1] if users else len(items)]
    first = next((index for index, role in enumerate(roles) if role not in _INSTRUCTIONS), len(items))
    return items[:first]
