"""Where the prompt tokens of a linted log went: each token has one account."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum

import msgspec

from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.run import Linted
from prefixwise.core.finding import Level
from prefixwise.corpus.tokenizer import Exactness

_COUNTING_ERROR = 0.02
"""Share of a prompt by which a count that is an estimate may be off after it was brought to the reported total."""


class Account(StrEnum):
    """Where a prompt token went, in the order in which they are told."""

    CACHED = "cached"
    """Read from the cache, as reported."""
    EXPLAINED = "explained"
    """Computed because of what a rule found."""
    FIRST_SEEN = "first_seen"
    """Computed because no earlier request of the model began with the same text."""
    GRANULARITY = "granularity"
    """An earlier request had it, below the cache's minimum or unit, or within the error of counting."""
    UNEXPLAINED = "unexplained"
    """An earlier request had it, usage says that it was computed, and no rule says why."""
    NOT_REPORTED = "not_reported"
    """An earlier request had it; the log does not say whether it was read from the cache."""


class Entry(msgspec.Struct, frozen=True):
    """How much went into one account.

    Attributes:
        rule: Of what is explained; None for other accounts.
        level: The worst level of the rule's findings.
        requests: In how many requests.
        tokens: Prompt tokens, the provider's own where it reports them.
        usd: What they cost above reading them from the cache; only of what is explained, None without a price.
    """

    account: Account
    rule: str | None
    level: Level | None
    requests: int
    tokens: int
    usd: float | None


class Share(msgspec.Struct, frozen=True):
    """The part of one request that went into one account."""

    account: Account
    rule: str
    tokens: int


def accounts(linted: Linted) -> tuple[Entry, ...]:
    """Return the accounts of a log, the costliest rule first; what is empty is left out."""
    log = linted.log
    claims, pairs, beside = claims_by_row(linted), pairs_by_row(linted), _beside(linted)
    requests: Counter[tuple[Account, str]] = Counter()
    tokens: Counter[tuple[Account, str]] = Counter()
    usd: dict[str, float | None] = {}
    for row in range(len(log.rows)):
        of_rules: Counter[tuple[Account, str]] = Counter()
        for share in shares(log, row, pairs.get(row), claims.get(row, ()), beside.get(row, "")):
            of_rules[share.account, share.rule] += share.tokens
        requests.update(of_rules.keys())
        tokens.update(of_rules)
        for (account, rule), count in of_rules.items():
            if account is Account.EXPLAINED:
                so_far, more = usd.get(rule, 0.0), log.usd(row, count)
                usd[rule] = None if so_far is None or more is None else so_far + more
    levels = _levels(linted)
    order = list(Account)
    keys = sorted(tokens, key=lambda key: (order.index(key[0]), -tokens[key], key[1]))
    return tuple(
        Entry(account, rule or None, levels.get(rule), requests[account, rule], tokens[account, rule], usd.get(rule))
        for account, rule in keys
    )


def shares(log: Log, row: int, pair: Compared | None, claims: Iterable[Claim], beside: str = "") -> Iterator[Share]:
    """Yield where the prompt tokens of one request went; the parts add up to its prompt.

    Args:
        log: The log.
        row: The request.
        pair: What it was compared with.
        claims: What rules say of it.
        beside: The rule that explains it by what it says of another request, where there is one.
    """
    prompt, cached = log.prompt(row), log.cached(row)
    left = prompt - (cached or 0)
    if cached:
        yield Share(Account.CACHED, "", cached)
    shared = had = log.scaled(row, log.sharing.shared[row])
    for claim in claims:
        taken = min(claim.lost or 0, left)
        if taken:
            yield Share(Account.EXPLAINED, claim.rule, taken)
            left -= taken
        if pair is not None:  # what was lost behind a break an earlier request had too, though not behind this prefix
            had = max(had, min(log.scaled(row, pair.at_stake), shared + (claim.lost or 0)))
    new = min(left, max(0, prompt - had))
    if new:
        yield Share(Account.FIRST_SEEN, "", new)
    if left > new:
        rest = Account.EXPLAINED if beside else _of_rest(log, row, shared, left - new)
        yield Share(rest, beside, left - new)


def _of_rest(log: Log, row: int, shared: int, rest: int) -> Account:
    """Return the account of what an earlier request had and no rule speaks of: `rest` of the `shared` tokens."""
    if log.cached(row) is None:
        return Account.NOT_REPORTED
    system, least = log.system(row), log.minimum(row)
    unit = system.granularity_tokens.high if system is not None and system.granularity_tokens is not None else 1
    below = least is not None and least.high is not None and shared < least.high
    if below or rest < (unit or 1) or (_is_estimate(log, row) and rest <= _COUNTING_ERROR * log.prompt(row)):
        return Account.GRANULARITY
    return Account.UNEXPLAINED


def _is_estimate(log: Log, row: int) -> bool:
    return log.corpus.tokenizers[log.model(row)][0] is not Exactness.EXACT


def claims_by_row(linted: Linted) -> dict[int, list[Claim]]:
    """Return what rules say of each request; only requests of which something is said."""
    found: dict[int, list[Claim]] = {}
    for claim in linted.claims:
        found.setdefault(claim.after, []).append(claim)
    return found


def _beside(linted: Linted) -> dict[int, str]:
    """Return the rules that explain requests of which they say nothing by themselves."""
    return {row: claim.rule for claim in reversed(linted.claims) for row in claim.explains}


def pairs_by_row(linted: Linted) -> Mapping[int, Compared]:
    """Return what each request was compared with; only requests that were."""
    return {pair.after: pair for pair in linted.pairs}


def _levels(linted: Linted) -> dict[str, Level]:
    levels: dict[str, Level] = {}
    for finding in linted.values.findings:
        known = levels.get(finding.rule)
        if known is None or finding.level.rank < known.rank:
            levels[finding.rule] = finding.level
    return levels
