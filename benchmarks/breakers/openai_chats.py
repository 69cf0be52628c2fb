"""Conversations over OpenAI's APIs whose earlier part is not what was sent before; none has a session id."""

from __future__ import annotations

import json
from dataclasses import replace

from benchmarks.breakers.asks import GPT, clock, joined
from benchmarks.breakers.author import Author
from benchmarks.breakers.bodies import openai_message, openai_tools
from benchmarks.breakers.family import OPENAI_21, breaker
from benchmarks.breakers.openai_params import CHAT_PROMPT, chat, reply_chat
from benchmarks.breakers.scene import Call, Exchange, Said, Scene, Slot, Step, Variant

MESSAGES = ("/request/messages",)
CONTENTS = ("/request/messages/*/content",)
RIGHT = (Variant.RIGHT,)
REMOVED = "[result removed to save space]"


def with_newest(history: tuple[Said, ...], values: list[str]) -> tuple[Said, ...]:
    """Put the n-th of `values` before the n-th message of the user."""
    left = iter(values)
    return tuple(
        replace(said, text=joined(next(left, ""), said.text)) if said.role == "user" else said for said in history
    )


class Stamps:
    """The volatile values of conversations, so that a value in a message is still there when it is replayed."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._newest: dict[int, list[str]] = {}

    def slot(self, step: Step, value: str) -> tuple[Slot, tuple[Said, ...]]:
        """Return where the value of this step goes, and the history with the values of messages in it."""
        slot = self._scene.slot("value", value)
        values = self._newest.setdefault(step.chat, [])
        values.append(slot.newest)
        return slot, with_newest(step.history, values)


@breaker("history-window-slides", "openai", RIGHT, MESSAGES, comparison=OPENAI_21)
def conv_slide(scene: Scene) -> list[Exchange]:
    """Only the last five messages are replayed."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    steps = scene.chats(author, turns=(8, 11))
    return [chat(replace(step, history=step.history[-5:]) if scene.is_broken else step, prompt) for step in steps]


@breaker("history-rewritten", "openai", RIGHT, CONTENTS, comparison=OPENAI_21)
def conv_edit(scene: Scene) -> list[Exchange]:
    """Old answers are cut so that all of them fit a budget: each new one makes the others shorter."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author, sentences=(3, 6)):
        answers = [place for place, said in enumerate(step.history) if said.role == "assistant"]
        history = list(step.history)
        for place in answers[:-1] if scene.is_broken else ():
            room = 1500 // len(answers)
            history[place] = replace(history[place], text=history[place].text[:room].rstrip() + " (…)")
        exchanges.append(chat(replace(step, history=tuple(history)), prompt))
    return exchanges


def _state(scene: Scene, author: Author) -> str:
    rng = scene.hot
    view = rng.choice(author.domain.place)
    return (
        f"# Environment\nWorking directory: /srv/desk/{view.replace(' ', '-')}\n"
        f"Open file: {rng.choice(author.domain.paper).replace(' ', '_')}_{rng.randint(1, 40)}.md\n"
        f"Branch: {rng.choice(('main', 'fix-labels', 'spring-prices'))}, {rng.randint(0, 9)} files modified"
    )


@breaker("env-state-in-prefix", "openai", (Variant.NEWEST, Variant.CONSTANT), CONTENTS, comparison=OPENAI_21)
def conv_sysdrift(scene: Scene) -> list[Exchange]:
    """The system prompt shows the state of the user's workspace, anew on each turn."""
    author = scene.author()
    sections, stamps = author.sections(CHAT_PROMPT), Stamps(scene)
    exchanges = []
    for step in scene.chats(author):
        slot, history = stamps.slot(step, _state(scene, author))
        system = joined(sections[0], slot.inside, *sections[1:])
        exchanges.append(chat(replace(step, history=history), system))
    return exchanges


@breaker("ephemeral-injection-moved", "openai", (Variant.NEWEST,), CONTENTS, comparison=OPENAI_21)
def conv_inject(scene: Scene) -> list[Exchange]:
    """A reminder rides on the newest message and is gone when that message is replayed; the twin keeps it."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    shown: dict[int, list[str]] = {}
    exchanges = []
    for step in scene.chats(author, sentences=(6, 3)):
        values = shown.setdefault(step.chat, [])
        lines = "\n".join(Author(scene.hot, author.domain).notes(2))
        values.append(f"<reminder>\n{lines}\n</reminder>")
        kept = [""] * (len(values) - 1) + values[-1:] if scene.is_broken else values
        exchanges.append(chat(replace(step, history=with_newest(step.history, kept)), prompt))
    return exchanges


@breaker("history-rewritten", "openai", RIGHT, CONTENTS)
def conv_wrapper(scene: Scene) -> list[Exchange]:
    """The newest question is wrapped in instructions, history holds the bare one; the twin wraps all."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    before, after = (
        author.fill("Customer message about a {thing}, received at the {place}:"),
        "\n".join(author.notes(1)),
    )
    exchanges = []
    for step in scene.chats(author, sentences=(6, 3)):
        history = tuple(
            replace(said, text=f"{before}\n<message>\n{said.text}\n</message>\n{after}")
            if said.role == "user" and (place == len(step.history) - 1 or not scene.is_broken)
            else said
            for place, said in enumerate(step.history)
        )
        exchanges.append(chat(replace(step, history=history), prompt))
    return exchanges


@breaker("relative-time-in-history", "openai", (Variant.CONSTANT,), CONTENTS)
def conv_relative(scene: Scene) -> list[Exchange]:
    """Messages of the history say how long ago they were written; in the twin, when."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)

    def age(said: Said, now: float) -> str:
        minutes = int((now - said.at) // 60)
        ago = "just now" if now - said.at < 20 else f"{minutes} minutes ago" if minutes > 1 else "a minute ago"
        return f"[{ago if scene.is_broken else clock(said.at, '%H:%M')}] {said.text}"

    exchanges = []
    for step in scene.chats(author, gap=(50, 140)):
        history = tuple(replace(said, text=age(said, step.at)) for said in step.history)
        exchanges.append(chat(replace(step, history=history), prompt))
    return exchanges


@breaker(
    "counter-in-prefix",
    "openai",
    (Variant.NEWEST, Variant.CONSTANT),
    ("/request/instructions", "/request/input/*/content"),
)
def r_counter(scene: Scene) -> list[Exchange]:
    """The instructions say how much of the budget is left."""
    author = scene.author()
    sections, stamps = author.sections(CHAT_PROMPT), Stamps(scene)
    exchanges = []
    for step in scene.chats(author):
        left = 40_000 - 900 * step.number - len(step.history) * 37
        slot, history = stamps.slot(step, f"Remaining budget: {left} of 40000 tokens, step {step.number + 1} of 30")
        instructions = joined(sections[0], slot.inside, *sections[1:])
        exchanges.append(reply_chat(replace(step, history=history), instructions))
    return exchanges


@breaker(
    "retrieved-text-in-prefix",
    "openai",
    (Variant.NEWEST, Variant.CONSTANT),
    ("/request/instructions", "/request/input/*/content"),
)
def r_memory(scene: Scene) -> list[Exchange]:
    """What a memory recalls for the newest message is written into the instructions."""
    author = scene.author()
    sections, stamps = author.sections(CHAT_PROMPT), Stamps(scene)
    bank = Author(scene.hot, author.domain).notes(24)
    exchanges = []
    for step in scene.chats(author):
        recalled = "# Remembered\n" + "\n".join(f"- {note}" for note in scene.hot.sample(bank, 4))
        slot, history = stamps.slot(step, recalled)
        instructions = joined(*sections[:2], slot.inside, *sections[2:])
        exchanges.append(reply_chat(replace(step, history=history), instructions))
    return exchanges


def _agents(scene: Scene) -> tuple[str, list[dict[str, object]], list[Step]]:
    author = scene.author()
    tools = openai_tools(author.tools(4))
    names = [tool["function"]["name"] for tool in tools]
    return author.prompt(900), tools, scene.agents(author, names)


@breaker("tool-result-pruned", "openai", RIGHT, CONTENTS)
def conv_pruned(scene: Scene) -> list[Exchange]:
    """Results of tools are emptied once two newer ones are there."""
    prompt, tools, steps = _agents(scene)
    exchanges = []
    for step in steps:
        results = [place for place, said in enumerate(step.history) if said.role == "tool"]
        old = set(results[:-2]) if scene.is_broken else set()
        history = tuple(
            replace(said, text=REMOVED) if place in old else said for place, said in enumerate(step.history)
        )
        exchanges.append(chat(replace(step, history=history), prompt, tools=tools))
    return exchanges


@breaker("tool-call-id-regenerated", "openai", RIGHT, MESSAGES)
def conv_call_ids(scene: Scene) -> list[Exchange]:
    """The ids of tool calls are made up anew whenever the history is replayed."""
    prompt, tools, steps = _agents(scene)
    exchanges = []
    for step in steps:
        names: dict[str, str] = {}
        history = []
        for said in step.history:
            for call in said.calls:
                names[call.id] = f"call_{scene.hot.getrandbits(80):020x}" if scene.is_broken else call.id
            calls = tuple(replace(call, id=names[call.id]) for call in said.calls)
            history.append(replace(said, calls=calls, call_id=names.get(said.call_id, said.call_id)))
        exchanges.append(chat(replace(step, history=tuple(history)), prompt, tools=tools))
    return exchanges


@breaker("tool-args-reserialised", "openai", RIGHT, ("/request/messages/*/tool_calls/*/function/arguments",))
def conv_args(scene: Scene) -> list[Exchange]:
    """The arguments of all calls but the newest come from a store that writes JSON in its own way."""
    prompt, tools, steps = _agents(scene)
    exchanges = []
    for step in steps:
        newest = max((place for place, said in enumerate(step.history) if said.calls), default=-1)
        history = tuple(
            replace(said, calls=tuple(map(_stored, said.calls)))
            if said.calls and place < newest and scene.is_broken
            else said
            for place, said in enumerate(step.history)
        )
        exchanges.append(chat(replace(step, history=history), prompt, tools=tools))
    return exchanges


def _stored(call: Call) -> Call:
    written = json.dumps(call.arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return replace(call, written=written)


@breaker("aux-request-different-prefix", "openai", RIGHT, MESSAGES)
def conv_summary(scene: Scene) -> list[Exchange]:
    """Conversations are summed up by a request that begins differently; the twin appends to the conversation."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    wish = author.fill("Sum up this conversation for the {staff} in five lines. Name references and open points.")
    exchanges = []
    for step in scene.chats(author, 10, turns=(3, 5), gap=(15, 45), sentences=(6, 8)):
        exchanges.append(chat(step, prompt))
        if not step.is_last:
            continue
        history = (*step.history, step.answer)
        summary = Said("assistant", author.answer(4))
        if scene.is_broken:
            text = "\n".join(f"{said.role}: {said.text}" for said in history)
            messages = [{"role": "system", "content": wish}, {"role": "user", "content": text}]
        else:
            messages = [*exchanges[-1].body["messages"], *map(openai_message, (step.answer, Said("user", wish)))]
        at = round(step.at + 6 + len(text_of(history)) % 7, 3)
        exchanges.append(Exchange(at, {"model": GPT, "messages": messages}, summary, f"chat-{step.chat}"))
    return exchanges


def text_of(history: tuple[Said, ...]) -> str:
    """Return all that was said."""
    return "".join(said.text for said in history)


@breaker("ttl-expired", "openai", RIGHT, ("/ts",), is_alone=True)
def conv_pause(scene: Scene) -> list[Exchange]:
    """People come back to a conversation after an hour and more; in the twin, after a minute."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    steps = scene.chats(author, gap=(32, 70), apart=300)
    stretch = 140 if scene.is_broken else 1
    return [chat(replace(step, at=round(scene.start + (step.at - scene.start) * stretch, 3)), prompt) for step in steps]
