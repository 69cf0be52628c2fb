"""The rules in the order in which they are asked, and how a pair is put to them."""

from __future__ import annotations

from collections.abc import Iterable

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.moving import MovingValue
from prefixwise.analyzers.rule import RULES, LogRule, PairRule, SpanRule, Stage
from prefixwise.analyzers.values.kinds import SpanKind


class Asked:
    """The rules by what they look at, each list in the order in which it is asked.

    Attributes:
        front, text, behind: Pair rules of each stage; `front_of_hits`: those of the first that look at hits too.
        span: Rules for moving values.
        log: Rules for the log as a whole.
    """

    def __init__(self) -> None:
        ordered = sorted(RULES, key=lambda rule: (rule.rank, rule.name))
        pair_rules = [rule for rule in ordered if isinstance(rule, PairRule)]
        self.front = _asked_at(Stage.FRONT, pair_rules)
        self.front_of_hits = [rule for rule in self.front if rule.despite_hits]
        self.text = _asked_at(Stage.TEXT, pair_rules)
        self.behind = _asked_at(Stage.BEHIND, pair_rules)
        self.span = [rule for rule in ordered if isinstance(rule, SpanRule)]
        self.log = [rule for rule in ordered if isinstance(rule, LogRule)]

    def named(self, kinds: Iterable[SpanKind]) -> list[str]:
        """Return the names of the rules for moving values that know these kinds."""
        known = {
            kind: rule.name for rule in reversed(self.span) if isinstance(rule, MovingValue) for kind in rule.kinds
        }
        return [known[kind] for kind in kinds if kind in known]

    def otherwise(self, pair: Compared) -> Claim | None:
        """Return what is to be said of a text where no rule knows the moving value."""
        return _filled(next(filter(None, (rule.otherwise(pair) for rule in self.text)), None), pair)


def first_claim(rules: Iterable[PairRule], pair: Compared) -> Claim | None:
    """Return the claim of the first of some rules that has one."""
    return _filled(next(filter(None, (rule.detect(pair) for rule in rules)), None), pair)


def _filled(claim: Claim | None, pair: Compared) -> Claim | None:
    if claim is None:
        return None
    if claim.before is None and claim.lost is None:
        claim.before = pair.before
    if claim.lost is None:
        claim.lost = pair.lost
    return claim


def _asked_at(stage: Stage, rules: Iterable[PairRule]) -> list[PairRule]:
    return [rule for rule in rules if stage in (rule.stage, *rule.also_at)]
