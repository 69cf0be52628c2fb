"""llama.cpp's server: no separation of tenants, slots that can be erased one by one."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class LlamaCpp(OpenAIChat):
    """llama.cpp's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "llama-cpp"
    title: ClassVar[str] = "llama.cpp"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.NONCE,)
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = ""
    tools_first: ClassVar[bool] = False
    metrics: ClassVar[str] = "/metrics"

    def extras(self, ask: Ask) -> Body:
        """Return the fields that keep an answer from ending early."""
        return {"ignore_eos": True} if ask.ignore_eos else {}


PROTOCOLS.add(LlamaCpp.name, LlamaCpp())
