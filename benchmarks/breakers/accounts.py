"""Usage that is missing or counted in another way than its API counts: no cache is lost, but every figure is wrong."""

from __future__ import annotations

from benchmarks.breakers.anthropic_chats import chat as claude_chat
from benchmarks.breakers.asks import PROMPT_TOKENS, asks, gpt
from benchmarks.breakers.bodies import Json
from benchmarks.breakers.family import breaker
from benchmarks.breakers.openai_params import CHAT_PROMPT
from benchmarks.breakers.scene import Exchange, Scene, Variant

RIGHT = (Variant.RIGHT,)
USAGE = ("/response/usage",)


@breaker("usage-missing", "openai", RIGHT, USAGE, needs_usage=True, costs=False)
def u_missing(scene: Scene) -> list[Exchange]:
    """A good part of the answers, those that were streamed, say nothing of what they cost."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    exchanges = [gpt(ask, prompt, stream=scene.base.random() < 0.6) for ask in asks(scene, author)]
    for exchange in exchanges:
        if exchange.body["stream"] and scene.is_broken:
            exchange.report = lambda _: None
    return exchanges


@breaker("usage-convention-mixed", "openai", RIGHT, USAGE, needs_usage=True, costs=False)
def u_mixed(scene: Scene) -> list[Exchange]:
    """Of two exporters, one leaves cached tokens out of the prompt's count and one does not."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    exchanges = [gpt(ask, prompt) for ask in asks(scene, author)]
    for exchange in exchanges:
        exchange.extra["exporter"] = scene.base.choice(("edge-north", "edge-south"))
        if exchange.extra["exporter"] == "edge-south" and scene.is_broken:
            exchange.report = _without_cached
    return exchanges


def _without_cached(usage: Json) -> Json:
    cached = usage["prompt_tokens_details"]["cached_tokens"]
    return {**usage, "prompt_tokens": usage["prompt_tokens"] - cached, "total_tokens": usage["total_tokens"] - cached}


@breaker("usage-double-counted", "anthropic", RIGHT, USAGE, needs_usage=True, costs=False)
def u_double(scene: Scene) -> list[Exchange]:
    """The exporter adds reads and writes to the input count, and reports them beside it as well."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = [claude_chat(step, prompt) for step in scene.chats(author)]
    for exchange in exchanges:
        exchange.report = _added_up if scene.is_broken else None
    return exchanges


def _added_up(usage: Json) -> Json:
    both = usage["cache_read_input_tokens"] + usage["cache_creation_input_tokens"]
    return {**usage, "input_tokens": usage["input_tokens"] + both}
