"""Reported token usage, brought from each API's own accounting to one.

Which fields mean what is section 1.3 of the cache-rule reference (read 2026-11-30): the word `input_tokens`
means all input on OpenAI and the uncached rest on Anthropic and Bedrock.
"""

from __future__ import annotations

from typing import Any

import msgspec


class Usage(msgspec.Struct, frozen=True):
    """What an API said it counted, in tokens; None where it did not say. Absent is not zero.

    `prompt_tokens` includes cached and written tokens in every case.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None


class _Details(msgspec.Struct):
    cached_tokens: float | None = None
    cache_write_tokens: float | None = None
    cache_creation_input_tokens: float | None = None
    created_cache_tokens: float | None = None


class WireUsage(msgspec.Struct):
    """Every field under which an API reports prompt and cache usage; what is not listed is skipped."""

    # OpenAI Chat and everything compatible; DeepSeek and Moonshot add their own.
    prompt_tokens: float | None = None
    completion_tokens: float | None = None
    prompt_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: float | None = None
    cached_tokens: float | None = None
    # OpenAI Responses and Anthropic share the first two names.
    input_tokens: float | None = None
    output_tokens: float | None = None
    input_tokens_details: _Details | None = None
    cache_read_input_tokens: float | None = None
    cache_creation_input_tokens: float | None = None
    # Gemini generateContent.
    promptTokenCount: float | None = None  # noqa: N815 - the wire's own name
    candidatesTokenCount: float | None = None  # noqa: N815
    cachedContentTokenCount: float | None = None  # noqa: N815
    thoughtsTokenCount: float | None = None  # noqa: N815
    # Bedrock Converse.
    inputTokens: float | None = None  # noqa: N815
    outputTokens: float | None = None  # noqa: N815
    cacheReadInputTokens: float | None = None  # noqa: N815
    cacheWriteInputTokens: float | None = None  # noqa: N815


def normalise(wire: WireUsage) -> Usage | None:
    """Return the one accounting for what was on the wire, or None where it holds no prompt count.

    The API family is told by which fields are present, since gateways translate bodies and usage
    independently of each other.
    """
    if wire.promptTokenCount is not None:
        output = wire.candidatesTokenCount
        if output is not None and wire.thoughtsTokenCount is not None:
            output += wire.thoughtsTokenCount
        return _usage(wire.promptTokenCount, wire.cachedContentTokenCount, None, output)
    if wire.inputTokens is not None:
        return _split(wire.inputTokens, wire.cacheReadInputTokens, wire.cacheWriteInputTokens, wire.outputTokens)
    if wire.prompt_tokens is not None:
        return _openai_chat(wire, wire.prompt_tokens)
    if wire.input_tokens is None:
        return None
    if wire.cache_read_input_tokens is not None or wire.cache_creation_input_tokens is not None:
        return _split(
            wire.input_tokens, wire.cache_read_input_tokens, wire.cache_creation_input_tokens, wire.output_tokens
        )
    details = wire.input_tokens_details or _Details()
    return _usage(wire.input_tokens, details.cached_tokens, details.cache_write_tokens, wire.output_tokens)


def _openai_chat(wire: WireUsage, prompt_tokens: float) -> Usage:
    details = wire.prompt_tokens_details or _Details()
    cached = details.cached_tokens
    for other in (wire.prompt_cache_hit_tokens, wire.cached_tokens, wire.cache_read_input_tokens):
        cached = other if cached is None else cached
    written = details.cache_write_tokens
    for other in (details.cache_creation_input_tokens, details.created_cache_tokens, wire.cache_creation_input_tokens):
        written = other if written is None else written
    return _usage(prompt_tokens, cached, written, wire.completion_tokens)


def _split(rest: float, read: float | None, written: float | None, output: float | None) -> Usage:
    """Add up an accounting whose input count is only the uncached, unwritten rest."""
    return _usage(rest + (read or 0) + (written or 0), read, written, output)


def _usage(*counts: float | None) -> Usage:
    prompt, cached, written, output = (
        None if count is None or not 0 <= count < 2**31 else int(count) for count in counts
    )
    if prompt is None or (cached is not None and cached > prompt):
        cached = None  # more cached than there was: whatever it counts, it is not this
    return Usage(prompt, cached, written, output)


def from_json(raw: Any) -> Usage | None:
    """Return the usage in raw JSON (`bytes` or `msgspec.Raw`), or None where there is none that can be read."""
    try:
        return normalise(_decoder.decode(raw))
    except (msgspec.MsgspecError, RecursionError):
        return None


_decoder = msgspec.json.Decoder(WireUsage)
