"""All accounts of a corpus under the first rule that was asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.accounts.chain import ACCOUNTS, CACHED, Accounts, accounts
from prefixwise.analyzers.accounts.fixed import Fixed, fixed
from prefixwise.analyzers.accounts.prefill import PrefillTime, prefill_time
from prefixwise.analyzers.accounts.totals import AccountTotals, account_totals
from prefixwise.analyzers.advice.advise import Advice
from prefixwise.analyzers.hitrate import rules_for
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.replica_balance import ReplicaBalance, replica_balance
from prefixwise.analyzers.weights import factors, model_tokens
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.request import Ref
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus


class Accounted(msgspec.Struct, frozen=True):
    """Where the prompt tokens went.

    Attributes:
        accounts: By request; `totals`: in sum.
        prefill: What computing a token took, where the log tells.
        fixed: What fixes bring, where they were asked for; `advice`: likewise.
        replicas: How evenly they are used, where they are what is grouped by.
    """

    accounts: Accounts
    totals: AccountTotals
    prefill: PrefillTime | None
    fixed: Fixed | None
    advice: Advice | None = None
    replicas: ReplicaBalance | None = None


def accounted(
    corpus: Corpus,
    specs: Sequence[str],
    by: Sequence[str],
    book: Rulebook,
    linted: tuple[Linted, Again] | None = None,
) -> Accounted:
    """Give every prompt token its account under the first rule.

    Args:
        corpus: What was read.
        specs: Rules as `--under` takes them.
        by: Fields to group by.
        book: Facts and prices.
        linted: What is wrong with the log, and what reads it again, where fixes are to be counted.

    Raises:
        UserError: A rule is unknown or cannot be counted on these rows.
    """
    rows, policy = corpus.rows, rules_for(corpus.rows, specs, book)[0]
    weights = factors(rows, model_tokens(corpus))
    mended = None if linted is None else fixed(*linted, policy, weights, book)
    found = accounts(rows, policy, None if mended is None else mended.rows)
    prefill = prefill_time(rows)
    totals = account_totals(
        rows,
        found,
        weights,
        book,
        by,
        tariff=policy.tariff,
        prefill=None if prefill is None else prefill.seconds,
        has_fixes=mended is not None,
    )
    balance = replica_balance(rows, found.columns[CACHED], weights) if "replica" in by else None
    return Accounted(found, totals, prefill, mended, replicas=balance)


class RequestAccounts(msgspec.Struct, frozen=True):
    """The accounts of one request, in our token count; `unexplained` is None where it reports nothing."""

    at: Ref
    model: str
    tenant: str
    session: str
    replica: str
    start: float | None
    prompt_tokens: int
    accounts: dict[str, int]
    unexplained: int | None


def each_request(corpus: Corpus, found: Accounts) -> Iterator[RequestAccounts]:
    """Yield the accounts of every request, in the order in which they were read."""
    rows = corpus.rows
    for row in range(len(rows)):
        start = rows.start[row]
        yield RequestAccounts(
            rows.ref(row),
            rows.models[rows.model[row]],
            rows.tenants[rows.tenant[row]],
            rows.sessions[rows.session[row]],
            rows.replicas[rows.replica[row]],
            start if start == start else None,
            rows.prompt_tokens[row],
            {account: found.columns[account][row] for account in ACCOUNTS},
            found.unexplained[row] if found.compared[row] else None,
        )
