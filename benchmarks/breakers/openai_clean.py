"""Traffic over OpenAI's APIs with nothing wrong, though much of it changes."""

from __future__ import annotations

import uuid
from dataclasses import replace

from benchmarks.breakers.asks import GPT, PROMPT_TOKENS, Ask, asks, clock, gpt, joined
from benchmarks.breakers.family import OPENAI_21, control
from benchmarks.breakers.openai_params import CHAT_PROMPT, chat, reply_chat
from benchmarks.breakers.oracles.openai import STEP, lay_out
from benchmarks.breakers.oracles.tokens import count
from benchmarks.breakers.scene import Exchange, Said, Scene, Step


@control("openai", comparison=OPENAI_21)
def clean(scene: Scene) -> list[Exchange]:
    """Questions behind one constant prompt."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    return [gpt(ask, prompt) for ask in asks(scene, author)]


@control("openai", comparison=OPENAI_21)
def ts_end(scene: Scene) -> list[Exchange]:
    """The time stands at the end of the newest message."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    return [
        gpt(replace(ask, text=f"{ask.text}\n\nCurrent time: {clock(ask.at)} UTC"), prompt)
        for ask in asks(scene, author)
    ]


@control("openai", comparison=OPENAI_21)
def const_values(scene: Scene) -> list[Exchange]:
    """Dates, a UUID, a counter and a key id stand in the prefix and never change."""
    author = scene.author()
    sections = author.sections(1500)
    head = (
        f"Prompt version 4.{scene.base.randint(1, 30)}, last changed {clock(scene.start - 8e6, '%Y-%m-%d %H:%M')}\n"
        f"Site id: {uuid.UUID(int=scene.base.getrandbits(128), version=4)}\nRevision: {scene.base.getrandbits(40):010x}"
    )
    return [gpt(ask, joined(head, *sections)) for ask in asks(scene, author)]


@control("openai", comparison=OPENAI_21)
def conv_grow(scene: Scene) -> list[Exchange]:
    """Conversations that only grow."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    return [chat(step, prompt) for step in scene.chats(author)]


@control("openai", comparison=OPENAI_21)
def conv_interleaved(scene: Scene) -> list[Exchange]:
    """Conversations of three applications in one log, a few seconds apart."""
    exchanges = []
    for number in range(3):
        author = scene.author()
        prompt = author.prompt(CHAT_PROMPT)
        for exchange in (chat(step, prompt) for step in scene.chats(author, 3, apart=12)):
            exchange.chat = f"app-{number} {exchange.chat}"
            exchanges.append(exchange)
    return exchanges


@control("openai", comparison=OPENAI_21)
def dup_aligned(scene: Scene) -> list[Exchange]:
    """The same few requests again and again, each a whole number of cache steps long."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    kinds = asks(scene, author, 12)
    exchanges = []
    for number, at in enumerate(scene.arrivals(48)):
        kind = kinds[number % 12] if number < 12 else scene.base.choice(kinds)
        exchanges.append(_padded(gpt(replace(kind, at=at), prompt), kind, prompt))
    return exchanges


def _padded(exchange: Exchange, ask: Ask, prompt: str) -> Exchange:
    """Add words to the question until the prompt ends at a step."""
    missing = -count(lay_out(exchange.body).prompt) % STEP
    return gpt(replace(ask, at=exchange.at, text=ask.text + " please" * missing), prompt)


@control("openai", comparison=OPENAI_21)
def conv_fork(scene: Scene) -> list[Exchange]:
    """Requests are sent twice, and people go back to an earlier point and go on differently from there."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = []
    for step in scene.chats(author):
        exchanges.append(chat(step, prompt))
        chance = scene.base.random()
        if chance < 0.12:
            exchanges.append(chat(replace(step, at=round(step.at + 2.5, 3)), prompt))
        elif chance < 0.3 and step.number >= 2:
            exchanges.append(chat(_forked(scene, step, author.question(2), author.answer(3)), prompt))
    return exchanges


def _forked(scene: Scene, step: Step, question: str, answer: str) -> Step:
    keep = 2 * scene.base.randint(1, step.number)
    history = (*step.history[:keep], Said("user", question))
    return replace(step, at=round(step.at + 9, 3), history=history, answer=Said("assistant", answer))


@control("openai")
def deploy_once(scene: Scene) -> list[Exchange]:
    """The prompt changes once, half-way, and stays so: a release."""
    author = scene.author()
    sections = author.sections(1500)
    rule = author.fill("From this season on, a {thing} at the {place} needs a {paper} of its own.")
    asked = asks(scene, author)
    texts = (joined(*sections), joined(*sections[:2], rule, *sections[2:]))
    return [gpt(ask, texts[ask.number >= len(asked) // 2]) for ask in asked]


@control("openai")
def ab_split(scene: Scene) -> list[Exchange]:
    """Two variants of the prompt, one for each conversation: an experiment."""
    author = scene.author()
    sections = author.sections(CHAT_PROMPT)
    texts = (joined(*sections), joined(sections[0], f"# Tone\n{author.manners(4)}", *sections[1:]))
    return [chat(step, texts[step.chat % 2]) for step in scene.chats(author, 8)]


@control("openai")
def sampling(scene: Scene) -> list[Exchange]:
    """Sampling, limits, metadata and the order of the body's keys vary; none of them is in the prompt."""
    author = scene.author()
    prompt, rng = author.prompt(PROMPT_TOKENS), scene.base
    exchanges = []
    for ask in asks(scene, author):
        exchange = gpt(ask, prompt, temperature=rng.choice((0, 0.2, 0.7, 1)), max_tokens=rng.choice((300, 800)))
        exchange.body |= {"seed": rng.randint(1, 10**6), "metadata": {"trace": f"{rng.getrandbits(64):016x}"}}
        exchange.body = {key: exchange.body[key] for key in rng.sample(list(exchange.body), len(exchange.body))}
        exchanges.append(exchange)
    return exchanges


@control("openai")
def alias(scene: Scene) -> list[Exchange]:
    """The request names a model by its alias, the answer by its snapshot."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = [chat(step, prompt) for step in scene.chats(author)]
    for exchange in exchanges:
        exchange.body["model"], exchange.served_model = "gpt-4o", GPT
    return exchanges


@control("openai")
def unlucky(scene: Scene) -> list[Exchange]:
    """The provider now and then reports nothing cached for a prefix that it had: not the text's fault."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    exchanges = [chat(step, prompt) for step in scene.chats(author)]
    for exchange in exchanges:
        if scene.base.random() < 0.1:
            exchange.report = lambda usage: {**usage, "prompt_tokens_details": {"cached_tokens": 0}}
    return exchanges


@control("openai")
def conv_compacted(scene: Scene) -> list[Exchange]:
    """Long conversations are summed up once, and go on from the summary."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    summaries: dict[int, Said] = {}
    exchanges = []
    for step in scene.chats(author, 4, turns=(11, 13)):
        history = step.history
        if step.number >= 7:
            text = f"Summary of the conversation so far:\n{author.document(120)}"
            summary = summaries.setdefault(step.chat, Said("user", text))
            history = (summary, Said("assistant", "Understood."), *history[14:])
        exchanges.append(chat(replace(step, history=history), prompt))
    return exchanges


@control("openai")
def r_key_per_chat(scene: Scene) -> list[Exchange]:
    """Every conversation has a cache key of its own, as it should."""
    author = scene.author()
    prompt = author.prompt(CHAT_PROMPT)
    keys = [f"thread-{scene.base.getrandbits(48):012x}" for _ in range(6)]
    return [reply_chat(step, prompt, prompt_cache_key=keys[step.chat]) for step in scene.chats(author)]
