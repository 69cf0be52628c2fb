"""The user's own request as what cold and warm prompts begin with: its tools, system prompt and history.

Only its newest message is replaced. What makes a prompt new is a salt, or stands where the model sees it first: in the
first tool's description or the first message, wherever the protocol puts a nonce.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from prefixwise.bench.scout import LEAD, SALTED
from prefixwise.bench.words import NONCE_TOKENS
from prefixwise.clients.protocol import Ask, Body, Cold, Protocol
from prefixwise.core.errors import UserError

_LISTS = ("messages", "contents", "input")
_NONCE_LETTERS = 2 * NONCE_TOKENS - 1


class OwnRequest:
    """Makes bodies out of one request.

    Args:
        body: The request, without settings.
        protocol: How the endpoint is spoken to.
        cold: How prompts are made cold.

    Raises:
        UserError: There is no message to replace.
    """

    def __init__(self, body: Body, protocol: Protocol, cold: Cold) -> None:
        self._protocol, self._salted = protocol, cold in SALTED
        self._base = body
        self.body(Ask(model="m", system=" ".join("a" * NONCE_TOKENS), user="Go on."))  # whether it can be done at all

    def body(self, ask: Ask) -> Body:
        """Return the request in place of what `ask` would be: new where it is new, with its words in the newest
        message.
        """  # noqa: D205 - one sentence
        own, words = ("", ask.system[len(LEAD) :]) if self._salted else _split(ask.system)
        body = self._with_newest(ask, f"{words} {ask.user}".strip())
        if own:
            body = self._protocol.with_nonce(body, own)
        return self._protocol.own_body(body, ask)

    def _with_newest(self, ask: Ask, text: str) -> Body:
        """Return the request with another newest message."""
        base = self._base
        fresh = self._protocol.body(Ask(model=ask.model, user=text))
        if isinstance(base.get("prompt"), str):
            return {**base, "prompt": f"{base['prompt']}\n{text}"}
        name = next((name for name in _LISTS if name in base), "")
        given = base.get(name)
        if name and isinstance(given, str):
            return {**base, name: text}
        if name and isinstance(given, list):
            newest = fresh[name][-1] if isinstance(fresh[name], list) else {"role": "user", "content": text}
            return {**base, name: [*_before_newest(given), newest]}
        raise UserError("the request has no message to replace", help="send a chat, or a prompt as text")


def _split(system: str) -> tuple[str, str]:
    """Return nonce and words of a system prompt that begins with one."""
    return system[:_NONCE_LETTERS], system[_NONCE_LETTERS:]


def _before_newest(messages: Sequence[Any]) -> Sequence[Any]:
    """Return the messages before the user's newest one; results of tools belong to calls before them."""
    for place in range(len(messages) - 1, -1, -1):
        message = messages[place]
        if isinstance(message, dict) and message.get("role", "user") == "user" and not _is_result(message):
            return messages[:place]
    return messages


def _is_result(message: dict[str, Any]) -> bool:
    content = message.get("content", message.get("parts"))
    names = ("tool_result", "toolResult", "functionResponse")
    return isinstance(content, list) and any(
        isinstance(one, dict) and (one.get("type") in names or any(name in one for name in names)) for one in content
    )
