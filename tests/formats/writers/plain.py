"""Plain logs of request and response bodies, as an application or a small proxy writes them.

The bodies are the APIs' own (see `bodies.py`); the wrapper around them is nobody's standard.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from typing import Any

import zstandard

from formats import bodies
from formats.workload import Exchange, Workload

Files = list[tuple[str, bytes]]


def lines(records: Iterable[Any]) -> bytes:
    """Return JSON lines."""
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records).encode()


def wrapped(exchange: Exchange, request: Any, response: Any) -> dict[str, Any]:
    """Return a record of the log; a call that was given up has no answer and the status 499."""
    return {
        "ts": bodies.iso(exchange.start),
        "tenant": exchange.tenant,
        "session": exchange.session,
        "replica": exchange.replica,
        "latency_ms": round((exchange.end - exchange.start) * 1000),
        "ttft_ms": None if exchange.first_token is None else round((exchange.first_token - exchange.start) * 1000),
        "status": 200 if exchange.answer else 499,
        "request": request,
        "response": response,
    }


def _log(workload: Workload, request: Callable[..., Any], response: Callable[..., Any]) -> bytes:
    by_end = sorted(workload.exchanges, key=lambda exchange: exchange.end)
    return lines(wrapped(exchange, request(exchange), response(exchange)) for exchange in by_end)


def openai_chat(workload: Workload) -> Files:
    """Chat Completions bodies."""
    return [("chat.jsonl", _log(workload, bodies.chat_request, bodies.chat_response))]


def openai_responses(workload: Workload) -> Files:
    """Responses bodies."""
    return [("responses.jsonl", _log(workload, bodies.responses_request, bodies.responses_response))]


def anthropic(workload: Workload) -> Files:
    """Messages bodies."""
    return [("messages.jsonl", _log(workload, bodies.anthropic_request, bodies.anthropic_response))]


def gemini(workload: Workload) -> Files:
    """GenerateContent bodies. The request does not name its model; the answer does, as `modelVersion`."""
    return [("gemini.jsonl", _log(workload, bodies.gemini_request, bodies.gemini_response))]


def gemini_named(workload: Workload) -> Files:
    """GenerateContent bodies with the model beside them, as client libraries take it."""

    def request(exchange: Exchange) -> dict[str, Any]:
        return {"model": exchange.model} | bodies.gemini_request(exchange)

    return [("gemini.jsonl", _log(workload, request, bodies.gemini_response))]


def openai_chat_gz(workload: Workload) -> Files:
    """The Chat Completions log, gzipped."""
    return [("chat.jsonl.gz", gzip.compress(openai_chat(workload)[0][1], mtime=0))]


def openai_chat_zst(workload: Workload) -> Files:
    """The Chat Completions log, compressed by zstd."""
    return [("chat.jsonl.zst", zstandard.compress(openai_chat(workload)[0][1]))]


def bare_messages(workload: Workload) -> Files:
    """Bare `messages` and nothing else: no times, no answers, no tenants, not even a model."""
    return [("messages.jsonl", lines({"messages": bodies.chat_messages(e)} for e in workload.exchanges))]


def bare_prompts(workload: Workload) -> Files:
    """Bare `prompt` texts, in the order in which they were sent."""
    return [("prompts.jsonl", lines({"prompt": prompt_text(e)} for e in workload.exchanges))]


def prompt_text(exchange: Exchange) -> str:
    """Return the prompt as one text, in the way an application without a chat API would build it."""
    said = [f"### instructions\n{exchange.system}"]
    for message in exchange.messages:
        text = message.text
        text += "".join(f"\n{call.name} {bodies.compact(call.arguments)}" for call in message.calls)
        text += "\n".join(result for _, _, result in message.results)
        said.append(f"### {message.role}\n{text}")
    return "\n\n".join([*said, "### assistant\n"])
