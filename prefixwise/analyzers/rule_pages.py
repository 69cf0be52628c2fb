"""The lint rules as reports: all in a table, and one with its page."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from prefixwise.analyzers.rule import Rule
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.finding import Mode, Safety, Severity, Where
from prefixwise.core.report import Column, Page, Report, Table


class RuleFacts(msgspec.Struct, frozen=True):
    """One rule in short; `severity` is that at its usual place and frequency."""

    name: str
    code: str
    summary: str
    severity: Severity
    where: tuple[Where, ...]
    modes: tuple[Mode, ...]
    fix: str
    safety: Safety


class RulesValues(msgspec.Struct, frozen=True):
    """The rules, by code."""

    rules: tuple[RuleFacts, ...]


class ExplainValues(msgspec.Struct, frozen=True):
    """One rule and its page in Markdown."""

    rule: RuleFacts
    page: str


RULES_LIST = DocumentKind("prefixwise/rules", 1, "the lint rules", RulesValues)
EXPLAIN = DocumentKind("prefixwise/explain", 1, "a lint rule and its page", ExplainValues)


def rules_report(rules: Iterable[Rule], noun: str = "lint rule") -> Report:
    """Return the report of all of `rules`, which are called `noun`."""
    facts = sorted(map(_facts, rules), key=lambda rule: (rule.code, rule.name))
    wrong = (Column("code", "code"), Column("name", "rule"), Column("summary", "what goes wrong"))
    place = (
        Column("code", "code"),
        Column("name", "rule"),
        Column("where", "where"),
        Column("modes", "seen in"),
        Column("safety", "fix"),
    )
    note = (
        "Fix: safe may be applied without a look, unsafe needs one, none has to be done by hand. "
        "`prefixwise explain RULE` shows a rule's page."
    )
    return Report(
        schema=RULES_LIST.schema,
        schema_version=RULES_LIST.version,
        command="rules",
        title=f"{len(facts)} {noun}{'' if len(facts) == 1 else 's'}",
        blocks=(
            Table("rules", "", wrong, tuple((rule.code, rule.name, rule.summary) for rule in facts)),
            Table("places", "Where they look", place, tuple(map(_place, facts)), note),
        ),
        values=RulesValues(tuple(facts)),
    )


def explain_report(rule: Rule) -> Report:
    """Return the report of one rule: its page, then the facts."""
    facts = _facts(rule)
    rows = (
        ("severity", facts.severity),
        ("where", ", ".join(facts.where)),
        ("seen in", ", ".join(facts.modes)),
        ("fix", f"{facts.fix} ({facts.safety})" if facts.safety is not Safety.NONE else facts.fix),
    )
    return Report(
        schema=EXPLAIN.schema,
        schema_version=EXPLAIN.version,
        command="explain",
        title=f"{facts.name} ({facts.code})",
        blocks=(
            Page("page", "", rule.page),
            Table("facts", "", (Column("fact", ""), Column("value", "")), rows),
        ),
        values=ExplainValues(facts, rule.page),
    )


def _place(rule: RuleFacts) -> tuple[str, ...]:
    return rule.code, rule.name, ", ".join(rule.where), ", ".join(rule.modes), rule.safety


def _facts(rule: Rule) -> RuleFacts:
    return RuleFacts(rule.name, rule.code, rule.summary, rule.severity, rule.where, rule.modes, rule.fix, rule.safety)
