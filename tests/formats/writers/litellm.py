"""LiteLLM proxy: rows of the spend-logs table, and the objects of its S3 and GCS loggers.

Taken from litellm 1.110.2: `SpendLogsPayload`, `SpendLogsMetadata` (`proxy/_types.py`), the table
`LiteLLM_SpendLogs` (`proxy/schema.prisma`), `StandardLoggingPayload` and its parts (`types/utils.py`), and what
`spend_tracking_utils.py` fills in: with prompts stored, `messages` stays `{}` but for realtime calls and the whole
request is in `proxy_server_request`. The package is too heavy for the test environment; compared with it by hand.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Workload, named_uuid
from formats.writers.plain import Files, lines

MODEL_GROUP = "chat-main"
_TEAM = named_uuid("team of the proxy")


def deployment(exchange: Exchange) -> str:
    """Return the id of the deployment that served a request: the proxy hashes its settings."""
    return hashlib.sha256(exchange.replica.encode()).hexdigest()


def _usage_object(exchange: Exchange) -> Json | None:
    usage = exchange.usage
    return usage and {
        "completion_tokens": usage.output,
        "prompt_tokens": usage.prompt,
        "total_tokens": usage.prompt + usage.output,
        "completion_tokens_details": {
            "accepted_prediction_tokens": 0, "audio_tokens": 0, "reasoning_tokens": 0, "rejected_prediction_tokens": 0,
            "text_tokens": None, "image_tokens": None,
        },
        "prompt_tokens_details": {
            "audio_tokens": 0, "cached_tokens": usage.cached, "text_tokens": None, "image_tokens": None,
        },
    }  # fmt: skip


def _response(exchange: Exchange) -> Json:
    return bodies.chat_response(exchange) or {}


def _request(exchange: Exchange) -> Json:
    """Return the body as the caller sent it: under the model's public name."""
    body = {"model": MODEL_GROUP} | {k: v for k, v in bodies.chat_request(exchange).items() if k != "model"}
    return body | {"user": exchange.tenant, "stream": False, "litellm_session_id": exchange.session}


def _api_key(exchange: Exchange) -> str:
    return hashlib.sha256(f"key of {exchange.tenant}".encode()).hexdigest()


def _id(exchange: Exchange) -> str:
    answer = bodies.chat_response(exchange)
    return answer["id"] if answer else exchange.uuid("call")


def _spend_metadata(exchange: Exchange) -> Json:
    failed = exchange.answer is None
    usage = _usage_object(exchange)
    details = {k: usage[k] for k in ("completion_tokens_details", "prompt_tokens_details")} if usage else {}
    cached = {"cache_read_input_tokens": exchange.usage.cached} if exchange.usage and exchange.usage.cached else {}
    error = {
        "error_code": "499", "error_class": "ClientDisconnected", "llm_provider": "openai", "traceback": "",
        "error_message": "the client closed the connection",
    }  # fmt: skip
    return {
        "additional_usage_values": details | cached,
        "user_api_key": _api_key(exchange),
        "user_api_key_alias": f"{exchange.tenant}-prod",
        "user_api_key_team_id": _TEAM,
        "user_api_key_org_id": None,
        "user_api_key_user_id": "default_user_id",
        "user_api_key_team_alias": "platform",
        "spend_logs_metadata": None,
        "requester_ip_address": "203.0.113.9",
        "user_agent": "dispatcher/3.1",
        "litellm_call_id": exchange.uuid("call"),
        "applied_guardrails": [],
        "mcp_tool_call_metadata": None,
        "vector_store_request_metadata": None,
        "guardrail_information": None,
        "status": "failure" if failed else "success",
        "proxy_server_request": None,
        "batch_models": None,
        "usage_object": usage,
        "model_map_information": {"model_map_key": exchange.model, "model_map_value": None},
        "error_information": error if failed else None,
        "litellm_overhead_time_ms": 3.41,
    }


def _row(exchange: Exchange, zone: str, *, json_columns: bool) -> Json:
    """Return one row; JSON columns as values, or as strings as the proxy hands them to its database client.

    With strings, `messages` has the prompt too, as releases before 1.7x stored it.
    """
    usage = exchange.usage

    def column(value: Any) -> Any:
        return value if json_columns else json.dumps(value)

    def when(seconds: float | None) -> str | None:
        return None if seconds is None else bodies.iso(seconds, digits=6, zone=zone)

    return {
        "request_id": _id(exchange),
        "call_type": "acompletion",
        "api_key": _api_key(exchange),
        "spend": round(usage.prompt * 2e-06 + usage.output * 8e-06, 8) if usage else 0.0,
        "total_tokens": usage.prompt + usage.output if usage else 0,
        "prompt_tokens": usage.prompt if usage else 0,
        "completion_tokens": usage.output if usage else 0,
        "startTime": when(exchange.start),
        "endTime": when(exchange.end),
        "request_duration_ms": round((exchange.end - exchange.start) * 1000),
        "completionStartTime": when(exchange.first_token or exchange.end),
        "model": exchange.model,
        "model_id": deployment(exchange),
        "model_group": MODEL_GROUP,
        "custom_llm_provider": "openai",
        "api_base": "https://api.openai.example/v1/",
        "user": "default_user_id",
        "metadata": column(_spend_metadata(exchange)),
        "cache_hit": "False",
        "cache_key": "Cache OFF",
        "request_tags": column(["User-Agent: dispatcher", "User-Agent: dispatcher/3.1"]),
        "team_id": _TEAM,
        "organization_id": None,
        "end_user": exchange.tenant,
        "requester_ip_address": "203.0.113.9",
        "messages": column({} if json_columns else bodies.chat_messages(exchange)),
        "response": column(_response(exchange)),
        "session_id": exchange.session,
        "status": "success" if exchange.answer else "failure",
        "mcp_namespaced_tool_name": None,
        "agent_id": None,
        "proxy_server_request": column(_request(exchange)),
        "litellm_call_id": exchange.uuid("call"),
    }


def spend_logs_jsonl(workload: Workload) -> Files:
    """Rows as JSON lines, JSON columns as values (a dump of the table); two overlapping dumps in one file."""
    return [("spend_logs.jsonl", lines(_row(e, "+00:00", json_columns=True) for e in workload.delivered()))]


def spend_logs_array(workload: Workload) -> Files:
    """Rows as one array, JSON columns as strings, as the endpoint for spend logs of a key answers."""
    rows = [_row(exchange, "Z", json_columns=False) for exchange in workload.delivered()]
    return [("spend_logs.json", json.dumps(rows, ensure_ascii=False, indent=2).encode())]


def _logging_metadata(exchange: Exchange) -> Json:
    return {
        "user_api_key_hash": _api_key(exchange),
        "user_api_key_alias": f"{exchange.tenant}-prod",
        "user_api_key_spend": 4.2,
        "user_api_key_max_budget": None,
        "user_api_key_budget_reset_at": None,
        "user_api_key_org_id": None,
        "user_api_key_team_id": _TEAM,
        "user_api_key_project_id": None,
        "user_api_key_user_id": "default_user_id",
        "user_api_key_user_email": None,
        "user_api_key_team_alias": "platform",
        "user_api_key_end_user_id": exchange.tenant,
        "user_api_key_request_route": "/v1/chat/completions",
        "user_api_key_auth_metadata": {},
        "spend_logs_metadata": None,
        "requester_ip_address": "203.0.113.9",
        "user_agent": "dispatcher/3.1",
        "requester_metadata": {},
        "requester_custom_headers": {},
        "prompt_management_metadata": None,
        "mcp_tool_call_metadata": None,
        "vector_store_request_metadata": None,
        "applied_guardrails": [],
        "usage_object": _usage_object(exchange),
        "cold_storage_object_key": None,
        "team_alias": "platform",
        "team_id": _TEAM,
    }


def _logging_payload(exchange: Exchange) -> Json:
    usage = exchange.usage
    parameters: Json = {"temperature": 0.2, "max_completion_tokens": 900, "stream": False}
    if exchange.tools:
        parameters["tools"] = bodies.chat_tools(exchange.tools)
    return {
        "id": _id(exchange),
        "trace_id": named_uuid(exchange.session),
        "session_id": exchange.session,
        "litellm_call_id": exchange.uuid("call"),
        "call_type": "acompletion",
        "stream": False,
        "response_cost": round(usage.prompt * 2e-06 + usage.output * 8e-06, 8) if usage else 0.0,
        "cost_breakdown": None,
        "response_cost_failure_debug_info": None,
        "status": "success" if exchange.answer else "failure",
        "status_fields": {
            "llm_api_status": "success" if exchange.answer else "failure", "guardrail_status": "not_run",
        },
        "custom_llm_provider": "openai",
        "total_tokens": usage.prompt + usage.output if usage else 0,
        "prompt_tokens": usage.prompt if usage else 0,
        "completion_tokens": usage.output if usage else 0,
        "startTime": exchange.start,
        "endTime": exchange.end,
        "completionStartTime": exchange.first_token or exchange.end,
        "response_time": exchange.end - exchange.start,
        "model_map_information": {"model_map_key": exchange.model, "model_map_value": None},
        "model": exchange.model,
        "model_id": deployment(exchange),
        "model_group": MODEL_GROUP,
        "api_base": "https://api.openai.example/v1/",
        "metadata": _logging_metadata(exchange),
        "cache_hit": None,
        "cache_key": None,
        "saved_cache_cost": 0.0,
        "request_tags": [],
        "end_user": exchange.tenant,
        "requester_ip_address": "203.0.113.9",
        "user_agent": "dispatcher/3.1",
        "messages": bodies.chat_messages(exchange),
        "response": _response(exchange),
        "error_str": None if exchange.answer else "the client closed the connection",
        "error_information": None,
        "model_parameters": parameters,
        "hidden_params": {
            "model_id": deployment(exchange), "cache_key": None, "api_base": "https://api.openai.example/v1/",
            "response_cost": None, "litellm_overhead_time_ms": 3.41, "additional_headers": None, "batch_models": None,
            "litellm_model_name": exchange.model, "usage_object": None,
        },
        "guardrail_information": None,
        "standard_built_in_tools_params": {"web_search_options": None, "file_search": None},
    }  # fmt: skip


def logging_payloads(workload: Workload) -> Files:
    """An object a request, as the S3 logger stores them: the name begins with the time, the record has one line.

    Tools are not beside the messages but in `model_parameters`. The record that is delivered twice has a second
    object, as when a log is retried after a timeout.
    """
    files = []
    for copy, exchange in enumerate(workload.delivered()):
        stamp = bodies.iso(exchange.start, digits=6, zone="").replace(":", "-").replace(".", "-")
        day, _, time = stamp.partition("T")
        again = "" if copy < len(workload.exchanges) else "_1"
        name = f"{day}/time-{time}_{_id(exchange)}{again}.json"
        files.append((name, json.dumps(_logging_payload(exchange), ensure_ascii=False).encode()))
    return files
