"""Amazon Bedrock: model-invocation logs, and bare Converse bodies.

The record is `ModelInvocationLog` 1.0 as the user guide ("Monitor model invocation using CloudWatch Logs and Amazon
S3") and public samples show it; the Converse bodies follow the service model `bedrock-runtime` in botocore 1.44, with
which `test_shapes.py` validates them, and the InvokeModel bodies are Anthropic's.

Readers must know: `timestamp` has whole seconds, and there is no end but Converse's `metrics.latencyMs`; InvokeModel's
body does not name the model, `modelId` beside it does; `inputTokenCount` and Converse's `inputTokens` are what was
neither read from the cache nor written; a call that failed has `errorCode` and an empty `output`. The caller is
`identity.arn`; `requestMetadata`, which only Converse has, is what the application says of itself. CloudWatch exports
wrap the record as a string in `@message` or `message`.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Message, Workload
from formats.writers.plain import Files, lines

REGION = "eu-north-1"
ACCOUNT = "111122223333"


def model_id(exchange: Exchange) -> str:
    """Return the inference profile that serves a model."""
    return f"eu.anthropic.{exchange.model}-20250929-v1:0"


def caller(exchange: Exchange) -> str:
    """Return the identity under which a tenant calls."""
    return f"arn:aws:sts::{ACCOUNT}:assumed-role/tenant-{exchange.tenant}/app"


# -- Converse -----------------------------------------------------------------------------------------------------


def converse_message(message: Message) -> Json:
    """Return one message as Converse takes it."""
    if message.role == "tool":
        content: list[Json] = [
            {"toolResult": {"toolUseId": call, "content": [{"text": text}], "status": "success"}}
            for call, _, text in message.results
        ]
        return {"role": "user", "content": content}
    content = [{"text": message.text}] if message.text else []
    content += [{"toolUse": {"toolUseId": c.id, "name": c.name, "input": c.arguments}} for c in message.calls]
    return {"role": message.role, "content": content}


def converse_request(exchange: Exchange) -> Json:
    """Return the body of a Converse request, with a cache point behind the system prompt."""
    body: Json = {
        "messages": [converse_message(message) for message in exchange.messages],
        "system": [{"text": exchange.system}, {"cachePoint": {"type": "default"}}],
        "inferenceConfig": {"maxTokens": 900, "temperature": 0.2},
    }
    if exchange.tools:
        specs = [
            {"toolSpec": {"name": t.name, "description": t.description, "inputSchema": {"json": t.parameters}}}
            for t in exchange.tools
        ]
        body["toolConfig"] = {"tools": specs}
    return body


def converse_response(exchange: Exchange) -> Json | None:
    """Return the body of the answer."""
    usage = exchange.usage
    if exchange.answer is None or usage is None:
        return None
    return {
        "output": {"message": converse_message(exchange.answer)},
        "stopReason": "tool_use" if exchange.answer.calls else "end_turn",
        "usage": {
            "inputTokens": usage.prompt - usage.cached - usage.written,
            "outputTokens": usage.output,
            "totalTokens": usage.prompt + usage.output,
            "cacheReadInputTokens": usage.cached,
            "cacheWriteInputTokens": usage.written,
        },
        "metrics": {"latencyMs": round((exchange.end - exchange.start) * 1000)},
    }


def converse_bodies(workload: Workload) -> Files:
    """Bare Converse requests as an application gives them to the client: `modelId` is a parameter of the call."""
    return [("converse.jsonl", lines({"modelId": model_id(e)} | converse_request(e) for e in workload.exchanges))]


# -- invocation logs ----------------------------------------------------------------------------------------------


def _record(exchange: Exchange, operation: str, request: Json, response: Json | None) -> Json:
    usage = exchange.usage
    given: Json = {"inputContentType": "application/json", "inputBodyJson": request}
    returned: Json = {}
    record: Json = {
        "schemaType": "ModelInvocationLog",
        "schemaVersion": "1.0",
        "timestamp": bodies.iso(int(exchange.start), digits=0),
        "accountId": ACCOUNT,
        "identity": {"arn": caller(exchange)},
        "region": REGION,
        "requestId": exchange.request_id,
        "operation": operation,
        "modelId": model_id(exchange),
        "input": given,
        "output": returned,
        "inferenceRegion": "eu-west-3" if exchange.replica.endswith("1") else REGION,
    }
    if response is None or usage is None:
        record["errorCode"] = "ModelTimeoutException"
        return record
    given |= {
        "inputTokenCount": usage.prompt - usage.cached - usage.written,
        "cacheReadInputTokenCount": usage.cached,
        "cacheWriteInputTokenCount": usage.written,
    }
    returned |= {
        "outputContentType": "application/json",
        "outputBodyJson": response,
        "outputTokenCount": usage.output,
    }
    return record


def _converse_record(exchange: Exchange) -> Json:
    record = _record(exchange, "Converse", converse_request(exchange), converse_response(exchange))
    return record | {"requestMetadata": {"tenant": exchange.tenant, "session": exchange.session}}


def _invoke_record(exchange: Exchange) -> Json:
    request = {k: v for k, v in bodies.anthropic_request(exchange).items() if k != "model"}
    request = {"anthropic_version": "bedrock-2023-05-31"} | request
    return _record(exchange, "InvokeModel", request, bodies.anthropic_response(exchange))


def converse_logs(workload: Workload) -> Files:
    """Logs of Converse calls as S3 delivers them: gzipped JSON lines, at least once."""
    name = f"AWSLogs/{ACCOUNT}/BedrockModelInvocationLogs/{REGION}/2026/03/09/08/20260309T080000000Z_5e0f1a2b.json.gz"
    return [(name, gzip.compress(lines(map(_converse_record, workload.delivered())), mtime=0))]


def invoke_logs(workload: Workload) -> Files:
    """Logs of InvokeModel calls as S3 delivers them."""
    name = f"AWSLogs/{ACCOUNT}/BedrockModelInvocationLogs/{REGION}/2026/03/09/08/20260309T080000000Z_6c1d2e3f.json.gz"
    return [(name, gzip.compress(lines(map(_invoke_record, workload.delivered())), mtime=0))]


def cloudwatch_events(workload: Workload) -> Files:
    """The same logs out of CloudWatch (`filter-log-events`): each record is a string in an event."""

    def event(exchange: Exchange) -> dict[str, Any]:
        at = round(exchange.end * 1000)
        return {
            "logStreamName": "aws/bedrock/modelinvocations",
            "timestamp": at,
            "message": json.dumps(_converse_record(exchange), ensure_ascii=False),
            "ingestionTime": at + 1_500,
            "eventId": str(int(exchange.hex("event", 12), 16)),
        }

    events = [event(exchange) for exchange in workload.delivered()]
    return [("events.json", json.dumps({"events": events, "searchedLogStreams": []}, ensure_ascii=False).encode())]
