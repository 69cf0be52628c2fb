"""What the hit-rate document promises of accounts and fixes."""

from __future__ import annotations

import msgspec

from prefixwise.analyzers.accounts.accounted import Accounted
from prefixwise.analyzers.accounts.fixed import Fixed, Gain
from prefixwise.analyzers.accounts.prefill import PrefillTime
from prefixwise.analyzers.accounts.totals import GroupAccounts, Sum
from prefixwise.analyzers.group_names import group_name
from prefixwise.core.excerpt import Excerpts


class FixValue(msgspec.Struct, frozen=True):
    """What mending one finding saves; see `analyzers.accounts.fixed.Gain`."""

    rule: str
    code: str
    fingerprint: str
    path: str
    field: str | None
    requests: int
    saved_tokens: int
    saved_usd: float | None
    saved_prefill_s: float | None
    hit_rate: float | None
    behind: bool


class FixValues(msgspec.Struct, frozen=True):
    """What all fixes save under the rule; `unmended` are rules with findings that no request shows a fix of."""

    hit_rate: float | None
    saved_tokens: int
    saved_usd: float | None
    saved_prefill_s: float | None
    interaction_tokens: int
    each: tuple[FixValue, ...]
    unmended: tuple[str, ...]


class AccountValues(msgspec.Struct, frozen=True):
    """Every prompt token in one account; see `analyzers.accounts.totals`."""

    rule: str
    prompt_tokens: int
    ceiling_tokens: int
    accounts: tuple[Sum, ...]
    unexplained_tokens: int | None
    unreported_tokens: int
    by: dict[str, tuple[GroupAccounts, ...]]
    prefill: PrefillTime | None
    fixes: FixValues | None


def account_values(found: Accounted, excerpts: Excerpts) -> AccountValues:
    """Return the values of accounts; names of families show as much of prompts as `excerpts` allows."""
    totals = found.totals
    seconds = None if found.prefill is None else found.prefill.seconds
    return AccountValues(
        totals.rule,
        totals.prompt_tokens,
        totals.ceiling,
        totals.sums,
        totals.unexplained,
        totals.unreported,
        {field: tuple(_named(field, group, excerpts) for group in groups) for field, groups in totals.by.items()},
        found.prefill,
        None if found.fixed is None else _fixes(found.fixed, seconds),
    )


def _named(field: str, group: GroupAccounts, excerpts: Excerpts) -> GroupAccounts:
    return msgspec.structs.replace(group, name=group_name(field, group.number, group.name, excerpts))


def _fixes(fixed: Fixed, seconds: float | None) -> FixValues:
    return FixValues(
        fixed.after.hit_rate,
        fixed.saved_tokens,
        fixed.saved_usd,
        _time(fixed.saved_tokens, seconds),
        fixed.interaction,
        tuple(_fix(gain, seconds) for gain in fixed.gains),
        tuple(dict.fromkeys(finding.rule for finding in fixed.unmended)),
    )


def _fix(gain: Gain, seconds: float | None) -> FixValue:
    finding = gain.finding
    return FixValue(
        finding.rule,
        finding.code,
        finding.fingerprint,
        finding.path,
        finding.field,
        gain.requests,
        gain.saved_tokens,
        gain.saved_usd,
        _time(gain.saved_tokens, seconds),
        gain.count.hit_rate,
        gain.behind,
    )


def _time(tokens: int, seconds: float | None) -> float | None:
    return None if seconds is None else tokens * seconds
