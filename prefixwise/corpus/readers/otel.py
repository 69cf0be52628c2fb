"""OpenTelemetry spans as OTLP/JSON: documents, and lines of the collector's file exporter.

Shape: opentelemetry-proto 1.x `ExportTraceServiceRequest` in its JSON encoding. What the spans say of LLM calls is
read by the conventions (`conventions/`); spans that are no call to a model are passed over.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from prefixwise.core.request import Mark
from prefixwise.core.times import epoch_seconds
from prefixwise.corpus.call import FAILED, Call, Found, RecordDecoder
from prefixwise.corpus.export_log import add_export
from prefixwise.corpus.span import CONVENTIONS, Event, Span, Spoken

_ERROR = (2, "STATUS_CODE_ERROR")


class _Value(msgspec.Struct, frozen=True):
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


class _Values(msgspec.Struct):
    values: list[_Value] = []


class _Pair(msgspec.Struct, frozen=True):
    key: str
    value: _Value = _Value()


class _Pairs(msgspec.Struct):
    values: list[_Pair] = []


class _Resource(msgspec.Struct, frozen=True):
    attributes: list[_Pair] = []


class _Event(msgspec.Struct):
    name: str = ""
    timeUnixNano: Any = None  # noqa: N815
    attributes: list[_Pair] = []


class _Status(msgspec.Struct, frozen=True):
    code: Any = None


class _Span(msgspec.Struct):
    spanId: str = ""  # noqa: N815
    name: str = ""
    startTimeUnixNano: Any = None  # noqa: N815
    endTimeUnixNano: Any = None  # noqa: N815
    attributes: list[_Pair] = []
    events: list[_Event] = []
    status: _Status = _Status()


class _ScopeSpans(msgspec.Struct):
    spans: list[_Span] = []


class _ResourceSpans(msgspec.Struct):
    resource: _Resource = _Resource()
    scopeSpans: list[_ScopeSpans] = []  # noqa: N815
    instrumentationLibrarySpans: list[_ScopeSpans] = []  # noqa: N815 - before OTLP 0.15


class _Export(msgspec.Struct):
    resourceSpans: list[_ResourceSpans] = []  # noqa: N815


_decode = msgspec.json.Decoder(_Export).decode


class OpenTelemetry(RecordDecoder):
    """Decodes exports of spans."""

    def __init__(self) -> None:
        self._conventions = sorted(CONVENTIONS, key=lambda convention: convention.rank)

    def calls(self, record: bytes) -> Iterator[Found]:
        """Return the calls among the spans of one export."""
        for resource in _decode(record).resourceSpans:
            owner = _mapping(resource.resource.attributes)
            for scope in (*resource.scopeSpans, *resource.instrumentationLibrarySpans):
                for wire in scope.spans:
                    found = self._call(_span(wire, owner))
                    if found is not None:
                        yield found

    def _call(self, span: Span) -> Found | None:
        for convention in self._conventions:
            spoken = convention.read(span)
            if spoken is not None:
                self._conventions.remove(convention)  # the next span is most likely of the same convention
                self._conventions.insert(0, convention)
                if span.failed and not spoken.response and spoken.usage is None:
                    return FAILED
                return _made(span, spoken)
        return None


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
        tuple(Event(event.name, _seconds(event.timeUnixNano), _mapping(event.attributes)) for event in wire.events),
        resource,
        wire.status.code in _ERROR,
    )


def _mapping(pairs: list[_Pair]) -> dict[str, Any]:
    return {pair.key: pair.value.python() for pair in pairs}


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
    ),
    OpenTelemetry,
)
