"""Messages as LangChain serialises them: constructors (`lc`), `type` with `data`, or plain `type` and `content`."""

from __future__ import annotations

from typing import Any

from prefixwise.core.request import Part, Turn
from prefixwise.corpus.bodies import ToolsAndMessages, tools_then_messages
from prefixwise.corpus.dialect import DIALECTS, Dialect, name_in, text_part, tool_turn
from prefixwise.corpus.openai_parts import content_parts

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "developer": "developer"}


def score(body: dict[str, Any]) -> int:
    """Say how sure it is that `body` holds serialised messages."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not isinstance(messages[0], dict):
        return 0
    first = messages[0]
    return 9 if "lc" in first or ("role" not in first and first.get("type") in _ROLES) else 0


def turn(kind: str, item: Any) -> Turn:
    """Read one tool or message."""
    if kind != "messages":
        return tool_turn(item)
    if not isinstance(item, dict):
        raise ValueError(f"a message is {type(item).__name__}, not an object")
    where, said = "", item
    for key in ("kwargs", "data"):
        if isinstance(item.get(key), dict):
            where, said = f"/{key}", item[key]
    parts = list(content_parts(said.get("content"), f"{where}/content")) if said.get("content") else []
    if said.get("tool_call_id"):
        parts.append(text_part(f"{where}/tool_call_id", said["tool_call_id"]))
    parts.extend(_calls(said, where))
    role = _role(item, said)
    name = "" if role == "tool" else str(said.get("name") or "")  # a tool's name is for people, and is not sent
    return Turn(role, tuple(parts), name)


def _calls(said: dict[str, Any], where: str) -> list[Part]:
    """Read tool calls: as the provider wrote them, where they are kept, else as LangChain parsed them."""
    kept = said.get("additional_kwargs")
    kept = kept.get("tool_calls") if isinstance(kept, dict) else None
    if isinstance(kept, list) and all(name_in(call, "id") and "function" in call for call in kept):
        at = f"{where}/additional_kwargs/tool_calls"
        return [
            text_part(f"{at}/{index}/{key}", value)
            for index, call in enumerate(kept)
            for key, value in (("id", call["id"]), *call["function"].items())
            if value is not None and key in ("id", "name", "arguments")
        ]
    calls = said.get("tool_calls")
    return [
        text_part(f"{where}/tool_calls/{index}/{key}", call[key])
        for index, call in enumerate(calls if isinstance(calls, list) else ())
        for key in ("id", "name", "args")
        if call.get(key) is not None
    ]


def _role(item: dict[str, Any], said: dict[str, Any]) -> str:
    """Return the role: by `type`, else by the class that is to be constructed."""
    kind = said.get("type", item.get("type"))
    if kind in _ROLES:
        return _ROLES[str(kind)]
    path = item.get("id")
    named = str(path[-1]) if isinstance(path, list) and path else str(said.get("role", ""))
    named = named.removesuffix("Chunk").removesuffix("Message").lower()
    return _ROLES.get(named, named)


def reply(response: Any) -> Turn | None:
    """Read the first generation's message."""
    generations = response.get("generations") if isinstance(response, dict) else None
    while isinstance(generations, list) and generations:
        generations = generations[0]
    message = generations.get("message") if isinstance(generations, dict) else None
    if not isinstance(message, dict):
        return None
    found = turn("messages", message)
    return Turn("assistant", found.parts) if found.parts else None


DIALECTS.add("langchain", Dialect("langchain", "", ToolsAndMessages, score, tools_then_messages, turn, reply))
