"""OpenTelemetry spans as OTLP/JSON: documents, and lines of the collector's file exporter.

Shape: opentelemetry-proto 1.x `ExportTraceServiceRequest` in its JSON encoding. What the spans say of LLM calls is
read by the conventions (`conventions/`); spans that are no call to a model are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType

from prefixwise.core.request import Mark
from prefixwise.core.times import epoch_seconds
from prefixwise.corpus.call import Answer, Call, Found, Unread, fate
from prefixwise.corpus.conventions import genai
from prefixwise.corpus.dialect import SHAPE_ERRORS
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.span import CONVENTIONS, Event, Span, Spoken, named, session_of, tenant_of

_ERROR = (2, "STATUS_CODE_ERROR")


class _Value(msgspec.Struct, frozen=True, gc=False):
    stringValue: str | UnsetType = UNSET  # noqa: N815 - the wire's own names
    intValue: Any = None  # noqa: N815
    doubleValue: Any = None  # noqa: N815
    boolValue: Any = None  # noqa: N815
    arrayValue: _Values | None = None  # noqa: N815
    kvlistValue: _Pairs | None = None  # noqa: N815

    def python(self) -> Any:
        """Return the value; 64-bit integers are strings on the wire."""
        if self.stringValue is not UNSET:
            return self.stringValue
        if self.intValue is not None:
            return int(self.intValue)
        if self.arrayValue is not None:
            return [value.python() for value in self.arrayValue.values]
        if self.kvlistValue is not None:
            return _mapping(self.kvlistValue.values)
        return self.doubleValue if self.boolValue is None else self.boolValue


class _Values(msgspec.Struct, gc=False):
    values: list[_Value] = []


class _Pair(msgspec.Struct, frozen=True, gc=False):
    key: str
    value: _Value | None = None


class _Pairs(msgspec.Struct, gc=False):
    values: list[_Pair] = []


class _Resource(msgspec.Struct, frozen=True):
    attributes: list[_Pair] = []


class _Event(msgspec.Struct, gc=False):
    name: str = ""
    timeUnixNano: Any = None  # noqa: N815
    attributes: list[_Pair] = []


class _Status(msgspec.Struct, frozen=True, gc=False):
    code: Any = None
    message: str = ""


class _Span(msgspec.Struct, gc=False):
    spanId: str = ""  # noqa: N815
    name: str = ""
    startTimeUnixNano: Any = None  # noqa: N815
    endTimeUnixNano: Any = None  # noqa: N815
    attributes: list[_Pair] | None = None
    events: list[_Event] | None = None
    status: _Status | None = None


class _ScopeSpans(msgspec.Struct):
    spans: list[_Span] = []


class _RawSpans(msgspec.Struct):
    spans: list[Raw] = []


class _ResourceSpans(msgspec.Struct):
    resource: _Resource = _Resource()
    scopeSpans: list[_ScopeSpans] = []  # noqa: N815
    instrumentationLibrarySpans: list[_ScopeSpans] = []  # noqa: N815 - before OTLP 0.15


class _ResourceRawSpans(msgspec.Struct):
    """The same where a span is not of its shape: each is read by itself then."""

    resource: _Resource = _Resource()
    scopeSpans: list[_RawSpans] = []  # noqa: N815
    instrumentationLibrarySpans: list[_RawSpans] = []  # noqa: N815


class _Record(msgspec.Struct, gc=False):
    """A log record: the GenAI conventions before 1.37 write messages as such, beside the spans."""

    spanId: str = ""  # noqa: N815
    eventName: str = ""  # noqa: N815
    timeUnixNano: Any = None  # noqa: N815
    body: _Value = _Value()
    attributes: list[_Pair] = []


class _ScopeLogs(msgspec.Struct):
    logRecords: list[_Record] = []  # noqa: N815


class _ResourceLogs(msgspec.Struct):
    resource: _Resource = _Resource()
    scopeLogs: list[_ScopeLogs] = []  # noqa: N815


class _Export(msgspec.Struct):
    resourceSpans: list[_ResourceSpans] = []  # noqa: N815
    resourceLogs: list[_ResourceLogs] = []  # noqa: N815


class _RawExport(msgspec.Struct):
    resourceSpans: list[_ResourceRawSpans] = []  # noqa: N815
    resourceLogs: list[_ResourceLogs] = []  # noqa: N815


_decode = msgspec.json.Decoder(_Export).decode
_decode_raw = msgspec.json.Decoder(_RawExport).decode
_span_of = msgspec.json.Decoder(_Span).decode
_OURS = ("gen_ai.", "llm.", "ai.")
_NO_CALLS = frozenset({"invoke_agent", "create_agent", "execute_tool", "embeddings"})


class OpenTelemetry:
    """Decodes exports of spans and of log records, which are joined by the id of the span."""

    def __init__(self) -> None:
        self._conventions = sorted(CONVENTIONS, key=lambda convention: convention.rank)
        self._events: dict[str, list[Event]] = {}
        self._owners: dict[str, dict[str, Any]] = {}

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the calls among the spans of one export."""
        export: _Export | _RawExport
        try:
            export = _decode(record)
        except msgspec.ValidationError:
            export = _decode_raw(record)
        if not export.resourceSpans and not export.resourceLogs:
            yield Unread("no export of spans or log records (resourceSpans, resourceLogs)")
        for resource in export.resourceSpans:
            owner = _mapping(resource.resource.attributes)
            for scope in (*resource.scopeSpans, *resource.instrumentationLibrarySpans):
                for wire in scope.spans:
                    if isinstance(wire, _Span) and not _speaks_of_models(wire):
                        continue
                    try:
                        found = self._call(_span(wire if isinstance(wire, _Span) else _span_of(wire), owner))
                    except SHAPE_ERRORS as problem:
                        found = Unread(f"a span cannot be read: {problem}")
                    if found is not None:
                        yield found
        for logs in export.resourceLogs:
            owner = _mapping(logs.resource.attributes)
            for log_record in (one for scope in logs.scopeLogs for one in scope.logRecords):
                self._keep(log_record, owner)

    def _call(self, span: Span) -> Found | None:
        if span.attributes.get("gen_ai.operation.name") in _NO_CALLS:
            return None
        for convention in self._conventions:
            spoken = convention.read(span)
            if spoken is not None:
                self._conventions.remove(convention)  # the next span is most likely of the same convention
                self._conventions.insert(0, convention)
                failure = span.attributes.get("error.type"), span.message
                return (fate(*failure) if span.failed and not spoken.response else None) or _made(span, spoken)
        return _answered(span) if genai.model_of(span.attributes) else None

    def _keep(self, wire: _Record, owner: dict[str, Any]) -> None:
        attributes = _mapping(wire.attributes)
        name = wire.eventName or str(attributes.get("event.name", ""))
        if wire.spanId and name.startswith("gen_ai."):
            said = wire.body.python()
            event = Event(name, _seconds(wire.timeUnixNano), said if isinstance(said, dict) else attributes)
            self._events.setdefault(wire.spanId, []).append(event)
            self._owners.setdefault(wire.spanId, owner)

    def rest(self) -> Iterator[Found]:
        """Return the calls whose messages are log records."""
        for name, events in self._events.items():
            body, answer = genai.spoken_in(events)
            if body:
                yield Call(
                    body,
                    "openai-chat",
                    start=events[0].time,
                    replica=named(self._owners[name], "server.address"),
                    response=answer,
                    has_reply=bool(answer),
                    id=name,
                )


def _speaks_of_models(wire: _Span) -> bool:
    """Say whether a span has anything that a convention could read; most spans of a program have not."""
    if any(pair.key.startswith(_OURS) for pair in wire.attributes or ()):
        return True
    return any(event.name.startswith(_OURS) for event in wire.events or ())


def _answered(span: Span) -> Answer:
    """Return what a span without messages says of a call whose messages are log records."""
    return Answer(
        span.id,
        span.start,
        span.end,
        tenant=tenant_of(span),
        session=session_of(span),
        replica=named(span.attributes, "server.address"),
        usage=genai.usage_of(span.attributes),
        marks=Mark.ABORTED if span.failed else 0,
    )


def _made(span: Span, spoken: Spoken) -> Call:
    return Call(
        spoken.body,
        spoken.api,
        spoken.model,
        span.start,
        span.end,
        spoken.ttft,
        spoken.tenant,
        spoken.session,
        spoken.replica,
        spoken.usage,
        spoken.response,
        bool(spoken.response),
        span.id,
        Mark.ABORTED if span.failed else 0,
    )


def _span(wire: _Span, resource: dict[str, Any]) -> Span:
    return Span(
        wire.spanId,
        wire.name,
        _seconds(wire.startTimeUnixNano),
        _seconds(wire.endTimeUnixNano),
        _mapping(wire.attributes),
        tuple(
            Event(event.name, _seconds(event.timeUnixNano), _mapping(event.attributes)) for event in wire.events or ()
        ),
        resource,
        wire.status is not None and wire.status.code in _ERROR,
        "" if wire.status is None else wire.status.message,
    )


def _mapping(pairs: list[_Pair] | None) -> dict[str, Any]:
    return {  # most are text; a call for each would double the cost
        pair.key: text if (text := pair.value.stringValue) is not UNSET else pair.value.python()
        for pair in pairs or ()
        if pair.value is not None
    }


def _seconds(nanoseconds: Any) -> float:
    try:
        return int(nanoseconds) / 1e9
    except (TypeError, ValueError):
        return epoch_seconds(None)


add_export(
    "otel",
    (
        frozenset({"resourceSpans/*/scopeSpans/*/spans"}),
        frozenset({"resourceSpans/*/instrumentationLibrarySpans/*/spans"}),
        frozenset({"resourceLogs/*/scopeLogs/*/logRecords"}),
    ),
    OpenTelemetry,
)
