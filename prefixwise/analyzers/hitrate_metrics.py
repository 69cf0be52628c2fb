"""The figures of a hit-rate result as Prometheus gauges, for node_exporter's textfile collector."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from prefixwise.analyzers.accounts.values import AccountValues
from prefixwise.analyzers.hitrate_values import GroupRates, HitRateValues, Rate, RuleCost
from prefixwise.analyzers.replica_balance import ReplicaBalance
from prefixwise.core.metrics import Metric, Sample
from prefixwise.corpus.rows import Rows

_MOST_GROUPS = 50
"""Values of a `--by` field that are written, those with most tokens first: each is a series of its own."""
_PREFIX = "prefixwise_hitrate"


def hit_rate_metrics(values: HitRateValues, broken: int, last: float | None = None) -> tuple[Metric, ...]:
    """Return the gauges of a result.

    Args:
        values: The result.
        broken: Records that could not be read.
        last: When its last request started, in seconds since the epoch; None where the log does not say.
    """
    return (
        _one("requests", "Requests counted.", values.requests),
        _one("broken_records", "Records that could not be read.", broken),
        _one("last_request_timestamp_seconds", "When the last request started.", last),
        *_rates(values),
        *_costs(values.cost.rules),
        *(_accounts(values.accounts) if values.accounts else ()),
        *_groups(values.by),
        *(_replicas(values.replicas) if values.replicas else ()),
    )


def last_start(rows: Rows) -> float | None:
    """Return when the last request started, None where the log has no start times."""
    return max((start for start in rows.start if start == start), default=None)


def _one(name: str, about: str, value: float | None) -> Metric:
    return Metric(f"{_PREFIX}_{name}", about, () if value is None else (Sample({}, value),))


def _rates(values: HitRateValues) -> Iterator[Metric]:
    rates = [*([values.reported] if values.reported else []), *values.rules, values.ceiling]
    figures: tuple[tuple[str, str, Callable[[Rate], float | None]], ...] = (
        ("prompt_tokens", "Prompt tokens, by rule.", lambda rate: rate.prompt_tokens),
        ("cached_tokens", "Prompt tokens that a cache under the rule serves.", lambda rate: rate.cached_tokens),
        ("written_tokens", "Prompt tokens that are charged as written.", lambda rate: rate.written_tokens),
        ("ratio", "Cached over prompt tokens, from 0 to 1.", lambda rate: rate.hit_rate),
        ("ratio_least", "The same at the unfavourable end of what is not known.", lambda rate: _end(rate, most=False)),
        ("ratio_most", "The same at the favourable end of what is not known.", lambda rate: _end(rate, most=True)),
    )
    for name, about, figure in figures:
        yield _by_rule(name, about, ((rate.rule, figure(rate)) for rate in rates))


def _end(rate: Rate, *, most: bool) -> float | None:
    tokens = rate.cached_tokens_most if most else rate.cached_tokens_least
    return None if tokens is None or not rate.prompt_tokens else tokens / rate.prompt_tokens


def _by_rule(name: str, about: str, found: Iterable[tuple[str, float | None]]) -> Metric:
    samples = (Sample({"rule": rule}, value) for rule, value in found if value is not None)
    return Metric(f"{_PREFIX}_{name}", about, tuple(samples))


def _costs(costs: tuple[RuleCost, ...]) -> Iterator[Metric]:
    yield _by_rule("cost_usd", "USD of the prompts at list price.", ((one.rule, one.cost_usd) for one in costs))
    yield _by_rule(
        "without_cache_usd",
        "USD of the same prompts without any cache.",
        ((one.rule, one.without_cache_usd) for one in costs),
    )


def _accounts(found: AccountValues) -> Iterator[Metric]:
    """Yield where the tokens went under the first rule, and what fixes would bring."""
    for name, about, field in (
        ("account_tokens", "Prompt tokens in each account; they sum to the prompt tokens.", "tokens"),
        ("account_usd", "USD that reading them from the cache saves or would save.", "usd"),
        ("account_prefill_seconds", "Seconds that computing them takes.", "prefill_s"),
    ):
        samples = (
            Sample({"rule": found.rule, "account": one.account}, value)
            for one in found.accounts
            if (value := getattr(one, field)) is not None
        )
        yield Metric(f"{_PREFIX}_{name}", about, tuple(samples))
    unexplained = found.unexplained_tokens
    yield _by_rule("unexplained_tokens", "Modelled minus reported cached tokens.", [(found.rule, unexplained)])
    if (fixes := found.fixes) is not None:
        yield _by_rule("achievable_ratio", "Hit rate with all fixes applied.", [(found.rule, fixes.hit_rate)])
        saved: dict[str, float] = {}
        for fix in fixes.each:
            saved[fix.rule] = saved.get(fix.rule, 0) + fix.saved_tokens
        each = tuple(Sample({"rule": found.rule, "finding": name}, tokens) for name, tokens in saved.items())
        yield Metric(f"{_PREFIX}_fix_saved_tokens", "Tokens that mending each kind of finding alone saves.", each)


def _groups(by: dict[str, tuple[GroupRates, ...]]) -> Iterator[Metric]:
    """Yield sums by group. Families are left out: their names quote prompts, and their numbers change with the log."""
    for name, about in (
        ("group_prompt_tokens", "Prompt tokens of each value of a field, the largest ones."),
        ("group_cached_tokens", "Of them those that a cache under the rule serves."),
    ):
        sums: dict[tuple[str, str, str], float] = {}
        for field, groups in by.items():
            for group in groups[:_MOST_GROUPS] if field != "family" else ():
                for rate in (*([group.reported] if group.reported else []), *group.rules, group.ceiling):
                    key = (rate.rule, field, group.name)  # two groups can go by one name
                    value = rate.prompt_tokens if name == "group_prompt_tokens" else rate.cached_tokens
                    sums[key] = sums.get(key, 0) + value
        samples = (
            Sample({"rule": r, "field": field, "value": value}, sums[r, field, value]) for r, field, value in sums
        )
        yield Metric(f"{_PREFIX}_{name}", about, tuple(samples))


def _replicas(balance: ReplicaBalance) -> Iterator[Metric]:
    yield _one("replica_request_entropy", "How evenly requests are spread over replicas.", balance.request_entropy)
    yield _one("replica_prefill_entropy", "How evenly prefill tokens are spread.", balance.prefill_entropy)
    yield _one("replica_imbalance_ratio", "Prefill tokens of the busiest replica over the mean.", balance.imbalance)
