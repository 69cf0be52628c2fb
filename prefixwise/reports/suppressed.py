"""Findings that a comment, a baseline or the configuration hides: shown only in documents for machines."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.core.finding import Finding
from prefixwise.core.report import Report


class Suppressed(NamedTuple):
    """A finding that does not count, why, and where that is said: the file, and its line where it has one."""

    finding: Finding
    kind: str = ""
    justification: str = ""
    path: str = ""
    line: int | None = None

    @property
    def in_source(self) -> bool:
        """Whether a comment in the source says so."""
        return self.kind == "inline"

    @property
    def in_baseline(self) -> bool:
        """Whether it was there when the baseline was written."""
        return self.kind == "baseline"


def suppressed_findings(report: Report) -> tuple[Suppressed, ...]:
    """Return what the report's values list as suppressed, with the reason beside it where they give one."""
    findings: tuple[Finding, ...] = getattr(report.values, "suppressed", ())
    reasons = getattr(report.values, "suppressions", ())
    told = (
        Suppressed(finding, reason.kind, reason.justification, reason.path, reason.line)
        for finding, reason in zip(findings, reasons, strict=False)
    )
    return (*told, *(Suppressed(finding) for finding in findings[len(reasons) :]))
