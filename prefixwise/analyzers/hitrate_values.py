"""What `prefixwise/hitrate` promises to machines: its fields and their meaning change only with the schema version."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.hitrate import CEILING, REPORTED, Counts, Group, HitRate
from prefixwise.analyzers.shared_prefixes import SharedPrefix
from prefixwise.analyzers.weights import ModelTokens
from prefixwise.core.excerpt import Excerpts, excerpt
from prefixwise.core.request import Ref
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.reader import Broken


class Rate(msgspec.Struct, frozen=True):
    """Tokens under one rule; rates are None without prompt tokens, `*_without_answers` without logged answers."""

    rule: str
    requests: int
    prompt_tokens: int
    cached_tokens: int
    hit_rate: float | None
    cached_tokens_without_answers: int | None


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


class HitRateValues(msgspec.Struct, frozen=True):
    """The values of a hit-rate report. `rules` are in the order in which they were asked for."""

    requests: int
    reported: Rate | None
    rules: tuple[Rate, ...]
    ceiling: Rate
    by: dict[str, tuple[GroupRates, ...]]
    models: tuple[ModelTokens, ...]
    shared_prefixes: tuple[SharedPrefix, ...]
    lost_most: tuple[LostRequest, ...]
    broken: tuple[Broken, ...]
    facts: tuple[str, ...]


def hit_rate_values(corpus: Corpus, result: HitRate, excerpts: Excerpts) -> HitRateValues:
    """Return the values of a hit-rate count."""
    totals = _group_rates("", result.totals)
    return HitRateValues(
        requests=len(corpus.rows),
        reported=totals.reported,
        rules=totals.rules,
        ceiling=totals.ceiling,
        by={
            field: tuple(_group_rates(group_name(field, group, excerpts), group.counts) for group in groups)
            for field, groups in result.by.items()
        },
        models=result.models,
        shared_prefixes=result.prefixes,
        lost_most=tuple(
            LostRequest(x.at, x.nearest, x.prompt_tokens, x.cached_tokens, x.parts_after, x.reason.name.lower(), x.then)
            for x in result.lost
        ),
        broken=corpus.broken,
        facts=corpus.facts,
    )


def group_name(field: str, group: Group, excerpts: Excerpts) -> str:
    """Return a group's name; that of a family quotes its prompt and is cut and masked like any excerpt."""
    if field != "family" or group.number < 0:
        return group.name
    quoted = excerpt(group.name, excerpts)
    return f"{group.number}: {quoted}" if quoted else str(group.number)


def _group_rates(name: str, counts: tuple[Counts, ...]) -> GroupRates:
    by_rule = {c.rule: _rate(c) for c in counts}
    ceiling, reported = by_rule.pop(CEILING), by_rule.pop(REPORTED, None)
    return GroupRates(name, reported, tuple(by_rule.values()), ceiling)


def _rate(counts: Counts) -> Rate:
    return Rate(
        counts.rule,
        counts.requests,
        counts.prompt_tokens,
        counts.cached_tokens,
        counts.hit_rate,
        counts.without_answers,
    )
