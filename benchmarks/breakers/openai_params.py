"""Requests to OpenAI whose tools, parameters or routes change while the texts stay."""

from __future__ import annotations

import random
import uuid
from typing import Any

from benchmarks.breakers.asks import GPT, PROMPT_TOKENS, asks, gpt, responses
from benchmarks.breakers.author import Author
from benchmarks.breakers.bodies import Json, openai_messages, openai_tools, responses_items, responses_tools
from benchmarks.breakers.family import OPENAI_21, breaker
from benchmarks.breakers.scene import Exchange, Scene, Step, Variant

TOOLS = ("/request/tools",)
CONSTANT = (Variant.CONSTANT,)
CHAT_PROMPT = 1200


def shuffled_keys(value: Any, rng: random.Random) -> Any:
    """Return a JSON value whose objects have their keys in another order."""
    if isinstance(value, list):
        return [shuffled_keys(item, rng) for item in value]
    if not isinstance(value, dict):
        return value
    keys = rng.sample(list(value), len(value))
    return {key: shuffled_keys(value[key], rng) for key in keys}


def _with_tools(scene: Scene, count: int) -> tuple[Author, str, list[Json]]:
    author = scene.author()
    return author, author.prompt(900), openai_tools(author.tools(count))


@breaker("schema-key-order", "openai", CONSTANT, TOOLS, comparison=OPENAI_21)
def keyorder(scene: Scene) -> list[Exchange]:
    """Tool schemas are the same values with their keys in another order."""
    author, prompt, tools = _with_tools(scene, 8)
    exchanges = []
    for ask in asks(scene, author):
        functions = [{**tool, "function": shuffled_keys(tool["function"], scene.hot)} for tool in tools]
        exchanges.append(gpt(ask, prompt, tools=scene.settled("tools", functions)))
    return exchanges


@breaker("tools-reordered", "openai", CONSTANT, TOOLS, comparison=OPENAI_21)
def tools_shuffled(scene: Scene) -> list[Exchange]:
    """The same tools in another order each time."""
    author, prompt, tools = _with_tools(scene, 8)
    orders = (scene.settled("tools", scene.hot.sample(tools, len(tools))) for _ in range(1000))
    return [gpt(ask, prompt, tools=order) for ask, order in zip(asks(scene, author), orders, strict=False)]


@breaker("tools-set-changed", "openai", CONSTANT, TOOLS, comparison=OPENAI_21)
def tools_added(scene: Scene) -> list[Exchange]:
    """Some tools in the middle of the list are only there for some requests."""
    author, prompt, tools = _with_tools(scene, 10)
    exchanges = []
    for ask in asks(scene, author):
        some = [tool for place, tool in enumerate(tools) if not 1 <= place <= 6 or scene.hot.random() < 0.6]
        exchanges.append(gpt(ask, prompt, tools=scene.settled("tools", some)))
    return exchanges


@breaker("tool-schema-drift", "openai", CONSTANT, TOOLS)
def tool_drift(scene: Scene) -> list[Exchange]:
    """A tool's description says what is connected at the moment."""
    author, prompt, tools = _with_tools(scene, 8)
    exchanges = []
    for ask in asks(scene, author):
        places = scene.hot.sample(author.domain.place, scene.hot.randint(2, 5))
        function = dict(tools[1]["function"])
        function["description"] += scene.settled("places", f" Stations online: {', '.join(places)}.")
        exchanges.append(gpt(ask, prompt, tools=[tools[0], {**tools[1], "function": function}, *tools[2:]]))
    return exchanges


@breaker("cache-key-unstable", "openai", CONSTANT, ("/request/prompt_cache_key",), comparison=OPENAI_21)
def cache_key_flip(scene: Scene) -> list[Exchange]:
    """The cache key is a fresh UUID on each request."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    keys = (str(uuid.UUID(int=scene.hot.getrandbits(128), version=4)) for _ in range(1000))
    return [
        gpt(ask, prompt, prompt_cache_key=scene.settled("key", key))
        for ask, key in zip(asks(scene, author), keys, strict=False)
    ]


def chat(step: Step, system: str, **more: Any) -> Exchange:
    """Return a step of a conversation as a Chat Completions request."""
    body = {"model": GPT, "messages": openai_messages(system, step.history), **more}
    return Exchange(step.at, body, step.answer, f"chat-{step.chat}")


def reply_chat(step: Step, instructions: str, **more: Any) -> Exchange:
    """Return a step of a conversation as a Responses request."""
    body = {"model": GPT, "instructions": instructions, "input": responses_items(step.history), **more}
    return Exchange(step.at, body, step.answer, f"chat-{step.chat}")


MODELS = (GPT, "gpt-4o-mini-2024-07-18", "gpt-4o-2024-11-20")


@breaker("model-changed", "openai", CONSTANT, ("/request/model", "/response/model"), comparison=OPENAI_21)
def model_flip(scene: Scene) -> list[Exchange]:
    """Each turn of a conversation goes to another model."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    steps = scene.chats(author)
    return [chat(step, prompt, model=scene.settled("model", scene.hot.choice(MODELS))) for step in steps]


@breaker("route-changed", "openai", CONSTANT, ("/deployment",))
def conv_route(scene: Scene) -> list[Exchange]:
    """The turns of a conversation are spread over deployments with caches of their own."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        exchange = chat(step, prompt)
        deployment = scene.hot.choice(("pool-a", "pool-b", "pool-c", "pool-d"))
        exchange.extra["deployment"] = scene.settled(f"deployment {step.chat}", deployment)
        exchanges.append(exchange)
    return exchanges


def _form(author: Author) -> Json:
    names = ("answer", "rule", "next_step", "place", "amount")
    properties = {
        name: {"type": "string", "description": author.fill("As the {staff} would say it.")} for name in names
    }
    schema = {"type": "object", "properties": properties, "required": list(names), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "reply", "strict": True, "schema": schema}}


@breaker("response-format-changed", "openai", CONSTANT, ("/request/response_format",))
def conv_format(scene: Scene) -> list[Exchange]:
    """Some turns ask for an output schema and others do not."""
    author = scene.author()
    prompt, form = author.prompt(CHAT_PROMPT), _form(author)
    exchanges = []
    for step in scene.chats(author):
        wanted = scene.settled("form", scene.hot.choice((form, {"type": "text"}, {"type": "json_object"})))
        exchanges.append(chat(step, prompt, response_format=wanted))
    return exchanges


@breaker("effort-or-thinking-changed", "openai", CONSTANT, ("/request/reasoning",))
def r_effort(scene: Scene) -> list[Exchange]:
    """The effort of a conversation goes up and down between its turns."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        effort = scene.settled("effort", scene.hot.choice(("low", "medium", "high")))
        exchange = reply_chat(step, prompt, reasoning={"effort": effort})
        exchange.body["model"] = "gpt-5.2"
        exchanges.append(exchange)
    return exchanges


@breaker("tools-set-changed", "openai", CONSTANT, TOOLS)
def r_tool_flap(scene: Scene) -> list[Exchange]:
    """A tool server drops out of conversations and comes back."""
    author = scene.author()
    prompt, tools = author.prompt(800), responses_tools(author.tools(7))
    exchanges = []
    for step in scene.chats(author):
        is_up = scene.settled(f"up {step.chat}", step.number == 0 or scene.hot.random() < 0.6)
        exchanges.append(reply_chat(step, prompt, tools=tools if is_up else [tools[0], *tools[3:]]))
    return exchanges


@breaker(
    "implicit-breakpoint-only", "openai-5.6", (Variant.RIGHT,), ("/request/input/*/content/*/prompt_cache_breakpoint",)
)
def r_implicit_only(scene: Scene) -> list[Exchange]:
    """Single questions behind one constant text, which ends at no breakpoint; the twin marks its end."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    exchanges = []
    for ask in asks(scene, author):
        exchange = responses(ask, "")
        text: Json = {"type": "input_text", "text": prompt}
        if not scene.is_broken:
            text["prompt_cache_breakpoint"] = {"mode": "explicit"}
        head = {"type": "message", "role": "developer", "content": [text]}
        exchange.body = {"model": "gpt-5.6", "input": [head, *exchange.body["input"]]}
        exchanges.append(exchange)
    return exchanges
