"""Differences that stand in front of very long texts, histories in another order, and conversations handed over."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, found, lint_records, pairs_of

from prefixwise.core.finding import Confidence, Severity

LONG = "Name the quay, the time and the fare in every answer. " * 220
ASKED = ("Is quay 2 open?", "May I take a bicycle?", "Who sells tickets?", "Do dogs pay?", "When is the last boat?")
EXAMPLES = [f"Input: {said}\nLabel: {label}\n\n" for said, label in (
    ("the bus was late", "delay"), ("I lost my bag", "property"), ("money back please", "refund"),
    ("a rude man at the desk", "conduct"),
)]  # fmt: skip
MESSAGES = [
    f"Message {name} of a long talk about boats and bells. " * 6
    for name in ("one", "two", "three", "four", "five", "six")
]


def single(systems: list[str]) -> list[dict[str, Any]]:
    return [
        {"model": "gpt-4.1", "messages": [{"role": "system", "content": text}, {"role": "user", "content": question}]}
        for text, question in zip(systems, ASKED, strict=True)
    ]


def talk(histories: list[list[str]], systems: list[str] | None = None) -> list[dict[str, Any]]:
    """Return the turns of one session; histories start with the user."""
    bodies = []
    for number, history in enumerate(histories):
        said = [{"role": ("user", "assistant")[at % 2], "content": text} for at, text in enumerate(history)]
        head = {"role": "system", "content": LONG if systems is None else systems[number]}
        bodies.append({"session_id": "s", "request": {"model": "gpt-4.1", "messages": [head, *said]}})
    return bodies


@pytest.mark.parametrize("behind", [LONG, "Be kind.\n\n" + LONG, ""], ids=["long", "paragraph", "short"])
def test_examples_in_front_of_a_long_text(behind: str, tmp_path: Path) -> None:
    draw = random.Random(5)
    systems = ["You sort letters.\n\nExamples:\n" + "".join(draw.sample(EXAMPLES, 4)) + behind for _ in ASKED]
    if not behind:
        systems = [system + LONG[:2000] for system in systems]
    assert found(lint_records(tmp_path, single(systems))) == ["fewshot-unstable"]


def test_sampled_examples_in_front_of_a_long_text(tmp_path: Path) -> None:
    draw = random.Random(8)
    systems = [
        "You sort letters.\n\nExamples:\n\n" + "".join(draw.sample(EXAMPLES, 2)) + "Be kind.\n\n" + LONG for _ in ASKED
    ]
    assert found(lint_records(tmp_path, single(systems))) == ["fewshot-unstable"]


def test_lines_in_front_of_a_long_text(tmp_path: Path) -> None:
    draw, lines = random.Random(6), [f"- the {name} line\n" for name in ("north", "south", "island", "night")]
    systems = ["You know these lines:\n" + "".join(draw.sample(lines, 4)) + LONG for _ in ASKED]
    assert found(lint_records(tmp_path, single(systems))) == ["unordered-iteration"]


def test_all_line_ends_of_a_long_text(tmp_path: Path) -> None:
    text = LONG.replace(". ", ".\n")
    systems = [text.replace("\n", "\r\n") if number % 2 else text for number in range(len(ASKED))]
    drift = finding(lint_records(tmp_path, single(systems)), "line-ending-drift")
    assert drift.tokens_lost is not None
    assert drift.tokens_lost.value > 1_000


def test_messages_in_another_order(tmp_path: Path) -> None:
    one, two, three, four, five, six = MESSAGES
    linted = lint_records(
        tmp_path, talk([[one, two, three], [one, two, three, four, five], [three, four, one, two, five, six, "Bye."]])
    )
    moved = finding(linted, "history-rewritten")
    assert found(linted) == ["history-rewritten"]
    assert (pairs_of(moved), moved.field, moved.confidence) == ([(1, 2)], "/messages/1/content", Confidence.CERTAIN)
    assert "in another order" in moved.message


@pytest.mark.parametrize("end", ["…", "...", " [truncated]"])
def test_an_earlier_message_cut_short(end: str, tmp_path: Path) -> None:
    one, two, three, four, five, _ = MESSAGES
    linted = lint_records(tmp_path, talk([[one, two, three], [one[:60] + end, two, three, four, five]]))
    assert found(linted) == ["history-rewritten"]
    assert "is cut short" in finding(linted, "history-rewritten").message


BILLS = "You settle bills for a museum shop and know nothing of boats. " + "Quote the number of the invoice. " * 300


def test_another_agent_takes_over(tmp_path: Path) -> None:
    histories = [MESSAGES[: 2 * number + 1] for number in range(3)] + [
        [*MESSAGES, "And?"],
        [*MESSAGES, "And?", "Yes.", "Bye."],
    ]
    linted = lint_records(tmp_path, talk(histories, [LONG, LONG, LONG, BILLS, BILLS]))
    assert found(linted) == []
    handed = finding(linted, "history-rewritten")
    assert (handed.severity, pairs_of(handed)) == (Severity.INFO, [(2, 3)])


@pytest.mark.parametrize(
    "other",
    [["Speak like a sailor. " + LONG, LONG], [BILLS, BILLS.replace("invoice", "receipt") + "Be brief."]],
    ids=["the same with a change", "another one each time"],
)
def test_a_prompt_that_is_rewritten_on_the_way(other: list[str], tmp_path: Path) -> None:
    histories = [MESSAGES[: 2 * number + 1] for number in range(3)] + [
        [*MESSAGES, "And?"],
        [*MESSAGES, "And?", "Yes.", "Bye."],
    ]
    assert found(lint_records(tmp_path, talk(histories, [LONG, LONG, LONG, *other]))) != []
