"""LangSmith: exported runs of type `llm` (`Run` of langsmith 0.4 and later, read 2026-11-30)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import Usage, counted, from_json
from prefixwise.corpus.call import Call, Found, RecordDecoder, Unread, fate
from prefixwise.corpus.dialect import name_in
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, body_of, encoded, given, name_of


class _Extra(msgspec.Struct):
    metadata: Any = None
    invocation_params: RawField = UNSET


class _Run(msgspec.Struct):
    id: Any = None
    run_type: Any = None
    start_time: Any = None
    end_time: Any = None
    first_token_time: Any = None
    error: Any = None
    prompt_tokens: Any = None
    completion_tokens: Any = None
    prompt_token_details: Any = None
    inputs: RawField = UNSET
    outputs: RawField = UNSET
    extra: _Extra | None = None
    runs: list[Raw] | None = None


class _Inputs(msgspec.Struct):
    messages: list[Raw] | None = None
    prompts: list[str] | None = None
    tools: RawField = UNSET


class _Parameters(msgspec.Struct):
    tools: RawField = UNSET
    model: Any = None
    model_name: Any = None


_decode = msgspec.json.Decoder(_Run).decode
_inputs = msgspec.json.Decoder(_Inputs).decode
_parameters = msgspec.json.Decoder(_Parameters).decode
_TENANTS = ("tenant", "tenant_id", "customer_id", "organization_id", "user_id")
_SESSIONS = ("session_id", "conversation_id", "thread_id")  # the keys by which LangSmith groups threads


class LangSmith(RecordDecoder):
    """Decodes runs."""

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the calls of one record: a run, or a page of runs."""
        run = _decode(record)
        for raw in run.runs or ():
            yield from self.calls(bytes(raw))
        if run.runs is None and run.run_type is None:
            yield Unread("a run has no run_type")
        if run.runs is None and run.run_type == "llm":
            outputs = given(run.outputs)
            yield (fate(run.error) if run.error and not outputs else None) or _call(run, outputs, record)


def _call(run: _Run, outputs: bytes, record: bytes) -> Call:
    extra = run.extra or _Extra()
    settings = given(extra.invocation_params)
    parameters = _parameters(settings) if settings[:1] == b"{" else _Parameters()
    start = epoch_seconds(run.start_time)
    return Call(
        _body(given(run.inputs), given(parameters.tools)),
        model=name_in(extra.metadata, "ls_model_name") or name_of(parameters.model, parameters.model_name),
        start=start,
        end=epoch_seconds(run.end_time),
        ttft=epoch_seconds(run.first_token_time) - start,
        tenant=name_in(extra.metadata, *_TENANTS),
        session=name_in(extra.metadata, *_SESSIONS),
        usage=_usage(run, outputs),
        response=outputs,
        has_reply=bool(outputs),
        id=name_of(run.id),
        marks=Mark.ABORTED if run.error else 0,
        record=record,
    )


def _body(inputs: bytes, tools: bytes) -> bytes:
    """Return the body: LangChain writes a batch of message lists or of texts, of which the first is the call."""
    found = _inputs(inputs)
    if found.messages:
        first = bytes(found.messages[0])
        nested = first[:1] == b"["
        messages = first if nested else b"[%s]" % b",".join(map(bytes, found.messages))
        return body_of(messages, given(found.tools) or tools)
    if found.prompts:
        return body_of(encoded(found.prompts[0]))
    return body_of(inputs, tools)


def _usage(run: _Run, outputs: bytes) -> Usage | None:
    """Return the run's own counts; their details name what was read from and written to a cache."""
    meta = _find_usage(msgspec.json.decode(outputs)) if outputs[:1] == b"{" else None
    if isinstance(meta, dict) and isinstance(details := meta.get("input_token_details"), dict):
        read, written = details.get("cache_read"), details.get("cache_creation")
        return counted(meta.get("input_tokens"), read, written, meta.get("output_tokens"))
    if isinstance(meta, dict) and (usage := from_json(encoded(meta))) is not None:
        return usage
    details = run.prompt_token_details if isinstance(run.prompt_token_details, dict) else {}
    read, written = details.get("cache_read"), details.get("cache_creation")
    found = counted(run.prompt_tokens, read, written, run.completion_tokens)
    return found if found and found.prompt_tokens else None  # a call without usage has zeros


def _find_usage(outputs: Any) -> Any:
    """Return the usage that an answer carries: of the message of its first generation, or beside it."""
    if not isinstance(outputs, dict):
        return None
    generations = outputs.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    message = generations.get("message") if isinstance(generations, dict) else None
    kwargs = message.get("kwargs", message) if isinstance(message, dict) else {}
    return kwargs.get("usage_metadata") or outputs.get("usage_metadata") or outputs.get("usage")


add_export(
    "langsmith",
    (
        frozenset({"run_type", "inputs", "start_time", "trace_id"}),
        frozenset({"run_type", "inputs", "start_time", "dotted_order"}),
        frozenset({"runs/*/run_type", "runs/*/inputs", "runs/*/start_time"}),
    ),
    LangSmith,
)
