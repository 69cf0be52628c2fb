"""Two hit-rate results held against each other: what became of hit rates, cost and accounts, and which group did it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from prefixwise.analyzers.hitrate_values import GroupRates, HitRateValues, Rate, RuleCost
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.errors import UserError

_MILLION = 1e6


class Change(msgspec.Struct, frozen=True):
    """A figure then and now; `change` is now minus then, None where either is absent."""

    old: float | None
    new: float | None
    change: float | None


class RateChange(msgspec.Struct, frozen=True):
    """One rule, `reported` or `ceiling` in both results; `*_tokens` are sums, so they grow with the log."""

    rule: str
    requests: Change
    prompt_tokens: Change
    cached_tokens: Change
    written_tokens: Change
    hit_rate: Change


class GroupChange(msgspec.Struct, frozen=True):
    """One value of a `--by` field, under the first rule.

    Attributes:
        name: The value.
        share: Of all prompt tokens.
        hit_rate: Of its own.
        contribution: What it adds to the change of the whole hit rate; over all groups, they sum to it.
    """

    name: str
    share: Change
    hit_rate: Change
    contribution: float


class CostChange(msgspec.Struct, frozen=True):
    """USD under one rule, and USD for each million prompt tokens that have a price."""

    rule: str
    usd: Change
    saved_usd: Change
    usd_per_million: Change


class AccountChange(msgspec.Struct, frozen=True):
    """One account: its tokens, and its share of all prompt tokens."""

    account: str
    tokens: Change
    share: Change


class HitRateComparison(msgspec.Struct, frozen=True, kw_only=True):
    """Two results.

    Attributes:
        rule: The first rule of the new result that the old one has too.
        rates: By rule, in the order of the new result; `reported` first and `ceiling` last.
        only_old, only_new: Rules that only one of them has.
        by: By field that both group by; groups with the largest contribution first.
        cost: By rule that has a price in both.
        accounts: Where both count them under the same rule.
        achievable: Hit rate with all fixes.
    """

    rule: str
    rates: tuple[RateChange, ...]
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    by: dict[str, tuple[GroupChange, ...]]
    cost: tuple[CostChange, ...]
    accounts: tuple[AccountChange, ...]
    achievable: Change

    def rate(self, rule: str) -> RateChange | None:
        """Return what became of a rule, None where only one result has it."""
        return next((one for one in self.rates if one.rule == rule), None)


COMPARE_HITRATE = DocumentKind(
    "prefixwise/compare-hitrate", 1, "two hitrate results, as differences", HitRateComparison
)

FIGURES = (
    "hit_rate",
    "hit_rate_change",
    "reported_hit_rate_change",
    "achievable_hit_rate_change",
    "ceiling_change",
    "cached_tokens_change",
    "cost_usd_change",
    "cost_ratio",
)
"""What can be required: of the first rule, of the log's usage, of the ceiling; `cost_ratio` is new over old USD for
each million prompt tokens, in which logs of different length can be compared."""


def compared_hit_rates(old: HitRateValues, new: HitRateValues) -> HitRateComparison:
    """Return what changed from one result to another.

    Raises:
        UserError: They have no rule in common.
    """
    then, now = ({rate.rule: rate for rate in _rates(values)} for values in (old, new))
    asked = [rate.rule for rate in new.rules if rate.rule in then]
    if not asked:
        raise UserError("the two results have no rule in common", help="count both with the same --under")
    rule = asked[0]
    return HitRateComparison(
        rule=rule,
        rates=tuple(_rate_change(then[name], rate) for name, rate in now.items() if name in then),
        only_old=tuple(name for name in then if name not in now),
        only_new=tuple(name for name in now if name not in then),
        by={field: _groups(old.by[field], groups, rule) for field, groups in new.by.items() if field in old.by},
        cost=tuple(_costs(old, new)),
        accounts=tuple(_accounts(old, new)),
        achievable=_change(_achievable(old), _achievable(new)),
    )


def figures(found: HitRateComparison) -> Mapping[str, float | None]:
    """Return the values of `FIGURES`."""
    first = found.rate(found.rule)
    reported, ceiling = found.rate("reported"), found.rate("ceiling")
    cost = next((one for one in found.cost if one.rule == found.rule), None)
    per_million = None if cost is None else cost.usd_per_million
    return {
        "hit_rate": first.hit_rate.new if first else None,
        "hit_rate_change": first.hit_rate.change if first else None,
        "reported_hit_rate_change": reported.hit_rate.change if reported else None,
        "achievable_hit_rate_change": found.achievable.change,
        "ceiling_change": ceiling.hit_rate.change if ceiling else None,
        "cached_tokens_change": first.cached_tokens.change if first else None,
        "cost_usd_change": cost.usd.change if cost else None,
        "cost_ratio": per_million.new / per_million.old
        if per_million and per_million.old and per_million.new
        else None,
    }


def _change(old: float | None, new: float | None) -> Change:
    return Change(old, new, None if old is None or new is None else new - old)


def _rates(values: HitRateValues) -> Iterator[Rate]:
    if values.reported is not None:
        yield values.reported
    yield from values.rules
    yield values.ceiling


def _rate_change(old: Rate, new: Rate) -> RateChange:
    return RateChange(
        new.rule,
        *(
            _change(getattr(old, name), getattr(new, name))
            for name in ("requests", "prompt_tokens", "cached_tokens", "written_tokens", "hit_rate")
        ),
    )


def _groups(old: Sequence[GroupRates], new: Sequence[GroupRates], rule: str) -> tuple[GroupChange, ...]:
    """Return what became of each group; one that a result does not have has no tokens there."""
    sides = [
        {group.name: rate for group in groups for rate in group.rules if rate.rule == rule} for groups in (old, new)
    ]
    totals = [sum(rate.prompt_tokens for rate in side.values()) for side in sides]
    found = []
    for name in dict.fromkeys((*sides[1], *sides[0])):
        pair = [side.get(name) for side in sides]
        shares, parts = [], []
        for rate, total in zip(pair, totals, strict=True):
            shares.append(rate.prompt_tokens / total if rate and total else 0.0)
            parts.append(rate.cached_tokens / total if rate and total else 0.0)
        rates = (rate.hit_rate if rate else None for rate in pair)
        found.append(GroupChange(name, _change(*shares), _change(*rates), parts[1] - parts[0]))
    return tuple(sorted(found, key=lambda one: -abs(one.contribution)))


def _costs(old: HitRateValues, new: HitRateValues) -> Iterator[CostChange]:
    then = {cost.rule: cost for cost in old.cost.rules}
    for cost in new.cost.rules:
        if (before := then.get(cost.rule)) is not None:
            yield CostChange(
                cost.rule,
                _change(before.cost_usd, cost.cost_usd),
                _change(before.saved_usd, cost.saved_usd),
                _change(_per_million(before, old), _per_million(cost, new)),
            )


def _per_million(cost: RuleCost, values: HitRateValues) -> float | None:
    """Return the USD of a million prompt tokens; None where some requests have no price, so that no count fits."""
    rate = next((rate for rate in _rates(values) if rate.rule == cost.rule), None)
    if rate is None or not rate.prompt_tokens or cost.requests != rate.requests:
        return None
    return cost.cost_usd / rate.prompt_tokens * _MILLION


def _accounts(old: HitRateValues, new: HitRateValues) -> Iterator[AccountChange]:
    """Yield the accounts of either result; where fixes were counted in only one, new and unstable tokens are one."""
    if old.accounts is None or new.accounts is None or old.accounts.rule != new.accounts.rule:
        return
    sides = [{one.account: one.tokens for one in side.accounts} for side in (old.accounts, new.accounts)]
    totals = (old.accounts.prompt_tokens, new.accounts.prompt_tokens)
    if (old.accounts.fixes is None) != (new.accounts.fixes is None):
        for side in sides:
            side["first_seen"] = side.get("first_seen", 0) + side.pop("unstable", 0)
    for account in dict.fromkeys((*sides[1], *sides[0])):
        tokens = [side.get(account, 0) for side in sides]
        if any(tokens):
            shares = (count / total if total else None for count, total in zip(tokens, totals, strict=True))
            yield AccountChange(account, _change(*tokens), _change(*shares))


def _achievable(values: HitRateValues) -> float | None:
    fixes = values.accounts.fixes if values.accounts else None
    return fixes.hit_rate if fixes else None
