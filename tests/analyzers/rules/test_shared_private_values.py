"""Secrets and personal data in text that tenants share; nothing of their values leaves the report."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from support.linting import finding, found, lint_records
from support.talks import APIS, body, tools

from prefixwise.core.finding import Confidence, Severity, Where

SECRET = "postgres://desk:qT7-vLw9xR2mZk4@db.quay.internal:5432/ferries"
PERSON = "Example: customer Liv Halvorsen, born 1974-05-23, asks for a refund."


def put(request: dict[str, Any], api: str, text: str) -> None:
    """Write a text to the end of the system prompt."""
    if api == "chat":
        request["messages"][0]["content"] += text
    elif api == "responses":
        request["instructions"] += text
    elif api == "anthropic":
        request["system"] += text
    elif api == "gemini":
        request["systemInstruction"]["parts"][0]["text"] += text
    else:
        request["system"][0]["text"] += text


def calls(text: str, *tenants: str | None, api: str = "chat", tail: bool = False) -> list[dict[str, Any]]:
    """Return a call each of these tenants, with the text in the system prompt and, with `tail`, more of their own."""
    records = []
    for number, tenant in enumerate(tenants):
        request = body(api, 0, topic=number)
        put(request, api, f" {text}" + (f" Call {number} of today." if tail else ""))
        records.append({"request": request, "ts": 1_770_000_000 + 60 * number})
        if tenant is not None:
            records[-1]["tenant"] = tenant
    return records


@pytest.mark.parametrize("api", APIS)
def test_a_secret_that_two_tenants_share(api: str, tmp_path: Path) -> None:
    linted = lint_records(tmp_path, calls(SECRET, "north", "south", api=api))
    secret = finding(linted, "secret-in-shared-prefix")
    assert found(linted) == ["secret-in-shared-prefix"]
    assert (secret.severity, secret.where) == (Severity.HIGH, Where.SYSTEM)
    assert secret.record is not None
    assert secret.record.record == 0
    assert secret.char_offset is not None
    assert secret.message == "Text that 2 tenants share holds a password in an address."
    assert b"qT7-vLw9" not in msgspec.json.encode(linted.values)


def test_personal_data_that_two_tenants_share(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, calls(PERSON, "north", "south"))
    person = finding(linted, "personal-data-in-shared-prefix")
    assert found(linted) == ["personal-data-in-shared-prefix"]
    assert (person.severity, person.field) == (Severity.MEDIUM, "/messages/0/content")
    assert person.message == "Text that 2 tenants share holds a date of birth."
    assert b"1974" not in msgspec.json.encode(linted.values)


def test_the_shared_part_of_prompts_that_end_differently_is_looked_at(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, calls(SECRET, "north", "south", tail=True))
    assert "secret-in-shared-prefix" in found(linted)


def test_tools_and_opening_messages_are_looked_at(tmp_path: Path) -> None:
    given = tools("chat")
    given[1]["function"]["description"] += " Use the key sk-proj-9aKx2LmQ7vRt4WzB8nEy6HdJ."
    records = [{"tenant": tenant, "request": body("chat", 0, given)} for tenant in ("north", "south")]
    for record in records:
        record["request"]["messages"].insert(1, {"role": "user", "content": PERSON})
    linted = lint_records(tmp_path, records)
    assert finding(linted, "secret-in-shared-prefix").field == "/tools/1/function/description"
    assert finding(linted, "personal-data-in-shared-prefix").field == "/messages/1/content"


def test_what_one_tenant_alone_has_is_its_own(tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, calls(SECRET, "north", "north", "north"))) == []
    mixed = calls(PERSON, "north") + calls("", "south") + calls("", "east")
    assert "personal-data-in-shared-prefix" not in found(lint_records(tmp_path, mixed))


def test_without_tenants_less_is_made_of_it(tmp_path: Path) -> None:
    linted = lint_records(tmp_path, calls(f"{SECRET} {PERSON}", None, None, None))
    secret, person = (finding(linted, f"{what}-in-shared-prefix") for what in ("secret", "personal-data"))
    assert (secret.severity, person.severity) == (Severity.MEDIUM, Severity.LOW)
    assert {secret.confidence, person.confidence} == {Confidence.POSSIBLE}


def test_a_question_that_is_asked_again_is_no_template(tmp_path: Path) -> None:
    records = calls("", None, None, None)
    for record in records:
        record["request"]["messages"][1]["content"] = PERSON
    assert found(lint_records(tmp_path, records)) == []


@pytest.mark.parametrize(
    "text",
    [
        "Keys look like AKIAIOSFODNN7EXAMPLE.",
        "Send it to a.person@example.com.",
        "Hosts: 192.0.2.10, 198.51.100.7.",
        "Pay by 4242 4242 4242 4242.",
        "Complaints go to desk@ferries.no, +47 22 13 45 67.",
    ],
)
def test_examples_are_information_at_most(text: str, tmp_path: Path) -> None:
    assert found(lint_records(tmp_path, calls(text, "north", "south"))) == []
