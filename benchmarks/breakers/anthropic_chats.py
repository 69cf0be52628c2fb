"""Conversations and agent loops over Messages, with a marker on the system text and one that moves along."""

from __future__ import annotations

import base64
import struct
import unicodedata
import zlib
from dataclasses import replace
from typing import Any

from benchmarks.breakers.anthropic_prompts import text_block
from benchmarks.breakers.asks import CLAUDE, joined
from benchmarks.breakers.author import Author
from benchmarks.breakers.bodies import Json, anthropic_messages, anthropic_tools, mark_last, marked
from benchmarks.breakers.family import ANTHROPIC_11, breaker, control
from benchmarks.breakers.openai_chats import Stamps, with_newest
from benchmarks.breakers.scene import Exchange, Scene, Step, Variant

RIGHT = (Variant.RIGHT,)
CONSTANT = (Variant.CONSTANT,)
TEXTS = ("/request/messages/*/content/*/text",)
MARKERS = ("/request/messages/*/content/*/cache_control",)
CHAT_PROMPT = 1200


def chat(step: Step, system: str, messages: list[Json] | None = None, **more: Any) -> Exchange:
    """Return a step of a conversation as a Messages request; by default with markers as they should be."""
    body: Json = {"model": CLAUDE, "max_tokens": 1500, **more, "system": [marked(text_block(system))]}
    body["messages"] = mark_last(anthropic_messages(step.history)) if messages is None else messages
    return Exchange(step.at, body, step.answer, f"chat-{step.chat}")


@breaker("effort-or-thinking-changed", "anthropic", CONSTANT, ("/request/thinking",), comparison=ANTHROPIC_11)
def a_thinking_flip(scene: Scene) -> list[Exchange]:
    """Thinking is switched on and off between the turns of a conversation."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        thinking = scene.hot.choice(({"type": "enabled", "budget_tokens": 1200}, {"type": "disabled"}))
        exchanges.append(chat(step, prompt, thinking=scene.settled("thinking", thinking)))
    return exchanges


@breaker("lookback-exceeded", "anthropic", RIGHT, MARKERS, comparison=ANTHROPIC_11)
def a_lookback(scene: Scene) -> list[Exchange]:
    """Each turn adds more blocks than a marker looks back; the twin puts a second marker half-way."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    snippets: dict[int, list[list[Json]]] = {}
    for step in scene.chats(author, 6, turns=(4, 6)):
        added = snippets.setdefault(step.chat, [])
        added.append([text_block(f"Attached: {author.result(1)}") for _ in range(25)])
        messages = anthropic_messages(step.history)
        for message, blocks in zip(messages[::2], added, strict=True):
            message["content"] = [*blocks, *message["content"]]
        mark_last(messages)
        if not scene.is_broken:
            content = messages[-1]["content"]
            content[10] = marked(content[10])
        exchanges.append(chat(step, prompt, messages))
    return exchanges


@breaker("unicode-drift", "anthropic", CONSTANT, TEXTS)
def a_nfd_replay(scene: Scene) -> list[Exchange]:
    """What the user typed is stored decomposed, and comes back so on the next turn."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        history = with_newest(step.history, [f"Zoë Núñez, Café Señor Añejo (№ {n}):" for n in range(1, 20)])
        if scene.is_broken:
            stored = (replace(said, text=unicodedata.normalize("NFD", said.text)) for said in history[:-1])
            history = (*stored, history[-1])
        exchanges.append(chat(replace(step, history=history), prompt))
    return exchanges


@breaker("ephemeral-injection-moved", "anthropic", (Variant.NEWEST,), ("/request/messages/*/content",))
def a_reminder(scene: Scene) -> list[Exchange]:
    """A block with a reminder stands before the newest question only; the twin keeps it there."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    shown: dict[int, list[str]] = {}
    exchanges = []
    for step in scene.chats(author):
        values = shown.setdefault(step.chat, [])
        notes = " ".join(Author(scene.hot, author.domain).notes(2))
        values.append(f"<system-reminder>\n{notes}\n</system-reminder>")
        messages = anthropic_messages(step.history)
        for place, value in enumerate(values):
            if place == len(values) - 1 or not scene.is_broken:
                content = messages[2 * place]["content"]
                messages[2 * place]["content"] = [text_block(value), *content]
        exchanges.append(chat(step, prompt, mark_last(messages)))
    return exchanges


@breaker(
    "retrieved-text-in-prefix", "anthropic", (Variant.NEWEST, Variant.CONSTANT), ("/request/system/*/text", *TEXTS)
)
def a_memory(scene: Scene) -> list[Exchange]:
    """What a memory recalls for the newest message is written into the marked system text."""
    author = scene.author()
    sections, stamps = author.sections(CHAT_PROMPT), Stamps(scene)
    bank = Author(scene.hot, author.domain).notes(24)
    exchanges = []
    for step in scene.chats(author):
        recalled = "# What you remember\n" + "\n".join(f"- {note}" for note in scene.hot.sample(bank, 4))
        slot, history = stamps.slot(step, recalled)
        system = joined(*sections[:2], slot.inside, *sections[2:])
        exchanges.append(chat(replace(step, history=history), system))
    return exchanges


@breaker("tool-choice-changed", "anthropic", CONSTANT, ("/request/tool_choice",))
def a_tool_choice(scene: Scene) -> list[Exchange]:
    """Some turns of a conversation may not call tools."""
    author = scene.author()
    prompt, tools = author.prompt(900), anthropic_tools(author.tools(4))
    exchanges = []
    for step in scene.chats(author):
        choice = scene.settled("choice", scene.hot.choice(({"type": "auto"}, {"type": "none"}, {"type": "any"})))
        exchanges.append(chat(step, prompt, tools=tools, tool_choice=choice))
    return exchanges


@breaker("env-state-in-prefix", "anthropic", CONSTANT, ("/request/system/*/text",))
def a_git_status(scene: Scene) -> list[Exchange]:
    """The system text of a coding agent shows the state of the working tree on each call."""
    author = scene.author()
    sections, rng = author.sections(850), scene.hot
    tools = anthropic_tools(author.tools(4))
    exchanges = []
    for step in scene.agents(author, [tool["name"] for tool in tools]):
        files = "\n".join(
            f" M src/{rng.choice(('plan', 'price', 'mail', 'queue'))}_{rng.randint(1, 30)}.py" for _ in range(3)
        )
        state = scene.settled("state", f"# Git status\nOn branch desk-{rng.randint(1, 9)}\n{files}")
        system = joined(sections[0], state, *sections[1:])
        exchanges.append(chat(step, system, tools=tools))
    return exchanges


@breaker("breakpoint-misplaced", "anthropic", RIGHT, MARKERS)
def a_stuck_marker(scene: Scene) -> list[Exchange]:
    """The marker stays on the question of the user while the loop of tool calls grows behind it."""
    author = scene.author()
    prompt, tools = author.prompt(850), anthropic_tools(author.tools(4))
    names = [tool["name"] for tool in tools]
    exchanges = []
    for step in scene.agents(author, names, 5, rounds=(1, 2), loops=(5, 7)):
        messages = anthropic_messages(step.history)
        asked = messages[0]["content"] if scene.is_broken else messages[-1]["content"]
        asked[-1] = marked(asked[-1])
        exchanges.append(chat(step, prompt, messages, tools=tools))
    return exchanges


@breaker(
    "reasoning-stripped", "anthropic", RIGHT, ("/request/messages/*/content",), also=("template-history-dependent",)
)
def a_thinking_stripped(scene: Scene) -> list[Exchange]:
    """The client drops the thinking of earlier turns as soon as the user says something new."""
    author = scene.author()
    prompt, tools = author.prompt(850), anthropic_tools(author.tools(4))
    names = [tool["name"] for tool in tools]
    exchanges = []
    for step in scene.agents(author, names, 5, rounds=(3, 4), loops=(1, 3), thinking=True):
        newest = max(place for place, said in enumerate(step.history) if said.role == "user")
        history = tuple(
            replace(said, thinking="") if place < newest and scene.is_broken else said
            for place, said in enumerate(step.history)
        )
        exchange = chat(replace(step, history=history), prompt, tools=tools)
        exchange.body |= {"model": "claude-sonnet-4-6", "thinking": {"type": "enabled", "budget_tokens": 2000}}
        exchanges.append(exchange)
    return exchanges


def picture(seed: int, side: int = 64) -> str:
    """Return a small PNG of grey noise, in base64."""
    state = seed & 0x7FFF_FFFF
    rows = bytearray()
    for place in range(side * side):
        if place % side == 0:
            rows.append(0)
        state = (state * 1_103_515_245 + 12_345) & 0x7FFF_FFFF
        rows.append(state >> 23)

    def part(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)
    data = part(b"IHDR", header) + part(b"IDAT", zlib.compress(bytes(rows))) + part(b"IEND", b"")
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + data).decode()


@breaker("image-reencoded", "anthropic", RIGHT, ("/request/messages/*/content",))
def a_image_pointer(scene: Scene) -> list[Exchange]:
    """A picture is sent once, and replaced by a note when its message is replayed; the twin sends it again."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author, 8, turns=(4, 6)):
        messages = anthropic_messages(step.history)
        for place, message in enumerate(messages[::2]):
            source = {"type": "base64", "media_type": "image/png", "data": picture(step.chat * 100 + place)}
            image: Json = {"type": "image", "source": source}
            if place != len(messages) // 2 and scene.is_broken:
                image = text_block(f"[picture {place + 1} stored as upload-{step.chat}-{place}.png]")
            message["content"] = [image, *message["content"]]
        exchanges.append(chat(step, prompt, mark_last(messages)))
    return exchanges


@breaker("header-changed", "anthropic", CONSTANT, ("/request_headers",))
def a_beta_header(scene: Scene) -> list[Exchange]:
    """Some turns of a conversation ask for a beta feature, which has a cache of its own."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        exchange = chat(step, prompt)
        betas = scene.settled("beta", scene.hot.choice(("context-1m-2025-08-07", "context-management-2025-06-27")))
        exchange.extra["request_headers"] = {"anthropic-version": "2023-06-01", "anthropic-beta": betas}
        exchanges.append(exchange)
    return exchanges


@control("anthropic")
def a_moving_marker(scene: Scene) -> list[Exchange]:
    """An agent loop whose marker moves along with the newest message."""
    author = scene.author()
    prompt, tools = author.prompt(850), anthropic_tools(author.tools(4))
    names = [tool["name"] for tool in tools]
    return [chat(step, prompt, tools=tools) for step in scene.agents(author, names)]
