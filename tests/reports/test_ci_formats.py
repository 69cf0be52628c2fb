"""The formats that CI services read: gitlab, junit, github, rdjson."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from jsonschema import Draft4Validator
from junitparser import JUnitXml
from test_formats import ANY_TEXT, FUZZ, NASTY

from prefixwise.core.finding import Edit, Finding, Fix, Level, Safety, Severity, Span
from prefixwise.core.report import Findings, Report, Requirement, SourceText
from prefixwise.reports.format import FORMATS

NAMES = ["empty", "emptied", "everything", "hostile"]
RDJSON = Draft4Validator(json.loads((Path(__file__).parent / "schemas" / "rdjson.schema.json").read_text("utf-8")))


def of(*findings: Finding, **more: Any) -> Report:
    return Report("prefixwise/lint", 1, "lint", "Lint", (Findings("findings", "", findings),), **more)


def written(form: str, report: Report) -> Any:
    return json.loads(FORMATS.get(form).render(report))


@pytest.fixture
def in_source(reports: dict[str, Report]) -> Finding:
    return reports["everything"].findings[1]


@pytest.fixture
def in_log(reports: dict[str, Report]) -> Finding:
    return reports["everything"].findings[0]


# -- gitlab -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_gitlab_has_what_the_widget_needs(reports: dict[str, Report], name: str) -> None:
    issues = written("gitlab", reports[name])
    assert len(issues) == len(reports[name].findings)
    for issue in issues:
        assert set(issue) == {"description", "check_name", "fingerprint", "severity", "location"}
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1
        assert not issue["location"]["path"].startswith(("/", "./"))
    fingerprints = [issue["fingerprint"] for issue in issues]
    assert len(set(fingerprints)) == len(fingerprints)


def test_gitlab_fingerprints_outlive_moves_and_tell_twins_apart(in_source: Finding, in_log: Finding) -> None:
    def fingerprints(*findings: Finding) -> list[str]:
        return [issue["fingerprint"] for issue in written("gitlab", of(*findings))]

    moved = msgspec.structs.replace(in_source, span=Span(40, 5, 40, 20, 900, 915))
    later = msgspec.structs.replace(in_log, path="logs/tomorrow.jsonl", pair=None)
    elsewhere = msgspec.structs.replace(in_source, path="other.jinja")
    before = fingerprints(in_source, in_log)
    assert fingerprints(moved, later) == before
    assert fingerprints(elsewhere)[0] != before[0]
    twins = fingerprints(in_source, moved)
    assert twins[0] == before[0] != twins[1]


def test_gitlab_says_the_rule_in_the_description(in_source: Finding) -> None:
    (issue,) = written("gitlab", of(in_source))
    assert issue["description"].startswith("unordered-iteration (PO04), possible: Keys come in any order.")
    assert issue["location"] == {"path": in_source.path, "lines": {"begin": 12}}
    assert issue["severity"] == "minor"


# -- junit ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_junit_has_a_case_a_finding_with_a_name_of_its_own(reports: dict[str, Report], name: str) -> None:
    report = reports[name]
    suites = JUnitXml.fromstring(FORMATS.get("junit").render(report).encode())
    cases = [(suite.name, case.name) for suite in suites for case in suite]
    assert len(cases) == max(1, len(report.findings) + len(report.requirements))
    assert len(set(cases)) == len(cases)
    assert (suites.failures + suites.errors > 0) == (report.exit_code == 1)


def test_junit_fails_what_fails_the_run(in_source: Finding, in_log: Finding) -> None:
    for fail_on, failures in ((Level.ERROR, 1), (Level.WARNING, 2), (None, 0)):
        report = of(in_source, in_log, fail_on=fail_on)
        suites = JUnitXml.fromstring(FORMATS.get("junit").render(report).encode())
        assert (suites.tests, suites.failures, suites.skipped) == (2, failures, 2 - failures)


def test_junit_of_a_clean_report_has_one_case_that_passes() -> None:
    suites = JUnitXml.fromstring(FORMATS.get("junit").render(of()).encode())
    assert (suites.tests, suites.failures, suites.skipped) == (1, 0, 0)


def test_junit_has_requirements_as_cases() -> None:
    report = of(requirements=(Requirement("a>=1", 2.0, True), Requirement("b>=1", 0.5, False)))
    (suite,) = JUnitXml.fromstring(FORMATS.get("junit").render(report).encode())
    assert [(case.name, case.is_passed) for case in suite] == [("a>=1", True), ("b>=1", False)]


# -- github -----------------------------------------------------------------------------------------------

COMMAND = re.compile(r"::(error|warning|notice) ([^:]*)::(.*)")


def commands(document: str) -> list[tuple[str, dict[str, str], str]]:
    """Take commands apart as the runner does (`ActionCommand.cs`): properties by comma, then unescaped."""
    told = []
    for line in document.splitlines()[:-1]:
        match = COMMAND.fullmatch(line)
        assert match, line
        pairs = dict(part.split("=", 1) for part in match[2].split(","))
        told.append((match[1], {name: unescaped(value) for name, value in pairs.items()}, unescaped(match[3])))
    return told


def unescaped(text: str) -> str:
    for code, character in (("%2C", ","), ("%3A", ":"), ("%0A", "\n"), ("%0D", "\r"), ("%25", "%")):
        text = text.replace(code, character)
    return text


def test_github_annotates_the_worst_first(reports: dict[str, Report]) -> None:
    told = commands(FORMATS.get("github").render(reports["everything"]))
    assert [level for level, _, _ in told] == ["error", "error", "warning", "notice"]
    assert told[1][1] == {"file": "logs/a.jsonl", "line": "2", "title": "clock-in-prefix (PC01)"}
    assert told[2][1]["title"] == "unordered-iteration (PO04), possible"
    assert {"line": "12", "col": "5", "endLine": "12", "endColumn": "20"}.items() <= told[2][1].items()
    assert told[3][2] == "The log has no usage."


def test_github_gives_no_columns_over_several_lines(in_source: Finding) -> None:
    wide = msgspec.structs.replace(in_source, span=Span(3, 9, 5, 2, 30, 90))
    ((_, properties, _),) = commands(FORMATS.get("github").render(of(wide)))
    assert {name: properties.get(name) for name in ("line", "endLine", "col", "endColumn")} == {
        "line": "3",
        "endLine": "5",
        "col": None,
        "endColumn": None,
    }


@pytest.mark.parametrize("path", ["a b/c,d:e%f.md", "x%2Cy.md", "two\nlines.md", "p::q=r.md", "ünï/漢.md", "a#b##c"])
def test_github_gets_the_path_as_it_is(in_source: Finding, path: str) -> None:
    ((_, properties, _),) = commands(FORMATS.get("github").render(of(msgspec.structs.replace(in_source, path=path))))
    assert properties["file"] == path


@given(text=ANY_TEXT | NASTY)
@FUZZ
def test_github_has_no_command_but_its_own(make_hostile: Callable[..., Report], text: str) -> None:
    report = make_hostile(text, (text, "::stop-commands::x", "x\n::error::y", "%0A::error::z"))
    told = commands(FORMATS.get("github").render(report))
    assert len(told) == len(report.findings) + 1
    assert all(set(properties) <= {"file", "line", "title"} for _, properties, _ in told)
    assert not any(line.lstrip().startswith(("::", "##[")) for _, _, message in told for line in message.split("\n"))


def test_github_says_how_many_there_are_and_when_not_all_are_shown(in_log: Finding) -> None:
    def last(count: int) -> str:
        return FORMATS.get("github").render(of(*[in_log] * 1, *copies(in_log, count - 1))).splitlines()[-1]

    assert last(10) == "10 errors"
    assert last(11) == "11 errors; GitHub shows the first 10 of each level"
    assert FORMATS.get("github").render(of()) == "no findings\n"


def copies(finding: Finding, count: int) -> list[Finding]:
    return [msgspec.structs.replace(finding, fingerprint=f"{number}") for number in range(count)]


# -- rdjson -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_rdjson_is_valid(reports: dict[str, Report], name: str) -> None:
    document = written("rdjson", reports[name])
    RDJSON.validate(document)
    assert document["source"] == {"name": "prefixwise"}
    assert len(document["diagnostics"]) == len(reports[name].findings)


def test_rdjson_columns_count_bytes_and_are_left_out_without_the_text(in_source: Finding) -> None:
    text = "one\r\n漢字 = set(keys)\n"
    start = text.index("set")
    edit = Edit("a.py", start, start + 3, "sorted")
    found = msgspec.structs.replace(
        in_source,
        path="a.py",
        span=Span(2, 6, 2, 9, start, start + 3),
        fix=Fix("Sort them.", Safety.SAFE, (edit,)),
    )
    (blind,) = written("rdjson", of(found))["diagnostics"]
    assert blind["location"]["range"] == {"start": {"line": 2}, "end": {"line": 2}}
    assert "suggestions" not in blind
    report = of(found, sources=(SourceText("a.py", text),))
    (seen,) = written("rdjson", report)["diagnostics"]
    place = {"start": {"line": 2, "column": 10}, "end": {"line": 2, "column": 13}}
    assert seen["location"] == {"path": "a.py", "range": place}
    assert seen["suggestions"] == [{"range": place, "text": "sorted"}]
    changed = of(found, sources=(SourceText("a.py", "a new line\n" + text),))
    assert written("rdjson", changed)["diagnostics"] == [blind]
    for fix in (Fix("", Safety.UNSAFE, (edit,)), Fix("", Safety.SAFE, (edit, Edit("b.py", 0, 0, "x")))):
        other = msgspec.structs.replace(report.findings[0], fix=fix)
        assert "suggestions" not in written("rdjson", of(other, sources=report.sources))["diagnostics"][0]


def test_levels_are_told_apart_everywhere(in_log: Finding) -> None:
    found = [msgspec.structs.replace(in_log, severity=one, level=one.level, fingerprint=one) for one in Severity]
    report = of(*found)
    assert [one["severity"] for one in written("gitlab", report)] == ["critical", "major", "minor", "minor", "info"]
    severities = [one["severity"] for one in written("rdjson", report)["diagnostics"]]
    assert severities == ["ERROR", "ERROR", "WARNING", "WARNING", "INFO"]
    sarif = written("sarif", report)["runs"][0]["results"]
    assert [one["level"] for one in sarif] == ["error", "error", "warning", "warning", "note"]
    annotations = commands(FORMATS.get("github").render(report))
    assert [level for level, _, _ in annotations] == ["error", "error", "warning", "warning", "notice"]
