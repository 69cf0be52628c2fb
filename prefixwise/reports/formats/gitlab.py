"""`gitlab`: a Code Quality report, for the widget of a merge request."""

from __future__ import annotations

import hashlib
from collections import Counter

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Finding, Mode, Severity
from prefixwise.core.report import Report
from prefixwise.reports import finding_words as words
from prefixwise.reports.finding_places import place_of
from prefixwise.reports.format import FORMATS, Format
from prefixwise.reports.json_text import json_text

_SEVERITIES = {
    Severity.CRITICAL: "critical",
    Severity.HIGH: "major",
    Severity.MEDIUM: "minor",
    Severity.LOW: "minor",
    Severity.INFO: "info",
}


def render(report: Report, **_layout: object) -> str:
    """Return a list with an object a finding; a report without findings is an empty list.

    The rule stands in the description too, for GitLab does not show `check_name`. Fingerprints are unique in the
    document, and the same when lines move; GitLab shows one of several with equal ones.
    """
    seen: Counter[str] = Counter()
    return json_text([_issue(finding, seen) for finding in report.findings])


def _issue(finding: Finding, seen: Counter[str]) -> dict[str, object]:
    place = place_of(finding)
    cost = f" ({loss})" if (loss := words.loss(finding)) else ""
    return {
        "description": visible(f"{words.named(finding)}: {finding.message}{cost}"),
        "check_name": visible(finding.rule),
        "fingerprint": _fingerprint(finding, seen),
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": place.path, "lines": {"begin": place.line or 1}},
    }


def _fingerprint(finding: Finding, seen: Counter[str]) -> str:
    """Return a digest of rule, file and fingerprint, numbered where there are several; of a log without its file.

    Tomorrow's log is another file with the same faults.
    """
    path = "" if finding.mode is Mode.LOG else finding.path
    key = "\0".join((finding.rule, path, finding.fingerprint))
    number = seen[key]
    seen[key] += 1
    return hashlib.blake2b(f"{key}\0{number}".encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()


FORMATS.add("gitlab", Format("gitlab", "application/json", ".gitlab.json", render, carries_notes=False))
