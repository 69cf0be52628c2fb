"""A logged request as a body that an endpoint takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Protocol
from prefixwise.clients.protocols.openai_chat import OpenAIChat
from prefixwise.core.errors import UserError
from prefixwise.core.request import Part, Request
from prefixwise.corpus.chat_messages import ANTHROPIC, BARE, OPENAI, messages_of, tool_of

_IDS = ("/prompt_token_ids", "/token_ids", "/input_ids", "/prompt")


class UnsendableError(ValueError):
    """A request that cannot be sent to an endpoint; the message says why."""


def protocol_for(protocol: Protocol, api: str) -> Protocol:
    """Return how bodies of an API go to an endpoint of a protocol.

    Engines serve bare prompts beside chats: those go to the other path of the same server.

    Raises:
        UnsendableError: They do not go there at all.
    """
    if api == protocol.api or (api == ANTHROPIC and protocol.api == OPENAI):
        return protocol
    if api == BARE and isinstance(protocol, OpenAIChat) and protocol.salt_field == "cache_salt":
        return PROTOCOLS.get("openai-completions")
    raise UnsendableError(f"{api} bodies cannot be sent to {protocol.title}")


def body_of(request: Request, protocol: Protocol) -> Body:
    """Return the body of a logged request in an endpoint's own API, without what `own_body` sets.

    Bodies of the endpoint's own API stay as they are, value for value; Anthropic's become chat messages for engines
    that speak OpenAI's API, by the rules by which vLLM's server does it.

    Args:
        request: The request.
        protocol: As `protocol_for` returns it.

    Raises:
        UnsendableError: It cannot be sent there.
    """
    try:
        body = _converted(request) if request.api == ANTHROPIC != protocol.api else _as_logged(request)
    except (ValueError, UserError) as problem:
        raise UnsendableError(str(problem)) from None
    space = request.namespace
    body |= {name: value for name, value in (("lora_path", space.adapter), ("extra_key", space.extra)) if value}
    if protocol.api == BARE:
        prompt = next((body[key[1:]] for key in _IDS if key[1:] in body), None)
        return {"prompt": prompt, **{key: value for key, value in body.items() if f"/{key}" not in _IDS}}
    return body


def _as_logged(request: Request) -> Body:
    body: Body = {name: msgspec.json.decode(value) for name, value in request.params}
    for section in request.sections:
        values = [msgspec.json.decode(raw) for raw in section.raw_items()]
        _put(body, section.pointer, values if section.listed else values[0])
    return body


def _put(body: Body, pointer: str, value: Any) -> None:
    """Put a value where a pointer leads, through objects that are made on the way."""
    *way, last = (key.replace("~1", "/").replace("~0", "~") for key in pointer[1:].split("/"))
    for key in way:
        body = body.setdefault(key, {})
    body[last] = value


def _converted(request: Request) -> Body:
    messages: list[dict[str, Any]] = []
    tools: list[Any] = []
    for section in request.sections:
        for raw in section.raw_items():
            item = msgspec.json.decode(raw)
            if section.kind == "tools":
                tools.append(tool_of(request.api, item))
            else:
                messages += messages_of(request.api, section.kind, item, _no_media)
    body: Body = {"messages": [_with_texts(message) for message in messages]}
    return {**body, "tools": tools} if tools else body


def _with_texts(message: Mapping[str, Any]) -> dict[str, Any]:
    """Return a message whose calls have their arguments as text, as the API takes them."""
    found = {key: value for key, value in message.items() if key != "thinking"}
    if "tool_calls" in found:
        found["tool_calls"] = [
            {**call, "function": {**call["function"], "arguments": _text(call["function"].get("arguments"))}}
            for call in found["tool_calls"]
        ]
    return found


def _text(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()


def _no_media(part: Part) -> str:  # noqa: ARG001 - as all that stand in for media
    raise UnsendableError("pictures and files are sent to an endpoint of their own API only")


def dressed(body: Body, protocol: Protocol, ask: Ask, nonce: str) -> Body:
    """Return a body with the settings of `ask`, and `nonce` in front of its text where there is one.

    Raises:
        UnsendableError: There is no text to put a nonce in front of.
    """
    if nonce:
        if isinstance(body.get("prompt"), list):
            raise UnsendableError("token ids have no text to put a nonce in front of")
        try:
            body = protocol.with_nonce(body, nonce)
        except UserError as problem:
            raise UnsendableError(problem.what) from None
    return protocol.own_body(body, ask)
