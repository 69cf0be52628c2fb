"""Fingerprints: the same while a finding is the same, another one for another finding."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.linting import lint_records
from support.silenced import CONSTANT, lint_folder, write

from prefixwise.core.finding import Finding

TEMPLATE = "Hello {{ user_name }}, it is {{ now }} on {{ quay_name }}.\n" + CONSTANT
CODE = f'''from datetime import datetime
from uuid import uuid4
from openai import OpenAI

RULES = """{CONSTANT}"""

def ask(question):
    system = f"It is {{datetime.now()}}, {{uuid4()}}. " + RULES
    return OpenAI().chat.completions.create(
        model="gpt-4o", messages=[{{"role": "system", "content": system}}, {{"role": "user", "content": question}}]
    )
'''


def prints(findings: tuple[Finding, ...]) -> Counter[tuple[str, str, str]]:
    """Return what a baseline would count."""
    return Counter((finding.path, finding.rule, finding.fingerprint) for finding in findings)


def both(folder: Path, template: str = TEMPLATE, code: str = CODE) -> Counter[tuple[str, str, str]]:
    write(folder, {"prompts/a.j2": template, "app.py": code})
    return prints(lint_folder(folder).findings)


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(above=st.integers(0, 5), end=st.sampled_from(["\n", "\r\n"]), tail=st.booleans(), head=st.booleans())
def test_moved_lines_and_line_ends_change_nothing(tmp_path: Path, above: int, end: str, tail: bool, head: bool) -> None:
    before = both(tmp_path)
    assert len(before) == before.total() == 4
    template = "Be brief.\n" * above + TEMPLATE + ("Thank you.\n" if tail else "")
    code = "# A licence.\n" * above + ("import os\n" if head else "") + CODE
    assert both(tmp_path, template.replace("\n", end), code.replace("\n", end)) == before


def test_a_new_finding_leaves_the_old_ones_as_they_are(tmp_path: Path) -> None:
    before = both(tmp_path)
    after = both(
        tmp_path,
        "For {{ account_id }} at {{ now }}:\n" + TEMPLATE,
        CODE.replace("{uuid4()}", "{uuid4()} {datetime.utcnow()}"),
    )
    assert before - after == Counter()
    assert (after - before).total() == 2


def test_equal_findings_are_told_apart_by_number(tmp_path: Path) -> None:
    once = both(tmp_path)
    twice = both(tmp_path, code=CODE.replace("{datetime.now()}", "{datetime.now()} {datetime.now()}"))
    assert once - twice == Counter()
    assert [key[:2] for key in (twice - once).elements()] == [("app.py", "clock-in-prefix")]


def test_where_lint_is_started_changes_nothing(tmp_path: Path) -> None:
    write(tmp_path, {"prompts/a.j2": TEMPLATE})
    one = lint_folder(tmp_path).findings
    other = lint_folder(tmp_path / "prompts", "a.j2").findings
    assert [finding.fingerprint for finding in one] == [finding.fingerprint for finding in other]
    assert [finding.path for finding in one] != [finding.path for finding in other]


NAMES = (
    *("Ines Aguirre", "Tomasz Wrona", "Leila Haddad", "Moussa Diallo", "Eva Novak", "Jun Mori"),
    *("Anna Berg", "Omar Said", "Rosa Lima", "Nils Holm", "Petra Kranz"),
)


def talk(day: int, system: str, names: tuple[str, ...]) -> list[dict[str, object]]:
    """Return the requests of a day: each user's prompt begins with another name, or another time."""
    records = []
    for number, name in enumerate(names):
        text = system.format(name=name, clock=f"2026-11-{day:02} 10:{number:02}")
        messages = [{"role": "system", "content": text}, {"role": "user", "content": f"Question {number} of {name}?"}]
        records.append({"model": "gpt-4o", "messages": messages, "timestamp": f"2026-11-{day:02}T10:{number:02}:00Z"})
    return records


RULES = " ".join(
    f"Rule {word} holds on every quay, for every fare and for every crossing." for word in "abcdefgh".upper()
)


@pytest.mark.parametrize("system", ["It is {clock}. " + RULES, "You help {name}, a member. " + RULES])
def test_a_log_of_another_day_has_the_same_fingerprints(tmp_path: Path, system: str) -> None:
    days = [(3, NAMES[:5]), (14, NAMES[5:])]
    found = []
    for day, names in days:
        (tmp_path / str(day)).mkdir()
        linted = lint_records(tmp_path / str(day), talk(day, system, names), f"log-{day}.jsonl")
        found.append({(finding.rule, finding.fingerprint) for finding in linted.values.findings})
    assert found[0]
    assert found[0] == found[1]


def test_another_application_or_field_has_another_fingerprint(tmp_path: Path) -> None:
    one = talk(3, "It is {clock}. " + RULES, NAMES)
    other = talk(4, "It is {clock}. " + RULES.replace("quay", "airport gate").replace("Rule", "Law"), NAMES)
    linted = lint_records(tmp_path, [*one, *other])
    clocks = [finding.fingerprint for finding in linted.values.findings if finding.rule == "clock-in-prefix"]
    assert len(clocks) == len(set(clocks)) == 2
