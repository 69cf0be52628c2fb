"""vLLM: salts; a flush in development mode; token details in usage only where the server is told to give them."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class Vllm(OpenAIChat):
    """vLLM's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "vllm"
    title: ClassVar[str] = "vLLM"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.SALT, Cold.NONCE, Cold.FLUSH)
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = ""
    salt_field: ClassVar[str] = "cache_salt"
    tools_first: ClassVar[bool] = False
    flush: ClassVar[str] = "/reset_prefix_cache?reset_external=true"
    metrics: ClassVar[str] = "/metrics"
    tokenize: ClassVar[str] = "/tokenize"

    def extras(self, ask: Ask) -> Body:
        """Return the fields that keep an answer from ending early."""
        return {"ignore_eos": True, "min_tokens": ask.max_tokens} if ask.ignore_eos else {}


PROTOCOLS.add(Vllm.name, Vllm())
