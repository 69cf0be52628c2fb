"""The sources into which a report's findings point, for formats that count in them."""

from __future__ import annotations

from pathlib import Path

import msgspec

from prefixwise.core.report import Report, SourceText
from prefixwise.reports.suppressed import suppressed_findings


def with_sources(report: Report) -> Report:
    """Return the report with the text of every file in which a finding has a span.

    Text that the report has already stays. A file that is gone, or is no UTF-8, is left out: formats do without it.
    """
    known = {source.path for source in report.sources}
    found = (*report.findings, *(one.finding for one in suppressed_findings(report)))
    paths = dict.fromkeys(finding.path for finding in found if finding.span is not None and finding.path not in known)
    read = [SourceText(path, text) for path in paths if (text := _text(path)) is not None]
    return msgspec.structs.replace(report, sources=(*report.sources, *read)) if read else report


def _text(path: str) -> str | None:
    try:
        return Path(path).read_bytes().decode("utf-8")
    except (OSError, ValueError):
        return None
