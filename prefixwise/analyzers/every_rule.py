"""Rules of lint and threats of audits together, for whoever explains or lists them."""

from __future__ import annotations

from prefixwise.analyzers.rule import Rule, rule_named
from prefixwise.analyzers.tenancy.threat import THREATS, threats


def rule_or_threat(name: str) -> Rule:
    """Return the rule or threat of a name or code. Raises UserError with the nearest name of a rule otherwise."""
    if name in THREATS.names():
        return THREATS.get(name)
    by_code = (threat for threat in threats() if name.lower() in (threat.code.lower(), threat.id.lower()))
    return next(by_code, None) or rule_named(name)
