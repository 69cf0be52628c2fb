"""What changed prompts cost: what they throw away once, and what each month of calls pays afterwards.

A lock knows the constant text in front of the first value, which is what a cache can serve, and nothing behind it.
Tokens that left it are either gone or stand behind a value now; only in the latter case do they cost anything, so that
cost is one at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from prefixwise.analyzers.static.lock import Lock, LockedPrompt
from prefixwise.caches.prices import Price
from prefixwise.core.report import Cell, Column, Table, Unit

_MILLION = 1e6


class ChangeCost(msgspec.Struct, frozen=True):
    """What the change of one prompt costs.

    Attributes:
        path, number: The prompt.
        before, after: Tokens of its constant beginning.
        once_tokens: Of those before, the ones behind the first difference: they are written anew by the first call.
        once_usd: At the price of writing; None without a price.
        month_tokens: Tokens a month that left the constant beginning (above zero), or joined it (below); None where
            nobody said how many calls there are.
        month_usd: What they cost at most: those that left it are computed instead of read, if they are still sent;
            those that joined it are read on top, if they are new. None without calls or a price.
    """

    path: str
    number: int
    before: int
    after: int
    once_tokens: int
    once_usd: float | None
    month_tokens: int | None
    month_usd: float | None


def change_costs(
    lock: Lock, before: Lock | None, calls: int | None = None, price: Price | None = None
) -> tuple[ChangeCost, ...]:
    """Return what became of each prompt that both locks have, where its constant beginning is another one.

    Args:
        lock: As it is now.
        before: As it was; without it nothing changed.
        calls: Calls a month of each prompt.
        price: Of the model that they go to.
    """
    old = {(prompt.path, prompt.number): prompt for prompt in before.prompts} if before else {}
    pairs = ((old.get((prompt.path, prompt.number)), prompt) for prompt in lock.prompts)
    return tuple(
        _cost(then, now, calls, price) for then, now in pairs if then is not None and then.digests != now.digests
    )


def kept_segments(then: LockedPrompt, now: LockedPrompt) -> int:
    """Return how many leading segments are the same."""
    pairs = zip(then.digests, now.digests, strict=False)
    shared = min(len(then.digests), len(now.digests))
    return next((at for at, (one, other) in enumerate(pairs) if one != other), shared)


def _cost(then: LockedPrompt, now: LockedPrompt, calls: int | None, price: Price | None) -> ChangeCost:
    once = sum(then.sizes[kept_segments(then, now) :])
    left = then.tokens - now.tokens
    month = None if calls is None else left * calls
    return ChangeCost(
        now.path,
        now.number,
        then.tokens,
        now.tokens,
        once,
        None if price is None else once * price.written / _MILLION,
        month,
        None if month is None or price is None else _month_usd(month, price),
    )


def _month_usd(tokens: int, price: Price) -> float:
    return (tokens * (price.input - price.read) if tokens > 0 else -tokens * price.read) / _MILLION


def cost_table(costs: Sequence[ChangeCost], calls: int | None) -> Table:
    """Return what changes cost as a table."""
    has_usd = any(one.once_usd is not None for one in costs)
    columns = [
        Column("prompt", "prompt"),
        Column("before", "prefix before", Unit.TOKENS),
        Column("after", "now", Unit.TOKENS),
        Column("once_tokens", "thrown away once", Unit.TOKENS),
        *([Column("once_usd", "costs", Unit.USD)] if has_usd else []),
        *([Column("month_tokens", "a month", Unit.TOKENS)] if calls is not None else []),
        *([Column("month_usd", "costs at most", Unit.USD)] if has_usd and calls is not None else []),
    ]
    rows = tuple(tuple(_row(one, has_usd=has_usd, has_calls=calls is not None)) for one in costs)
    note = "Thrown away: once for each cache that had the prefix."
    if calls is not None:
        note += (
            f" A month: over {calls:,} calls, tokens that can be read from the cache no more; below zero: that can be "
            "read on top. They cost that if what left the prefix is still sent, and what joined it was not sent before."
        )
    return Table("change_costs", "What the changes cost", tuple(columns), rows, note)


def _row(one: ChangeCost, *, has_usd: bool, has_calls: bool) -> Iterable[Cell]:
    yield f"{one.path} ({one.number + 1})" if one.number else one.path
    yield one.before
    yield one.after
    yield one.once_tokens
    if has_usd:
        yield one.once_usd
    if has_calls:
        yield one.month_tokens
    if has_usd and has_calls:
        yield one.month_usd
