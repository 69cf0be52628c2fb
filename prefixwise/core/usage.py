"""Reported token usage, brought from each API's own accounting to one.

Which fields mean what is section 1.3 of the cache-rule reference (read 2026-11-30): the word `input_tokens`
means all input on OpenAI and the uncached rest on Anthropic and Bedrock.
"""

from __future__ import annotations

from typing import Any

import msgspec

_LARGEST = 2**31


class Usage(msgspec.Struct, frozen=True):
    """What an API said it counted, in tokens; None where it did not say. Absent is not zero.

    `prompt_tokens` includes cached and written tokens in every case.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None


class WireUsage(msgspec.Struct):
    """Every field under which an API reports prompt and cache usage, as it comes; what is not listed is skipped."""

    # OpenAI Chat and everything compatible; DeepSeek and Moonshot add their own.
    prompt_tokens: Any = None
    completion_tokens: Any = None
    prompt_tokens_details: Any = None
    prompt_cache_hit_tokens: Any = None
    cached_tokens: Any = None
    # OpenAI Responses and Anthropic share the first two names.
    input_tokens: Any = None
    output_tokens: Any = None
    input_tokens_details: Any = None
    cache_read_input_tokens: Any = None
    cache_creation_input_tokens: Any = None
    # Gemini generateContent.
    promptTokenCount: Any = None  # noqa: N815 - the wire's own name
    candidatesTokenCount: Any = None  # noqa: N815
    cachedContentTokenCount: Any = None  # noqa: N815
    thoughtsTokenCount: Any = None  # noqa: N815
    # Bedrock Converse.
    inputTokens: Any = None  # noqa: N815
    outputTokens: Any = None  # noqa: N815
    cacheReadInputTokens: Any = None  # noqa: N815
    cacheWriteInputTokens: Any = None  # noqa: N815


def normalise(wire: WireUsage) -> Usage | None:
    """Return the one accounting for what was on the wire, or None where it holds no prompt count.

    The API family is told by which fields are present, since gateways translate bodies and usage
    independently of each other. A value that is no count is absent; it does not take the others with it.
    """
    if (prompt := _count(wire.promptTokenCount)) is not None:
        output, thoughts = _count(wire.candidatesTokenCount), _count(wire.thoughtsTokenCount)
        output = output if thoughts is None else thoughts + (output or 0)
        return _usage(prompt, _count(wire.cachedContentTokenCount), None, output)
    if (rest := _count(wire.inputTokens)) is not None:
        return _split(rest, wire.cacheReadInputTokens, wire.cacheWriteInputTokens, wire.outputTokens)
    if (prompt := _count(wire.prompt_tokens)) is not None:
        return _openai_chat(wire, prompt)
    if (given := _count(wire.input_tokens)) is None:
        return None
    if wire.cache_read_input_tokens is not None or wire.cache_creation_input_tokens is not None:
        return _split(given, wire.cache_read_input_tokens, wire.cache_creation_input_tokens, wire.output_tokens)
    details = wire.input_tokens_details
    cached, written = _detail(details, "cached_tokens"), _detail(details, "cache_write_tokens")
    return _usage(given, cached, written, _count(wire.output_tokens))


def _openai_chat(wire: WireUsage, prompt: int) -> Usage:
    details = wire.prompt_tokens_details
    cached = (
        _detail(details, "cached_tokens"), _count(wire.prompt_cache_hit_tokens), _count(wire.cached_tokens),
        _count(wire.cache_read_input_tokens),
    )  # fmt: skip
    written = (
        _detail(details, "cache_write_tokens"), _detail(details, "cache_creation_input_tokens"),
        _detail(details, "created_cache_tokens"), _count(wire.cache_creation_input_tokens),
    )  # fmt: skip
    return _usage(prompt, _first(cached), _first(written), _count(wire.completion_tokens))


def _split(rest: int, read: Any, written: Any, output: Any) -> Usage:
    """Add up an accounting whose input count is only the uncached, unwritten rest."""
    cached, stored = _count(read), _count(written)
    return _usage(rest + (cached or 0) + (stored or 0), cached, stored, _count(output))


def _usage(prompt: int, cached: int | None, written: int | None, output: int | None) -> Usage:
    if cached is not None and cached > prompt:
        cached = None  # more cached than there was: whatever it counts, it is not this
    return Usage(prompt if prompt < _LARGEST else None, cached, written, output)


def _count(value: Any) -> int | None:
    """Return a token count, None for what is none."""
    if type(value) is int or (type(value) is float and value == value):
        return int(value) if 0 <= value < _LARGEST else None
    return None


def _detail(details: Any, name: str) -> int | None:
    return _count(details.get(name)) if isinstance(details, dict) else None


def _first(counts: tuple[int | None, ...]) -> int | None:
    return next((count for count in counts if count is not None), None)


def from_json(raw: Any) -> Usage | None:
    """Return the usage in raw JSON (`bytes` or `msgspec.Raw`), or None where there is none that can be read."""
    try:
        return normalise(_decoder.decode(raw))
    except (msgspec.MsgspecError, RecursionError):
        return None


_decoder = msgspec.json.Decoder(WireUsage)
