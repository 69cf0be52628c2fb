"""Every prompt token in exactly one account: along a fixed chain of relaxations, each step is what it lets through."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.caches.policy import Policy
from prefixwise.caches.relaxation import Relaxation, chain
from prefixwise.corpus.rows import NONE, Rows

CACHED = "cached"
UNSTABLE = "unstable"
FIRST_SEEN = "first_seen"
INTERACTION = "interaction"
MISROUTED = "misrouted"
ACCOUNTS = (CACHED, *(account for account, _ in chain()), UNSTABLE, FIRST_SEEN, INTERACTION)
"""In the order in which they are told; they sum to the prompt tokens (DESIGN section 4)."""

_FREE = Relaxation(
    one_replica=True, no_eviction=True, no_ttl=True, instant=True, no_granularity=True, one_namespace=True
)


class Accounts(msgspec.Struct, frozen=True):
    """By row, the tokens in each account under one rule.

    Attributes:
        rule: Its label.
        columns: By account, tokens by row; `interaction` is never positive: what a relaxation took away.
        unexplained: By row, tokens that the rule serves beyond those reported, in our count; 0 where nothing is
            reported. `compared`: 1 where something is.
    """

    rule: str
    columns: dict[str, array[int]]
    unexplained: array[int]
    compared: bytearray


def accounts(rows: Rows, policy: Policy, mended: Rows | None = None) -> Accounts:
    """Give every prompt token its account.

    Args:
        rows: The requests as they were sent.
        policy: The rule.
        mended: The same requests with their fixes, in the same order; without them nothing is `unstable`.
    """
    columns = {account: array("i", bytes(4 * len(rows))) for account in ACCOUNTS}
    lost = columns[INTERACTION]
    served = _as_it_ran(rows, policy)
    columns[CACHED] = array("i", served)
    for account, more in _steps(rows, policy):
        column = columns[account]
        for row, (now, then) in enumerate(zip(served, more, strict=True)):
            if then >= now:
                column[row] += then - now
            else:
                lost[row] += then - now
        served = more
    _rest(rows, policy, mended, served, columns)
    return Accounts(policy.label, columns, *_unexplained(rows, columns[CACHED]))


def _as_it_ran(rows: Rows, policy: Policy) -> array[int]:
    """Return what the rule serves where each replica has a cache of its own."""
    return policy.replay(rows.by_replica() if _has_replicas(rows) else rows).matched


def _has_replicas(rows: Rows) -> bool:
    return len({replica for replica in rows.replica if rows.replicas[replica]}) > 1


def _steps(rows: Rows, policy: Policy) -> Iterator[tuple[str, array[int]]]:
    """Yield (account, tokens served once its relaxation is made too); a rule that has no such limit is not replayed."""
    last = policy if not _has_replicas(rows) else None
    for account, off in chain():
        relaxed = policy.relaxed(off)
        if last is None or not _same(relaxed, last):
            yield account, relaxed.replay(rows).matched
        last = relaxed


def _same(one: Policy, other: Policy) -> bool:
    return one is other or (type(one) is type(other) and vars(one) == vars(other))


def _rest(
    rows: Rows, policy: Policy, mended: Rows | None, served: Sequence[int], columns: dict[str, array[int]]
) -> None:
    """Tell what fixes would let an earlier request serve from what nobody can save."""
    first_seen, unstable, lost = columns[FIRST_SEEN], columns[UNSTABLE], columns[INTERACTION]
    if mended is None:
        for row, (tokens, shared) in enumerate(zip(rows.prompt_tokens, served, strict=True)):
            first_seen[row] = tokens - shared
        return
    free = policy.relaxed(_FREE).replay(mended).matched
    for row, (tokens, shared) in enumerate(zip(rows.prompt_tokens, served, strict=True)):
        new = mended.prompt_tokens[row] - free[row]
        first_seen[row] = new
        saved = tokens - shared - new
        if saved >= 0:
            unstable[row] = saved
        else:
            lost[row] += saved


def _unexplained(rows: Rows, served: Sequence[int]) -> tuple[array[int], bytearray]:
    """Return by row what is modelled beyond what is reported, in our count, and whether anything is reported."""
    beyond, compared = array("i", bytes(4 * len(rows))), bytearray(len(rows))
    reports = zip(rows.prompt_tokens, rows.reported_prompt, rows.reported_cached, served, strict=True)
    for row, (tokens, prompt, cached, modelled) in enumerate(reports):
        if cached != NONE and prompt != NONE:
            compared[row] = True
            beyond[row] = modelled - (round(cached * tokens / prompt) if prompt else 0)
    return beyond, compared
