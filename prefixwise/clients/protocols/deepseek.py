"""DeepSeek: `user_id` keeps callers apart; hits and misses stand beside the prompt tokens."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class DeepSeek(OpenAIChat):
    """DeepSeek's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "deepseek"
    title: ClassVar[str] = "DeepSeek"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.ISOLATION_KEY, Cold.NONCE)
    key_variable: ClassVar[str] = "DEEPSEEK_API_KEY"
    address: ClassVar[str] = "https://api.deepseek.com"
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = ""
    salt_field: ClassVar[str] = "user_id"


PROTOCOLS.add(DeepSeek.name, DeepSeek())
