"""The hit rate that fixes would give: applied to the requests and counted again, not guessed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from prefixwise.analyzers.accounts.mended_log import MendedLog
from prefixwise.analyzers.accounts.repairs import Repair, in_order, repairs_of
from prefixwise.analyzers.lint.run import Linted
from prefixwise.analyzers.prompt_cost import prompt_cost
from prefixwise.caches.policy import Policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.finding import Finding, Severity
from prefixwise.corpus.again import Again
from prefixwise.corpus.rows import Rows
from prefixwise.corpus.variants import Variant

MOST_REPAIRS = 24
"""Findings that are mended and counted in a round, the costliest first."""
_MOST_ROUNDS = 2
"""How often the log is linted, with all repairs of the rounds before: few causes hide behind two others."""


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
        count: The prompts with this repair.
        saved_tokens: Tokens that need not be computed any more; negative where the repair costs more than it saves.
        saved_usd: The same in money, None where no price is known.
        behind: Whether it was hidden by others, and is counted on top of them.
    """

    finding: Finding
    requests: int
    count: Count
    saved_tokens: int
    saved_usd: float | None
    behind: bool


class Fixed(msgspec.Struct, frozen=True):
    """What fixes bring under one rule.

    Attributes:
        rule: Its label.
        before, after: The prompts as they were sent, and with all repairs that save something by themselves.
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
        replay = policy.replay(rows)
        matched = replay.matched
        bills = {policy.label: (replay, policy.tariff)} if policy.tariff.provider else {}
        prompts = cached = 0.0
        for model, tokens, served in zip(rows.model, rows.prompt_tokens, matched, strict=True):
            prompts += tokens * weights[model]
            cached += served * weights[model]
        totals = prompt_cost(rows, weights, {policy.label: matched}, book, bills).totals
        cost = next((cost.cost_usd for cost in totals if cost.rule == policy.label), None)
        return Count(round(prompts), round(cached), cost)

    return count


def fixed(linted: Linted, again: Again, policy: Policy, weights: Sequence[float], book: Rulebook) -> Fixed:
    """Mend the requests of a log as its findings say, each alone and all together, and count them again.

    A cause may hide another one that stands behind it: the mended log is linted again, until nothing new is found.

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
    log = MendedLog(linted.log.corpus, index, again)
    before = now = count(index.rows)
    made: list[Repair] = []
    gains: list[Gain] = []
    rows, unmended = index.rows, []
    row_of: Sequence[int] = range(len(rows))
    for number in range(_MOST_ROUNDS):
        repairs = repairs_of(linted, row_of)
        if not number:
            unmended = _unmended(linted, repairs)
        variants = log.each(made, rows, repairs[:MOST_REPAIRS])
        found = [
            (repair, _gain(repair, variant, now, count, behind=number > 0))
            for repair, variant in zip(repairs, variants, strict=False)
        ]
        kept = in_order(repair for repair, gain in found if gain.requests and gain.saved_tokens > 0)
        gains += [gain for _, gain in found if gain.requests and (number == 0 or gain.saved_tokens)]
        if not kept:
            break
        made += kept
        if number + 1 < _MOST_ROUNDS:
            rows, linted, row_of = log.linted(made, book)
        else:
            rows = log.rows(made)
        now = count(rows)
    saved = sum(max(0, gain.saved_tokens) for gain in gains)
    gains.sort(key=lambda gain: (gain.behind, -gain.saved_tokens))
    interaction = before.computed - now.computed - saved
    return Fixed(policy.label, before, now, tuple(gains), interaction, tuple(unmended), rows)


def _unmended(linted: Linted, repairs: Sequence[Repair]) -> list[Finding]:
    """Return the findings that cost something and that no request can show a repair of."""
    mended = {id(repair.finding) for repair in repairs}
    costly = (cause.finding for cause in linted.causes if cause.finding.severity is not Severity.INFO)
    return [finding for finding in costly if finding.tokens_lost is not None and id(finding) not in mended]


def _gain(repair: Repair, variant: Variant, now: Count, count: Counting, *, behind: bool) -> Gain:
    """Return what a repair brings on top of those that were made."""
    after = count(variant.rows()) if len(variant) else now
    priced = now.cost_usd is not None and after.cost_usd is not None
    usd = (now.cost_usd or 0.0) - (after.cost_usd or 0.0) if priced else None
    return Gain(repair.finding, len(variant), after, now.computed - after.computed, usd, behind)
