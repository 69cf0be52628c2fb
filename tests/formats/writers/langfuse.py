"""Langfuse: the observations API, exports from the tables of the UI, and the export to a blob store.

Taken from langfuse 5.0.4 (`ObservationV2`, `ObservationsV2Response`), the documents "Observations API" (with its
sample response) and "Blob Storage Export Field Reference", and the rows that the server streams into table exports
(`BatchExportEventsRow`, server 3.2xx). Usage is as the server stores it for OpenAI's clients: `input` without the
cached tokens, which stand beside it. The package is not in the test environment; its types checked by hand: they call
the model `model`, the document's sample calls it `providedModelName`, so that both are written.
"""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Workload
from formats.writers.plain import Files, lines

PROJECT = "cm7dispatchprojectid0001"
_MODEL_ID = "cm7modeldefinition000001"


def _input(exchange: Exchange) -> Any:
    """Return the input as the wrapper of OpenAI's client records it: a list, or messages beside tools."""
    messages = bodies.chat_messages(exchange)
    return {"tools": bodies.chat_tools(exchange.tools), "messages": messages} if exchange.tools else messages


def _output(exchange: Exchange) -> Json | None:
    return bodies.chat_message(exchange.answer)[0] if exchange.answer else None


def _usage(exchange: Exchange) -> dict[str, int]:
    usage = exchange.usage
    if usage is None:
        return {}
    return {
        "input": usage.prompt - usage.cached,
        "input_cached_tokens": usage.cached,
        "output": usage.output,
        "total": usage.prompt + usage.output,
    }


def _cost(exchange: Exchange) -> dict[str, float]:
    usage = exchange.usage
    if usage is None:
        return {}
    spent = {"input": (usage.prompt - usage.cached) * 2e-06, "output": usage.output * 8e-06}
    return {name: round(value, 8) for name, value in (spent | {"total": sum(spent.values())}).items()}


def _first_token_s(exchange: Exchange) -> float | None:
    return None if exchange.first_token is None else round(exchange.first_token - exchange.start, 3)


def _trace_id(exchange: Exchange) -> str:
    return exchange.hex("trace", 32)


def _observation_v2(exchange: Exchange) -> Json:
    usage, cost = _usage(exchange), _cost(exchange)
    output = _output(exchange)
    return {
        "id": exchange.hex("observation", 16),
        "traceId": _trace_id(exchange),
        "startTime": bodies.iso(exchange.start),
        "endTime": bodies.iso(exchange.end),
        "projectId": PROJECT,
        "parentObservationId": None,
        "type": "GENERATION",
        "name": "OpenAI-generation",
        "level": "DEFAULT" if exchange.answer else "ERROR",
        "statusMessage": "" if exchange.answer else "the client closed the connection",
        "version": "",
        "environment": "production",
        "bookmarked": False,
        "public": False,
        "userId": exchange.tenant,
        "sessionId": exchange.session,
        "completionStartTime": None if exchange.first_token is None else bodies.iso(exchange.first_token),
        "createdAt": bodies.iso(exchange.start + 1),
        "updatedAt": bodies.iso(exchange.end + 4),
        "input": json.dumps(_input(exchange), ensure_ascii=False),
        "output": None if output is None else json.dumps(output, ensure_ascii=False),
        "metadata": {"resourceAttributes": {"service.name": "dispatcher"}, "replica": exchange.replica},
        "model": exchange.model,
        "providedModelName": exchange.model,
        "internalModelId": _MODEL_ID,
        "modelParameters": {"temperature": 0.2, "max_completion_tokens": 900},
        "usageDetails": usage,
        "inputUsage": sum(count for name, count in usage.items() if name.startswith("input")),
        "outputUsage": usage.get("output", 0),
        "totalUsage": usage.get("total", 0),
        "costDetails": cost,
        "inputCost": cost.get("input"),
        "outputCost": cost.get("output"),
        "totalCost": cost.get("total"),
        "usagePricingTierName": "Standard",
        "promptId": "",
        "promptName": "",
        "promptVersion": None,
        "latency": round(exchange.end - exchange.start, 3),
        "timeToFirstToken": _first_token_s(exchange),
        "modelId": _MODEL_ID,
        "inputPrice": "0.000002",
        "outputPrice": "0.000008",
        "totalPrice": None,
        "tags": ["desk"],
        "release": "2026.3",
        "traceName": "answer",
    }


def _root_span(exchange: Exchange) -> Json:
    """Return the span of the application around the call: an observation that is no request to a model."""
    span = _observation_v2(exchange)
    kept = {k: span[k] for k in list(span)[: list(span).index("model")]}
    question = json.dumps({"question": exchange.messages[-1].text or "(tool results)"}, ensure_ascii=False)
    return kept | {
        "id": exchange.hex("root", 16), "type": "SPAN", "name": "answer", "input": question, "output": None,
        "completionStartTime": None, "model": None, "providedModelName": "", "usageDetails": {}, "costDetails": {},
    }  # fmt: skip


def api_v2(workload: Workload) -> Files:
    """Two pages of the observations API, newest first, inputs and outputs as strings; the pages overlap by a record.

    Each generation has the span of its application before it.
    """
    newest = reversed(workload.delivered()[: len(workload.exchanges)])
    records = [record for exchange in newest for record in (_observation_v2(exchange), _root_span(exchange))]
    again = [_observation_v2(exchange) for exchange in workload.exchanges if exchange.twice]
    middle = len(records) // 2
    cursor = "eyJsYXN0U3RhcnRUaW1lVG8iOiIyMDI2LTAzLTA5VDA4OjA0OjAwLjAwMFoifQ=="
    pages = [
        {"data": records[:middle], "meta": {"cursor": cursor}},
        {"data": again + records[middle:], "meta": {"cursor": None}},
    ]
    return [
        (f"observations-{n}.json", json.dumps(page, ensure_ascii=False).encode()) for n, page in enumerate(pages, 1)
    ]


def _observation_v1(exchange: Exchange) -> Json:
    new = _observation_v2(exchange)
    gone = ("userId", "sessionId", "bookmarked", "public", "tags", "release", "traceName", "providedModelName",
            "inputUsage", "outputUsage", "totalUsage", "usagePricingTierName", "internalModelId", "totalCost",
            "inputCost", "outputCost")  # fmt: skip
    usage = new["usageDetails"]
    return {k: v for k, v in new.items() if k not in gone} | {
        "model": exchange.model,
        "input": _input(exchange),
        "output": _output(exchange),
        "statusMessage": new["statusMessage"] or None,
        "version": None,
        "promptId": None,
        "promptName": None,
        "inputPrice": 0.000002,
        "outputPrice": 0.000008,
        "calculatedInputCost": new["inputCost"],
        "calculatedOutputCost": new["outputCost"],
        "calculatedTotalCost": new["totalCost"],
        "usage": {
            "unit": "TOKENS", "input": new["inputUsage"], "output": new["outputUsage"], "total": usage.get("total", 0),
        },
    }  # fmt: skip


def api_v1(workload: Workload) -> Files:
    """The older API: observations without user and session, and the traces that have them, to be joined by id."""
    records = [_observation_v1(exchange) for exchange in workload.delivered()]
    traces = [
        {
            "id": _trace_id(e), "timestamp": bodies.iso(e.start), "name": "answer", "input": None, "output": None,
            "sessionId": e.session, "release": "2026.3", "version": None, "userId": e.tenant, "metadata": {},
            "tags": ["desk"], "public": False, "environment": "production", "externalId": None, "bookmarked": False,
            "createdAt": bodies.iso(e.start + 1), "updatedAt": bodies.iso(e.end + 4), "projectId": PROJECT,
            "htmlPath": f"/project/{PROJECT}/traces/{_trace_id(e)}", "latency": round(e.end - e.start, 3),
            "totalCost": _cost(e).get("total", 0), "observations": [e.hex("observation", 16)], "scores": [],
        }
        for e in workload.exchanges
    ]  # fmt: skip

    def page(data: list[Json]) -> bytes:
        meta = {"page": 1, "limit": 100, "totalItems": len(data), "totalPages": 1}
        return json.dumps({"data": data, "meta": meta}, ensure_ascii=False).encode()

    return [("observations.json", page(records)), ("traces.json", page(traces))]


def _table_row(exchange: Exchange) -> Json:
    new = _observation_v2(exchange)
    taken = ("id", "traceId", "traceName", "type", "name", "startTime", "endTime", "completionStartTime",
             "environment", "version", "userId", "sessionId", "level", "statusMessage", "promptName", "promptId",
             "promptVersion", "modelId", "providedModelName", "modelParameters", "usageDetails", "costDetails",
             "totalCost")  # fmt: skip
    return {name: new[name] for name in taken} | {
        "input": _input(exchange),
        "output": _output(exchange),
        "metadata": new["metadata"],
        "latencyMs": round((exchange.end - exchange.start) * 1000),
        "timeToFirstTokenMs": None if exchange.first_token is None else round(1000 * (_first_token_s(exchange) or 0)),
        "tags": ["desk"],
        "release": "2026.3",
        "parentObservationId": "",
        "comments": [],
        "helpfulness": None,
    }


def table_json(workload: Workload) -> Files:
    """The table of observations as JSON: one array, names in camelCase, durations in milliseconds."""
    rows = [_table_row(exchange) for exchange in workload.delivered()]
    return [("1741521600000-lf-events-export-cm7dispatch.json", json.dumps(rows, ensure_ascii=False).encode())]


def table_jsonl(workload: Workload) -> Files:
    """The table of observations as JSON lines."""
    return [("1741521600000-lf-events-export-cm7dispatch.jsonl", lines(map(_table_row, workload.delivered())))]


def table_csv(workload: Workload) -> Files:
    """The table of observations as CSV: whatever is no scalar is JSON in a cell."""
    rows = [_table_row(exchange) for exchange in workload.delivered()]
    text = io.StringIO()
    table = csv.writer(text, quoting=csv.QUOTE_ALL)
    table.writerow(rows[0])
    for row in rows:
        table.writerow(
            "" if v is None else v if isinstance(v, (str, int, float)) else bodies.compact(v) for v in row.values()
        )
    return [("1741521600000-lf-events-export-cm7dispatch.csv", text.getvalue().encode())]


def blob_jsonl(workload: Workload) -> Files:
    """Enriched observations as the blob-storage export writes them: snake_case, times without a zone, JSON strings."""

    def when(seconds: float | None) -> str | None:
        return None if seconds is None else bodies.iso(seconds, digits=6, zone="", between=" ")

    def row(e: Exchange) -> Json:
        output = _output(e)
        calls = output.get("tool_calls", []) if output else []
        return {
            "id": e.hex("observation", 16), "trace_id": _trace_id(e), "project_id": PROJECT,
            "environment": "production", "type": "GENERATION", "parent_observation_id": "",
            "start_time": when(e.start), "end_time": when(e.end), "name": "OpenAI-generation",
            "metadata": {"replica": e.replica}, "level": "DEFAULT" if e.answer else "ERROR", "status_message": "",
            "version": "", "input": json.dumps(_input(e), ensure_ascii=False),
            "output": json.dumps(output, ensure_ascii=False) if output else "", "provided_model_name": e.model,
            "model_parameters": '{"temperature":0.2,"max_completion_tokens":900}', "usage_details": _usage(e),
            "cost_details": _cost(e), "completion_start_time": when(e.first_token), "prompt_name": "",
            "prompt_version": None, "total_cost": _cost(e).get("total", 0), "latency": round(e.end - e.start, 3),
            "time_to_first_token": _first_token_s(e), "model_id": _MODEL_ID, "created_at": when(e.start + 1),
            "updated_at": when(e.end + 4), "prompt_id": "",
            "tool_calls": [bodies.compact(call) for call in calls],
            "tool_call_names": [call["function"]["name"] for call in calls],
            "tool_definitions": {tool.name: bodies.compact(tool.parameters) for tool in e.tools},
            "usage_pricing_tier_id": None, "usage_pricing_tier_name": None, "user_id": e.tenant,
            "session_id": e.session, "trace_name": "answer", "tags": ["desk"], "release": "2026.3", "public": False,
            "bookmarked": False,
        }  # fmt: skip

    name = f"{PROJECT}/observations_v2/2026-03-09T09-00-00-000Z.jsonl"
    return [(name, lines(map(row, workload.delivered())))]
