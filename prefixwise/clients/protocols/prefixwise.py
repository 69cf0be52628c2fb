"""The bundled server: salts, a flush, cached tokens in every usage, and times by its own clock."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Cold, seconds
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class Prefixwise(OpenAIChat):
    """prefixwise serve's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "prefixwise"
    title: ClassVar[str] = "prefixwise serve"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.SALT, Cold.NONCE, Cold.FLUSH)
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = "prompt_cache_key"
    salt_field: ClassVar[str] = "cache_salt"
    tools_first: ClassVar[bool] = False
    flush: ClassVar[str] = "/reset_prefix_cache"
    metrics: ClassVar[str] = "/metrics"
    tokenize: ClassVar[str] = "/tokenize"

    def extras(self, ask: Ask) -> Body:
        """Return the fields that keep an answer from ending early."""
        return {"ignore_eos": True} if ask.ignore_eos else {}

    def server_time(self, value: Mapping[str, Any]) -> float | None:
        """Return queue and prefill of the last event; of several choices, those of the first."""
        accounts = value.get("prefixwise")
        first = accounts[0] if isinstance(accounts, list) and accounts else None
        return seconds(first, "queue_seconds", "prefill_seconds")


PROTOCOLS.add(Prefixwise.name, Prefixwise())
