"""What a vendor itself says of a miss, where the log holds it.

Anthropic answers with `diagnostics.cache_miss_reason`, also in the lines of Claude Code's transcripts and in the first
event of a stream; OpenAI's Responses with `prompt_cache_diagnostics`. They name the area that changed, never the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.finding import Where

WORDS = (b"cache_miss_reason", b"prompt_cache_diagnostics")
"""One of these stands in every answer that has a diagnosis."""

_HOLDERS = ("response", "message", "output", "response_body", "body", "event", "data")
_DEEPEST = 4
_AREAS = {
    "model_changed": Where.PARAMS,
    "prompt_cache_key_changed": Where.PARAMS,
    "text_format_changed": Where.PARAMS,
    "reasoning_effort_changed": Where.PARAMS,
    "verbosity_changed": Where.PARAMS,
    "service_tier_changed": Where.PARAMS,
    "tools_changed": Where.TOOLS,
    "system_changed": Where.SYSTEM,
    "messages_changed": Where.MESSAGES,
    "input_changed": Where.MESSAGES,
    "context_compacted": Where.MESSAGES,
}


class Diagnosis(msgspec.Struct, frozen=True):
    """What the vendor itself says of a miss: its word, and the tokens that it says were missed."""

    reason: str
    missed_tokens: int | None = None

    @property
    def where(self) -> Where | None:
        """The area that the vendor says has changed, None where it names none."""
        return _AREAS.get(self.reason)


class _Holder(msgspec.Struct):
    """Where an answer says it, or what holds the answer."""

    diagnostics: Raw | UnsetType = UNSET
    prompt_cache_diagnostics: Raw | UnsetType = UNSET
    response: Raw | UnsetType = UNSET
    message: Raw | UnsetType = UNSET
    output: Raw | UnsetType = UNSET
    response_body: Raw | UnsetType = UNSET
    body: Raw | UnsetType = UNSET
    event: Raw | UnsetType = UNSET
    data: Raw | UnsetType = UNSET


_holder = msgspec.json.Decoder(_Holder).decode
_any = msgspec.json.Decoder().decode


def diagnosis_in(raw: bytes) -> Diagnosis | None:
    """Return the diagnosis in the JSON of an answer, of a stream's events, or of a record with one of them in it."""
    return next(_found(raw, 0), None)


def _found(raw: bytes, depth: int) -> Iterator[Diagnosis]:
    if depth > _DEEPEST or not any(word in raw for word in WORDS):
        return
    try:
        if raw[:1] == b"[":
            for element in msgspec.json.decode(raw, type=list[Raw]):
                yield from _found(bytes(element), depth + 1)
            return
        if raw[:1] == b'"':
            yield from _found(msgspec.json.decode(raw, type=str).encode(), depth + 1)
            return
        holder = _holder(raw)
        for said in (holder.diagnostics, holder.prompt_cache_diagnostics):
            if said is not UNSET and (diagnosis := _read(_any(said))) is not None:
                yield diagnosis
    except (msgspec.MsgspecError, RecursionError):
        return
    for name in _HOLDERS:
        inner = getattr(holder, name)
        if inner is not UNSET:
            yield from _found(bytes(inner), depth + 1)


def _read(said: Any) -> Diagnosis | None:
    """Read Anthropic's object, or OpenAI's; a hit and a comparison that is still to come say nothing."""
    if not isinstance(said, dict):
        return None
    reason = said.get("cache_miss_reason", said)
    if not isinstance(reason, dict):
        return None
    word = reason.get("reason") if reason.get("type") == "cache_miss" else reason.get("type")
    if not isinstance(word, str) or not word or word == "cache_hit":
        return None
    tokens = reason.get("cache_missed_input_tokens", reason.get("cache_missed_tokens"))
    return Diagnosis(word[:80], tokens if type(tokens) is int and tokens >= 0 else None)
