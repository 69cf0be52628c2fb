"""Findings that a comment, a baseline or the configuration hides: shown only in documents for machines."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.core.finding import Finding
from prefixwise.core.report import Report


class Suppressed(NamedTuple):
    """A finding that does not count, and why."""

    finding: Finding
    kind: str = "external"
    justification: str = ""

    @property
    def in_source(self) -> bool:
        """Whether a comment in the source says so."""
        return self.kind == "inSource"

    @property
    def in_baseline(self) -> bool:
        """Whether it was there when the baseline was written."""
        return self.kind == "baseline"


def suppressed_findings(report: Report) -> tuple[Suppressed, ...]:
    """Return what the report's values list as suppressed, with the reason beside it where they give one."""
    findings: tuple[Finding, ...] = getattr(report.values, "suppressed", ())
    reasons = (*getattr(report.values, "suppressions", ()), *[None] * len(findings))
    return tuple(
        Suppressed(finding, getattr(reason, "kind", "external"), getattr(reason, "justification", "") or "")
        for finding, reason in zip(findings, reasons, strict=False)
    )
