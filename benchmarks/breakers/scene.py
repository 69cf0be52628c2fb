"""What happens in a log before any API sees it: who asks what and when, and where a volatile value goes."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from benchmarks.breakers import banks
from benchmarks.breakers.author import Author

EPOCH = datetime(2026, 3, 2, 8, tzinfo=UTC).timestamp()
DAY = 86_400.0


class Variant(StrEnum):
    """The log with the cause, or one of its twins without it."""

    BROKEN = "broken"
    CONSTANT = "constant"
    """The value is there and never changes."""
    NEWEST = "newest"
    """The value changes, but stands in the newest message only."""
    RIGHT = "right"
    """The marker, gap or parameter is as it should be."""


class Slot(NamedTuple):
    """Where a volatile value stands: inside the prefix, in the newest message, or (both empty) nowhere."""

    inside: str
    newest: str


@dataclass(frozen=True)
class Call:
    """A tool call of the assistant."""

    id: str
    name: str
    arguments: dict[str, Any]
    written: str = ""
    """The arguments as JSON, where they are not written as the model wrote them."""


@dataclass(frozen=True)
class Said:
    """One message of a conversation, in no API's shape."""

    role: str
    text: str = ""
    calls: tuple[Call, ...] = ()
    call_id: str = ""
    thinking: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class Step:
    """One request of a conversation: everything said so far, and what the model answers."""

    at: float
    chat: int
    number: int
    history: tuple[Said, ...]
    answer: Said
    is_last: bool = False


@dataclass
class Exchange:
    """One request to a model and its answer.

    Attributes:
        at: Start, in seconds since the epoch.
        body: The request body.
        answer: What the model says.
        chat: The conversation it belongs to; unique in its log.
        extra: Fields of the record beside the body.
        takes: Seconds until the answer is whole.
        rejected: What the API says where it refuses the request.
        raw_text: The answer as generated, where it is replayed in another form.
        served_model: The model that the answer names, where it is not the one asked for.
        answer_ids: Token ids of the answer, where prompts are ids.
        report: What becomes of the usage on its way into the log.
    """

    at: float
    body: dict[str, Any]
    answer: Said
    chat: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    takes: float = 0.0
    rejected: str = ""
    raw_text: str | None = None
    served_model: str = ""
    answer_ids: tuple[int, ...] = ()
    report: Callable[[dict[str, Any]], dict[str, Any] | None] | None = None

    def __post_init__(self) -> None:
        self.takes = self.takes or round(0.9 + len(self.answer.text) / 400, 3)


class Scene:
    """Draws the traffic of one log.

    What a variant changes is drawn from a generator of its own, so that a log and its twin hold the same
    questions at the same times.

    Args:
        name: Family; `seed`: another one gives other texts and times.
        variant: Which of the logs.
    """

    def __init__(self, name: str, seed: int, variant: Variant) -> None:
        self.variant = variant
        self.base = random.Random(f"{name}/{seed}")
        self.hot = random.Random(f"{name}/{seed}/volatile")
        self.start = EPOCH + DAY * (seed % 60) + self.base.randint(0, 20_000)
        self._domains = self.base.sample(banks.DOMAINS, len(banks.DOMAINS))
        self._first: dict[str, Any] = {}

    @property
    def is_broken(self) -> bool:
        """Whether this is the log with the cause."""
        return self.variant is Variant.BROKEN

    def author(self) -> Author:
        """Return an author for an organisation that no other author of this scene writes for."""
        return Author(self.base, self._domains.pop())

    def slot(self, name: str, value: str) -> Slot:
        """Say where the volatile `value` of this request goes."""
        if self.variant is Variant.BROKEN:
            return Slot(value, "")
        if self.variant is Variant.NEWEST:
            return Slot("", value)
        return Slot(self._first.setdefault(name, value), "")

    def settled(self, name: str, value: Any) -> Any:
        """Return `value` in the broken log, and in its twins the first one that came under this name."""
        return value if self.is_broken else self._first.setdefault(name, value)

    def arrivals(self, count: int, mean: float = 11.0, least: float = 1.2, most: float = 100.0) -> list[float]:
        """Return the times of a Poisson process, gaps cut to `least` and `most` seconds."""
        times, now = [], self.start + self.base.random() * 5
        for _ in range(count):
            times.append(round(now, 3))
            now += min(most, max(least, self.base.expovariate(1 / mean)))
        return times

    def chats(
        self,
        author: Author,
        count: int = 6,
        turns: tuple[int, int] = (7, 10),
        gap: tuple[float, float] = (18.0, 75.0),
        apart: float = 45.0,
        sentences: tuple[int, int] = (3, 5),
    ) -> list[Step]:
        """Return the steps of conversations that overlap in time, in order.

        Args:
            author: Who writes them.
            count: Conversations.
            turns: Bounds of the requests in each.
            gap: Bounds of the pause between two requests of one conversation.
            apart: Mean time between two beginnings.
            sentences: Sentences in a question and in an answer.
        """
        asks, replies = sentences

        def ask() -> list[Said]:
            return [Said("user", author.question(asks))]

        def answers() -> Iterator[tuple[Said, list[Said]]]:
            for _ in range(self.base.randint(*turns)):
                yield Said("assistant", author.answer(replies)), ask()

        return self._woven(count, apart, gap, ask, answers)

    def agents(
        self,
        author: Author,
        tools: list[str],
        count: int = 5,
        rounds: tuple[int, int] = (2, 3),
        loops: tuple[int, int] = (2, 4),
        gap: tuple[float, float] = (4.0, 30.0),
        thinking: bool = False,
    ) -> list[Step]:
        """Return the steps of agent loops: a question, some calls with their results, an answer, the next question."""

        def ask() -> list[Said]:
            return [Said("user", author.question(2))]

        def thought() -> str:
            return author.answer(3) if thinking else ""

        def answers() -> Iterator[tuple[Said, list[Said]]]:
            for _ in range(self.base.randint(*rounds)):
                for _ in range(self.base.randint(*loops)):
                    calls = tuple(self._call(author, tools) for _ in range(self.base.choice((1, 1, 2))))
                    results = [Said("tool", author.result(4), call_id=call.id) for call in calls]
                    yield Said("assistant", author.answer(1), calls, thinking=thought()), results
                yield Said("assistant", author.answer(2), thinking=thought()), ask()

        return self._woven(count, 60.0, gap, ask, answers)

    def _call(self, author: Author, tools: list[str]) -> Call:
        return Call(f"call_{self.base.getrandbits(80):020x}", self.base.choice(tools), author.arguments())

    def _woven(
        self,
        count: int,
        apart: float,
        gap: tuple[float, float],
        ask: Callable[[], list[Said]],
        answers: Callable[[], Iterator[tuple[Said, list[Said]]]],
    ) -> list[Step]:
        steps: list[Step] = []
        for chat, begin in enumerate(self.arrivals(count, apart, least=8.0, most=120.0)):
            now = begin
            history = _timed(ask(), now)
            turns = list(answers())
            for number, (answer, following) in enumerate(turns):
                told = _timed([answer], now)
                steps.append(Step(now, chat, number, tuple(history), told[0], number == len(turns) - 1))
                now = round(now + 3 + self.base.uniform(*gap), 3)
                history += told + _timed(following, now)
        return sorted(steps, key=lambda step: step.at)


def _timed(messages: list[Said], at: float) -> list[Said]:
    return [Said(said.role, said.text, said.calls, said.call_id, said.thinking, at) for said in messages]
