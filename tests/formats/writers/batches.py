"""Batch files: OpenAI's and Anthropic's. The requests and the answers are in different files, joined by `custom_id`.

OpenAI: the guide "Batch API", with bodies of openai 3.57 (`/v1/chat/completions`); what failed is in an error file.
Anthropic: anthropic 2.14 (`BatchCreateParams`, `MessageBatchIndividualResponse`).

Readers must know: answers come in any order; there are no times but each answer's `created` (OpenAI), which says when
it was made and not when it was asked for; the tenant is the body's own `user` or `metadata.user_id`; no session.
"""

from __future__ import annotations

import json

from formats import bodies
from formats.bodies import Json
from formats.workload import Exchange, Workload
from formats.writers.plain import Files, lines


def _custom_id(exchange: Exchange) -> str:
    return f"case-{exchange.number:05d}"


def _shuffled(exchanges: list[Exchange]) -> list[Exchange]:
    return sorted(exchanges, key=lambda exchange: exchange.hex("place of the answer"))


def openai(workload: Workload) -> Files:
    """The input file, the output file, and the error file."""

    def request(exchange: Exchange) -> Json:
        body = bodies.chat_request(exchange) | {"user": exchange.tenant}
        return {"custom_id": _custom_id(exchange), "method": "POST", "url": "/v1/chat/completions", "body": body}

    def result(exchange: Exchange) -> Json:
        answer = bodies.chat_response(exchange)
        response = answer and {"status_code": 200, "request_id": exchange.hex("batch", 32), "body": answer}
        expired = {"code": "batch_expired", "message": "This request could not be executed before the batch expired."}
        return {
            "id": f"batch_req_{exchange.hex('line', 32)}",
            "custom_id": _custom_id(exchange),
            "response": response,
            "error": None if answer else expired,
        }

    failed = [exchange for exchange in workload.exchanges if exchange.answer is None]
    return [
        ("batch_input.jsonl", lines(map(request, workload.exchanges))),
        ("batch_67d1f0_output.jsonl", lines(map(result, _shuffled(workload.answered)))),
        ("batch_67d1f0_error.jsonl", lines(map(result, failed))),
    ]


def anthropic(workload: Workload) -> Files:
    """The request that creates the batch, and its results."""

    def request(exchange: Exchange) -> Json:
        params = bodies.anthropic_request(exchange) | {"metadata": {"user_id": exchange.tenant}}
        return {"custom_id": _custom_id(exchange), "params": params}

    def result(exchange: Exchange) -> Json:
        answer = bodies.anthropic_response(exchange)
        outcome = {"type": "succeeded", "message": answer} if answer else {"type": "expired"}
        return {"custom_id": _custom_id(exchange), "result": outcome}

    requests = {"requests": [request(exchange) for exchange in workload.exchanges]}
    return [
        ("requests.json", json.dumps(requests, ensure_ascii=False).encode()),
        ("msgbatch_01_results.jsonl", lines(map(result, _shuffled(workload.exchanges)))),
    ]
