"""Logs of families: the traffic, a second healthy application beside it, and what each cache would report."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Protocol

from benchmarks.breakers import (
    accounts,
    anthropic_chats,
    anthropic_prompts,
    engines,
    openai_chats,
    openai_clean,
    openai_params,
    openai_prompts,
)
from benchmarks.breakers.asks import Ask, claude, gpt, qwen, relayed, rendered, responses
from benchmarks.breakers.author import Author
from benchmarks.breakers.bodies import Json, response
from benchmarks.breakers.family import FAMILIES, Family
from benchmarks.breakers.oracles.anthropic import AnthropicCache
from benchmarks.breakers.oracles.engine import EngineCache
from benchmarks.breakers.oracles.openai import BreakpointCache, IntervalCache
from benchmarks.breakers.scene import Exchange, Said, Scene, Variant

PARTS = (
    openai_prompts, openai_params, openai_chats, openai_clean, anthropic_prompts, anthropic_chats, engines, accounts,
)  # fmt: skip
HYBRID_BLOCK = 1056
BYSTANDERS = 12


class Cache(Protocol):
    """The model of a provider's cache."""

    def serve(self, exchange: Exchange) -> Json | None:
        """Return the usage of the next request in order of time."""
        ...


CACHES: dict[str, Callable[[], Cache]] = {
    "openai": IntervalCache,
    "openai-5.6": BreakpointCache,
    "anthropic": AnthropicCache,
    "vllm": EngineCache,
    "vllm-hybrid": lambda: EngineCache(HYBRID_BLOCK),
    "relay": lambda: EngineCache(64, by_bytes=True),
}


@dataclass(frozen=True)
class Log:
    """One log as it is written.

    Attributes:
        records: One a request, in order of time.
        prompt_tokens, cached_tokens: Of all requests but those of the second application, by the cache's model.
    """

    family: Family
    seed: int
    variant: Variant
    records: list[Json]
    prompt_tokens: int
    cached_tokens: int

    @property
    def name(self) -> str:
        """What its file is called."""
        return f"{self.family.name}-{self.seed}-{self.variant}.jsonl"

    @property
    def hit_rate(self) -> float:
        """Cached prompt tokens over prompt tokens; a refused request has none of either."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else 0.0

    def text(self) -> str:
        """Return the records as lines."""
        return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in self.records)


def make_log(family: Family, seed: int, variant: Variant, with_usage: bool = True, with_sessions: bool = False) -> Log:
    """Draw the log of a family; the same arguments give the same log."""
    exchanges = family.build(Scene(family.name, seed, variant))
    own = {id(exchange) for exchange in exchanges}
    if not family.is_alone:
        exchanges += _bystander(family, seed, exchanges)
    ids = random.Random(f"{family.name}/{seed}/ids")
    names = {id(exchange): f"{ids.getrandbits(88):022x}" for exchange in exchanges}
    exchanges.sort(key=lambda exchange: exchange.at)
    cache = CACHES[family.system]()
    prompt = cached = 0
    records = []
    for exchange in exchanges:
        usage = cache.serve(exchange)
        if usage is not None and id(exchange) in own:
            prompt, cached = prompt + _prompt_tokens(usage), cached + _cached_tokens(usage)
        reported = exchange.report(usage) if usage is not None and exchange.report is not None else usage
        answer = response(exchange, names[id(exchange)], reported if with_usage else None)
        records.append(_record(exchange, answer, with_sessions))
    return Log(family, seed, variant, records, prompt, cached)


def _record(exchange: Exchange, answer: Json, with_sessions: bool) -> Json:
    moment = datetime.fromtimestamp(exchange.at, UTC)
    record: Json = {"ts": f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"}
    if with_sessions and exchange.chat:
        record["session"] = exchange.chat
    record |= exchange.extra
    return {**record, "latency_ms": round(exchange.takes * 1000), "request": exchange.body, "response": answer}


def _prompt_tokens(usage: Json) -> int:
    if "cache_read_input_tokens" in usage:
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        return sum(int(usage[name]) for name in names)
    return int(usage["prompt_tokens" if "prompt_tokens" in usage else "input_tokens"])


def _cached_tokens(usage: Json) -> int:
    if "cache_read_input_tokens" in usage:
        return int(usage["cache_read_input_tokens"])
    details: Json = usage.get("prompt_tokens_details") or usage["input_tokens_details"]
    return int(details["cached_tokens"])


def _bystander(family: Family, seed: int, exchanges: list[Exchange]) -> list[Exchange]:
    """Return single questions to a second application without faults, through the same API."""
    rng = random.Random(f"{family.name}/{seed}/bystander")
    used = {text for exchange in exchanges[:1] for text in (json.dumps(exchange.body),)}
    author = Author(rng)
    while any(author.firm in text for text in used):
        author = Author(rng)
    prompt = author.prompt(1280)
    begin = min(exchange.at for exchange in exchanges)
    apart = min(75.0, (max(exchange.at for exchange in exchanges) - begin) / BYSTANDERS)
    shape = _shape(exchanges[0].body, family.system)
    found = []
    for number in range(BYSTANDERS):
        at = round(begin + apart * (number + rng.uniform(0.1, 0.7)), 3)
        ask = Ask(number, at, author.question(3), Said("assistant", author.answer(2)))
        exchange = shape(ask, prompt)
        exchange.body["model"] = exchanges[0].body["model"]
        if exchanges[0].extra.get("tenant"):
            exchange.extra["tenant"] = exchanges[0].extra["tenant"]
        found.append(exchange)
    return found


def _shape(body: Json, system: str) -> Callable[[Ask, str], Exchange]:
    if "prompt" in body or "prompt_token_ids" in body:
        return rendered
    shapes: dict[str, Callable[..., Exchange]] = {"anthropic": claude, "relay": relayed}
    if "input" in body:
        return _marked_responses if system == "openai-5.6" else responses
    return shapes.get(system, qwen if system.startswith("vllm") else gpt)


def _marked_responses(ask: Ask, prompt: str, **more: Any) -> Exchange:
    exchange = responses(ask, "", **more)
    content = [{"type": "input_text", "text": prompt, "prompt_cache_breakpoint": {"mode": "explicit"}}]
    items = [{"type": "message", "role": "developer", "content": content}, *exchange.body["input"]]
    exchange.body = {"model": exchange.body["model"], "input": items}
    return exchange


__all__ = ["CACHES", "FAMILIES", "Log", "make_log"]
