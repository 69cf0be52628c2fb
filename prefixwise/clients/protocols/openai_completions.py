"""OpenAI's Completions: one text in, one text out, as engines still serve it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from prefixwise.clients.protocol import (
    PROTOCOLS,
    Ask,
    Body,
    Cold,
    Output,
    Part,
    Protocol,
    decoded,
    error_text,
    pieces,
)
from prefixwise.clients.server_sent_events import Event


class OpenAICompletions(Protocol):
    """`POST /v1/completions`."""

    name: ClassVar[str] = "openai-completions"
    title: ClassVar[str] = "OpenAI Completions"
    api: ClassVar[str] = "completions"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.SALT, Cold.NONCE)

    def path(self, model: str, *, stream: bool) -> str:  # noqa: ARG002
        """Return the path of the endpoint."""
        return "/v1/completions"

    def headers(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"authorization": f"Bearer {key}"} if key else {}

    def body(self, ask: Ask) -> Body:
        """Return the request body."""
        return self.own_body({"prompt": f"{ask.system}{ask.user}", "temperature": 0}, ask)

    def own_body(self, body: Mapping[str, Any], ask: Ask) -> Body:
        """Return a user's own body, with the settings of `ask`."""
        own = {name: value for name, value in body.items() if name != "stream_options"}
        own |= {"model": ask.model, "max_tokens": ask.max_tokens, "stream": ask.stream}
        if ask.stream:
            own["stream_options"] = {"include_usage": True}
        if ask.salt:
            own["cache_salt"] = ask.salt
        if ask.ignore_eos:
            own["ignore_eos"] = True
        return own

    def with_nonce(self, body: Mapping[str, Any], nonce: str) -> Body:
        """Return the body with the nonce in front of the text."""
        return {**body, "prompt": f"{nonce} {body.get('prompt') or ''}"}

    def part(self, event: Event) -> Part:
        """Return what a chunk says."""
        return Part(last=True) if event.data.strip() == "[DONE]" else self._read(event.data.encode())

    def whole(self, answer: bytes) -> Part:
        """Return what a `text_completion` says."""
        return self._read(answer)._replace(last=True)

    def _read(self, raw: bytes) -> Part:
        value = decoded(raw)
        if value.get("error"):
            return Part(error=error_text(value) or "an error without a message", last=True)
        choices = value.get("choices") or ()
        found = pieces(*((Output.TEXT, choice.get("text")) for choice in choices))
        finish = next((choice["finish_reason"] for choice in choices if choice.get("finish_reason")), "")
        usage = raw if isinstance(value.get("usage"), dict) else b""
        return Part(found, usage, finish, id=str(value.get("id") or ""))


PROTOCOLS.add(OpenAICompletions.name, OpenAICompletions())
