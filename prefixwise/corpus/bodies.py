"""What the request bodies of several APIs have in common: fields, sections, and what tells two of them apart."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.namespace import SHARED, Namespace
from prefixwise.core.request import Section
from prefixwise.corpus.dialect import Draft, compact_json, name_in

_TENANT_NAMES = ("tenant_id", "tenant", "user_id")
_SESSION_NAMES = ("session_id", "conversation_id", "thread_id")


class CommonBody(msgspec.Struct):
    """The fields that most APIs share. Raw fields stay raw JSON until they are needed."""

    model: Any = None
    tools: Raw | UnsetType = UNSET
    user: Any = None
    metadata: Any = None
    prompt_cache_key: Any = None
    cache_salt: Any = None
    prompt_cache_isolation_key: Any = None
    lora_path: Any = None
    extra_key: Any = None


class MessagesBody(CommonBody):
    """A body with `messages`: Chat Completions and Anthropic Messages, and the fields by which they differ."""

    messages: list[Raw] | None = None
    anthropic_version: Raw | UnsetType = UNSET
    response_format: Raw | UnsetType = UNSET
    functions: Raw | UnsetType = UNSET
    max_completion_tokens: Raw | UnsetType = UNSET


class ToolsAndMessages(msgspec.Struct):
    """What exporters keep of a request to no API in particular: tools, messages, and whose model."""

    messages: list[Raw] | None = None
    tools: Raw | UnsetType = UNSET
    model: str = ""


def tools_then_messages(body: ToolsAndMessages) -> Draft:
    """Read such a body. Raises ValueError where it holds no messages."""
    if body.messages is None:
        raise ValueError("no `messages` list")
    sections = [tools_section("/tools", body.tools)] if is_given(body.tools) else []
    return Draft(body.model, (*sections, Section("messages", "/messages", body.messages)))


_namespace_values = operator.attrgetter(
    "cache_salt", "prompt_cache_key", "lora_path", "extra_key", "prompt_cache_isolation_key"
)
_NO_PARTS = (None,) * 5
CACHE_CONTROLS = ("prompt_cache_options", "prompt_cache_retention")
"""What a request to OpenAI asks of the cache."""
cache_controls = operator.attrgetter(*CACHE_CONTROLS)
_telling_values = operator.attrgetter(
    "system", "anthropic_version", "response_format", "functions", "max_completion_tokens"
)


def messages_telltale(body: Any) -> Hashable:
    """Return what of a body with `messages` may mean that it is of another API than the one before it."""
    tools = b"" if body.tools is UNSET else bytes(body.tools)
    given = tuple(map(bool, _telling_values(body)))
    return (text_of(body.model), given, b'"input_schema"' in tools, b'"function"' in tools)


def namespace_of(body: CommonBody) -> Namespace:
    """Return what the body says of cache separation; an isolation key counts as the salt."""
    values = _namespace_values(body)
    if values == _NO_PARTS:
        return SHARED
    salt, cache_key, adapter, extra, isolation = map(text_of, values)
    return Namespace(isolation if salt is None else salt, cache_key, adapter, extra)


def tenant_of(body: CommonBody) -> str:
    """Return whom the body names as its user."""
    return text_of(body.user) or name_in(body.metadata, *_TENANT_NAMES)


def session_of(body: CommonBody, named: Any = None) -> str:
    """Return the conversation that the body names: `named` where the API has a field for it, else its metadata."""
    return text_of(named) or name_in(body.metadata, *_SESSION_NAMES)


def text_of(value: Any) -> str | None:
    """Return a scalar as text for a namespace or a name; None where it is absent."""
    if isinstance(value, str):
        return value
    return None if value is None or value is UNSET else compact_json(value)


def is_given(raw: Raw | UnsetType) -> bool:
    """Say whether a raw field is there and not null."""
    return raw is not UNSET and bytes(memoryview(raw)[:4]) != b"null"


def section_of(kind: str, pointer: str, value: list[Raw] | str) -> Section:
    """Return the section for a value that may be a list of items or one string."""
    if isinstance(value, str):
        return Section(kind, pointer, [Raw(msgspec.json.encode(value))], listed=False)
    return Section(kind, pointer, value)


def single_section(kind: str, pointer: str, raw: Raw | UnsetType) -> Section:
    """Return a section of one item. Raises ValueError for a field that is not there."""
    if raw is UNSET:
        raise ValueError(f"nothing at {pointer}")
    return Section(kind, pointer, [raw], listed=False)


def tools_section(pointer: str, raw: Raw | UnsetType) -> Section:
    """Return the section of a tool list, kept in one piece: applications send the same list again and again.

    Raises:
        ValueError: It is no list.
    """
    if raw is UNSET or bytes(memoryview(raw)[:1]) != b"[":
        raise ValueError(f"no list at {pointer}")
    return Section("tools", pointer, [], whole=raw)


def key_params(values: tuple[Any, ...], names: tuple[str, ...]) -> tuple[tuple[str, bytes], ...]:
    """Return (name, canonical JSON) of those raw fields that are given; `values` go with `names`.

    Canonical: keys sorted and white space dropped, so that equal values are equal bytes.
    """
    if not any(values):  # an absent field is UNSET, which is false
        return ()
    return tuple(
        (name, msgspec.json.encode(msgspec.json.decode(raw), order="sorted"))
        for name, raw in zip(names, values, strict=True)
        if is_given(raw)
    )
