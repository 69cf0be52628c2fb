"""Scores what `prefixwise lint` found in logs whose cause is known."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.breakers.family import ANTHROPIC_11, OPENAI_21, Family
from benchmarks.breakers.scene import Variant

SCHEMA = "prefixwise/lint"
NOTHING = "(nothing)"
ENOUGH = {OPENAI_21: 20 / 21, ANTHROPIC_11: 1.0}
"""The share of the causes of a comparison that must be named."""


class NotALintDocumentError(Exception):
    """A document is not what the contract says."""


@dataclass(frozen=True)
class Verdict:
    """What was found in one log.

    Attributes:
        expected: The rule that names the cause; empty where there is none.
        found: Rules above info, each once, in the order of the document.
        is_found: Whether the cause is among them.
        is_named: Whether it comes first, or costs the most.
        wrong: Rules above info that do not name the cause.
    """

    family: str
    seed: int
    variant: str
    expected: str
    found: tuple[str, ...]
    is_found: bool
    is_named: bool
    wrong: tuple[str, ...]


def judge(
    family: Family, seed: int, variant: Variant, document: dict[str, Any], ignored: frozenset[str] = frozenset()
) -> Verdict:
    """Hold a lint document against what is wrong with the log.

    Args:
        family: What the log is of.
        seed: Which of its logs.
        variant: The broken one, a twin or a control.
        document: What `lint --json` wrote.
        ignored: Rules that do not count, as what they report was done to all logs.

    Raises:
        NotALintDocumentError: The document is another one.
    """
    if document.get("schema") != SCHEMA or not isinstance(document.get("findings"), list):
        raise NotALintDocumentError(f"schema {document.get('schema')!r}, not {SCHEMA!r} with findings")
    findings = [item for item in document["findings"] if item["level"] != "info" and item["rule"] not in ignored]
    found = tuple(dict.fromkeys(item["rule"] for item in findings))
    is_broken = variant is Variant.BROKEN and not family.is_control
    accepted = {family.rule, *family.also} if is_broken else set()
    costliest = max(findings, key=_cost, default=None)
    leading = {findings[0]["rule"], costliest["rule"]} if costliest is not None else set()
    return Verdict(
        family.name,
        seed,
        str(variant),
        family.rule if is_broken else "",
        found,
        not accepted.isdisjoint(found),
        not accepted.isdisjoint(leading),
        tuple(rule for rule in found if rule not in accepted),
    )


def _cost(finding: dict[str, Any]) -> int:
    lost = finding.get("tokens_lost")
    return int(lost["value"]) if lost else 0


@dataclass
class RuleTally:
    """How one rule did: right findings, wrong ones, causes that it did not name."""

    right: int = 0
    wrong: int = 0
    missed: int = 0

    @property
    def precision(self) -> float | None:
        """Right findings over all findings of the rule; None without any."""
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        """Causes found over all causes of the rule; None without any."""
        return self.right / (self.right + self.missed) if self.right + self.missed else None


@dataclass(frozen=True)
class Comparison:
    """How many causes of a published comparison were named, for one seed."""

    name: str
    seed: int
    causes: int
    named: int
    needed: int

    @property
    def is_reached(self) -> bool:
        """Whether that is enough."""
        return self.named >= self.needed


@dataclass(frozen=True)
class Score:
    """What came out for all logs together."""

    verdicts: tuple[Verdict, ...]
    rules: dict[str, RuleTally]
    confusion: Counter[tuple[str, str]]
    comparisons: tuple[Comparison, ...]
    false_alarms: tuple[Verdict, ...]

    @property
    def is_reached(self) -> bool:
        """Whether all targets are: enough causes named, and nothing said of logs with nothing wrong."""
        return not self.false_alarms and all(comparison.is_reached for comparison in self.comparisons)

    def values(self) -> dict[str, Any]:
        """Return everything as JSON takes it."""
        rules = {
            rule: {**asdict(tally), "precision": tally.precision, "recall": tally.recall}
            for rule, tally in sorted(self.rules.items())
        }
        cells = [
            {"expected": expected, "found": found, "logs": logs}
            for (expected, found), logs in sorted(self.confusion.items())
        ]
        return {
            "is_reached": self.is_reached,
            "comparisons": [{**asdict(each), "is_reached": each.is_reached} for each in self.comparisons],
            "false_alarms": len(self.false_alarms),
            "rules": rules,
            "confusion": cells,
            "logs": [asdict(verdict) for verdict in self.verdicts],
        }


def score(verdicts: Iterable[Verdict], families: dict[str, Family]) -> Score:
    """Add up the verdicts of logs of `families`."""
    verdicts = tuple(verdicts)
    rules: dict[str, RuleTally] = {}
    confusion: Counter[tuple[str, str]] = Counter()
    for verdict in verdicts:
        if verdict.expected:
            tally = rules.setdefault(verdict.expected, RuleTally())
            tally.right += verdict.is_found
            tally.missed += not verdict.is_found
        for rule in verdict.wrong:
            rules.setdefault(rule, RuleTally()).wrong += 1
        confusion.update((verdict.expected or NOTHING, rule) for rule in verdict.found or (NOTHING,))
    comparisons = [
        _comparison(name, seed, [each for each in verdicts if each.seed == seed], families)
        for name in ENOUGH
        for seed in sorted({verdict.seed for verdict in verdicts})
    ]
    alarms = tuple(verdict for verdict in verdicts if not verdict.expected and verdict.found)
    return Score(verdicts, rules, confusion, tuple(each for each in comparisons if each.causes), alarms)


def _comparison(name: str, seed: int, verdicts: list[Verdict], families: dict[str, Family]) -> Comparison:
    own = [verdict for verdict in verdicts if verdict.expected and families[verdict.family].comparison == name]
    needed = math.ceil(len(own) * ENOUGH[name] - 1e-9)
    return Comparison(name, seed, len(own), sum(verdict.is_named for verdict in own), needed)
