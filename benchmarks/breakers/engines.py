"""Engines and relays that speak Chat Completions, and prompts that a client rendered itself."""

from __future__ import annotations

import uuid
from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from benchmarks.breakers.asks import OPEN_MODEL, PROMPT_TOKENS, asks, clock, joined, qwen
from benchmarks.breakers.bodies import chatml, compact, marked, openai_messages
from benchmarks.breakers.family import breaker, control
from benchmarks.breakers.oracles.tokens import framed, ids, opening
from benchmarks.breakers.scene import DAY, Call, Exchange, Said, Scene, Step, Variant

RIGHT = (Variant.RIGHT,)
CONSTANT = (Variant.CONSTANT,)
CHAT_PROMPT = 1200
HYBRID = "Qwen/Qwen3-Next-80B-A3B-Instruct"


def chat(step: Step, system: str, **more: Any) -> Exchange:
    """Return a step of a conversation as an engine's Chat Completions request."""
    body = {"model": OPEN_MODEL, "messages": openai_messages(system, step.history), "max_tokens": 700, **more}
    return Exchange(step.at, body, step.answer, f"chat-{step.chat}")


def completion(step: Step, prompt: str) -> Exchange:
    """Return a step of a conversation as a prompt that the client rendered."""
    body = {"model": OPEN_MODEL, "prompt": prompt, "max_tokens": 700}
    return Exchange(step.at, body, step.answer, f"chat-{step.chat}")


@breaker("whitespace-drift", "vllm", CONSTANT, ("/request/messages/*/content",))
def e_replay_trimmed(scene: Scene) -> list[Exchange]:
    """The model begins and ends its answers with line ends, which the client trims before it replays them."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author, sentences=(3, 6)):
        history = tuple(
            replace(said, text=f"\n\n{said.text}\n") if said.role == "assistant" and not scene.is_broken else said
            for said in step.history
        )
        exchange = chat(replace(step, history=history), prompt)
        exchange.raw_text = f"\n\n{step.answer.text}\n"
        exchanges.append(exchange)
    return exchanges


@breaker("cache-salt-unstable", "vllm", CONSTANT, ("/request/cache_salt",))
def e_salt(scene: Scene) -> list[Exchange]:
    """Every request has a cache salt of its own."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    exchanges = []
    for ask in asks(scene, author):
        salt = str(uuid.UUID(int=scene.hot.getrandbits(128), version=4))
        exchanges.append(qwen(ask, prompt, cache_salt=scene.settled("salt", salt)))
    return exchanges


@breaker("adapter-changed", "vllm", CONSTANT, ("/request/lora_path",))
def e_adapter_flip(scene: Scene) -> list[Exchange]:
    """The turns of a conversation go to different adapters of one model."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        adapter = scene.hot.choice(("desk-v3", "desk-v4", "desk-v4-short"))
        exchanges.append(chat(step, prompt, lora_path=scene.settled("adapter", adapter)))
    return exchanges


@breaker(
    "block-remainder", "vllm-hybrid", RIGHT, ("/request/messages/0/content",), also=("breakpoint-below-minimum",),
    needs_usage=True,
)  # fmt: skip
def e_block(scene: Scene) -> list[Exchange]:
    """What the requests share is shorter than one block of a hybrid model; the twin shares an appendix more."""
    author = scene.author()
    prompt, appendix = author.prompt(860), f"# Appendix\n{author.rules(420)}"
    system = prompt if scene.is_broken else joined(prompt, appendix)
    exchanges = [qwen(ask, system, author.document(700)) for ask in asks(scene, author, sentences=1)]
    for exchange in exchanges:
        exchange.body["model"] = HYBRID
    return exchanges


@breaker("content-shape-flip", "relay", CONSTANT, ("/request/messages/*/content",))
def e_shape_flip(scene: Scene) -> list[Exchange]:
    """Behind a relay that compares bytes, the newest message is a list of blocks and older ones are strings."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author, sentences=(6, 3)):
        exchange = chat(step, prompt)
        exchange.body["model"] = "anthropic/claude-sonnet-4.5"
        messages = exchange.body["messages"]
        messages[0]["content"] = [marked({"type": "text", "text": prompt})]
        for message in messages[1:]:
            is_newest = message is messages[-1]
            if message["role"] == "user" and (is_newest or not scene.is_broken):
                block = {"type": "text", "text": message["content"]}
                message["content"] = [marked(block) if is_newest else block]
        exchanges.append(exchange)
    return exchanges


@breaker("template-date", "vllm", CONSTANT, ("/request/prompt",), also=("clock-in-prefix",), is_alone=True)
def e_template_date(scene: Scene) -> list[Exchange]:
    """The template prints today's date; a few requests a day over a month."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    exchanges = []
    for ask in asks(scene, author, 60):
        at = round(scene.start + ask.number // 2 * DAY + (ask.at - scene.start) % 9000, 3)
        day = scene.settled("day", clock(at, "%d %b %Y"))
        head = f"Cutting Knowledge Date: December 2023\nToday Date: {day}\n\n{prompt}"
        parts = (f"{_llama(role)}{text}<|eot_id|>" for role, text in (("system", head), ("user", ask.text)))
        body = {"model": "meta-llama/Llama-3.2-3B-Instruct", "prompt": "<|begin_of_text|>" + "".join(parts)}
        body["prompt"] += _llama("assistant")
        exchanges.append(Exchange(at, body, ask.answer))
    return sorted(exchanges, key=lambda exchange: exchange.at)


def _llama(role: str) -> str:
    return f"<|start_header_id|>{role}<|end_header_id|>\n\n"


def _tools_as_text(calls: Sequence[Call]) -> str:
    written = (compact({"name": call.name, "arguments": call.arguments}) for call in calls)
    return "".join(f"\n<tool_call>\n{call}\n</tool_call>" for call in written)


def _thought(said: Said, is_shown: bool) -> Said:
    if said.role != "assistant":
        return (
            replace(said, role="user", text=f"<tool_response>\n{said.text}\n</tool_response>") if said.call_id else said
        )
    thought = f"<think>\n{said.thinking}\n</think>\n\n" if is_shown else ""
    return replace(said, text=thought + said.text + _tools_as_text(said.calls))


@breaker("template-history-dependent", "vllm", RIGHT, ("/request/prompt",), also=("reasoning-stripped",))
def e_template_history(scene: Scene) -> list[Exchange]:
    """The template shows the reasoning of the current turn only, so an earlier turn looks different later."""
    author = scene.author()
    prompt = author.prompt(1000)
    names = [tool["name"] for tool in author.tools(4)]
    exchanges = []
    for step in scene.agents(author, names, 5, rounds=(3, 4), loops=(1, 3), thinking=True):
        newest = max(place for place, said in enumerate(step.history) if said.role == "user")
        history = [_thought(said, place > newest or not scene.is_broken) for place, said in enumerate(step.history)]
        exchange = completion(step, chatml(prompt, history))
        exchange.answer = _thought(step.answer, True)
        exchanges.append(exchange)
    return exchanges


@breaker("double-bos", "vllm", CONSTANT, ("/request/prompt",))
def e_double_bos(scene: Scene) -> list[Exchange]:
    """One of two paths to the engine puts a second start token before the prompt."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        head = scene.settled("head", "<s><s>" if step.number and scene.hot.random() < 0.5 else "<s>")
        exchanges.append(completion(step, chatml(prompt, step.history, head)))
    return exchanges


def _ids(text: bytes) -> list[int]:
    return array("I", text).tolist()


def _sampled(text: str) -> bytes:
    """Return ids that decode to `text` and are not the ones that encoding it gives."""
    return ids(text[:3]) + ids(text[3:9]) + ids(text[9:])


@breaker("retokenisation-drift", "vllm", CONSTANT, ("/response/choices/0/token_ids",))
def e_retokenised(scene: Scene) -> list[Exchange]:
    """The ids that the model sampled are not those that its answer has when the client encodes it again."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    closing = framed("assistant", "")[len(opening("assistant")) :]
    exchanges = []
    for step in scene.chats(author, sentences=(3, 6)):
        turns = [("system", prompt), *((said.role, said.text) for said in step.history)]
        packed = b"".join(framed(role, text) for role, text in turns) + opening("assistant")
        exchange = completion(step, "")
        exchange.body = {"model": OPEN_MODEL, "prompt_token_ids": _ids(packed), "max_tokens": 700}
        answer = _sampled(step.answer.text) if scene.is_broken else ids(step.answer.text)
        exchange.answer_ids = tuple(_ids(answer + closing))
        exchanges.append(exchange)
    return exchanges


@control("vllm")
def e_clean(scene: Scene) -> list[Exchange]:
    """Conversations that replay what the engine generated, byte for byte."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    return [chat(step, prompt) for step in scene.chats(author)]


@control("vllm")
def e_salt_per_tenant(scene: Scene) -> list[Exchange]:
    """Every tenant has a salt of its own, which keeps tenants apart and costs what that costs."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    salts = {f"tenant-{number}": f"{scene.base.getrandbits(96):024x}" for number in range(3)}
    exchanges = []
    for ask in asks(scene, author):
        tenant = scene.base.choice(list(salts))
        exchange = qwen(ask, prompt, cache_salt=salts[tenant])
        exchange.extra["tenant"] = tenant
        exchanges.append(exchange)
    return exchanges


@control("vllm")
def e_rendered(scene: Scene) -> list[Exchange]:
    """Rendered prompts with a date that is pinned."""
    author = scene.author()
    prompt = f"Today Date: 26 Jul 2024\n\n{author.prompt(CHAT_PROMPT)}"
    return [completion(step, chatml(prompt, step.history)) for step in scene.chats(author)]
