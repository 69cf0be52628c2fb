"""Text Generation Inference: no usage field for cached tokens, no salt."""

from __future__ import annotations

from typing import ClassVar

from prefixwise.clients.protocol import PROTOCOLS, Cold
from prefixwise.clients.protocols.openai_chat import OpenAIChat


class Tgi(OpenAIChat):
    """Text Generation Inference's `POST /v1/chat/completions`."""

    name: ClassVar[str] = "tgi"
    title: ClassVar[str] = "Text Generation Inference"
    cold: ClassVar[tuple[Cold, ...]] = (Cold.NONCE,)
    key_variable: ClassVar[str] = ""
    address: ClassVar[str] = ""
    length_field: ClassVar[str] = "max_tokens"
    key_field: ClassVar[str] = ""
    tools_first: ClassVar[bool] = False
    metrics: ClassVar[str] = "/metrics"


PROTOCOLS.add(Tgi.name, Tgi())
