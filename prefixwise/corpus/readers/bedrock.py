"""Amazon Bedrock: model invocation logs (`schemaType` ModelInvocationLog), from S3 or CloudWatch.

Shape: Bedrock user guide, "Monitor model invocation", read 2026-11-30. The log's own token counts follow
Converse: `inputTokenCount` is the rest that was neither read from nor written to a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import Usage, from_json
from prefixwise.corpus.call import FAILED, Call, Found, LeftOut, RecordDecoder, fate
from prefixwise.corpus.dialect import name_in
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, encoded, given, name_of, unpacked, unpacked_answer


class _Input(msgspec.Struct):
    inputBodyJson: RawField = UNSET  # noqa: N815 - the wire's own names
    inputBodyS3Path: Any = None  # noqa: N815
    inputTokenCount: Any = None  # noqa: N815
    cacheReadInputTokenCount: Any = None  # noqa: N815
    cacheWriteInputTokenCount: Any = None  # noqa: N815


class _Output(msgspec.Struct):
    outputBodyJson: RawField = UNSET  # noqa: N815
    outputTokenCount: Any = None  # noqa: N815


class _Log(msgspec.Struct):
    operation: Any = None
    timestamp: Any = None
    region: Any = None
    inferenceRegion: Any = None  # noqa: N815
    modelId: Any = None  # noqa: N815
    requestId: Any = None  # noqa: N815
    errorCode: Any = None  # noqa: N815
    identity: Any = None
    requestMetadata: Any = None  # noqa: N815
    input: _Input | None = None
    output: _Output | None = None
    message: Any = None
    events: list[Raw] | None = None


class _Answer(msgspec.Struct):
    usage: RawField = UNSET
    metrics: Any = None


_decode = msgspec.json.Decoder(_Log).decode
_answer = msgspec.json.Decoder(_Answer).decode
_TENANTS = ("tenant", "tenant_id", "tenantId", "customer", "customer_id", "user_id", "userId")
_SESSIONS = ("session", "session_id", "sessionId", "conversation_id", "conversationId")


class Bedrock(RecordDecoder):
    """Decodes invocation logs."""

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the call of one log, or those of a page of CloudWatch Logs' events."""
        log = _decode(record)
        for event in log.events or ():
            yield from self.calls(bytes(event))
        if log.events is not None:
            return
        if log.input is None and isinstance(log.message, str):  # an event of CloudWatch Logs holds the log as text
            record = log.message.encode()
            log = _decode(record)
        given_input = log.input or _Input()
        body = unpacked(given_input.inputBodyJson)
        if log.errorCode is not None and fate(log.errorCode):
            yield FAILED
        elif not body:
            elsewhere = given_input.inputBodyS3Path is not None
            yield LeftOut("its body is stored elsewhere (inputBodyS3Path)" if elsewhere else "logged without a body")
        else:
            yield _call(log, given_input, body, record)


def _call(log: _Log, given_input: _Input, body: bytes, record: bytes) -> Call:
    output = log.output or _Output()
    answer = unpacked_answer(output.outputBodyJson)
    start = epoch_seconds(log.timestamp)
    usage, latency = None, None
    if answer[:1] == b"{":
        found = _answer(answer)
        inner = given(found.usage)
        usage = from_json(inner) if inner else None
        latency = found.metrics.get("latencyMs") if isinstance(found.metrics, dict) else None
    return Call(
        body,
        api="bedrock-converse" if str(log.operation).startswith("Converse") else "",
        model=name_of(log.modelId).rpartition("/")[2],
        start=start,
        end=start + latency / 1000 if isinstance(latency, (int, float)) else epoch_seconds(None),
        tenant=name_in(log.requestMetadata, *_TENANTS) or name_in(log.identity, "arn"),
        session=name_in(log.requestMetadata, *_SESSIONS),
        replica=name_of(log.inferenceRegion, log.region),
        usage=usage or _counted(given_input, output),
        response=answer,
        has_reply=bool(answer),
        id=name_of(log.requestId),
        marks=0 if log.errorCode is None else Mark.ABORTED,
        record=record,
    )


def _counted(given_input: _Input, output: _Output) -> Usage | None:
    """Return the usage of the log's own counts."""
    wire = {
        "inputTokens": given_input.inputTokenCount,
        "outputTokens": output.outputTokenCount,
        "cacheReadInputTokens": given_input.cacheReadInputTokenCount,
        "cacheWriteInputTokens": given_input.cacheWriteInputTokenCount,
    }
    return from_json(encoded({name: count for name, count in wire.items() if count is not None}))


add_export(
    "bedrock",
    (
        frozenset({"schemaType", "modelId", "operation", "input"}),
        frozenset({"modelId", "operation", "input/inputBodyJson"}),
        frozenset({"modelId", "requestId", "input/inputBodyS3Path"}),
        frozenset({"events/*/logStreamName", "events/*/message"}),
        frozenset({"logStreamName", "timestamp", "message"}),
    ),
    Bedrock,
)
