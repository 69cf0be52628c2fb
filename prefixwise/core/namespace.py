"""Which cache entries a request may see, apart from its tokens and its model."""

from __future__ import annotations

import msgspec


class Namespace(msgspec.Struct, frozen=True):
    """The parts of a request that separate cache entries; None is absent, which differs from empty.

    A rule decides which of the parts count for it (vLLM: salt and adapter; OpenAI from GPT-5.6: cache key).

    Attributes:
        salt: `cache_salt` of vLLM, SGLang and TensorRT-LLM, or an isolation key.
        cache_key: `prompt_cache_key` and its relatives.
        adapter: LoRA adapter by name.
        extra: SGLang's `extra_key`.
    """

    salt: str | None = None
    cache_key: str | None = None
    adapter: str | None = None
    extra: str | None = None

    def canonical(self) -> bytes:
        """Return a length-framed encoding: two namespaces are equal exactly when these bytes are."""
        frames = []
        for part in (self.salt, self.cache_key, self.adapter, self.extra):
            if part is None:
                frames.append(b"-")
            else:
                data = part.encode("utf-8", "surrogatepass")
                frames.append(b"%d:%s" % (len(data), data))
        return b"".join(frames)


SHARED = Namespace()
