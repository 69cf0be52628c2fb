"""Which cache entries a request may see, apart from its tokens and its model."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec


class Namespace(msgspec.Struct, frozen=True):
    """The parts of a request that separate cache entries; None is absent, which differs from empty.

    A rule decides which of the parts count for it (vLLM: salt and adapter; OpenAI from GPT-5.6: cache key).

    Attributes:
        salt: `cache_salt` of vLLM, SGLang and TensorRT-LLM, or an isolation key.
        cache_key: `prompt_cache_key` and its relatives.
        adapter: LoRA adapter by name.
        extra: SGLang's `extra_key`.
        cached_content: Name of a cache object that the request refers to (Gemini).
    """

    salt: str | None = None
    cache_key: str | None = None
    adapter: str | None = None
    extra: str | None = None
    cached_content: str | None = None

    def id(self, parts: Iterable[str]) -> bytes:
        """Return a length-framed encoding of those parts that count under a rule.

        Two namespaces are one exactly when these bytes are equal; absent, empty and "none" differ.
        """
        frames = []
        for part in parts:
            value: str | None = getattr(self, part)
            data = None if value is None else value.encode("utf-8", "surrogatepass")
            frames.append(b"-" if data is None else b"%d:%s" % (len(data), data))
        return b"".join(frames)


SHARED = Namespace()
