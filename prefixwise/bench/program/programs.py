"""Programs whose calls share what came before, over texts or over token ids: whoever runs them draws both."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T", str, list[int])
Draw: TypeAlias = Callable[[int], T]
"""Returns so many new tokens."""

Program: TypeAlias = Generator[tuple[list[T], int], list[T], None]
"""Yields prompts that are sent at once, with the length of their answers; takes the answers."""


def chat(draw: Draw[T]) -> Program[T]:
    """Eight turns of one conversation, each with all turns before it."""
    said = draw(200)
    for _ in range(8):
        said = said + draw(30)
        (answer,) = yield [said], 12
        said = said + answer


def agent(draw: Draw[T]) -> Program[T]:
    """Twelve calls of an agent, each with the results of all tools before it."""
    seen = draw(300)
    for _ in range(12):
        (answer,) = yield [seen], 8
        seen = seen + answer + draw(40)


def few_shot(draw: Draw[T]) -> Program[T]:
    """Twenty questions behind the same examples, sent at once."""
    examples = draw(300)
    yield [examples + draw(20) for _ in range(20)], 4


def tree(draw: Draw[T]) -> Program[T]:
    """Three thoughts on one problem and three on each of them: 1 + 3 + 9 calls, those of a level at once."""
    problem = draw(250)
    (root,) = yield [problem], 8
    thoughts = [problem + root + draw(10) for _ in range(3)]
    first = yield thoughts, 8
    yield [thought + answer + draw(10) for thought, answer in zip(thoughts, first, strict=True) for _ in range(3)], 8


PROGRAMS = {"chat": chat, "agent": agent, "few-shot": few_shot, "tree": tree}


def levels(program: Program[T], answer: Callable[[list[T], int], list[T]]) -> list[tuple[list[T], int]]:
    """Return all calls of a program, in levels that are sent at once; `answer` returns the answers to a level."""
    made: list[tuple[list[T], int]] = []
    try:
        level = next(program)
        while True:
            made.append(level)
            level = program.send(answer(*level))
    except StopIteration:
        return made
