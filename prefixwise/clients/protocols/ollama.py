"""Ollama by its OpenAI-compatible endpoint: it never reports cached tokens."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class Ollama(OpenAIChat):
    """Ollama's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "ollama"
    title: ClassVar[str] = "Ollama"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.NONCE,)
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = ""
    tools_first: ClassVar[bool] = False


PROTOCOLS.add(Ollama.name, Ollama())
