"""What the rules say of themselves, for documents that explain their findings."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.core.errors import UserError
from prefixwise.core.finding import Severity


class RuleHelp(NamedTuple):
    """A rule's page in Markdown and what else is said of it; severity is that at its usual place and frequency."""

    summary: str
    page: str
    fix: str
    severity: Severity


def rule_help(name: str) -> RuleHelp | None:
    """Return what the rule called `name` says, None where no rule at hand is called so."""
    from prefixwise.analyzers.every_rule import rule_or_threat
    from prefixwise.bench.audit import findings as measured

    if name == measured.RULE:  # what is measured is not looked for in logs, so it is no lint rule
        return RuleHelp(measured.SUMMARY, measured.PAGE, measured.FIX, measured.SEVERITY)
    try:
        rule = rule_or_threat(name)
    except UserError:
        return None
    return RuleHelp(rule.summary, rule.page, rule.fix, rule.severity)
