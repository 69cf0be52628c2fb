"""`junit`: test results, for every CI that shows those."""

from __future__ import annotations

from prefixwise.core.report import Report
from prefixwise.reports.format import FORMATS, Format


def render(report: Report, **_layout: object) -> str:
    """Return a suite a file and a case a finding: failed where it makes the command fail, else skipped.

    A requirement is a case of its own. Where there is none of either, one case passes, for CI takes no tests at all
    for a fault.
    """
    from prefixwise.reports.junit_suites import junit_document

    return junit_document(report)


FORMATS.add("junit", Format("junit", "application/xml", ".xml", render, carries_notes=False))
