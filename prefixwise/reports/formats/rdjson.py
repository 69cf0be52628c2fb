"""`rdjson`: the Reviewdog Diagnostic Format, for reviewdog and editors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Finding, Level, Safety, Span
from prefixwise.core.report import Report
from prefixwise.reports import finding_words as words
from prefixwise.reports.edits import published_edits
from prefixwise.reports.finding_places import place_of
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.json_text import json_text

_SEVERITIES = {Level.ERROR: "ERROR", Level.WARNING: "WARNING", Level.INFO: "INFO"}


def render(report: Report, **_layout: object) -> str:
    """Return a `DiagnosticResult` with a diagnostic a finding.

    Columns count bytes of UTF-8, so they are left out where the file is not at hand. A suggestion is made where a fix
    is safe and mends the file in which the finding stands.
    """
    texts = {source.path: source.text for source in report.sources}
    diagnostics = [_diagnostic(finding, texts) for finding in report.findings]
    return json_text({"source": {"name": "prefixwise"}, "diagnostics": diagnostics})


def _diagnostic(finding: Finding, texts: Mapping[str, str]) -> dict[str, Any]:
    place = place_of(finding)
    text = texts.get(place.path)
    if text is not None and (finding.span is None or not _holds(text, finding.span)):
        text = None
    location: dict[str, Any] = {"path": place.path}
    if finding.span is not None and text is not None:
        location["range"] = _range(text, finding.span.start, finding.span.end)
    elif place.line is not None:
        ends = {"end": {"line": place.end_line}} if place.end_line is not None else {}
        location["range"] = {"start": {"line": place.line}, **ends}
    diagnostic: dict[str, Any] = {
        "message": words.plain(finding),
        "location": location,
        "severity": _SEVERITIES[finding.level],
        "code": {"value": visible(finding.rule)},
    }
    if text is not None and (suggestions := _suggestions(finding, text)):
        diagnostic["suggestions"] = suggestions
    return diagnostic


def _holds(text: str, span: Span) -> bool:
    """Whether a span is where it says in this text: a file may have changed since it was looked at."""
    begin = text.rfind("\n", 0, span.start) + 1
    there = (text.count("\n", 0, span.start) + 1, span.start - begin + 1)
    return span.end <= len(text) and there == (span.line, span.column)


def _suggestions(finding: Finding, text: str) -> list[dict[str, Any]]:
    edits = published_edits(finding)
    if finding.fix.safety is not Safety.SAFE or any(edit.path != finding.path for edit in edits):
        return []
    return [{"range": _range(text, edit.start, edit.end), "text": edit.text} for edit in edits]


def _range(text: str, start: int, end: int) -> dict[str, Any]:
    return {"start": _position(text, start), "end": _position(text, end)}


def _position(text: str, offset: int) -> dict[str, int]:
    """Return the line and the byte in it, both from 1, of a code point."""
    begin = text.rfind("\n", 0, offset) + 1
    column = len(text[begin:offset].encode("utf-8", "surrogatepass")) + 1
    return {"line": text.count("\n", 0, offset) + 1, "column": column}


FORMATS.add("rdjson", Format("rdjson", "application/json", ".rdjson", render, carries_notes=False, reads_sources=True))
