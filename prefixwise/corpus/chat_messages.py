"""Request bodies as the messages that chat templates take: those of Chat Completions.

Engines convert before they render, and so does this module: by vLLM's rules where its server has any. Arguments of tool
calls that are JSON text become objects, missing content is empty, keys without a value are dropped, reasoning stands
under the names that templates read, and Anthropic's blocks become messages with tool calls and tool results.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.request import Part
from prefixwise.corpus.dialect import DIALECTS, MARKER_KEYS, SHAPE_ERRORS

Message = dict[str, Any]
MediaText = Callable[[Part], str]
"""Returns the text that stands for a media part until the prompt is rendered."""

OPENAI, ANTHROPIC, BARE = "openai-chat", "anthropic-messages", "completions"
_REASONING = ("reasoning_content", "thinking", "reasoning")


def check_api(api: str) -> None:
    """Raise UserError for bodies that no chat template can take."""
    if api not in (OPENAI, ANTHROPIC, BARE):
        raise UserError(
            f"{api} bodies cannot be rendered with a chat template",
            "--tokenizer",
            "convert them to Chat Completions, or name another model: --tokenizer MODEL=PATH",
        )


def messages_of(api: str, kind: str, item: Any, media: MediaText) -> list[Message]:
    """Return the messages that one decoded item of a section is; none for a response format.

    Raises:
        ValueError: The item is not what its API says.
    """
    try:
        if kind == "system":
            return [
                {"role": "system", "content": _texts(api, "user", [item] if isinstance(item, dict) else item, media)}
            ]
        if kind != "messages":
            return []
        return list(_anthropic(item, media)) if api == ANTHROPIC else [_openai(item, media)]
    except SHAPE_ERRORS as problem:
        raise ValueError(f"a message cannot be rendered: {problem}") from None


def tool_of(api: str, tool: Any) -> Any:
    """Return a tool definition as Chat Completions has it."""
    if not isinstance(tool, dict):
        return tool
    tool = {key: value for key, value in tool.items() if key not in MARKER_KEYS}
    if api == ANTHROPIC and "input_schema" in tool:
        function = {key: tool[key] for key in ("name", "description") if key in tool}
        return {"type": "function", "function": {**function, "parameters": tool["input_schema"]}}
    if "function" not in tool and "type" not in tool and "name" in tool:  # the older `functions`
        return {"type": "function", "function": tool}
    return tool


def answer_of(api: str, response: Any, media: MediaText) -> list[Message]:
    """Return the logged answer as messages, none where the log holds none that can be read."""
    try:
        if isinstance(response, str):
            return [{"role": "assistant", "content": response}]
        if api == ANTHROPIC:
            return list(_anthropic({"role": "assistant", "content": response["content"]}, media))
        if api == OPENAI:
            return [_openai(response["choices"][0]["message"], media)]
        return [{"role": "", "content": response["choices"][0]["text"]}]
    except (*SHAPE_ERRORS, UserError):
        return []


def flat(message: Message) -> Message:
    """Return `message` with the texts of a list of parts joined by line feeds.

    So vLLM hands them to a template that takes strings only.
    """
    content = message.get("content")
    if not isinstance(content, list):
        return message
    return {**message, "content": "\n".join(part["text"] for part in content)}


def _openai(message: Any, media: MediaText) -> Message:
    if not isinstance(message, dict):
        raise TypeError(f"it is {type(message).__name__}, not an object")
    given = {key: value for key, value in message.items() if value is not None and key not in MARKER_KEYS}
    if isinstance(given.setdefault("content", ""), list):
        given["content"] = _texts(OPENAI, str(given.get("role", "")), given["content"], media)
    calls = given.get("tool_calls")
    if isinstance(calls, list):
        given["tool_calls"] = [_call(call) for call in calls]
    return _with_reasoning(given)


def _with_reasoning(message: Message) -> Message:
    said = next((message[key] for key in _REASONING if message.get(key) is not None), None)
    return message if said is None else {"thinking": said, **message, "reasoning_content": said}


def _call(call: Any) -> Any:
    """Return a tool call whose arguments are an object, where their text is one."""
    function = call.get("function") if isinstance(call, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str):
        return call
    try:
        arguments = msgspec.json.decode(function["arguments"]) if function["arguments"].strip() else {}
    except (msgspec.MsgspecError, RecursionError):
        return call
    return {**call, "function": {**function, "arguments": arguments}}


def _texts(api: str, role: str, content: Any, media: MediaText) -> Any:
    """Return content as text parts; what is no text is its stand-in."""
    if not isinstance(content, list):
        return content
    return [{"type": "text", "text": _text(api, role, part, media)} for part in content]


def _text(api: str, role: str, part: Any, media: MediaText) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return str(part["text"])
    parts = DIALECTS.get(api).turn("messages", {"role": role, "content": [part]}).parts
    return "".join(media(part) if part.media else part.text for part in parts)


def _anthropic(message: Any, media: MediaText) -> Iterator[Message]:
    """Yield tool results as messages of their own, then the message itself with what is left of it."""
    role, content = str(message.get("role", "")), message.get("content")
    if not isinstance(content, list):
        yield {"role": role, "content": content}
        return
    texts, calls, thoughts = [], [], []
    for block in content:
        kind = block.get("type") if isinstance(block, dict) else None
        if kind == "tool_result":
            inner = _texts(ANTHROPIC, "user", block.get("content"), media)
            yield {"role": "tool", "tool_call_id": block.get("tool_use_id", ""), "content": inner or ""}
        elif kind == "tool_use":
            function = {"name": block.get("name", ""), "arguments": block.get("input", {})}
            calls.append({"id": block.get("id", ""), "type": "function", "function": function})
        elif kind == "thinking":
            thoughts.append(str(block.get("thinking", "")))
        elif kind != "redacted_thinking":
            texts.append({"type": "text", "text": _text(ANTHROPIC, role, block, media)})
    if not (texts or calls or thoughts):
        return
    plain = texts[0]["text"] if len(texts) == 1 else texts or ""
    found: Message = {"role": role, "content": plain}
    if calls:
        found["tool_calls"] = calls
    if thoughts:
        found["reasoning_content"] = "\n".join(thoughts)
    yield _with_reasoning(found)
