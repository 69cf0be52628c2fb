"""Google's Gemini API: generateContent."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import quote

import msgspec

from prefixwise.clients.protocol import (
    PROTOCOLS,
    Ask,
    Body,
    Output,
    Part,
    Piece,
    Protocol,
    decoded,
    error_text,
    pieces,
)
from prefixwise.clients.server_sent_events import Event


class Gemini(Protocol):
    """`POST /v1beta/models/MODEL:streamGenerateContent`."""

    name: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini generateContent"
    api: ClassVar[str] = "gemini"
    key_variable: ClassVar[str] = "GEMINI_API_KEY"
    address: ClassVar[str] = "https://generativelanguage.googleapis.com"

    def path(self, model: str, *, stream: bool) -> str:
        """Return the path of the endpoint, in which the model stands."""
        base = f"/v1beta/models/{quote(model.removeprefix('models/'), safe='')}"
        return f"{base}:streamGenerateContent?alt=sse" if stream else f"{base}:generateContent"

    def headers(self, key: str) -> dict[str, str]:
        """Return the header that carries the key."""
        return {"x-goog-api-key": key} if key else {}

    def body(self, ask: Ask) -> Body:
        """Return the request body."""
        own: Body = {"contents": [{"role": "user", "parts": [{"text": ask.user}]}]}
        own["generationConfig"] = {"temperature": 0}
        if ask.system:
            own["systemInstruction"] = {"parts": [{"text": ask.system}]}
        return self.own_body(own, ask)

    def own_body(self, body: Mapping[str, Any], ask: Ask) -> Body:
        """Return a user's own body, with the settings of `ask`; model and streaming stand in the path."""
        own = {name: value for name, value in body.items() if name != "model"}
        config = own.get("generationConfig") or own.pop("generation_config", None) or {}
        own["generationConfig"] = {**config, "maxOutputTokens": ask.max_tokens}
        return own

    def with_nonce(self, body: Mapping[str, Any], nonce: str) -> Body:
        """Return the body with the nonce in the system instruction, else in the first content.

        Which of tools and system instruction is rendered first the API does not say.
        """
        for name in ("systemInstruction", "system_instruction"):
            if isinstance(body.get(name), dict):
                return {**body, name: _begun(body[name], nonce)}
        contents = list(body.get("contents") or [{"role": "user", "parts": []}])
        return {**body, "contents": [_begun(contents[0], nonce), *contents[1:]]}

    def part(self, event: Event) -> Part:
        """Return what a piece of the answer says."""
        return self._read(event.data.encode())

    def whole(self, answer: bytes) -> Part:
        """Return what an answer says."""
        return self._read(answer)._replace(last=True)

    def _read(self, raw: bytes) -> Part:
        value = decoded(raw)
        if value.get("error"):
            return Part(error=error_text(value) or "an error without a message", last=True)
        found: list[Piece] = []
        finish = str((value.get("promptFeedback") or {}).get("blockReason") or "")
        for candidate in value.get("candidates") or ():
            finish = str(candidate.get("finishReason") or finish)
            for one in (candidate.get("content") or {}).get("parts") or ():
                kind = Output.REASONING if one.get("thought") else Output.TEXT
                call = one.get("functionCall")
                found += pieces((kind, one.get("text")), (Output.TOOL, call and msgspec.json.encode(call).decode()))
        usage = raw if isinstance(value.get("usageMetadata"), dict) else b""
        return Part(tuple(found), usage, finish, id=str(value.get("responseId") or ""))


def _begun(content: Mapping[str, Any], nonce: str) -> Body:
    parts = content.get("parts")
    listed = [parts] if isinstance(parts, dict) else list(parts or ())
    for at, one in enumerate(listed):
        if isinstance(one, dict) and isinstance(one.get("text"), str):
            listed[at] = {**one, "text": f"{nonce} {one['text']}"}
            return {**content, "parts": listed}
    return {**content, "parts": [{"text": nonce}, *listed]}


PROTOCOLS.add(Gemini.name, Gemini())
