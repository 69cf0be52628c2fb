"""Helicone: requests as its export and its API write them (`HeliconeRequest`, read 2026-11-30)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import Usage, counted, from_json
from prefixwise.corpus.call import FAILED, GATEWAY, Call, Found, RecordDecoder, fate
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, given, name_of, unpacked, unpacked_answer


class _Request(msgspec.Struct):
    request_id: Any = None
    request_created_at: Any = None
    response_created_at: Any = None
    request_user_id: Any = None
    request_model: Any = None
    response_model: Any = None
    model: Any = None
    response_status: Any = None
    delay_ms: Any = None
    time_to_first_token: Any = None
    target_url: Any = None
    cache_enabled: Any = None
    cache_reference_id: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None
    prompt_cache_read_tokens: Any = None
    prompt_cache_write_tokens: Any = None
    request_body: RawField = UNSET
    response_body: RawField = UNSET
    request_properties: RawField = UNSET
    properties: RawField = UNSET
    data: list[Raw] | None = None


class _Response(msgspec.Struct):
    usage: RawField = UNSET
    usageMetadata: RawField = UNSET  # noqa: N815 - the wire's own name


_decode = msgspec.json.Decoder(_Request).decode
_response = msgspec.json.Decoder(_Response).decode
_properties = msgspec.json.Decoder(dict[str, Any]).decode
_NO_CACHE = "00000000-0000-0000-0000-000000000000"
_TENANT = ("helicone-user-id", "tenant", "tenant_id", "customer", "customer_id", "organization", "org_id")


class Helicone(RecordDecoder):
    """Decodes exported requests."""

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the calls of one record, which may be a page of the API."""
        one = _decode(record)
        if one.data is not None:
            for raw in one.data:
                yield from self.calls(bytes(raw))
            return
        answer = unpacked_answer(one.response_body)
        if isinstance(one.response_status, int) and fate(one.response_status):
            yield FAILED
        elif one.cache_reference_id not in (None, "", _NO_CACHE):
            yield GATEWAY
        else:
            yield _call(one, answer, record)


def _call(one: _Request, answer: bytes, record: bytes) -> Call:
    raw = unpacked(one.request_properties) or unpacked(one.properties)
    properties = {key.lower(): value for key, value in _properties(raw).items()} if raw[:1] == b"{" else {}
    start = epoch_seconds(one.request_created_at)
    end = epoch_seconds(one.response_created_at)
    if end != end and isinstance(one.delay_ms, (int, float)):
        end = start + one.delay_ms / 1000
    first = one.time_to_first_token
    return Call(
        unpacked(one.request_body),
        model=name_of(one.response_model, one.request_model, one.model),
        start=start,
        end=end,
        ttft=first / 1000 if isinstance(first, (int, float)) else epoch_seconds(None),
        tenant=name_of(one.request_user_id, *(properties.get(name) for name in _TENANT)),
        session=name_of(properties.get("helicone-session-id"), properties.get("session_id")),
        usage=_usage(one, answer),
        response=answer,
        has_reply=bool(answer),
        id=name_of(one.request_id),
        marks=0 if answer else Mark.ABORTED,
        record=record,
    )


def _usage(one: _Request, answer: bytes) -> Usage | None:
    usage = None
    if answer[:1] == b"{":
        found = _response(answer)
        inner = given(found.usage) or given(found.usageMetadata)
        usage = from_json(inner) if inner else None
    return usage or counted(
        one.prompt_tokens, one.prompt_cache_read_tokens, one.prompt_cache_write_tokens, one.completion_tokens
    )


add_export(
    "helicone",
    (
        frozenset({"request_id", "request_created_at", "request_body"}),
        frozenset({"data/*/request_id", "data/*/request_created_at", "data/*/request_body"}),
    ),
    Helicone,
)
