"""`placeholder-unrendered`: templates that reached the provider as they are written, and texts that are meant so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.linting import finding, lint_records

from prefixwise.analyzers.lint.run import Linted
from prefixwise.core.finding import Confidence, Severity, Where

RULES = "Name the quay, the time and the fare in every answer, and be short and kind. " * 20
ASKED = ("Is quay 2 open?", "May I take a bicycle?", "Who sells tickets?", "Do dogs pay?", "When is the last boat?")


def asked(*systems: str) -> list[dict[str, Any]]:
    """Return one question behind each system prompt."""
    messages = [
        [{"role": "system", "content": text}, {"role": "user", "content": question}]
        for text, question in zip(systems, ASKED, strict=False)
    ]
    return [{"request": {"model": "gpt-4.1", "messages": said}} for said in messages]


def unfilled(linted: Linted) -> list[tuple[str | None, Severity]]:
    found = [one for one in linted.values.findings if one.rule == "placeholder-unrendered"]
    return [(one.to_text, one.severity) for one in found]


@pytest.mark.parametrize("text", ["{{ customer_name }}", "{{customer.name}}", "<%= customer %>"])
def test_a_double_brace_that_nothing_filled(text: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, asked(*[f"You talk to {text} about ferries. {RULES}"] * 3))
    told = finding(linted, "placeholder-unrendered")
    assert unfilled(linted) == [(text, Severity.LOW)]
    assert (told.field, told.char_offset, told.where) == ("/messages/0/content", 12, Where.SYSTEM)
    assert told.confidence is Confidence.LIKELY
    assert told.evidence == ("3 requests have it",)


def test_a_system_text_of_anthropic(tmp_path: Path) -> None:
    body = {"model": "claude-sonnet-4-5", "max_tokens": 9, "system": f"You serve {{{{ town }}}}. {RULES}"}
    body["messages"] = [{"role": "user", "content": "Is quay 2 open?"}]
    assert finding(lint_records(tmp_path, [{"request": body}]), "placeholder-unrendered").field == "/system"


@pytest.mark.parametrize("gap", ["{name}", "{{ name }}", "${name}", "%(name)s", "%s", "<%= @user.name %>", "{id}"])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_gap_that_other_requests_fill(gap: str, place: int, tmp_path: Path) -> None:
    values = ["Ann Berg", "Ann Berg"]
    values.insert(place, gap)
    linted = lint_records(tmp_path, asked(*(f"You talk to {value} of the north. {RULES}" for value in values)))
    told = finding(linted, "placeholder-unrendered")
    assert (told.confidence, told.severity, told.to_text) == (Confidence.CERTAIN, Severity.MEDIUM, gap)
    assert told.record is not None
    assert (told.record.record, told.char_offset) == (place, 12)


@pytest.mark.parametrize(
    "text",
    [
        "Fill the template in: Good day, {{ name }}.",
        "You write letters. Each begins with Dear {{first_name}}, and ends with a greeting.",
        "Charts of Helm hold {{ image }} and {{ tag }}.",
        "Workflows read ${{ secrets.TOKEN }}.",
        "Look at this:\n```\n<p>{{ user }}</p>\n```\nand at `{{ user }}`.",
        "Fractions are \\frac{{num}}{{den}}, powers x^{{exponent}}.",
        'Data looks like {{"name": 1}}.',
        'The mark "{{ name }}" is a gap.',
        "Fetch /users/{{user_id}}/orders first.",
        "Lights are {{ states('light.kitchen') }}.",
        "Sets such as {{a}} have one member.",
        "You talk to {name}, ${user}, %(town)s and %s.",
        "Use the variable {{ customer }} for the person.",
        "Schreibe Vorlagen mit {{ kunde }}.",
    ],
)
def test_texts_that_are_meant_so(text: str, tmp_path: Path) -> None:
    assert unfilled(lint_records(tmp_path, asked(*[f"{text} {RULES}"] * 3))) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("You talk to {name} of the north.", "You talk to {town} of the north."),
        ("You talk to {name} of the north.", "You talk to Ann Berg, who lives in the south."),
        ("Fill the template {name} in today.", "Fill the template Ann in today."),
        ("Run\n```\nprint(f'{name} of')\n```", "Run\n```\nprint(f'Ann of')\n```"),
        ("You talk to  of the north.", "You talk to {name} of the north."),
    ],
    ids=["another gap", "other words behind", "speaks of templates", "code", "nothing in its place"],
)
def test_differences_that_prove_nothing(one: str, other: str, tmp_path: Path) -> None:
    assert unfilled(lint_records(tmp_path, asked(*(f"{text} {RULES}" for text in (one, one, other, other))))) == []


def test_what_users_say_is_theirs(tmp_path: Path) -> None:
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": "What is {{ customer_name }} for?"}]
    assert unfilled(lint_records(tmp_path, [{"request": {"model": "gpt-4.1", "messages": messages}}])) == []


def test_a_template_in_the_first_message(tmp_path: Path) -> None:
    values = ["Ann Berg", "{{ customer }}", "Bo Lie"]
    bodies = [
        {
            "model": "gpt-4.1",
            "messages": [{"role": "user", "content": f"You work for {value} here.\n{RULES}\n{question}"}],
        }
        for value, question in zip(values, ASKED, strict=False)
    ]
    told = finding(lint_records(tmp_path, [{"request": body} for body in bodies]), "placeholder-unrendered")
    assert (told.field, told.where, told.to_text) == ("/messages/0/content", Where.MESSAGES, "{{ customer }}")
