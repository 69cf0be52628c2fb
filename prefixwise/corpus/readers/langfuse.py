"""Langfuse: generations out of API answers, batch exports and traces.

Shapes: observations and traces of the public API (camel case) and of the exports (snake case), Langfuse 3,
read 2026-11-30. Its usage details are disjoint: `input` does not hold what was read from or written to a cache.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw

from prefixwise.core.request import Mark
from prefixwise.core.times import epoch_seconds
from prefixwise.core.usage import Usage, counted
from prefixwise.corpus.call import FAILED, Answer, Call, Found, RecordDecoder, fate
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.raw_json import RawField, body_of, given, name_of, unpacked, unpacked_answer

_READ = ("cache_read_input_tokens", "input_cached_tokens", "input_cache_read", "cached_tokens")
_WRITTEN = ("cache_creation_input_tokens", "input_cache_creation", "cache_write_tokens")
_INPUT = ("input", "input_tokens", "prompt_tokens", "promptTokens")
_OUTPUT = ("output", "output_tokens", "completion_tokens", "completionTokens")


class _Observation(msgspec.Struct):
    id: Any = None
    type: Any = None
    trace_id: Any = None
    traceId: Any = None  # noqa: N815 - the wire's own names
    user_id: Any = None
    userId: Any = None  # noqa: N815
    session_id: Any = None
    sessionId: Any = None  # noqa: N815
    start_time: Any = None
    startTime: Any = None  # noqa: N815
    end_time: Any = None
    endTime: Any = None  # noqa: N815
    completion_start_time: Any = None
    completionStartTime: Any = None  # noqa: N815
    model: Any = None
    provided_model_name: Any = None
    providedModelName: Any = None  # noqa: N815
    level: Any = None
    status_message: Any = None
    statusMessage: Any = None  # noqa: N815
    input: RawField = UNSET
    output: RawField = UNSET
    usage: RawField = UNSET
    usage_details: RawField = UNSET
    usageDetails: RawField = UNSET  # noqa: N815
    observations: list[Raw] | None = None
    data: list[Raw] | None = None
    traces: list[Raw] | None = None


_decode = msgspec.json.Decoder(_Observation).decode
_counts = msgspec.json.Decoder(dict[str, Any]).decode


class Langfuse(RecordDecoder):
    """Decodes observations, also inside traces and pages; remembers whose traces they were."""

    def __init__(self) -> None:
        self._traces: dict[str, tuple[str, str]] = {}

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the generations of one record."""
        yield from self._calls(record, "", "")

    def _calls(self, record: bytes, tenant: str, session: str) -> Iterator[Found]:
        one = _decode(record)
        tenant = name_of(one.userId, one.user_id) or tenant
        session = name_of(one.sessionId, one.session_id) or session
        for trace in one.traces or ():
            found = _decode(trace)
            self._traces[name_of(found.id)] = (
                name_of(found.userId, found.user_id), name_of(found.sessionId, found.session_id)
            )  # fmt: skip
        inner = [*(one.observations or ()), *(one.data or ())]
        if one.observations and bytes(one.observations[0])[:1] == b'"':  # the traces of the API name theirs by id
            for name in one.observations:
                yield Answer(msgspec.json.decode(name), tenant=tenant, session=session)
            return
        for raw in inner:
            yield from self._calls(bytes(raw), tenant, session)
        if one.traces is None and not inner and _is_generation(one):
            of_trace = self._traces.get(name_of(one.traceId, one.trace_id), ("", ""))
            yield _call(one, tenant or of_trace[0], session or of_trace[1], record)


def _is_generation(one: _Observation) -> bool:
    """Say whether an observation is a call: traces have an input too, but no model."""
    if one.input is UNSET:
        return False
    return one.type == "GENERATION" or (one.type is None and bool(name_of(one.model, one.providedModelName)))


def _call(one: _Observation, tenant: str, session: str, record: bytes) -> Found:
    output = unpacked_answer(one.output)
    gave_up = one.level == "ERROR" and not output
    if gave_up and fate(one.statusMessage, one.status_message):
        return FAILED
    start = epoch_seconds(one.startTime or one.start_time)
    return Call(
        body_of(given(one.input)),
        model=name_of(one.model, one.providedModelName, one.provided_model_name),
        start=start,
        end=epoch_seconds(one.endTime or one.end_time),
        ttft=epoch_seconds(one.completionStartTime or one.completion_start_time) - start,
        tenant=tenant,
        session=session,
        usage=_usage(unpacked(one.usageDetails) or unpacked(one.usage_details) or unpacked(one.usage)),
        response=output,
        has_reply=bool(output),
        id=name_of(one.id),
        marks=Mark.ABORTED if gave_up else 0,
        record=record,
    )


def _usage(details: bytes) -> Usage | None:
    if details[:1] != b"{":
        return None
    counts = {key: value for key, value in _counts(details).items() if type(value) is int and value >= 0}

    def first(names: tuple[str, ...]) -> int | None:
        return next((counts[name] for name in names if name in counts), None)

    rest, read, written = first(_INPUT), first(_READ), first(_WRITTEN)
    if rest is None or not any(counts.values()):  # a call without usage is written as zeros
        return None
    return counted(rest + (read or 0) + (written or 0), read, written, first(_OUTPUT))


_PLACES = ("", "data/*/", "observations/*/", "data/*/observations/*/")
_OWN = (
    *("modelParameters", "usageDetails", "parentObservationId", "level"),
    *("model_parameters", "usage_details", "parent_observation_id"),
)
_TIMES = (("startTime", "traceId"), ("start_time", "trace_id"))
_SIGNS = tuple(
    frozenset({*(place + name for name in ("type", time, "input", own)), *(place + name for name in trace)})
    for place in _PLACES
    for time, trace in (
        ("startTime", ("traceId",)),
        ("start_time", ("trace_id",)),
        ("startTime", ()),
        ("start_time", ()),
    )
    if trace or place.endswith("observations/*/")  # inside a trace an observation need not name it
    for own in _OWN
)
_TRACES = tuple(
    frozenset(f"data/*/{name}" for name in ("userId", "sessionId", "timestamp", own))
    for own in ("observations", "tags")
)

add_export("langfuse", (*_SIGNS, *_TRACES), Langfuse)
