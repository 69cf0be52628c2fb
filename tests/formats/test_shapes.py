"""What the writers write, against the vendors' own types."""

from __future__ import annotations

import base64
import gzip
import json
from dataclasses import replace
from typing import Any

import botocore.loaders
import botocore.model
import botocore.validate
import pytest
from anthropic.types import Message, MessageParam, ToolParam
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming
from anthropic.types.messages import MessageBatchIndividualResponse
from anthropic.types.messages.batch_create_params import BatchCreateParams
from anthropic.types.messages.batch_create_params import Request as BatchRequest
from google.genai import types as gemini
from google.protobuf import json_format
from openai.types.chat import ChatCompletion, ChatCompletionMessageParam, ChatCompletionToolUnionParam
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses import Response, ResponseInputItemParam
from openai.types.responses import ToolParam as ResponseToolParam
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from formats import bodies, strict
from formats.catalogue import FORMATS
from formats.workload import ANTHROPIC_MODEL, GEMINI_MODEL, build
from formats.writers import batches, bedrock, claude_code, codex, otel, otel_vendors, plain, vercel

OPENAI = build()
ANTHROPIC = build(ANTHROPIC_MODEL)
GEMINI = build(GEMINI_MODEL)


def records(files: plain.Files, ending: str = ".jsonl") -> list[Any]:
    return [json.loads(line) for name, data in files if name.endswith(ending) for line in data.splitlines()]


# -- APIs -----------------------------------------------------------------------------------------------------------


def test_chat_completions_are_openais() -> None:
    for record in records(plain.openai_chat(OPENAI)):
        check_chat_request(record["request"])
        if record["response"]:
            strict.model(ChatCompletion, record["response"])


def check_chat_request(body: dict[str, Any]) -> None:
    strict.typed_dict(CompletionCreateParamsNonStreaming, body)
    for message in body["messages"]:
        strict.typed_dict(ChatCompletionMessageParam, message)
    for tool in body.get("tools", []):
        strict.typed_dict(ChatCompletionToolUnionParam, tool)


def test_responses_are_openais() -> None:
    found = records(plain.openai_responses(OPENAI))
    assert sum(record["response"] is not None for record in found) == len(OPENAI.answered)
    for record in found:
        body = record["request"]
        strict.typed_dict(ResponseCreateParamsNonStreaming, body)
        for item in body["input"]:
            strict.typed_dict(ResponseInputItemParam, item)
        for tool in body.get("tools", []):
            strict.typed_dict(ResponseToolParam, tool)
        if record["response"]:
            strict.model(Response, record["response"])


def test_messages_are_anthropics() -> None:
    for record in records(plain.anthropic(ANTHROPIC)):
        check_anthropic_request(record["request"])
        if record["response"]:
            strict.model(Message, record["response"])


def check_anthropic_request(body: dict[str, Any]) -> None:
    strict.typed_dict(MessageCreateParamsNonStreaming, body)
    for message in body["messages"]:
        strict.typed_dict(MessageParam, message)
    for tool in body.get("tools", []):
        strict.typed_dict(ToolParam, tool)


def test_gemini_bodies_are_googles() -> None:
    for record in records(plain.gemini(GEMINI)):
        body = record["request"]
        assert set(body) <= {"contents", "systemInstruction", "tools", "generationConfig"}
        for content in (*body["contents"], body["systemInstruction"]):
            gemini.Content.model_validate(content)
        for tool in body.get("tools", []):
            gemini.Tool.model_validate(tool)
        gemini.GenerationConfig.model_validate(body["generationConfig"])
        if record["response"]:
            gemini.GenerateContentResponse.model_validate(record["response"])


# -- Bedrock --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def converse() -> botocore.model.OperationModel:
    described = botocore.loaders.Loader().load_service_model("bedrock-runtime", "service-2")
    return botocore.model.ServiceModel(described).operation_model("Converse")


def test_converse_bodies_are_amazons(converse: botocore.model.OperationModel) -> None:
    check = botocore.validate.ParamValidator()
    for body in records(bedrock.converse_bodies(ANTHROPIC)):
        assert not check.validate(body, converse.input_shape).has_errors()
    for exchange in ANTHROPIC.answered:
        answer = bedrock.converse_response(exchange)
        assert not check.validate(answer, converse.output_shape).has_errors()


def test_invocation_logs_hold_the_bodies_of_their_operation(converse: botocore.model.OperationModel) -> None:
    check = botocore.validate.ParamValidator()
    for writer in (bedrock.converse_logs, bedrock.invoke_logs):
        for line in gzip.decompress(writer(ANTHROPIC)[0][1]).splitlines():
            record = json.loads(line)
            given, returned = record["input"]["inputBodyJson"], record["output"].get("outputBodyJson")
            if record["operation"] == "Converse":
                body = {"modelId": record["modelId"]} | given
                assert not check.validate(body, converse.input_shape).has_errors()
                assert returned is None or not check.validate(returned, converse.output_shape).has_errors()
            else:
                assert given.pop("anthropic_version") == "bedrock-2023-05-31"
                check_anthropic_request({"model": record["modelId"]} | given)
                assert returned is None or strict.model(Message, returned)


# -- batches and transcripts ----------------------------------------------------------------------------------------


def test_openai_batches_hold_chat_completions() -> None:
    requests, results, errors = batches.openai(OPENAI)
    asked = records([requests])
    assert all(line["url"] == "/v1/chat/completions" and line["method"] == "POST" for line in asked)
    for line in asked:
        check_chat_request(line["body"])
    answered = records([results])
    for line in answered:
        strict.model(ChatCompletion, line["response"]["body"])
    assert {line["custom_id"] for line in answered + records([errors])} == {line["custom_id"] for line in asked}


def test_anthropic_batches_are_anthropics() -> None:
    (_, requests), results = batches.anthropic(ANTHROPIC)
    strict.typed_dict(BatchCreateParams, json.loads(requests))
    for request in json.loads(requests)["requests"]:
        strict.typed_dict(BatchRequest, request)
        check_anthropic_request(request["params"])
    for line in records([results]):
        strict.model(MessageBatchIndividualResponse, line)


@pytest.mark.parametrize("writer", [claude_code.transcripts, claude_code.transcripts_apart])
def test_transcripts_hold_anthropics_messages(writer: Any) -> None:
    lines = records(writer(ANTHROPIC))
    for line in lines:
        if line["type"] == "assistant":
            strict.model(Message, line["message"])
        if line["type"] == "user":
            strict.typed_dict(MessageParam, line["message"])
    uuids = {line["uuid"] for line in lines if "uuid" in line}
    assert all(line["parentUuid"] in uuids for line in lines if line.get("parentUuid"))


def test_rollouts_hold_openais_items() -> None:
    items = [line["payload"] for line in records(codex.rollouts(OPENAI)) if line["type"] == "response_item"]
    assert len(items) > len(OPENAI.answered)  # an answer and at least one question a call
    for item in items:
        strict.typed_dict(ResponseInputItemParam, {"id": "x", "status": "completed"} | item)


# -- OTLP -----------------------------------------------------------------------------------------------------------


def otlp_documents(files: plain.Files) -> list[tuple[str, Any]]:
    found = []
    for name, data in files:
        parts = data.splitlines() if name.endswith(".jsonl") else [data]
        found += [(name, json.loads(part)) for part in parts]
    return found


def with_base64_ids(value: Any) -> Any:
    """Return OTLP's JSON as that of protocol buffers, which has bytes in base64."""
    if isinstance(value, list):
        return [with_base64_ids(item) for item in value]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {
        key: base64.b64encode(bytes.fromhex(item)).decode() if key in ids else with_base64_ids(item)
        for key, item in value.items()
    }


SPANS = (
    otel.current,
    otel.current_lines,
    otel.structured,
    otel.content_events,
    otel.span_events,
    otel.log_events,
    otel_vendors.openllmetry,
    otel_vendors.openinference,
    vercel.spans,
)


@pytest.mark.parametrize("writer", SPANS)
def test_spans_are_otlp(writer: Any) -> None:
    documents = otlp_documents(writer(OPENAI))
    assert documents
    for name, document in documents:
        kind = ExportLogsServiceRequest if name.startswith("logs") else ExportTraceServiceRequest
        parsed = json_format.ParseDict(with_base64_ids(document), kind())
        assert parsed.ByteSize() > 1000


# -- larger workloads -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_any_number_of_requests_can_be_written(name: str) -> None:
    form = FORMATS[name]
    small, large = build(form.model), build(form.model, requests=61)
    assert len(form.holds(large)) > len(form.holds(small))
    assert len({exchange.request_id for exchange in large.exchanges}) == 61
    written = sum(len(data) for _, data in form.write(large))
    assert written > sum(len(data) for _, data in form.write(small))


def test_writing_is_repeatable() -> None:
    for form in FORMATS.values():
        assert form.write(build(form.model)) == form.write(build(form.model))


def test_bodies_without_a_system_prompt_have_no_place_for_one() -> None:
    exchange = replace(OPENAI.exchanges[0], system="", tools=())
    assert [message["role"] for message in bodies.chat_messages(exchange)] == ["user"]
    assert "system" not in bodies.anthropic_request(exchange)
    assert "instructions" not in bodies.responses_request(exchange)
