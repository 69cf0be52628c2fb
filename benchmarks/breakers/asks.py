"""Single questions to an application: the traffic without conversations, in the shapes of the APIs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from benchmarks.breakers.author import Author
from benchmarks.breakers.bodies import Json, marked
from benchmarks.breakers.scene import Exchange, Said, Scene

GPT = "gpt-4o-2024-08-06"
CLAUDE = "claude-sonnet-4-5-20250929"
OPEN_MODEL = "Qwen/Qwen3-14B"
ASKED = 48
PROMPT_TOKENS = 1500


@dataclass(frozen=True)
class Ask:
    """A question, when it came, and its answer."""

    number: int
    at: float
    text: str
    answer: Said


def asks(scene: Scene, author: Author, count: int = ASKED, sentences: int = 4, mean: float = 11.0) -> list[Ask]:
    """Return `count` questions of a Poisson process."""
    times = scene.arrivals(count, mean)
    return [
        Ask(number, at, author.question(sentences), Said("assistant", author.answer(2)))
        for number, at in enumerate(times)
    ]


def joined(*parts: str) -> str:
    """Return the parts that are not empty, as paragraphs."""
    return "\n\n".join(filter(None, parts))


def clock(at: float, form: str = "%Y-%m-%d %H:%M:%S") -> str:
    """Return a moment as prompts spell it."""
    return f"{datetime.fromtimestamp(at, UTC):{form}}"


def gpt(ask: Ask, system: str, newest: str = "", **more: Any) -> Exchange:
    """Return a question as a Chat Completions request; `newest` goes before it in its message."""
    messages = [{"role": "system", "content": system}, {"role": "user", "content": joined(newest, ask.text)}]
    return Exchange(ask.at, {"model": GPT, "messages": messages, **more}, ask.answer)


def claude(ask: Ask, system: str | Sequence[Json], newest: str = "", **more: Any) -> Exchange:
    """Return a question as a Messages request; a system text gets a marker at its end."""
    blocks = [marked({"type": "text", "text": system})] if isinstance(system, str) else list(system)
    body: Json = {"model": CLAUDE, "max_tokens": 900, **more, "system": blocks}
    body["messages"] = [{"role": "user", "content": joined(newest, ask.text)}]
    return Exchange(ask.at, body, ask.answer)


def qwen(ask: Ask, system: str, newest: str = "", **more: Any) -> Exchange:
    """Return a question as an engine's Chat Completions request."""
    exchange = gpt(ask, system, newest, **more)
    exchange.body = {**exchange.body, "model": OPEN_MODEL, "max_tokens": 700, "temperature": 0.2}
    return exchange


def relayed(ask: Ask, system: str, newest: str = "", **more: Any) -> Exchange:
    """Return a question as a request to another vendor's model through a relay."""
    exchange = gpt(ask, system, newest, **more)
    exchange.body["model"] = "anthropic/claude-sonnet-4.5"
    exchange.body["messages"][0]["content"] = [marked({"type": "text", "text": system})]
    return exchange


def rendered(ask: Ask, system: str, newest: str = "") -> Exchange:
    """Return a question as a prompt that the client rendered."""
    text = f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{joined(newest, ask.text)}<|im_end|>\n"
    body = {"model": OPEN_MODEL, "prompt": f"{text}<|im_start|>assistant\n", "max_tokens": 700}
    return Exchange(ask.at, body, ask.answer)


def responses(ask: Ask, instructions: str, newest: str = "", **more: Any) -> Exchange:
    """Return a question as a Responses request."""
    content = [{"type": "input_text", "text": joined(newest, ask.text)}]
    items = [{"type": "message", "role": "user", "content": content}]
    return Exchange(ask.at, {"model": GPT, "instructions": instructions, "input": items, **more}, ask.answer)


def stamped(
    scene: Scene,
    line: Callable[[Ask, Author], str],
    section: int,
    shape: Callable[[Ask, str, str], Exchange] = gpt,
) -> list[Exchange]:
    """Return questions whose system prompt holds a volatile line before its section number `section`."""
    author = scene.author()
    sections = author.sections(PROMPT_TOKENS)
    exchanges = []
    for ask in asks(scene, author):
        slot = scene.slot("line", line(ask, author))
        system = joined(*sections[:section], slot.inside, *sections[section:])
        exchanges.append(shape(ask, system, slot.newest))
    return exchanges
