"""LiteLLM: rows of the spend log, and the standard logging payload of its bucket loggers.

Shapes: `LiteLLM_SpendLogs` of the proxy's database schema and `StandardLoggingPayload` of its types
(LiteLLM 1.110.2, read 2026-11-30). JSON columns may come as strings, as database exports write them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET

from prefixwise.core.request import Mark
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import Usage, from_json
from prefixwise.corpus.call import FAILED, GATEWAY, NO_PROMPT, Call, Found, RecordDecoder, fate
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, body_of, encoded, given, name_of, unpacked, unpacked_answer


class _Row(msgspec.Struct):
    request_id: Any = None
    id: Any = None
    call_type: Any = None
    model: Any = None
    model_id: Any = None
    api_base: Any = None
    user: Any = None
    end_user: Any = None
    team_id: Any = None
    organization_id: Any = None
    session_id: Any = None
    trace_id: Any = None
    startTime: Any = None  # noqa: N815 - the wire's own names
    endTime: Any = None  # noqa: N815
    completionStartTime: Any = None  # noqa: N815
    cache_hit: Any = None
    status: Any = None
    error_str: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None
    messages: RawField = UNSET
    response: RawField = UNSET
    proxy_server_request: RawField = UNSET
    metadata: RawField = UNSET
    model_parameters: RawField = UNSET


class _Metadata(msgspec.Struct):
    usage_object: RawField = UNSET
    status: Any = None
    error_information: Any = None
    user_api_key_end_user_id: Any = None
    user_api_key_team_id: Any = None
    user_api_key_user_id: Any = None


class _Wrapped(msgspec.Struct):
    """What may stand around a body or beside it."""

    body: RawField = UNSET
    tools: RawField = UNSET
    usage: RawField = UNSET


_NO_PROMPT = ("embedding", "image", "transcription", "speech", "moderation", "rerank")
_row = msgspec.json.Decoder(_Row)
_metadata = msgspec.json.Decoder(_Metadata)
_wrapped = msgspec.json.Decoder(_Wrapped)


class LiteLLM(RecordDecoder):
    """Decodes rows of the spend log."""

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the call of one row."""
        row = _row.decode(record)
        meta_json = unpacked(row.metadata)
        meta = _metadata.decode(meta_json) if meta_json else _Metadata()
        response = unpacked_answer(row.response)
        failed = "failure" in (row.status, meta.status)
        error = meta.error_information if isinstance(meta.error_information, dict) else {}
        if failed and fate(error.get("error_code"), error.get("error_class"), row.error_str):
            yield FAILED
        elif any(word in str(row.call_type) for word in _NO_PROMPT):
            yield NO_PROMPT
        elif row.cache_hit is True or str(row.cache_hit).lower() == "true":
            yield GATEWAY
        else:
            start, first = epoch_seconds(row.startTime), epoch_seconds(row.completionStartTime)
            yield Call(
                _body(row),
                model=name_of(row.model),
                start=start,
                end=epoch_seconds(row.endTime),
                ttft=first - start,
                tenant=name_of(
                    row.end_user, meta.user_api_key_end_user_id, row.team_id, meta.user_api_key_team_id,
                    row.organization_id, row.user, meta.user_api_key_user_id,
                ),
                session=name_of(row.session_id, row.trace_id),
                replica=name_of(row.model_id, row.api_base),
                usage=_usage(row, meta, response),
                response=response,
                has_reply=bool(response),
                id=name_of(row.request_id, row.id),
                marks=Mark.ABORTED if failed else 0,
            )  # fmt: skip


def _body(row: _Row) -> bytes:
    """Return the body that the proxy was sent, else one made of the messages."""
    sent = unpacked(row.proxy_server_request)
    if sent[:1] == b"{":
        inner = unpacked(_wrapped.decode(sent).body)
        return inner or sent
    messages = unpacked(row.messages)
    if not messages:
        raise ValueError("the row holds no prompt: storing prompts is off in LiteLLM (store_prompts_in_spend_logs)")
    parameters = unpacked(row.model_parameters)
    return body_of(messages, given(_wrapped.decode(parameters).tools) if parameters[:1] == b"{" else b"")


def _usage(row: _Row, meta: _Metadata, response: bytes) -> Usage | None:
    usage = from_json(meta.usage_object) if meta.usage_object is not UNSET else None
    if usage is None and response[:1] == b"{":
        inner = given(_wrapped.decode(response).usage)
        usage = from_json(inner) if inner else None
    if usage is None and row.prompt_tokens:
        return from_json(encoded({"prompt_tokens": row.prompt_tokens, "completion_tokens": row.completion_tokens}))
    return usage


add_export(
    "litellm",
    tuple(
        frozenset({*own, "call_type", "startTime", "endTime"})
        for own in (
            *(("request_id", name) for name in ("spend", "cache_hit", "custom_llm_provider", "proxy_server_request")),
            ("id", "model_parameters"),
        )
    ),
    LiteLLM,
)
