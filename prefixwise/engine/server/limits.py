"""What is too much for a server."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """What is too much.

    Attributes:
        body: Bytes of a request.
        prompt: Tokens of a prompt; None for what the model takes.
        waiting: Requests that wait for an engine.
        prompts: Prompts of one request.
    """

    body: int = 8 << 20
    prompt: int | None = None
    waiting: int = 256
    prompts: int = 64
