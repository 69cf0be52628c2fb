"""Spans of OpenTelemetry as the conventions for LLM calls read them; each convention is a file in `conventions/`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from prefixwise.core.registry import Registry
from prefixwise.core.times import ABSENT
from prefixwise.core.usage import Usage


class Event(msgspec.Struct, frozen=True):
    """Something that happened during a span; `time` in seconds since the epoch."""

    name: str
    time: float
    attributes: Mapping[str, Any]


class Span(msgspec.Struct, frozen=True):
    """One span: times in seconds since the epoch, attributes as Python values.

    `resource` is whose process it was, `message` what its status says of a failure.
    """

    id: str
    name: str
    start: float
    end: float
    attributes: Mapping[str, Any]
    events: tuple[Event, ...]
    resource: Mapping[str, Any]
    failed: bool
    message: str = ""


class Spoken(msgspec.Struct):
    """What one convention reads off a span: the call without what all conventions share.

    Attributes:
        body: JSON of the request body.
        api: Whose body it is; empty where that is to be recognised.
        model, tenant, session, replica: Empty where the span does not say.
        usage: In our accounting.
        response: JSON of the answer.
        ttft: Seconds.
    """

    body: bytes
    api: str = ""
    model: str = ""
    tenant: str = ""
    session: str = ""
    replica: str = ""
    usage: Usage | None = None
    response: bytes = b""
    ttft: float = ABSENT


class Convention(msgspec.Struct, frozen=True):
    """One way to write LLM calls into spans.

    Attributes:
        name: What it is called.
        rank: Lower ones are tried first.
        read: Returns what a span says, None where it is not of this convention. Raises ValueError for a prompt that
            cannot be read.
    """

    name: str
    rank: int
    read: Callable[[Span], Spoken | None]


CONVENTIONS: Registry[Convention] = Registry("span convention", "prefixwise.corpus.conventions", "conventions")

_TENANTS = ("tenant.id", "tenant", "customer.id", "organization.id", "user.id", "enduser.id")
_SESSIONS = ("session.id", "gen_ai.conversation.id", "conversation.id", "thread.id")


def first(attributes: Mapping[str, Any], *names: str) -> Any:
    """Return the first of the attributes that is there, else None."""
    for name in names:
        if (value := attributes.get(name)) is not None:
            return value
    return None


def named(attributes: Mapping[str, Any], *names: str) -> str:
    """Return the first of the attributes that is there as text, else ''."""
    value = first(attributes, *names)
    return "" if value is None else str(value)


def tenant_of(span: Span, *names: str) -> str:
    """Return whose call it is."""
    return named(span.attributes, *names, *_TENANTS) or named(span.resource, "tenant.id", "tenant")


def session_of(span: Span, *names: str) -> str:
    """Return the conversation of the call."""
    return named(span.attributes, *names, *_SESSIONS)


def count(attributes: Mapping[str, Any], *names: str) -> int | None:
    """Return the first of the attributes that is a token count, else None."""
    for name in names:
        value = attributes.get(name)
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0:
            return int(value)
    return None


def indexed(attributes: Mapping[str, Any], *prefixes: str) -> tuple[list[dict[str, Any]], ...]:
    """Return for each prefix the attributes `PREFIX.N.rest` as one mapping from rest to value a number, in order."""
    groups: list[dict[str, dict[str, Any]]] = [{} for _ in prefixes]
    for key, value in attributes.items():
        if not key.startswith(prefixes):
            continue
        for prefix, group in zip(prefixes, groups, strict=True):
            if key.startswith(prefix):
                number, _, rest = key[len(prefix) :].partition(".")
                group.setdefault(number, {})[rest] = value
                break
    return tuple([group[number] for number in sorted(filter(str.isdecimal, group), key=int)] for group in groups)
