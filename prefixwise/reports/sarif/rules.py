"""What SARIF says of a rule: name, texts, level, and how sure and how grave its findings are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from prefixwise.core.excerpt import visible
from prefixwise.core.finding import Confidence, Finding, Level, Severity
from prefixwise.reports.rule_help import rule_help

LEVELS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "note"}
_PROBLEMS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "recommendation"}
_PRECISIONS = {Confidence.CERTAIN: "very-high", Confidence.LIKELY: "high", Confidence.POSSIBLE: "medium"}
_SCORES = {
    Severity.CRITICAL: "9.5",
    Severity.HIGH: "7.5",
    Severity.MEDIUM: "5.0",
    Severity.LOW: "3.0",
    Severity.INFO: "1.0",
}
_PRIVACY = ("PW9", "PT")
"""Codes of the families whose findings are a danger; a slow prompt is no vulnerability."""

_NAME = 255
_DESCRIPTION = 1024


def rule_of(name: str, findings: Iterable[Finding]) -> dict[str, Any]:
    """Return the `reportingDescriptor` of a rule from its page and from the findings that it has in this run."""
    found = list(findings)
    page, summary, severity = _texts(name, found[0])
    properties: dict[str, Any] = {
        "precision": _PRECISIONS[min((f.confidence for f in found), key=list(Confidence).index)],
        "problem.severity": _PROBLEMS[severity.level],
    }
    tags = ["prompt-caching"]
    if found[0].code.startswith(_PRIVACY):
        properties["security-severity"] = _SCORES[severity]
        tags += ["security", "privacy"]
    return {
        "id": name_of(name),
        "name": "".join(part.capitalize() for part in name_of(name).split("-"))[:_NAME],
        "shortDescription": {"text": cut(summary, _DESCRIPTION)},
        "fullDescription": {"text": cut(_opening(page), _DESCRIPTION)},
        "help": {"text": page, "markdown": page},
        "defaultConfiguration": {"level": LEVELS[severity.level]},
        "properties": properties | {"code": visible(found[0].code), "tags": tags},
    }


def name_of(rule: str) -> str:
    """Return a rule's name as an id, which no consumer takes when it is empty."""
    return visible(rule)[:_NAME] or "unnamed"


def cut(text: str, limit: int) -> str:
    """Return `text` with at most `limit` characters, with a mark where it was cut."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _opening(page: str) -> str:
    """Return the first paragraph below the page's title, or what there is."""
    parts = page.split("\n\n")
    return next((part for part in parts if not part.startswith("#")), parts[0]).replace("\n", " ")


def _texts(name: str, finding: Finding) -> tuple[str, str, Severity]:
    """Return page, summary and severity of a rule; of one that is not at hand, what its finding says of it."""
    known = rule_help(name)
    if known is None:
        summary = name_of(name)
        return visible(finding.fix.summary) or summary, summary, finding.severity
    page = "\n".join(map(visible, known.page.split("\n")))
    return f"{page}\n\n**Fix**: {known.fix}", known.summary, known.severity
