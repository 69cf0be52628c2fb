from __future__ import annotations

import json

import pytest

from prefixwise.analyzers.rule import RULES, Rule, rule_named
from prefixwise.analyzers.rule_pages import explain_report, rules_report
from prefixwise.core.errors import UserError
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.report import Report
from prefixwise.reports.format import FORMATS

WIDTHS = (80, 120)


class LongName(Rule):
    """# A title that says what goes wrong

    A paragraph.

    ```jsonl bad
    {"messages": []}
    ```

    ## What helps

    Nothing.
    """

    name = "a-name-as-long-as-names-can-get"
    code = "PW999"
    summary = "Something in the prefix changes though nobody meant it to, and it is paid for on every call"
    severity = Severity.LOW
    fix = "Leave it as it is."
    safety = Safety.UNSAFE
    where = (Where.TOOLS, Where.SYSTEM, Where.MESSAGES, Where.PARAMS)
    modes = (Mode.LOG, Mode.STATIC)


class Short(LongName):
    """# Short."""

    name = "short"
    code = "PW101"
    where = (Where.USAGE,)
    safety = Safety.NONE


def render(report: Report, form: str, width: int | None = None) -> str:
    return FORMATS.get(form).render(report, width=width)


def test_rules_are_listed_by_code() -> None:
    report = rules_report([LongName(), Short()])
    rules = json.loads(render(report, "json"))["values"]["rules"]
    assert [rule["code"] for rule in rules] == ["PW101", "PW999"]
    assert rules[1] == {
        "name": "a-name-as-long-as-names-can-get",
        "code": "PW999",
        "summary": LongName.summary,
        "severity": "low",
        "where": ["tools", "system", "messages", "params"],
        "modes": ["log", "static"],
        "fix": "Leave it as it is.",
        "safety": "unsafe",
    }


@pytest.mark.parametrize("width", WIDTHS)
def test_no_name_is_broken_at_usual_widths(width: int) -> None:
    shown = render(rules_report([LongName(), Short()]), "text", width)
    assert shown.count("a-name-as-long-as-names-can-get") == 2
    assert max(map(len, shown.splitlines())) <= width


def test_an_explanation_is_the_page_and_the_facts() -> None:
    shown = render(explain_report(LongName()), "text", 80)
    assert shown.splitlines()[:3] == [
        "a-name-as-long-as-names-can-get (PW999)",
        "",
        "A title that says what goes wrong",
    ]
    assert 'bad:\n  #0 {"messages": []}' in shown
    assert "Leave it as it is. (unsafe)" in shown
    assert "(none)" not in render(explain_report(Short()), "text", 80)


def test_headings_of_a_page_stand_below_those_of_the_report() -> None:
    shown = render(explain_report(LongName()), "markdown")
    headings = [line for line in shown.splitlines() if line.startswith("#")]
    assert headings == [
        "## a-name-as-long-as-names-can-get (PW999)",
        "### A title that says what goes wrong",
        "#### What helps",
    ]


def test_a_rule_is_found_by_name_and_by_code() -> None:
    rule = rule_named("model-changed")
    assert rule_named(rule.code) is rule_named(rule.code.lower()) is rule
    with pytest.raises(UserError, match="no rule called") as raised:
        rule_named("model-chnged")
    assert "did you mean model-changed?" in raised.value.help


OF_FINDINGS = ("csv", "github", "gitlab", "junit", "rdjson", "sarif")
"""Formats that carry tables, or findings, and no page."""


def test_every_rule_can_be_shown_in_every_format() -> None:
    rules = list(RULES)
    assert len({rule.code for rule in rules}) == len(rules)
    for form in FORMATS.names():
        assert render(rules_report(rules), form, 80)
        for rule in rules:
            document = render(explain_report(rule), form, 80)
            assert form in OF_FINDINGS or rule.name in document
            assert rule.page
