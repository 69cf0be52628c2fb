"""llama.cpp's server: no separation of tenants, slots that can be erased one by one, times in the last event."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Cold, seconds
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

    def server_time(self, value: Mapping[str, Any]) -> float | None:
        """Return how long the prompt was computed; waiting for a slot is not in it."""
        return seconds(value.get("timings"), "prompt_ms", unit=1e-3)


PROTOCOLS.add(LlamaCpp.name, LlamaCpp())
