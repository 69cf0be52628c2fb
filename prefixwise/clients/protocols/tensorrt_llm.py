"""TensorRT-LLM's server: salts; the usage fields are not documented."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Ask, Body, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class TensorRtLlm(OpenAIChat):
    """TensorRT-LLM's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "tensorrt-llm"
    title: ClassVar[str] = "TensorRT-LLM"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.SALT, Cold.NONCE)
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = ""
    salt_field: ClassVar[str] = "cache_salt"
    tools_first: ClassVar[bool] = False
    metrics: ClassVar[str] = "/prometheus/metrics"

    def extras(self, ask: Ask) -> Body:
        """Return the fields that keep an answer from ending early."""
        return {"ignore_eos": True} if ask.ignore_eos else {}


PROTOCOLS.add(TensorRtLlm.name, TensorRtLlm())
