"""Single questions over Chat Completions whose system prompt is not the same twice."""

from __future__ import annotations

import json
import string
import unicodedata
import uuid

from benchmarks.breakers import banks
from benchmarks.breakers.asks import PROMPT_TOKENS, Ask, asks, clock, gpt, joined, stamped
from benchmarks.breakers.author import Author
from benchmarks.breakers.family import OPENAI_21, breaker
from benchmarks.breakers.scene import Exchange, Scene, Variant

SYSTEM = ("/request/messages/0/content",)
MESSAGES = ("/request/messages/*/content",)
EITHER = (Variant.NEWEST, Variant.CONSTANT)
CONSTANT = (Variant.CONSTANT,)


@breaker("clock-in-prefix", "openai", EITHER, MESSAGES, comparison=OPENAI_21)
def ts_top(scene: Scene) -> list[Exchange]:
    """The time to the second is the first line."""
    return stamped(scene, lambda ask, _: f"Current time: {clock(ask.at)} UTC", 0)


@breaker("request-id-in-prefix", "openai", EITHER, MESSAGES, comparison=OPENAI_21)
def uuid_mid(scene: Scene) -> list[Exchange]:
    """A UUID of the request stands half-way down."""
    return stamped(scene, lambda *_: f"Trace: {uuid.UUID(int=scene.hot.getrandbits(128), version=4)}", 2)


@breaker("clock-in-prefix", "openai", (Variant.CONSTANT, Variant.NEWEST), MESSAGES, comparison=OPENAI_21)
def epoch_mid(scene: Scene) -> list[Exchange]:
    """Milliseconds since the epoch stand half-way down."""
    return stamped(scene, lambda ask, _: f"server_time_ms={int(ask.at * 1000)}", 2)


@breaker("request-id-in-prefix", "openai", (Variant.CONSTANT, Variant.NEWEST), MESSAGES, comparison=OPENAI_21)
def nonce_top(scene: Scene) -> list[Exchange]:
    """Six random characters stand before everything."""
    alphabet = string.ascii_letters + string.digits
    return stamped(scene, lambda *_: f"[{''.join(scene.hot.choices(alphabet, k=6))}]", 0)


@breaker("unordered-iteration", "openai", CONSTANT, SYSTEM, also=("schema-key-order",), comparison=OPENAI_21)
def json_in_system(scene: Scene) -> list[Exchange]:
    """Settings are printed as JSON whose keys come in another order each time."""
    facts = {key: scene.base.randint(1, 90) for key in ("hold_hours", "free_changes", "fee_limit", "group_size")}
    words: dict[str, object] = {
        "currency": "units",
        "week_starts": "Monday",
        "tax_included": True,
        "channels": ["desk"],
    }

    def line(_: Ask, author: Author) -> str:
        pairs = list({"site": author.firm, **facts, **words}.items())
        scene.hot.shuffle(pairs)
        return "# Settings\n" + json.dumps(dict(pairs), indent=1)

    return stamped(scene, line, 1)


@breaker("retrieved-text-in-prefix", "openai", EITHER, MESSAGES, comparison=OPENAI_21)
def rag_first(scene: Scene) -> list[Exchange]:
    """Passages that were retrieved for the question stand before the house rules."""
    shelf: list[str] = []

    def line(_: Ask, author: Author) -> str:
        if not shelf:
            writer = Author(scene.hot, author.domain)
            shelf.extend(writer.passage() for _ in range(18))
        return "# Passages\n" + joined(*scene.hot.sample(shelf, 3))

    return stamped(scene, line, 1)


@breaker("user-data-first", "openai", EITHER, MESSAGES, comparison=OPENAI_21)
def user_in_system(scene: Scene) -> list[Exchange]:
    """Who is asking stands before what is the same for everybody."""

    def line(_: Ask, author: Author) -> str:
        writer = Author(scene.hot, author.domain)
        language = scene.hot.choice(("English", "Dutch", "Danish"))
        plan = scene.hot.choice(("basic", "plus", "trade", "trial"))
        return (
            f"# Who is asking\nName: {writer.name()}\nLanguage: {language}\n"
            f"Usual place: {scene.hot.choice(author.domain.place)}\nOpen cases: {writer.reference()}\n"
            f"Plan: {plan}, member for {scene.hot.randint(1, 19)} years"
        )

    return stamped(scene, line, 0)


@breaker("fewshot-unstable", "openai", CONSTANT, SYSTEM, comparison=OPENAI_21)
def fewshot(scene: Scene) -> list[Exchange]:
    """Four of twelve worked examples, drawn anew for each request, stand before the rules."""
    bank: list[str] = []

    def line(_: Ask, author: Author) -> str:
        if not bank:
            writer = Author(scene.hot, author.domain)
            bank.extend(writer.example() for _ in range(12))
        return "# Examples\n" + joined(*scene.hot.sample(bank, 4))

    return stamped(scene, line, 1)


@breaker("unordered-iteration", "openai", CONSTANT, SYSTEM)
def unordered_list(scene: Scene) -> list[Exchange]:
    """A set of enabled features is printed in the order in which it happens to come."""

    def line(_: Ask, author: Author) -> str:
        return "Enabled here: " + ", ".join(scene.hot.sample(author.domain.thing, len(author.domain.thing)))

    return stamped(scene, line, 1)


LOCALES = (
    ("Monday, 5 January 2026", "12,450.50"), ("Montag, 5. Januar 2026", "12.450,50"),
    ("lundi 5 janvier 2026", "12 450,50"), ("lunes, 5 de enero de 2026", "12.450,50"),
    ("lunedì 5 gennaio 2026", "12.450,50"), ("maandag 5 januari 2026", "12.450,50"),
    ("segunda-feira, 5 de janeiro de 2026", "12.450,50"), ("poniedziałek, 5 stycznia 2026", "12 450,50"),
    ("måndag 5 januari 2026", "12 450,50"), ("mandag den 5. januar 2026", "12.450,50"),
    ("maanantai 5. tammikuuta 2026", "12 450,50"), ("pondělí 5. ledna 2026", "12 450,50"),
    ("Monday, January 5, 2026", "12,450.50"), ("luni, 5 ianuarie 2026", "12.450,50"),
    ("pirmadienis, 2026 m. sausio 5 d.", "12 450,50"), ("понедельник, 5 января 2026 г.", "12 450,50"),
)  # fmt: skip


@breaker("locale-dependent-format", "openai", CONSTANT, SYSTEM)
def locale_flip(scene: Scene) -> list[Exchange]:
    """One day and one sum are spelt as the locale of whichever worker has it."""

    def line(*_: object) -> str:
        day, amount = scene.hot.choice(LOCALES)
        return f"Prices as of: {day}\nLimit for one case: {amount} EUR"

    return stamped(scene, line, 1)


ACCENTED = (
    "São Tomé Quay",
    "Málaga Steps",
    "Århus Gate",
    "Besançon Hall",
    "Zürich Wing",
    "Córdoba Court",
    "Kraków Row",
)


@breaker("unicode-drift", "openai", CONSTANT, SYSTEM, comparison=OPENAI_21)
def nfd(scene: Scene) -> list[Exchange]:
    """Names with accents come from two stores, one of which decomposes them."""

    def line(*_: object) -> str:
        names = [unicodedata.normalize(scene.hot.choice(("NFC", "NFD")), name) for name in ACCENTED]
        return "# Branches\n" + "\n".join(f"- {name}" for name in names)

    return stamped(scene, line, 1)


def _pieces(author: Author) -> list[str]:
    rules = author.sections(PROMPT_TOKENS - 300)
    return [*rules[:2], f"# Prices\n{author.rules(120)}", f"# Complaints\n{author.rules(120)}", *rules[2:]]


@breaker("whitespace-drift", "openai", CONSTANT, SYSTEM, comparison=OPENAI_21)
def whitespace(scene: Scene) -> list[Exchange]:
    """Conditional sections that are empty leave their blank lines behind."""
    author = scene.author()
    pieces = _pieces(author)
    exchanges = []
    for ask in asks(scene, author):
        gaps = scene.settled("gaps", ["\n" * scene.hot.randint(2, 4) for _ in pieces])
        system = "".join(piece + gap for piece, gap in zip(pieces, gaps, strict=True)).rstrip()
        exchanges.append(gpt(ask, system))
    return exchanges


@breaker("line-ending-drift", "openai", CONSTANT, SYSTEM)
def crlf(scene: Scene) -> list[Exchange]:
    """The files that a prompt is made of come with either line ending, depending on who read them."""
    author = scene.author()
    pieces = _pieces(author)
    exchanges = []
    for ask in asks(scene, author):
        ends = scene.settled("ends", [scene.hot.choice(("\n", "\r\n")) for _ in pieces])
        texts = [piece.replace("\n", end) + end * 2 for piece, end in zip(pieces, ends, strict=True)]
        exchanges.append(gpt(ask, "".join(texts).rstrip()))
    return exchanges


@breaker(
    "retrieved-text-in-prefix", "openai", (Variant.NEWEST,), MESSAGES,
    also=("static-text-stranded", "user-data-first"), comparison=OPENAI_21,
)  # fmt: skip
def no_share(scene: Scene) -> list[Exchange]:
    """Every request begins with another document, and what is the same for all comes behind it."""
    author = scene.author()
    prompt = author.prompt(1300)
    exchanges = []
    for ask in asks(scene, author, sentences=1):
        document = author.document(500)
        if scene.is_broken:
            exchanges.append(gpt(ask, document, prompt))
        else:
            exchanges.append(gpt(ask, prompt, document))
    return exchanges


@breaker(
    "breakpoint-below-minimum", "openai", (Variant.RIGHT,), SYSTEM, also=("block-remainder",), comparison=OPENAI_21
)
def short(scene: Scene) -> list[Exchange]:
    """What the requests share is shorter than the least that is cached; the twin shares an appendix more."""
    author = scene.author()
    prompt, appendix = author.prompt(760), f"# Appendix\n{author.rules(620)}"
    system = prompt if scene.is_broken else joined(prompt, appendix)
    return [gpt(ask, system, author.document(850)) for ask in asks(scene, author, sentences=1)]


KEY_ALPHABET = string.ascii_letters + string.digits


@breaker("secret-in-shared-prefix", "openai", (Variant.RIGHT,), SYSTEM, costs=False)
def shared_secret(scene: Scene) -> list[Exchange]:
    """All tenants share a prompt that holds a key; in the twin it is named, not shown."""
    author = scene.author()
    sections = author.sections(PROMPT_TOKENS)
    key = "sk-proj-" + "".join(scene.hot.choices(KEY_ALPHABET, k=48))
    line = f"Key for the booking service: {key if scene.is_broken else 'kept by the gateway'}"
    return _for_tenants(scene, author, joined(*sections[:2], line, *sections[2:]))


@breaker("personal-data-in-shared-prefix", "openai", (Variant.RIGHT,), SYSTEM, costs=False)
def shared_person(scene: Scene) -> list[Exchange]:
    """All tenants share a prompt that holds one person's private data; in the twin it names a role."""
    author = scene.author()
    sections = author.sections(PROMPT_TOKENS)
    name = Author(scene.hot, author.domain).name()
    mail = name.lower().replace(" ", ".") + "@mailbox.example"
    person = f"{name}, born 14 May 1981, {mail}, +49 30 {scene.hot.randint(1000000, 9999999)}"
    line = f"Complaints go to: {person if scene.is_broken else 'the manager on duty'}"
    return _for_tenants(scene, author, joined(*sections[:2], line, *sections[2:]))


@breaker("placeholder-unrendered", "openai", (Variant.RIGHT,), SYSTEM, costs=False)
def unfilled_gap(scene: Scene) -> list[Exchange]:
    """A template is sent as it is written; in the twin it is filled in."""
    author = scene.author()
    sections = author.sections(PROMPT_TOKENS)
    branch = Author(scene.base, author.domain).name()
    place = "{{ branch_name }}" if scene.is_broken else branch
    line = f"All of this holds for the branch of {place} alone."
    return [gpt(ask, joined(*sections[:2], line, *sections[2:])) for ask in asks(scene, author)]


def _for_tenants(scene: Scene, author: Author, system: str) -> list[Exchange]:
    tenants = scene.base.sample(banks.LAST, 6)
    exchanges = [gpt(ask, system) for ask in asks(scene, author)]
    for exchange in exchanges:
        exchange.extra["tenant"] = f"{scene.base.choice(tenants).lower()}-holding"
    return exchanges
