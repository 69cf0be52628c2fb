"""OTLP as JSON, as the protocol's document says it: times are strings of nanoseconds, ids are hexadecimal.

Shape: opentelemetry-proto 1.45 (`ExportTraceServiceRequest`, `ExportLogsServiceRequest`), against whose messages
`test_shapes.py` parses what is written here. The file exporter writes one such request a line.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from formats.bodies import Json
from formats.workload import Exchange

INTERNAL, SERVER, CLIENT = 1, 2, 3


def nanoseconds(seconds: float) -> str:
    """Return a time as OTLP writes it."""
    return str(round(seconds * 1000) * 1_000_000)


def value(of: Any) -> Json:
    """Return an `AnyValue`; 64-bit integers are strings."""
    if isinstance(of, bool):
        return {"boolValue": of}
    if isinstance(of, int):
        return {"intValue": str(of)}
    if isinstance(of, float):
        return {"doubleValue": of}
    if isinstance(of, str):
        return {"stringValue": of}
    if isinstance(of, dict):
        return {"kvlistValue": {"values": attributes(of)}}
    return {"arrayValue": {"values": [value(item) for item in of]}}


def attributes(of: dict[str, Any]) -> list[Json]:
    """Return attributes; those that are None are not set."""
    return [{"key": key, "value": value(item)} for key, item in of.items() if item is not None]


def trace_id(exchange: Exchange) -> str:
    """Return the trace of a request."""
    return exchange.hex("trace", 32)


def span_id(exchange: Exchange, what: str = "call") -> str:
    """Return the id of one span of a request."""
    return exchange.hex(f"span {what}", 16)


def event(name: str, at: float, of: dict[str, Any]) -> Json:
    """Return an event of a span."""
    return {"timeUnixNano": nanoseconds(at), "name": name, "attributes": attributes(of), "droppedAttributesCount": 0}


def span(
    exchange: Exchange,
    name: str,
    of: dict[str, Any],
    *,
    what: str = "call",
    kind: int = CLIENT,
    times: tuple[float, float] | None = None,
    parent: str = "",
    events: Iterable[Json] = (),
) -> Json:
    """Return a span; one of a call that was given up has the status of an error."""
    start, end = times or (exchange.start, exchange.end)
    failed = exchange.answer is None
    return {
        "traceId": trace_id(exchange),
        "spanId": span_id(exchange, what),
        "parentSpanId": parent,
        "flags": 257,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": nanoseconds(start),
        "endTimeUnixNano": nanoseconds(end),
        "attributes": attributes(of | ({"error.type": "cancelled"} if failed else {})),
        "droppedAttributesCount": 0,
        "events": list(events),
        "droppedEventsCount": 0,
        "links": [],
        "droppedLinksCount": 0,
        "status": {"code": 2, "message": "the client closed the connection"} if failed else {},
    }


def around(exchange: Exchange) -> list[Json]:
    """Return the spans that stand around a call and are none: the server's, and those of tools."""
    route = {"http.request.method": "POST", "http.route": "/answer", "http.response.status_code": 200}
    times = (exchange.start - 0.125, exchange.end + 0.125)
    found = [span(exchange, "POST /answer", route, what="server", kind=SERVER, times=times)]
    for call in exchange.answer.calls if exchange.answer else ():
        tool = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": call.name, "gen_ai.tool.call.id": call.id}
        found.append(
            span(
                exchange, f"execute_tool {call.name}", tool | {"gen_ai.tool.type": "function"}, what=call.id,
                kind=INTERNAL, times=(exchange.end + 0.01, exchange.end + 0.1), parent=span_id(exchange, "server"),
            )
        )  # fmt: skip
    return found


def resource(replica: str) -> Json:
    """Return the resource that spans come from: an instance of the application."""
    return {
        "attributes": attributes({
            "service.name": "dispatcher",
            "service.version": "3.1.0",
            "service.instance.id": replica,
            "telemetry.sdk.language": "python",
            "telemetry.sdk.name": "opentelemetry",
            "telemetry.sdk.version": "1.45.2",
        }),
        "droppedAttributesCount": 0,
    }  # fmt: skip


def traces(spans: Iterable[tuple[Exchange, Json]], scope: str, version: str, schema: str = "") -> Json:
    """Return one export request: the spans of each instance."""
    by_replica: dict[str, list[Json]] = {}
    for exchange, one in spans:
        by_replica.setdefault(exchange.replica, []).append(one)
    return {
        "resourceSpans": [
            {
                "resource": resource(replica),
                "scopeSpans": [{"scope": {"name": scope, "version": version}, "spans": found, "schemaUrl": schema}],
                "schemaUrl": schema,
            }
            for replica, found in by_replica.items()
        ]
    }


def logs(records: Iterable[tuple[Exchange, Json]], scope: str, version: str) -> Json:
    """Return one export request of log records."""
    by_replica: dict[str, list[Json]] = {}
    for exchange, one in records:
        by_replica.setdefault(exchange.replica, []).append(one)
    return {
        "resourceLogs": [
            {
                "resource": resource(replica),
                "scopeLogs": [{"scope": {"name": scope, "version": version}, "logRecords": found}],
            }
            for replica, found in by_replica.items()
        ]
    }
