"""SGLang: salts, a flush while idle, cached tokens in usage where the server is started with a cache report."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class Sglang(OpenAIChat):
    """SGLang's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "sglang"
    title: ClassVar[str] = "SGLang"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.SALT, Cold.NONCE, Cold.FLUSH)
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = ""
    salt_field: ClassVar[str] = "cache_salt"
    tools_first: ClassVar[bool] = False
    flush: ClassVar[str] = "/flush_cache?timeout=10"
    metrics: ClassVar[str] = "/metrics"

    def extras(self, ask: Ask) -> Body:
        """Return the fields that keep an answer from ending early."""
        return {"ignore_eos": True} if ask.ignore_eos else {}


PROTOCOLS.add(Sglang.name, Sglang())
