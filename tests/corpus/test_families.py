"""Requests of one application are one family, however their prompts begin."""

from __future__ import annotations

from typing import Any

import pytest
from support.reading import corpus_of

RULES = "You are the booking desk of a ferry line. Answer in two sentences. Never promise a cabin. Ask for the date."
OTHER = "Review the patch below. List defects first; praise last. Quote the line. Do not guess about missing files."


def families(*bodies: dict[str, Any]) -> list[int]:
    return list(corpus_of(*bodies).rows.family)


def chat(system: str, user: str = "Hello") -> dict[str, Any]:
    return {"model": "gpt-4o", "messages": [{"role": "system", "content": system}, {"role": "user", "content": user}]}


@pytest.mark.parametrize(
    "stamp",
    [
        "Current time: 2026-11-30 09:{n:02}:17\n",
        "It is 09:{n:02}. ",
        "Request 7f{n:02}e-{n}aa\n\n",
        "Today is day {n}; hurry. ",
    ],
)
def test_a_clock_at_the_top_of_a_system_prompt_does_not_split_a_family(stamp: str) -> None:
    assert families(*(chat(stamp.format(n=n) + RULES) for n in range(5))) == [0] * 5


def test_two_applications_are_two_families_even_with_the_same_clock_and_the_same_question() -> None:
    clock = "Current time: 2026-11-30 09:00:17\n"
    assert families(chat(clock + RULES), chat(clock + OTHER), chat(clock + RULES), chat(OTHER)) == [0, 1, 0, 1]


def test_the_conversation_does_not_change_the_family() -> None:
    assert families(chat(RULES, "One"), chat(RULES, OTHER * 20)) == [0, 0]


def test_without_a_system_prompt_the_first_message_tells() -> None:
    bodies = [
        {"model": "m", "messages": [{"role": "user", "content": text}]} for text in (RULES, OTHER, RULES + " Now.")
    ]
    assert families(*bodies) == [0, 1, 0]


def test_two_models_of_one_application_are_one_family() -> None:
    assert families(chat(RULES), {**chat(RULES), "model": "gpt-4"}) == [0, 0]


def test_families_are_named_by_their_first_words_and_bare_ids_have_none() -> None:
    corpus = corpus_of(chat(RULES), {"model": "m", "prompt": [1, 2]})
    assert corpus.rows.families[0].startswith("You are the booking desk")
    assert corpus.rows.family[1] == -1
