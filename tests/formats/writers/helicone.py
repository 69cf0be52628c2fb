"""Helicone: what its export tool and its request query answer.

Taken from the type `HeliconeRequest` (Helicone/helicone, packages/llm-mapper/types.ts) and the documents "Export
Data" and "Get Requests"; with `--include-body` the bodies stand in the records. There is no package on PyPI to
check against.
"""

from __future__ import annotations

import json

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Workload
from formats.writers.plain import Files, lines


def _record(exchange: Exchange) -> Json:
    usage = exchange.usage
    properties = {
        "Helicone-Session-Id": exchange.session,
        "Helicone-Session-Name": "desk",
        "Helicone-Session-Path": f"/{exchange.agent or 'answer'}",
        "Replica": exchange.replica,
    }
    first = None if exchange.first_token is None else round((exchange.first_token - exchange.start) * 1000)
    answer = bodies.chat_response(exchange)
    return {
        "response_id": exchange.uuid("response row"),
        "response_created_at": bodies.iso(exchange.end),
        "response_status": 200 if answer else -3,
        "response_model": answer and exchange.model,
        "request_id": exchange.request_id,
        "request_created_at": bodies.iso(exchange.start),
        "request_path": "https://oai.helicone.example/v1/chat/completions",
        "request_user_id": exchange.tenant,
        "request_properties": properties,
        "request_model": exchange.model,
        "model_override": None,
        "helicone_user": None,
        "provider": "OPENAI",
        "delay_ms": round((exchange.end - exchange.start) * 1000),
        "time_to_first_token": first,
        "total_tokens": usage and usage.prompt + usage.output,
        "prompt_tokens": usage and usage.prompt,
        "prompt_cache_write_tokens": usage and 0,
        "prompt_cache_read_tokens": usage and usage.cached,
        "completion_tokens": usage and usage.output,
        "prompt_audio_tokens": usage and 0,
        "completion_audio_tokens": usage and 0,
        "cost": usage and round(usage.prompt * 2e-06 + usage.output * 8e-06, 8),
        "prompt_id": None,
        "prompt_version": None,
        "feedback_created_at": None,
        "feedback_id": None,
        "feedback_rating": None,
        "signed_body_url": f"https://bodies.helicone.example/{exchange.request_id}/body",
        "llmSchema": None,
        "country_code": "SE",
        "asset_ids": [],
        "asset_urls": None,
        "scores": {},
        "costUSD": usage and round(usage.prompt * 2e-06 + usage.output * 8e-06, 8),
        "properties": properties,
        "assets": [],
        "target_url": "https://api.openai.example/v1/chat/completions",
        "model": exchange.model,
        "cache_reference_id": "00000000-0000-0000-0000-000000000000",
        "cache_enabled": False,
        "updated_at": bodies.iso(exchange.end),
        "request_referrer": None,
        "ai_gateway_body_mapping": None,
        "storage_location": "s3",
        "request_body": bodies.chat_request(exchange),
        "response_body": answer,
    }


def export_jsonl(workload: Workload) -> Files:
    """The export tool's JSON lines."""
    return [("helicone-export.jsonl", lines(map(_record, workload.delivered())))]


def query_json(workload: Workload) -> Files:
    """The answer of the request query: `data` and `error`, newest first."""
    records = [_record(exchange) for exchange in reversed(workload.delivered())]
    return [("requests.json", json.dumps({"data": records, "error": None}, ensure_ascii=False).encode())]
