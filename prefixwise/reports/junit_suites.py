"""Findings and requirements as the suites and cases of a JUnit document."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Iterator

from junitparser import Attr, Failure, IntAttr, JUnitXml, Skipped, TestCase, TestSuite

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Finding
from prefixwise.core.report import Report
from prefixwise.reports import finding_words as words
from prefixwise.reports.finding_places import place_of


class _Case(TestCase):
    """A test case that says where it stands, as GitLab and others read it."""

    file = Attr()
    line = IntAttr()


def junit_document(report: Report) -> str:
    """Return a suite a file and a case a finding, and the requirements as a suite; if there is nothing, one case."""
    suites = JUnitXml("prefixwise")
    by_path: dict[str, list[Finding]] = {}
    for finding in report.findings:
        by_path.setdefault(finding.path, []).append(finding)
    for path, findings in by_path.items():
        suites.add_testsuite(_suite(visible(path) or "prefixwise", _cases(report, path, findings)))
    if report.requirements:
        suites.add_testsuite(_suite("requirements", _required(report)))
    if not by_path and not report.requirements:
        suites.add_testsuite(_suite("prefixwise", [_Case("no findings", f"prefixwise.{visible(report.command)}")]))
    suites.update_statistics()  # type: ignore[no-untyped-call]
    buffer = io.BytesIO()
    suites.write(buffer, pretty=True)
    return buffer.getvalue().decode().replace("\t", "  ")


def _suite(name: str, cases: Iterable[TestCase]) -> TestSuite:
    suite = TestSuite(name)
    suite.add_testcases(list(cases))
    return suite


def _cases(report: Report, path: str, findings: Iterable[Finding]) -> Iterator[TestCase]:
    """Yield a case a finding; GitLab drops the second of one name, so each has its own."""
    seen: Counter[str] = Counter()
    for finding in findings:
        seen[finding.rule] += 1
        number = f" ({seen[finding.rule]})" if seen[finding.rule] > 1 else ""
        case = _Case(f"{visible(finding.rule)}{number}", visible(path))
        case.file = visible(path)
        line = place_of(finding).line
        if line is not None:
            case.line = line
        message = visible(f"{finding.level}: {finding.message}")
        if report.fails(finding):
            failure = Failure(message, finding.severity.value)
            failure.text = words.plain(finding)
            case.result = failure
        else:
            case.result = Skipped(message, finding.severity.value)
        yield case


def _required(report: Report) -> Iterator[TestCase]:
    seen: Counter[str] = Counter()
    for requirement in report.requirements:
        expression = visible(requirement.expression)
        seen[expression] += 1
        case = _Case(expression if seen[expression] == 1 else f"{expression} ({seen[expression]})", "requirements")
        if not requirement.met:
            case.result = Failure(f"{expression}: {requirement.state}, it {requirement.found}", "requirement")
        yield case
