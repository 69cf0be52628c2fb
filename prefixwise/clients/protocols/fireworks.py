"""Fireworks: a routing key, an isolation key, and cached tokens in usage and header fields."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class Fireworks(OpenAIChat):
    """Fireworks's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "fireworks"
    title: ClassVar[str] = "Fireworks"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.ISOLATION_KEY, Cold.NONCE)
    key_variable: ClassVar[str] = "FIREWORKS_API_KEY"
    address: ClassVar[str] = "https://api.fireworks.ai/inference"
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = "prompt_cache_key"
    salt_field: ClassVar[str] = "prompt_cache_isolation_key"


PROTOCOLS.add(Fireworks.name, Fireworks())
