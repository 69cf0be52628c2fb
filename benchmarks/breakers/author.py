"""Writes what the assistants of an invented organisation say and read: prompts, tools, questions, answers, passages."""

from __future__ import annotations

import random
import re
from typing import Any

from benchmarks.breakers import banks
from benchmarks.breakers.oracles.tokens import count, ids

_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio])")
_ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"


class Author:
    """Writes for one organisation; the same generator state gives the same text."""

    def __init__(self, rng: random.Random, domain: banks.Domain | None = None) -> None:
        self.rng = rng
        self.domain = domain or rng.choice(banks.DOMAINS)
        self.firm = rng.choice(self.domain.names)

    def fill(self, sentence: str) -> str:
        """Return a sentence of the banks with its slots filled."""
        rng, domain = self.rng, self.domain
        thing, thing2 = rng.sample(domain.thing, 2)
        place, place2 = rng.sample(domain.place, 2)
        filled = sentence.format(
            thing=thing,
            thing2=thing2,
            place=place,
            place2=place2,
            guest=domain.guest,
            staff=rng.choice(domain.staff),
            paper=rng.choice(domain.paper),
            act=rng.choice(domain.act),
            code=f"{domain.code}-{rng.randint(2, 60)}",
            ref=self.reference(),
            name=self.name(),
            day=rng.choice(banks.DAYS),
            n=rng.randint(2, 30),
            m=rng.randint(31, 80),
            hour=f"{rng.randint(7, 21)}:{rng.choice(('00', '15', '30', '45'))}",
        )
        return _ARTICLE.sub(r"\1n ", filled)

    def name(self) -> str:
        """Return the name of an invented person."""
        return f"{self.rng.choice(banks.FIRST)} {self.rng.choice(banks.LAST)}"

    def reference(self) -> str:
        """Return a reference as customers quote it."""
        return f"{self.domain.code}{self.rng.randint(1000, 9999)}{self.rng.choice(_ALPHABET)}"

    def sentences(self, bank: tuple[str, ...], count: int) -> list[str]:
        """Return `count` sentences, each template once before any comes again."""
        templates: list[str] = []
        while len(templates) < count:
            templates += self.rng.sample(bank, len(bank))
        return [self.fill(template) for template in templates[:count]]

    def role(self) -> str:
        """Return the opening of a system prompt."""
        return f"You are the assistant of {self.firm}, {self.domain.trade}. You answer what a {self.domain.guest} asks."

    def rules(self, tokens: int) -> str:
        """Return numbered house rules of at least so many tokens."""
        lines: list[str] = []
        while tokens > 0:
            for rule in self.sentences(banks.RULES, len(banks.RULES)):
                lines.append(f"{len(lines) + 1}. {rule}")
                tokens -= count(ids(lines[-1])) + 1
                if tokens <= 0:
                    break
        return "\n".join(lines)

    def manners(self, count: int = 6) -> str:
        """Return a list of how to write answers."""
        return "\n".join(f"- {line}" for line in self.sentences(banks.MANNERS, count))

    def sections(self, tokens: int) -> list[str]:
        """Return the static sections of a system prompt of at least so many tokens together."""
        role, manners = f"# Role\n{self.role()}", f"# How to write\n{self.manners()}"
        half = max(60, tokens - count(ids(role + manners))) // 2
        return [role, f"# House rules\n{self.rules(half)}", manners, f"# Special cases\n{self.rules(half)}"]

    def prompt(self, tokens: int) -> str:
        """Return a static system prompt of about so many tokens."""
        return "\n\n".join(self.sections(tokens))

    def question(self, sentences: int = 2) -> str:
        """Return what a user may ask."""
        return " ".join(self.sentences(banks.ASKS, sentences))

    def answer(self, sentences: int = 3) -> str:
        """Return what the assistant may answer."""
        return " ".join(self.sentences(banks.REPLIES, sentences))

    def notes(self, count: int) -> list[str]:
        """Return what a memory may hold about people."""
        return self.sentences(banks.NOTES, count)

    def passage(self, sentences: int = 5) -> str:
        """Return a passage of a handbook with its title."""
        rng, domain = self.rng, self.domain
        title = f"{rng.choice(domain.thing)}, {rng.choice(domain.place)} ({domain.code} {rng.randint(2, 90)})"
        return f"{title.capitalize()}\n{' '.join(self.sentences(banks.RULES, sentences))}"

    def document(self, tokens: int) -> str:
        """Return the file of one case: who, what, and the course of events; at least so many tokens."""
        paragraphs = [f"Case {self.reference()} of {self.name()}"]
        while tokens > 0:
            paragraphs.append(" ".join(self.sentences(banks.NOTES + banks.ASKS + banks.REPLIES, 4)))
            tokens -= count(ids(paragraphs[-1])) + 1
        return "\n\n".join(paragraphs)

    def example(self) -> str:
        """Return one worked example as few-shot prompts hold them."""
        return f"Question: {self.question(1)}\nAnswer: {self.answer(1)}"

    def tools(self, count: int) -> list[dict[str, Any]]:
        """Return `count` tool definitions with different names, in no API's shape: name, description, schema."""
        nouns = [thing.replace("-", " ").split()[-1].lower() for thing in self.domain.thing]
        pairs = [(verb, noun) for verb in banks.TOOL_VERBS for noun in dict.fromkeys(nouns)]
        return [self._tool(f"{verb[0]}_{noun}", verb[1]) for verb, noun in self.rng.sample(pairs, count)]

    def _tool(self, name: str, description: str) -> dict[str, Any]:
        fields = self.rng.sample(banks.FIELDS, self.rng.randint(3, 5))
        properties = {key: {"type": kind, "description": self.fill(text)} for key, kind, text in fields}
        schema = {"type": "object", "properties": properties, "required": [fields[0][0]]}
        return {"name": name, "description": self.fill(description), "schema": schema}

    def arguments(self) -> dict[str, Any]:
        """Return the arguments of a tool call."""
        rng = self.rng
        return {
            "reference": self.reference(),
            "place": rng.choice(self.domain.place),
            "limit": rng.randint(1, 20),
            "day": rng.choice(banks.DAYS),
        }

    def result(self, sentences: int = 4) -> str:
        """Return what a tool answers: lines of records."""
        rng, domain = self.rng, self.domain
        return "\n".join(
            f"{self.reference()} | {rng.choice(domain.thing)} | {rng.choice(domain.place)} | {rng.randint(1, 90)} | "
            f"{self.fill(rng.choice(banks.NOTES))}"
            for _ in range(sentences)
        )
