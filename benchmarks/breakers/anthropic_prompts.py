"""Single questions over Messages: what stands before the marker, and whether the marker is right."""

from __future__ import annotations

from dataclasses import replace

from benchmarks.breakers.asks import PROMPT_TOKENS, asks, claude, clock, joined, stamped
from benchmarks.breakers.bodies import Json, anthropic_tools, marked
from benchmarks.breakers.family import ANTHROPIC_11, breaker, control
from benchmarks.breakers.oracles.anthropic import refusal
from benchmarks.breakers.scene import Exchange, Scene, Variant

RIGHT = (Variant.RIGHT,)
TEXTS = ("/request/system/*/text", "/request/messages/*/content")
REFUSED = ("/response",)


def text_block(text: str) -> Json:
    """Return a text as a content block."""
    return {"type": "text", "text": text}


@breaker("clock-in-prefix", "anthropic", (Variant.NEWEST, Variant.CONSTANT), TEXTS, comparison=ANTHROPIC_11)
def a_ts_before(scene: Scene) -> list[Exchange]:
    """The time stands in the system text before its marker."""
    return stamped(scene, lambda ask, _: f"It is now {clock(ask.at, '%Y-%m-%dT%H:%M:%S')}.", 1, claude)


@breaker("breakpoint-missing", "anthropic", RIGHT, ("/request/system/*/cache_control",), comparison=ANTHROPIC_11)
def a_no_marker(scene: Scene) -> list[Exchange]:
    """No marker anywhere, though every request begins alike."""
    author = scene.author()
    block = text_block(author.prompt(PROMPT_TOKENS))
    system = [block if scene.is_broken else marked(block)]
    return [claude(ask, system) for ask in asks(scene, author)]


@breaker("breakpoint-missing", "anthropic", RIGHT, ("/request/system",), comparison=ANTHROPIC_11)
def a_string_system(scene: Scene) -> list[Exchange]:
    """The system text is a plain string, which cannot carry a marker."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    exchanges = [claude(ask, prompt) for ask in asks(scene, author)]
    for exchange in exchanges:
        if scene.is_broken:
            exchange.body["system"] = prompt
    return exchanges


def _five_places(scene: Scene, ttls: tuple[str | None, ...]) -> list[Exchange]:
    """Return questions whose tools and system blocks carry markers with these lifetimes; None is no marker."""
    author = scene.author()
    tools = anthropic_tools(author.tools(11))  # more than the least that is cached
    blocks: list[Json] = [tools[-1], *map(text_block, author.sections(700))]
    blocks = [block if ttl is None else marked(block, ttl) for block, ttl in zip(blocks, ttls, strict=True)]
    exchanges = [claude(ask, blocks[1:], tools=[*tools[:-1], blocks[0]]) for ask in asks(scene, author)]
    for exchange in exchanges:
        exchange.rejected = refusal(exchange.body)
    return exchanges


@breaker(
    "breakpoint-over-limit", "anthropic", RIGHT, ("/request/system/*/cache_control", *REFUSED), comparison=ANTHROPIC_11
)
def a_five_markers(scene: Scene) -> list[Exchange]:
    """Five markers, of which the API allows four."""
    return _five_places(scene, ("", "" if scene.is_broken else None, "", "", ""))


@breaker(
    "ttl-mix", "anthropic", RIGHT,
    ("/request/system/*/cache_control", "/request/tools/*/cache_control", *REFUSED), comparison=ANTHROPIC_11,
)  # fmt: skip
def a_ttl_order(scene: Scene) -> list[Exchange]:
    """A marker for an hour comes after one for five minutes."""
    ttls = ("5m", None, None, None, "1h") if scene.is_broken else ("1h", None, None, None, "5m")
    return _five_places(scene, ttls)


@breaker(
    "ttl-unsupported", "anthropic", RIGHT,
    ("/request/system/*/cache_control", "/request/tools/*/cache_control", *REFUSED),
)  # fmt: skip
def a_ttl_unknown(scene: Scene) -> list[Exchange]:
    """A marker asks for two hours, which nobody offers."""
    return _five_places(scene, ("2h" if scene.is_broken else "1h", None, None, None, "5m"))


@breaker("breakpoint-below-minimum", "anthropic", RIGHT, ("/request/system/*/text",), comparison=ANTHROPIC_11)
def a_too_short(scene: Scene) -> list[Exchange]:
    """What ends at the marker is shorter than the least that is cached; the twin has an appendix more."""
    author = scene.author()
    prompt, appendix = author.prompt(700), f"# Appendix\n{author.rules(700)}"
    system = prompt if scene.is_broken else joined(prompt, appendix)
    return [claude(ask, system, author.document(850)) for ask in asks(scene, author, sentences=1)]


@breaker(
    "breakpoint-misplaced", "anthropic", RIGHT,
    ("/request/system/*/cache_control", "/request/messages/*/content/*/cache_control"), comparison=ANTHROPIC_11,
)  # fmt: skip
def a_marker_on_question(scene: Scene) -> list[Exchange]:
    """The only marker stands on the question, which no other request repeats."""
    author = scene.author()
    system = text_block(author.prompt(PROMPT_TOKENS))
    exchanges = []
    for ask in asks(scene, author):
        question = text_block(ask.text)
        exchange = claude(ask, [system if scene.is_broken else marked(system)])
        exchange.body["messages"][0]["content"] = [marked(question) if scene.is_broken else question]
        exchanges.append(exchange)
    return exchanges


@breaker("tools-reordered", "anthropic", (Variant.CONSTANT,), ("/request/tools",), comparison=ANTHROPIC_11)
def a_tools_shuffled(scene: Scene) -> list[Exchange]:
    """The same tools in another order each time."""
    author = scene.author()
    prompt, tools = author.prompt(900), anthropic_tools(author.tools(8))
    return [
        claude(ask, prompt, tools=scene.settled("tools", scene.hot.sample(tools, len(tools))))
        for ask in asks(scene, author)
    ]


@breaker("ttl-expired", "anthropic", RIGHT, ("/ts",), comparison=ANTHROPIC_11, is_alone=True)
def a_gap(scene: Scene) -> list[Exchange]:
    """A request every seven minutes, for a cache that lives five; the twin sends one every two."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    every = 420 if scene.is_broken else 120
    exchanges = []
    for ask in asks(scene, author, 40):
        at = round(scene.start + ask.number * every + scene.base.uniform(0, 20), 3)
        exchanges.append(claude(replace(ask, at=at), prompt))
    return exchanges


@breaker("stampede", "anthropic", RIGHT, ("/ts",))
def a_stampede(scene: Scene) -> list[Exchange]:
    """Questions about one document start at once, before the first of them has written it."""
    author = scene.author()
    rules = text_block(author.prompt(300))
    exchanges = []
    for wave, begin in enumerate(scene.arrivals(9, 60, least=45)):
        document = marked(text_block(author.document(1300)))
        asked = asks(scene, author, 5, sentences=1)
        for number, ask in enumerate(asked):
            wait = 0.05 * number if scene.is_broken else 4.5 * number
            exchange = claude(replace(ask, at=round(begin + wait, 3)), [rules, document])
            exchange.chat = f"wave-{wave}-{number}"
            exchanges.append(exchange)
    return exchanges


@breaker("breakpoint-lost-by-gateway", "anthropic", RIGHT, ("/response/usage",), needs_usage=True, costs=False)
def a_lost_markers(scene: Scene) -> list[Exchange]:
    """The client sends a right marker, and both counters of the answer stay at zero."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    exchanges = [claude(ask, prompt) for ask in asks(scene, author)]
    for exchange in exchanges:
        exchange.report = _uncached if scene.is_broken else None
    return exchanges


def _uncached(usage: Json) -> Json:
    counters = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    total = sum(usage[name] for name in counters)
    nothing = {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}
    return {**usage, **dict.fromkeys(counters, 0), "input_tokens": total, "cache_creation": nothing}


@control("anthropic", comparison=ANTHROPIC_11)
def a_clean(scene: Scene) -> list[Exchange]:
    """One constant system text with a marker at its end."""
    author = scene.author()
    prompt = author.prompt(PROMPT_TOKENS)
    return [claude(ask, prompt) for ask in asks(scene, author)]


@control("anthropic", comparison=ANTHROPIC_11)
def a_ts_after(scene: Scene) -> list[Exchange]:
    """The time stands in a block of its own behind the marker."""
    author = scene.author()
    block = marked(text_block(author.prompt(PROMPT_TOKENS)))
    return [
        claude(ask, [block, text_block(f"It is now {clock(ask.at, '%Y-%m-%dT%H:%M:%S')}.")])
        for ask in asks(scene, author)
    ]


@control("anthropic")
def a_below_unmarked(scene: Scene) -> list[Exchange]:
    """A prompt below the minimum without a marker: there is nothing that caching could do."""
    author = scene.author()
    system = [text_block(author.prompt(500))]
    return [claude(ask, system) for ask in asks(scene, author, 30, sentences=2)]
