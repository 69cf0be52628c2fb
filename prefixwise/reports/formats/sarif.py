"""`sarif`: SARIF 2.1.0 as GitHub code scanning and other viewers of findings read it."""

from __future__ import annotations

import gzip
import re
from typing import Any

from prefixwise import __version__
from prefixwise.core.excerpt import visible
from prefixwise.core.report import Report
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.json_text import json_text
from prefixwise.reports.sarif.results import Hits, folded, results_of
from prefixwise.reports.sarif.rules import rule_of
from prefixwise.reports.sarif.uris import uri_of
from prefixwise.reports.suppressed import suppressed_findings

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
RESULTS = 25_000
"""The most results of a run that GitHub takes."""
PACKED = 10_000_000
"""The most bytes of a packed document that GitHub takes."""
_SEMANTIC = re.compile(r"\d+\.\d+\.\d+")


def render(report: Report, **_layout: object) -> str:
    """Return one run: the rules that found something, their findings, and what was noted on the way.

    What is more than GitHub takes is cut from the end, and a notification says so.
    """
    hits = folded(report.findings, suppressed_findings(report))
    kept = hits[:RESULTS]
    document = _document(report, kept, len(hits) - len(kept))
    while kept and not _fits(document):
        kept = kept[: len(kept) // 2]
        document = _document(report, kept, len(hits) - len(kept))
    return document


def _fits(document: str) -> bool:
    return len(document) < PACKED // 4 or len(gzip.compress(document.encode(), mtime=0)) <= PACKED


def _document(report: Report, hits: list[Hits], left_out: int) -> str:
    names = list(dict.fromkeys(finding.rule for one in hits for finding in one.findings))
    rules = [
        rule_of(name, (finding for one in hits for finding in one.findings if finding.rule == name)) for name in names
    ]
    places = {name: index for index, name in enumerate(names)}
    run = {
        "tool": {"driver": _driver(rules)},
        "automationDetails": {"id": f"prefixwise/{visible(report.command)}/"},
        "columnKind": "unicodeCodePoints",
        "invocations": [_invocation(report, left_out)],
        "results": list(results_of(hits, places, report.sources)),
    }
    return json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _driver(rules: list[dict[str, Any]]) -> dict[str, Any]:
    semantic = {"semanticVersion": __version__} if _SEMANTIC.fullmatch(__version__) else {}
    return {"name": "prefixwise", "version": __version__, **semantic, "rules": rules}


def _invocation(report: Report, left_out: int) -> dict[str, Any]:
    """Return how the run went: it did, whatever it found; notes and unread files are notifications."""
    told: list[dict[str, Any]] = [_notification("note", note) for note in report.notes]
    for file in report.inputs:
        if file.reason_skipped or file.broken:
            why = f"skipped: {file.reason_skipped}" if file.reason_skipped else f"{file.broken:,} broken records"
            told.append(_notification("warning", f"{file.path}: {why}", file.path))
    unmet = [requirement for requirement in report.requirements if not requirement.met]
    told += [_notification("error", f"requirement {one.state}: {one.expression}") for one in unmet]
    if left_out:
        told.append(_notification("warning", f"{left_out:,} results were left out: the file would be too large"))
    return {"executionSuccessful": True, "exitCode": report.exit_code, "toolExecutionNotifications": told}


def _notification(level: str, text: str, path: str | None = None) -> dict[str, Any]:
    told: dict[str, Any] = {"level": level, "message": {"text": visible(text) or "(empty)"}}
    if path is not None:
        told["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": uri_of(path)}}}]
    return told


FORMATS.add("sarif", Format("sarif", "application/sarif+json", ".sarif", render, reads_sources=True))
