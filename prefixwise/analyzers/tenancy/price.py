"""The price of isolation: the same log replayed under several ways to keep tenants apart."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence
from enum import StrEnum

import msgspec

from prefixwise.analyzers.prompt_cost import prompt_cost
from prefixwise.caches.isolation import isolated_rows
from prefixwise.caches.policy import Policy, Replay
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import NONE, Rows
from prefixwise.stats.theil_sen import theil_sen

_LEAST_TIMED = 20
_MOST_TIMED = 400


class Isolation(StrEnum):
    """How entries are kept apart."""

    LOGGED = "as logged"
    GLOBAL = "global"
    SHARED = "shared prefix, then tenant"
    TENANT = "per tenant"
    REQUEST = "per request"


class Priced(msgspec.Struct, frozen=True):
    """One isolation under one rule.

    Attributes:
        rule: Label of the rule; `isolation`: how entries are kept apart.
        prompt_tokens, cached_tokens: Over all requests.
        cost_usd: Of the prompts that have a known price; None without any.
        prefill_seconds: Time to compute what is not cached; None where no speed is known.
    """

    rule: str
    isolation: Isolation
    prompt_tokens: int
    cached_tokens: int
    cost_usd: float | None
    prefill_seconds: float | None

    @property
    def hit_rate(self) -> float | None:
        """Cached over prompt tokens, None without any."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None


class Speed(msgspec.Struct, frozen=True):
    """Seconds that a prompt token takes that is not cached, and where that is known from."""

    seconds_per_token: float
    source: str


class Prices(msgspec.Struct, frozen=True):
    """What each isolation gives, by rule, in the order of `Isolation`."""

    priced: tuple[Priced, ...]
    speed: Speed | None

    def of(self, isolation: Isolation, rule: str = "") -> Priced:
        """Return the figures of an isolation under a rule, by default the first."""
        return next(one for one in self.priced if one.isolation is isolation and rule in ("", one.rule))

    def rules(self) -> tuple[str, ...]:
        """Return the rules, in their order."""
        return tuple(dict.fromkeys(one.rule for one in self.priced))


def prices_of_isolation(
    rows: Rows,
    policies: Sequence[Policy],
    spaces: Sequence[int],
    shared: bytearray,
    weights: Sequence[float],
    book: Rulebook,
    speed: Speed | None,
) -> Prices:
    """Replay a log under each isolation and each rule.

    Args:
        rows: The corpus.
        policies: The rules.
        spaces: By row, the namespace that it was logged in.
        shared: By node, whether all tenants may share it where a shared prefix is allowed.
        weights: By model number, what token counts are to be multiplied by.
        book: Where prices are.
        speed: How fast prompts are computed, None where nobody knows.
    """
    tenants = list(rows.tenant)
    unknown = itertools.count(len(rows.tenants))
    by_name = {number: bool(name) for number, name in enumerate(rows.tenants.names)}
    owners = [tenant if by_name[tenant] else next(unknown) for tenant in tenants]
    ways: tuple[tuple[Isolation, Sequence[int], bytearray | None], ...] = (
        (Isolation.LOGGED, spaces, None),
        (Isolation.GLOBAL, bytes(len(rows)), None),
        (Isolation.SHARED, owners, shared),
        (Isolation.TENANT, owners, None),
    )
    done: dict[str, dict[Isolation, Replay]] = {policy.label: {} for policy in policies}
    for isolation, owner, in_common in ways:
        own = isolated_rows(rows, owner, in_common)  # one at a time: each is as large as the log's own tree, or larger
        for policy in policies:
            done[policy.label][isolation] = policy.replay(own)
    found = []
    for policy in policies:
        replays = done[policy.label]
        replays[Isolation.REQUEST] = Replay(array("i", bytes(4 * len(rows))), bytearray(len(rows)))  # finds nothing
        found.extend(_priced(rows, policy, replays, weights, book, speed))
    return Prices(tuple(found), speed)


def _priced(
    rows: Rows,
    policy: Policy,
    replays: dict[Isolation, Replay],
    weights: Sequence[float],
    book: Rulebook,
    speed: Speed | None,
) -> list[Priced]:
    hits = {isolation.value: replay.matched for isolation, replay in replays.items()}
    bills = {isolation.value: (replay, policy.tariff) for isolation, replay in replays.items()}
    cost = prompt_cost(rows, weights, hits, book, bills if policy.tariff.provider else {})
    usd = {total.rule: total.cost_usd for total in cost.totals}
    factors = [weights[model] for model in rows.model]
    prompt = round(sum(n * factor for n, factor in zip(rows.prompt_tokens, factors, strict=True)))
    made = []
    for isolation, replay in replays.items():
        cached = round(sum(n * factor for n, factor in zip(replay.matched, factors, strict=True)))
        seconds = None if speed is None else (prompt - cached) * speed.seconds_per_token
        made.append(Priced(policy.label, isolation, prompt, cached, usd.get(isolation.value), seconds))
    return made


def logged_speed(rows: Rows) -> Speed | None:
    """Return the seconds a token from logged times to first token: the slope over what was not cached.

    Nothing where too few requests log both, or where more tokens take no longer.
    """
    columns = zip(rows.ttft, rows.reported_prompt, rows.reported_cached, strict=True)
    timed = [
        (float(prompt - cached), ttft)
        for ttft, prompt, cached in columns
        if ttft == ttft and prompt != NONE and cached != NONE
    ]
    if len(timed) < _LEAST_TIMED:
        return None
    step = -(-len(timed) // _MOST_TIMED)
    chosen = timed[::step]
    if len({tokens for tokens, _ in chosen}) < 2:
        return None
    slope = theil_sen([tokens for tokens, _ in chosen], [ttft for _, ttft in chosen]).slope
    return Speed(slope, f"times to first token of {len(chosen):,} requests") if slope > 0 else None
