"""The hit rate that fixes would give: applied to the requests and counted again, not guessed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import msgspec

from prefixwise.analyzers.accounts.repairs import Repair, in_order, mended_by_all, repairs_of
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.prompt_cost import prompt_cost
from prefixwise.caches.policy import Policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.finding import Finding
from prefixwise.core.request import Request
from prefixwise.corpus.again import Again
from prefixwise.corpus.index import CorpusIndex
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.variants import Variant

MOST_REPAIRS = 24
"""Findings that are mended and counted one by one, the costliest first; the others only together."""


class Count(msgspec.Struct, frozen=True):
    """Prompts under one rule: their tokens, those served from the cache, and their price where one is known."""

    prompt_tokens: int
    cached_tokens: int
    cost_usd: float | None = None

    @property
    def hit_rate(self) -> float | None:
        """Cached over prompt tokens, None without any."""
        return self.cached_tokens / self.prompt_tokens if self.prompt_tokens else None

    @property
    def computed(self) -> int:
        """Tokens that had to be computed."""
        return self.prompt_tokens - self.cached_tokens


class Gain(msgspec.Struct, frozen=True):
    """What mending one finding alone brings.

    Attributes:
        finding: What is mended.
        requests: How many requests are sent otherwise.
        count: The prompts with this repair; None where it was not counted by itself.
        saved_tokens: Tokens that need not be computed any more; negative where the repair costs more than it saves.
        saved_usd: The same in money, None where no price is known.
    """

    finding: Finding
    requests: int
    count: Count | None
    saved_tokens: int | None
    saved_usd: float | None


class Fixed(msgspec.Struct, frozen=True):
    """What fixes bring under one rule.

    Attributes:
        rule: Its label.
        before, after: The prompts as they were sent, and with all repairs that cost nothing by themselves.
        gains: By finding, the largest first.
        interaction: Tokens that all repairs together save beyond the sum of each alone; negative where several
            findings stand in front of the same tokens.
        unmended: Findings that no request can show a repair of.
        rows: The requests with all those repairs.
    """

    rule: str
    before: Count
    after: Count
    gains: tuple[Gain, ...]
    interaction: int
    unmended: tuple[Finding, ...]
    rows: Rows

    @property
    def saved_tokens(self) -> int:
        """Tokens that need not be computed any more with all repairs."""
        return self.before.computed - self.after.computed

    @property
    def saved_usd(self) -> float | None:
        """The same in money, None where no price is known."""
        if self.before.cost_usd is None or self.after.cost_usd is None:
            return None
        return self.before.cost_usd - self.after.cost_usd


Counting = Callable[[Rows], Count]


def counting(policy: Policy, weights: Sequence[float], book: Rulebook) -> Counting:
    """Return what counts rows under a rule.

    Args:
        policy: The rule.
        weights: By model number, what our token counts are to be multiplied by.
        book: Where prices are.
    """

    def count(rows: Rows) -> Count:
        matched = policy.replay(rows).matched
        prompts = cached = 0.0
        for model, tokens, served in zip(rows.model, rows.prompt_tokens, matched, strict=True):
            prompts += tokens * weights[model]
            cached += served * weights[model]
        totals = prompt_cost(rows, weights, {policy.label: matched}, book).totals
        cost = next((cost.cost_usd for cost in totals if cost.rule == policy.label), None)
        return Count(round(prompts), round(cached), cost)

    return count


def fixed(linted: Linted, again: Again, policy: Policy, weights: Sequence[float], book: Rulebook) -> Fixed:
    """Mend the requests of a log as its findings say, each alone and all together, and count them again.

    Args:
        linted: What is wrong with the log.
        again: Reads the same input once more.
        policy: The rule that they are counted under.
        weights: By model number, what our token counts are to be multiplied by.
        book: Where prices are.
    """
    index = linted.log.corpus.index
    assert index is not None, "a log that was linted has texts"  # noqa: S101
    count = counting(policy, weights, book)
    before = count(index.rows)
    repairs = repairs_of(linted.log, linted.causes)
    mends = _Mends(linted, index, again)
    alone = [
        _gain(repair, variant, before, count)
        for repair, variant in zip(repairs, mends.alone(repairs[:MOST_REPAIRS]), strict=False)
    ]
    kept = [repair for repair, gain in zip(repairs, alone, strict=False) if (gain.saved_tokens or 0) >= 0]
    rows = mends.together(in_order(kept))
    after = count(rows)
    shown = [gain for gain in alone if gain.requests]
    mended = {id(gain.finding) for gain in shown} | {id(repair.finding) for repair in repairs[MOST_REPAIRS:]}
    counting_ones = [cause.finding for cause in linted.causes if cause.finding.tokens_lost is not None]
    return Fixed(
        policy.label,
        before,
        after,
        tuple(sorted(shown, key=lambda gain: -(gain.saved_tokens or 0))),
        before.computed - after.computed - sum(max(0, gain.saved_tokens or 0) for gain in shown),
        tuple(finding for finding in counting_ones if id(finding) not in mended),
        rows,
    )


def _gain(repair: Repair, variant: Variant, before: Count, count: Counting) -> Gain:
    if not len(variant):
        return Gain(repair.finding, 0, None, None, None)
    after = count(variant.rows())
    priced = before.cost_usd is not None and after.cost_usd is not None
    saved = (before.cost_usd or 0.0) - (after.cost_usd or 0.0) if priced else None
    return Gain(repair.finding, len(variant), after, before.computed - after.computed, saved)


class _Mends:
    """Variants of a log."""

    def __init__(self, linted: Linted, index: CorpusIndex, again: Again) -> None:
        self._applications = linted.log.applications
        self._index = index
        self._again = again

    def alone(self, repairs: Sequence[Repair]) -> list[Variant]:
        """Return a variant for each of some repairs; the input is read once for all of them."""
        variants = [Variant(self._index) for _ in repairs]
        for row, request in self._requests(repairs):
            for repair, variant in zip(repairs, variants, strict=True):
                mended = repair.mended(self._applications[row], request)
                if mended is not request:
                    variant.add(row, mended)
        return variants

    def together(self, repairs: Sequence[Repair]) -> Rows:
        """Return the rows with all of some repairs."""
        variant = Variant(self._index)
        for row, request in self._requests(repairs):
            mended = mended_by_all(repairs, self._applications[row], request)
            if mended is not request:
                variant.add(row, mended)
        return variant.rows()

    def _requests(self, repairs: Sequence[Repair]) -> Iterator[tuple[int, Request]]:
        touched = {application for repair in repairs for application in repair.claims}
        if not touched:
            return iter(())
        return self._again(wanted=lambda row, _: self._applications[row] in touched)
