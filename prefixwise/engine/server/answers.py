"""The objects that a completion is answered with: whole, or chunk by chunk."""

from __future__ import annotations

import secrets
import time
from typing import Any

import msgspec

from prefixwise.engine.request import Account
from prefixwise.engine.server.bodies import timings_of, usage_of


class Answer:
    """Builds the response of one request of the API.

    Args:
        chat: Whether it is a chat completion.
        model: Name of the model.
    """

    def __init__(self, chat: bool, model: str) -> None:
        self._chat = chat
        self._base = {
            "id": f"{'chatcmpl' if chat else 'cmpl'}-{secrets.token_hex(12)}",
            "object": "",
            "created": int(time.time()),
            "model": model,
        }
        self._opened: set[int] = set()

    def whole(self, texts: list[str], accounts: list[Account], usage: dict[str, Any] | None) -> bytes:
        """Return the response of a request that is not streamed."""
        choices = []
        for index, (text, account) in enumerate(zip(texts, accounts, strict=True)):
            message: dict[str, Any] = (
                {"message": {"role": "assistant", "content": text}} if self._chat else {"text": text}
            )
            choices.append({"index": index, **message, "logprobs": None, "finish_reason": account.finish})
        body = {**self._base, "object": "chat.completion" if self._chat else "text_completion", "choices": choices}
        if usage is not None:
            body["usage"] = usage
        body["prefixwise"] = [timings_of(account) for account in accounts]
        return msgspec.json.encode(body)

    def chunk(self, index: int, text: str, finish: str | None) -> bytes:
        """Return an event with text of the choice `index`, or its end."""
        if self._chat:
            delta = {"content": text} if text or index not in self._opened else {}
            if index not in self._opened:
                delta = {"role": "assistant", **delta}
                self._opened.add(index)
            content: dict[str, Any] = {"delta": delta}
        else:
            content = {"text": text}
        return self._event([{"index": index, **content, "logprobs": None, "finish_reason": finish}])

    def usage(self, accounts: list[Account], usage: dict[str, Any]) -> bytes:
        """Return the event of the usage, which comes last."""
        return self._event([], usage=usage, prefixwise=[timings_of(account) for account in accounts])

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> bytes:
        name = "chat.completion.chunk" if self._chat else "text_completion"
        return b"data: " + msgspec.json.encode({**self._base, "object": name, "choices": choices, **more}) + b"\n\n"


def reported(accounts: list[Account], fault: str) -> dict[str, Any] | None:
    """Return the usage of a response as a fault has it: right, missing, without cached tokens, or a lie."""
    if fault == "missing":
        return None
    lie = sum(account.prompt_tokens - 1 for account in accounts)
    return usage_of(accounts, {"zero": 0, "lie": lie}.get(fault))
