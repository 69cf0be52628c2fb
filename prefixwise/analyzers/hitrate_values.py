"""What `prefixwise/hitrate` promises to machines: its fields and their meaning change only with the schema version."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.accounts.accounted import Accounted
from prefixwise.analyzers.accounts.values import AccountValues, account_values
from prefixwise.analyzers.advice.advise import Advice
from prefixwise.analyzers.group_names import group_name
from prefixwise.analyzers.hitrate import CEILING, Counts, HitRate
from prefixwise.analyzers.hitrate_over_time import OverTime
from prefixwise.analyzers.prompt_cost import REPORTED, Cost, PromptCost
from prefixwise.analyzers.replica_balance import ReplicaBalance
from prefixwise.analyzers.shared_prefixes import SharedPrefix
from prefixwise.analyzers.sharing_tree import Branch
from prefixwise.analyzers.weights import ModelTokens
from prefixwise.caches.prices import Price
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.excerpt import Excerpts
from prefixwise.core.request import Ref
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.reader import Broken


class Rate(msgspec.Struct, frozen=True):
    """Tokens under one rule; rates are None without prompt tokens, `*_without_answers` without logged answers.

    `*_least` and `*_most` are the ends of what is not known of the rule, None without doubt; `written_tokens` are those
    that are charged as written, None where writing is not charged.
    """

    rule: str
    requests: int
    prompt_tokens: int
    cached_tokens: int
    hit_rate: float | None
    cached_tokens_without_answers: int | None
    cached_tokens_least: int | None = None
    cached_tokens_most: int | None = None
    written_tokens: int | None = None


class GroupRates(msgspec.Struct, frozen=True):
    """The same for one value of a `--by` field."""

    name: str
    reported: Rate | None
    rules: tuple[Rate, ...]
    ceiling: Rate


class LostRequest(msgspec.Struct, frozen=True):
    """A request that lost most; see `analyzers.hitrate.Lost`."""

    at: Ref
    nearest: Ref | None
    prompt_tokens: int
    cached_tokens: int
    differs_at: int
    reason: str
    then: str


class RuleCost(msgspec.Struct, frozen=True):
    """USD of prompts under one rule; see `analyzers.prompt_cost.Cost`."""

    rule: str
    requests: int
    without_cache_usd: float
    cost_usd: float
    saved_usd: float


class ModelCosts(msgspec.Struct, frozen=True):
    """The same for one model, and the prices that were used: USD per million tokens, with their sources."""

    model: str
    rules: tuple[RuleCost, ...]
    prices: tuple[Price, ...]


class Costs(msgspec.Struct, frozen=True):
    """What the prompts cost; `unpriced` counts the requests of each model without a known price."""

    rules: tuple[RuleCost, ...]
    models: tuple[ModelCosts, ...]
    unpriced: dict[str, int]


class HitRateValues(msgspec.Struct, frozen=True):
    """The values of a hit-rate report.

    `rules` are in the order in which they were asked for; `over_time` is None where too few requests have a start time;
    `sharing_tree` is in the order of the tree.
    """

    requests: int
    reported: Rate | None
    rules: tuple[Rate, ...]
    ceiling: Rate
    by: dict[str, tuple[GroupRates, ...]]
    cost: Costs
    models: tuple[ModelTokens, ...]
    shared_prefixes: tuple[SharedPrefix, ...]
    lost_most: tuple[LostRequest, ...]
    over_time: OverTime | None
    sharing_tree: tuple[Branch, ...]
    accounts: AccountValues | None
    broken: tuple[Broken, ...]
    facts: tuple[str, ...]
    advice: Advice | None = None
    replicas: ReplicaBalance | None = None


HITRATE = DocumentKind("prefixwise/hitrate", 3, "hit rates and cost by rule and group", HitRateValues)


def hit_rate_values(
    corpus: Corpus,
    result: HitRate,
    excerpts: Excerpts,
    accounted: Accounted | None = None,
    branches: tuple[Branch, ...] = (),
) -> HitRateValues:
    """Return the values of a hit-rate count."""
    totals = _group_rates("", result.totals)
    return HitRateValues(
        requests=len(corpus.rows),
        reported=totals.reported,
        rules=totals.rules,
        ceiling=totals.ceiling,
        by={
            field: tuple(
                _group_rates(group_name(field, group.number, group.name, excerpts), group.counts) for group in groups
            )
            for field, groups in result.by.items()
        },
        cost=_costs(result.cost),
        models=result.models,
        shared_prefixes=result.prefixes,
        lost_most=tuple(
            LostRequest(x.at, x.nearest, x.prompt_tokens, x.cached_tokens, x.parts_after, x.reason.name.lower(), x.then)
            for x in result.lost
        ),
        over_time=result.over_time,
        sharing_tree=branches,
        accounts=None if accounted is None else account_values(accounted, excerpts),
        broken=corpus.broken,
        facts=corpus.facts,
        advice=None if accounted is None else accounted.advice,
        replicas=None if accounted is None else accounted.replicas,
    )


def _group_rates(name: str, counts: tuple[Counts, ...]) -> GroupRates:
    by_rule = {c.rule: _rate(c) for c in counts}
    ceiling, reported = by_rule.pop(CEILING), by_rule.pop(REPORTED, None)
    return GroupRates(name, reported, tuple(by_rule.values()), ceiling)


def _costs(cost: PromptCost) -> Costs:
    models = tuple(ModelCosts(m.model, tuple(map(_rule_cost, m.costs)), m.prices) for m in cost.models)
    return Costs(tuple(map(_rule_cost, cost.totals)), models, dict(cost.unpriced))


def _rule_cost(cost: Cost) -> RuleCost:
    amounts = (cost.without_cache_usd, cost.cost_usd, cost.saved_usd)
    return RuleCost(cost.rule, cost.requests, *(round(amount, 9) for amount in amounts))


def _rate(counts: Counts) -> Rate:
    return Rate(
        counts.rule,
        counts.requests,
        counts.prompt_tokens,
        counts.cached_tokens,
        counts.hit_rate,
        counts.without_answers,
        counts.least,
        counts.most,
        counts.written_tokens,
    )
