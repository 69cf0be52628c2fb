"""OpenRouter: a router in front of many hosts; a session id keeps a conversation on one of them."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class OpenRouter(OpenAIChat):
    """OpenRouter's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "openrouter"
    title: ClassVar[str] = "OpenRouter"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.NONCE,)
    key_variable: ClassVar[str] = "OPENROUTER_API_KEY"
    address: ClassVar[str] = "https://openrouter.ai/api"
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = "session_id"

    def extras(self, ask: Ask) -> Body:  # noqa: ARG002
        """Ask for the usage with what it says of the cache."""
        return {"usage": {"include": True}}


PROTOCOLS.add(OpenRouter.name, OpenRouter())
