"""What a prompt file gives a cache to keep, before and after a fix: counted on prompts that are rendered from it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec

from prefixwise.analyzers.static.names import Use, judge, use
from prefixwise.analyzers.static.static_prefix import static_prefix
from prefixwise.analyzers.static.templates.parts import Placeholder, Template, Text, Value
from prefixwise.analyzers.static.templates.tokens import encoded
from prefixwise.analyzers.static.volatile import Frequency
from prefixwise.corpus.tokenizer import BYTES_PER_ID

_REQUESTS = 10
_BLOCK = 16
"""Tokens that are kept as a whole, as vLLM does: fewer are no gain and no loss."""
_SPREAD = 7919
"""Prime, so that the values of two requests part early."""
_RARE = frozenset({Frequency.DAY, Frequency.PROCESS, Frequency.DEPLOY})


class PromptReplay(msgspec.Struct, frozen=True):
    """One prompt under a cache with blocks of 16 tokens and without limits.

    Attributes:
        stable_prefix: Tokens in front of the first value that changes from request to request.
        prompt_tokens, cached_tokens: Of some requests with made-up values, one after the other.
    """

    stable_prefix: int
    prompt_tokens: int
    cached_tokens: int

    @property
    def computed_tokens(self) -> int:
        """Prompt tokens that are not served: a prompt that only gets shorter costs no more."""
        return self.prompt_tokens - self.cached_tokens

    @property
    def hit_rate(self) -> float:
        """Cached over prompt tokens."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0


def replayed(template: Template) -> PromptReplay:
    """Return what caches keep of a prompt.

    What changes on every call or with who asks has another value in each request; what changes once a day or with a
    deployment changes once; settings stay. A loop is gone through once, of alternatives each is sent.
    """
    requests = [encoded("".join(_rendered(template, number))) for number in range(_REQUESTS)]
    shared = [_shared(one, other) for one, other in itertools.pairwise(requests)]
    stable = sum(segment.tokens for segment in static_prefix(template))
    return PromptReplay(
        stable, sum(len(ids) for ids in requests) // BYTES_PER_ID, sum(count // _BLOCK * _BLOCK for count in shared)
    )


def _rendered(template: Template, number: int) -> Iterator[str]:
    for message in template.messages:
        yield f"<{message.role or 'system'}>\n"
        for part in message.parts:
            if isinstance(part, Text):
                yield part.text.replace("\r\n", "\n")
            else:
                yield _filled(part, number)
        yield "\n"


def _filled(part: Placeholder, number: int) -> str:
    return " ".join(_value(value, number) for value in part.values)


def _value(value: Value, number: int) -> str:
    walked = value.loop.names[0] if value.loop is not None and value.loop.names else ""
    judged = judge(value.name, value.filters) or (judge(walked) if walked else None)
    if judged is None and use(walked or value.name) is Use.SETTLED:
        return value.name
    if judged is not None and judged.frequency in _RARE:
        number = 2 * number // _REQUESTS
    return f"{number * _SPREAD % 9973:04d} {value.name}"


def _shared(one: bytes, other: bytes) -> int:
    """Return how many token ids two prompts have in common at their start."""
    low, high = 0, min(len(one), len(other)) // BYTES_PER_ID
    while low < high:
        middle = (low + high + 1) // 2
        if one[: middle * BYTES_PER_ID] == other[: middle * BYTES_PER_ID]:
            low = middle
        else:
            high = middle - 1
    return low
