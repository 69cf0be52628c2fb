"""Reported token usage, brought from each API's own accounting to one.

Which fields mean what is section 1.3 of the cache-rule reference (read 2026-11-30) and, for Gemini Interactions, the
types of google-genai 3.6.1: the word `input_tokens` means all input on OpenAI and the uncached rest on Anthropic and
Bedrock. The API family is told by which fields are present, since gateways translate bodies and usage independently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any, TypeAlias

import msgspec

_LARGEST = 2**31
_MINUTE, _HOUR = 60.0, 3600.0
_USUAL = 30 * _MINUTE


class Usage(msgspec.Struct, frozen=True):
    """What an API said it counted, in tokens; None where it did not say. Absent is not zero.

    Attributes:
        prompt_tokens: All of the prompt, cached and written tokens included, in every case.
        cached_tokens: Read from the cache; `cache_write_tokens`: written to it.
        output_tokens: Generated, reasoning included.
        written_by_ttl: (TTL in seconds, tokens) of the written tokens, shortest first, where the API splits them.
        rest_only: Whether the prompt count that was reported left out the cached tokens that it should hold: it was
            less than they are. They have been added.
    """

    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    output_tokens: int | None = None
    written_by_ttl: tuple[tuple[float, int], ...] = ()
    rest_only: bool = False

    @property
    def written_long(self) -> int:
        """Tokens written for longer than a provider's usual time (5 min on Anthropic, 30 min on OpenAI)."""
        return sum(tokens for ttl, tokens in self.written_by_ttl if ttl > _USUAL)


Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, lt=_LARGEST)] | None


class Writes(msgspec.Struct, gc=False):
    """Written tokens by lifetime: Anthropic's `cache_creation`, OpenAI's `cache_write_tokens_details`."""

    ephemeral_5m_input_tokens: Count = None
    ephemeral_1h_input_tokens: Count = None
    ttl_30m_tokens: Count = None
    ttl_12h_tokens: Count = None


class Details(msgspec.Struct, gc=False):
    """OpenAI's `*_tokens_details`, and what compatible APIs put there (Qwen `cache_creation…`, vLLM `created…`)."""

    cached_tokens: Count = None
    cache_write_tokens: Count = None
    cache_write_tokens_details: Writes | None = None
    cache_creation_input_tokens: Count = None
    cache_creation: Writes | None = None
    created_cache_tokens: Count = None


class BedrockWrite(msgspec.Struct, gc=False):
    """One element of Bedrock's `cacheDetails`."""

    ttl: str = ""
    inputTokens: Count = None  # noqa: N815 - the wire's own name


class WireUsage(msgspec.Struct, gc=False):
    """Every field under which an API reports prompt and cache usage; what is not listed is skipped."""

    # OpenAI Chat and everything compatible (xAI, Groq, Fireworks, Mistral, Z.ai, Cerebras, OpenRouter, vLLM, SGLang).
    prompt_tokens: Count = None
    completion_tokens: Count = None
    prompt_tokens_details: Details | None = None
    prompt_cache_hit_tokens: Count = None  # DeepSeek
    prompt_cache_miss_tokens: Count = None
    cached_tokens: Count = None  # Moonshot
    cached_prompt_text_tokens: Count = None  # xAI over gRPC
    # OpenAI Responses and Anthropic share the first two names.
    input_tokens: Count = None
    output_tokens: Count = None
    input_tokens_details: Details | None = None
    input_token_details: Details | None = None  # OpenAI Realtime
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    cache_creation: Writes | None = None
    # Gemini generateContent, then Interactions.
    promptTokenCount: Count = None  # noqa: N815 - the wire's own name
    candidatesTokenCount: Count = None  # noqa: N815
    cachedContentTokenCount: Count = None  # noqa: N815
    thoughtsTokenCount: Count = None  # noqa: N815
    total_input_tokens: Count = None
    total_output_tokens: Count = None
    total_cached_tokens: Count = None
    total_thought_tokens: Count = None
    # Bedrock Converse.
    inputTokens: Count = None  # noqa: N815
    outputTokens: Count = None  # noqa: N815
    cacheReadInputTokens: Count = None  # noqa: N815
    cacheWriteInputTokens: Count = None  # noqa: N815
    cacheDetails: list[BedrockWrite] | None = None  # noqa: N815


def reported(usage: Any, headers: Any = None) -> Usage | None:
    """Return what a record reports: its usage, completed by the headers of the response; raw JSON or None each."""
    found = None if usage is None else from_json(usage)
    if headers is None or (found is not None and found.cached_tokens is not None):
        return found
    said = from_headers(headers)
    if said is None or found is None:
        return found or said
    return msgspec.structs.replace(found, cached_tokens=said.cached_tokens)


def from_json(raw: Any) -> Usage | None:
    """Return the usage in raw JSON (`bytes` or `msgspec.Raw`), or None where there is none that can be read.

    A list is a log of stream events (Anthropic's `message_start` and `message_delta`, OpenAI's `response.completed`,
    chunks with `usage`): a later figure replaces an earlier one, since they are cumulative. A value that is no count
    is absent; it does not take the others with it.
    """
    try:
        return normalise(_decode(raw))
    except (msgspec.MsgspecError, RecursionError):
        return _from_odd(raw)


def counted(prompt: Any, cached: Any = None, written: Any = None, output: Any = None) -> Usage | None:
    """Return the usage of figures that stand apart, `prompt` with the others in it; None without a prompt count.

    What is no count is absent. More cached tokens than the prompt has are no part of its count.
    """
    total = _count(prompt)
    if total is None:
        return None
    read, wrote = _count(cached), _count(written)
    inside = (read or 0) + (wrote or 0)
    if inside <= total:
        return _usage(total, read, wrote, _count(output))
    found = _usage(total + inside, read, wrote, _count(output))
    return msgspec.structs.replace(found, rest_only=True)


def from_headers(raw: Any) -> Usage | None:
    """Return the usage that Fireworks writes into response headers, given as raw JSON; None where it is not there."""
    try:
        headers = {str(name).lower(): value for name, value in msgspec.json.decode(raw).items()}
    except (msgspec.MsgspecError, RecursionError, AttributeError):
        return None
    prompt, cached = (_header(headers.get(f"fireworks-{name}prompt-tokens")) for name in ("", "cached-"))
    return None if prompt is None else _usage(prompt, cached, None, None)


def normalise(wire: WireUsage) -> Usage | None:
    """Return the one accounting for what was on the wire, or None where it holds no prompt count."""
    if wire.promptTokenCount is not None:
        output = _sum(wire.candidatesTokenCount, wire.thoughtsTokenCount)
        return _usage(wire.promptTokenCount, wire.cachedContentTokenCount, None, output)
    if wire.inputTokens is not None:
        split = _bedrock_writes(wire.cacheDetails)
        read, written = wire.cacheReadInputTokens, wire.cacheWriteInputTokens
        return _split(wire.inputTokens, read, written, wire.outputTokens, split)
    if (prompt := wire.prompt_tokens) is not None:
        return _openai_chat(wire, prompt)
    if (given := wire.input_tokens) is not None:
        if wire.cache_read_input_tokens is not None or wire.cache_creation_input_tokens is not None:
            read, written = wire.cache_read_input_tokens, wire.cache_creation_input_tokens
            return _split(given, read, written, wire.output_tokens, _by_ttl(wire.cache_creation))
        details = wire.input_tokens_details or wire.input_token_details
        cached = written = None
        by_ttl: tuple[tuple[float, int], ...] = ()
        if details is not None:
            cached, written = details.cached_tokens, details.cache_write_tokens
            by_ttl = _by_ttl(details.cache_write_tokens_details)
        return _usage(given, cached, written, wire.output_tokens, by_ttl)
    if wire.total_input_tokens is not None:
        output = _sum(wire.total_output_tokens, wire.total_thought_tokens)
        return _usage(wire.total_input_tokens, wire.total_cached_tokens, None, output)
    if wire.prompt_cache_hit_tokens is not None and wire.prompt_cache_miss_tokens is not None:
        return _openai_chat(wire, wire.prompt_cache_hit_tokens + wire.prompt_cache_miss_tokens)
    return None


def _openai_chat(wire: WireUsage, prompt: int) -> Usage:
    """Read the Chat form: the standard place first, then those of compatible APIs."""
    cached = written = None
    by_ttl: tuple[tuple[float, int], ...] = ()
    if (details := wire.prompt_tokens_details) is not None:
        cached, written = details.cached_tokens, details.cache_write_tokens
        if written is None:
            written = _first(details.cache_creation_input_tokens, details.created_cache_tokens)
        if details.cache_write_tokens_details is not None or details.cache_creation is not None:
            by_ttl = _by_ttl(details.cache_write_tokens_details or details.cache_creation)
    if cached is None:
        cached = _first(
            wire.prompt_cache_hit_tokens, wire.cached_tokens, wire.cached_prompt_text_tokens,
            wire.cache_read_input_tokens,
        )  # fmt: skip
    if written is None:
        written = wire.cache_creation_input_tokens
    return _usage(prompt, cached, written, wire.completion_tokens, by_ttl or _by_ttl(wire.cache_creation))


def _split(
    rest: int, read: int | None, written: int | None, output: int | None, by_ttl: tuple[tuple[float, int], ...]
) -> Usage:
    """Add up an accounting whose input count is only the uncached, unwritten rest."""
    if written is None and by_ttl:
        written = sum(tokens for _, tokens in by_ttl)
    return _usage(rest + (read or 0) + (written or 0), read, written, output, by_ttl)


def _usage(
    prompt: int,
    cached: int | None,
    written: int | None,
    output: int | None,
    by_ttl: tuple[tuple[float, int], ...] = (),
) -> Usage:
    if cached is not None and cached > prompt:
        cached = None  # more cached than there was: whatever it counts, it is not this
    return Usage(prompt if prompt < _LARGEST else None, cached, written, output, by_ttl)


def _by_ttl(writes: Writes | None) -> tuple[tuple[float, int], ...]:
    """Return (TTL in seconds, tokens) of every lifetime that was written to."""
    if writes is None:
        return ()
    counts = (
        (5 * _MINUTE, writes.ephemeral_5m_input_tokens), (30 * _MINUTE, writes.ttl_30m_tokens),
        (_HOUR, writes.ephemeral_1h_input_tokens), (12 * _HOUR, writes.ttl_12h_tokens),
    )  # fmt: skip
    return tuple([(ttl, tokens) for ttl, tokens in counts if tokens])


def _bedrock_writes(writes: list[BedrockWrite] | None) -> tuple[tuple[float, int], ...]:
    known = {"5m": 5 * _MINUTE, "1h": _HOUR}
    found = ((known.get(write.ttl), write.inputTokens) for write in writes or ())
    return tuple(sorted((ttl, tokens) for ttl, tokens in found if ttl and tokens))


def _sum(first: int | None, second: int | None) -> int | None:
    return first if second is None else second + (first or 0)


def _first(*counts: int | None) -> int | None:
    for count in counts:
        if count is not None:
            return count
    return None


def _header(value: Any) -> int | None:
    value = value[0] if isinstance(value, list) and value else value
    if isinstance(value, str) and value.isascii() and value.isdecimal():
        value = int(value)
    return _count(value)


def _count(value: Any) -> int | None:
    """Return a token count, None for what is none."""
    if type(value) is int or (type(value) is float and value == value):
        return int(value) if 0 <= value < _LARGEST else None
    return None


def _from_odd(raw: Any) -> Usage | None:
    """Read a usage with a value of a wrong type, or a list of stream events, piece by piece."""
    try:
        value = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        return None
    if isinstance(value, list):
        merged: dict[str, Any] = {}
        for event in value:
            merged.update((name, part) for name, part in _of_event(event).items() if part is not None)
        value = merged
    return normalise(_mended(value)) if isinstance(value, dict) else None


def _of_event(event: Any) -> dict[str, Any]:
    """Return the usage object of one stream event, {} where it carries none."""
    if not isinstance(event, dict):
        return {}
    for holder in (event, event.get("message"), event.get("response"), event.get("metadata")):
        if isinstance(holder, dict):
            for name in ("usage", "usageMetadata"):
                if isinstance(holder.get(name), dict):
                    found: dict[str, Any] = holder[name]
                    return found
    return {}


def _mended(value: dict[str, Any]) -> WireUsage:
    """Return a wire usage in which what is no count, no object or no list is absent."""
    return WireUsage(**{name: _MENDERS[name](part) for name, part in value.items() if name in _MENDERS})


def _mended_writes(value: Any) -> Writes | None:
    if not isinstance(value, dict):
        return None
    return Writes(**{name: _count(part) for name, part in value.items() if name in Writes.__struct_fields__})


def _mended_details(value: Any) -> Details | None:
    if not isinstance(value, dict):
        return None
    known: dict[str, Any] = {name: part for name, part in value.items() if name in Details.__struct_fields__}
    for name, part in known.items():
        is_split = name in ("cache_write_tokens_details", "cache_creation")
        known[name] = _mended_writes(part) if is_split else _count(part)
    return Details(**known)


def _mended_bedrock(value: Any) -> list[BedrockWrite] | None:
    if not isinstance(value, list):
        return None
    return [
        BedrockWrite(str(write.get("ttl")), _count(write.get("inputTokens")))
        for write in value
        if isinstance(write, dict)
    ]


_MENDERS: dict[str, Callable[[Any], Any]] = {
    **dict.fromkeys(WireUsage.__struct_fields__, _count),
    "prompt_tokens_details": _mended_details,
    "input_tokens_details": _mended_details,
    "input_token_details": _mended_details,
    "cache_creation": _mended_writes,
    "cacheDetails": _mended_bedrock,
}
_decode = msgspec.json.Decoder(WireUsage).decode
