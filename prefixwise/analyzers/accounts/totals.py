"""Accounts summed: in tokens, in money and in the time that computing them took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from prefixwise.analyzers.accounts.chain import ACCOUNTS, CACHED, FIRST_SEEN, INTERACTION, Accounts
from prefixwise.analyzers.prompt_cost import prompt_cost
from prefixwise.caches.policy import Replay, Tariff
from prefixwise.caches.rulebook import Rulebook
from prefixwise.corpus.rows import Rows


class Sum(msgspec.Struct, frozen=True):
    """One account.

    Attributes:
        account: Its name.
        tokens: In all; of models without a public tokenizer, calibrated.
        usd: What reading them from the cache saves, or would save; None without a price.
        prefill_s: What computing them takes; None where no time is known.
    """

    account: str
    tokens: int
    usd: float | None
    prefill_s: float | None


class GroupAccounts(msgspec.Struct, frozen=True):
    """The accounts of the requests that share one value of a field, in tokens."""

    name: str
    number: int
    prompt_tokens: int
    tokens: dict[str, int]


class AccountTotals(msgspec.Struct, frozen=True):
    """All accounts under one rule.

    Attributes:
        rule: Its label.
        prompt_tokens: What the accounts sum to.
        sums: In the order of `ACCOUNTS`, `interaction` only where it is not zero.
        unexplained: Modelled minus reported tokens, of the requests that report; None where none does.
        unreported: Modelled tokens of the requests that report nothing.
        by: By field, the largest group first.
        has_fixes: Whether fixes were counted; without them nothing is `unstable`.
    """

    rule: str
    prompt_tokens: int
    sums: tuple[Sum, ...]
    unexplained: int | None
    unreported: int
    by: dict[str, tuple[GroupAccounts, ...]]
    has_fixes: bool

    def tokens(self, account: str) -> int:
        """Return the tokens of one account."""
        return next((one.tokens for one in self.sums if one.account == account), 0)

    @property
    def ceiling(self) -> int:
        """Tokens that could be served at most: all but those that nobody had before."""
        return self.prompt_tokens - self.tokens(FIRST_SEEN)

    @property
    def reported(self) -> int | None:
        """Tokens that were reported, None where nothing was."""
        return None if self.unexplained is None else self.tokens(CACHED) - self.unexplained - self.unreported


def account_totals(
    rows: Rows,
    found: Accounts,
    weights: Sequence[float],
    book: Rulebook,
    by: Sequence[str] = (),
    *,
    tariff: Tariff = Tariff(),  # noqa: B008 - frozen
    prefill: float | None = None,
    has_fixes: bool = False,
) -> AccountTotals:
    """Sum accounts.

    Args:
        rows: The requests.
        found: Their accounts.
        weights: By model number, what our token counts are to be multiplied by.
        book: Where prices are.
        by: Fields to group by.
        tariff: Whose prices the rule is charged by.
        prefill: Seconds that computing one token takes, where that is known.
        has_fixes: Whether they were counted with fixes.
    """
    filled = {account for account, column in found.columns.items() if account == CACHED or any(column)}
    told = {account: found.columns[account] for account in filled - {INTERACTION}}
    read = {account: (Replay(column, bytearray()), tariff) for account, column in told.items() if tariff.provider}
    cost = {one.rule: one.saved_usd for one in prompt_cost(rows, weights, told, book, read).totals}
    weigh = _Weigh(rows, weights)
    sums = []
    for account in ACCOUNTS:
        tokens = weigh.all(found.columns[account]) if account in filled else 0
        if account != INTERACTION or tokens:
            usd = cost.get(account, 0.0 if cost and not tokens else None)
            sums.append(Sum(account, tokens, usd, None if prefill is None else tokens * prefill))
    compared = any(found.compared)
    silent = [0 if told else n for told, n in zip(found.compared, found.columns[CACHED], strict=True)]
    return AccountTotals(
        found.rule,
        weigh.all(rows.prompt_tokens),
        tuple(sums),
        weigh.all(found.unexplained) if compared else None,
        weigh.all(silent) if compared else 0,
        {field: weigh.groups(field, found.columns) for field in by},
        has_fixes,
    )


class _Weigh:
    """Sums of columns, each model's tokens calibrated."""

    def __init__(self, rows: Rows, weights: Sequence[float]) -> None:
        self._rows = rows
        self._weights = weights

    def all(self, column: Sequence[int]) -> int:
        if len(self._weights) == 1:
            return round(sum(column) * self._weights[0])
        sums = [0] * len(self._weights)
        for model, value in zip(self._rows.model, column, strict=True):
            sums[model] += value
        return round(sum(total * weight for total, weight in zip(sums, self._weights, strict=True)))

    def groups(self, field: str, columns: Mapping[str, Sequence[int]]) -> tuple[GroupAccounts, ...]:
        numbers, names = self._rows.group(field)
        sums: dict[int, dict[str, float]] = {}
        for account, column in columns.items():
            for number, model, value in zip(numbers, self._rows.model, column, strict=True):
                group = sums.setdefault(number, dict.fromkeys(ACCOUNTS, 0.0))
                group[account] += value * self._weights[model]
        found = []
        for number, group in sums.items():
            tokens = {account: round(value) for account, value in group.items()}
            name = (names[number] or f"(no {field})") if number >= 0 else "(no text)"
            found.append(GroupAccounts(name, number, sum(tokens.values()), tokens))
        return tuple(sorted(found, key=lambda group: (-group.prompt_tokens, group.number)))
