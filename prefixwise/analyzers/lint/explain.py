"""From a log to claims: pairs, rules in their order, and what no text explains.

The work goes over the input twice. The first reading made rows, which say for each request what it continues and
whether the two agree; the second looks at the text of those that part.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from prefixwise.analyzers.lint.asked import Asked, first_claim
from prefixwise.analyzers.lint.claims import Claim
from prefixwise.analyzers.lint.compared import Compared, Served, compare
from prefixwise.analyzers.lint.log import Log
from prefixwise.analyzers.lint.moved_places import moved_at, said_at
from prefixwise.analyzers.lint.plateaus import settle
from prefixwise.analyzers.lint.slots import SpanChange, slots
from prefixwise.analyzers.lint.texts import TextReading
from prefixwise.analyzers.lint.ways_back import ways_back
from prefixwise.core.finding import Verdict
from prefixwise.corpus.again import Again

_EARLY = 50
"""Log rules below this rank are asked before the rules of the stage BEHIND: what makes every request of a log miss."""


class Explained(msgspec.Struct, frozen=True):
    """What came out: every pair that was compared, by start of the later request, and every claim."""

    pairs: list[Compared]
    claims: list[Claim]


def explain(log: Log, again: Again) -> Explained:
    """Compare every request with the earlier one that it continues or resembles, and ask the rules.

    Args:
        log: The rows and how they follow each other; `observed` is filled in.
        again: Reads the input once more.
    """
    pairs = _pairs(log)
    asked = Asked()
    claims = _at_the_front(pairs, asked)
    changes = TextReading(log, asked, claims).changes(pairs, again)
    claims += _moving_values(log, changes, asked)
    taken = log.explained = {claim.after for claim in claims}
    for rule in asked.log:
        if rule.rank < _EARLY:
            _take(claims, taken, rule.detect(log))
    for pair in pairs:
        if pair.after not in taken and _is_behind(pair):
            _take(claims, taken, filter(None, [first_claim(asked.behind, pair)]))
    for rule in asked.log:
        if rule.rank >= _EARLY:
            _take(claims, taken, rule.detect(log))
    settle(log, claims)
    claims += ways_back(log, pairs, claims)
    return Explained(pairs, claims)


def _pairs(log: Log) -> list[Compared]:
    found = []
    for row in log.conversations.order:
        link = log.conversations.links[row]
        if link is not None:
            found.append(compare(log, link.before, row, turn=link.turn))
    return found


def _take(claims: list[Claim], taken: set[int], found: Iterable[Claim]) -> None:
    for claim in found:
        claims.append(claim)
        taken.add(claim.after)
        taken.update(claim.explains)


def _at_the_front(pairs: Iterable[Compared], asked: Asked) -> list[Claim]:
    """Return claims on model, parameters and namespace; where usage says that the prefix was served, there is none."""
    rules = ((asked.front_of_hits if pair.served is Served.HIT else asked.front, pair) for pair in pairs)
    return [claim for front, pair in rules if (claim := first_claim(front, pair)) is not None]


def _moving_values(log: Log, changes: list[SpanChange], asked: Asked) -> list[Claim]:
    """Ask the rules for moving values, a place at a time; what none knows gets its fallback."""
    found = []
    for slot in slots(changes, log):
        claim = next((claim for rule in asked.span if (claim := rule.detect(slot)) is not None), None)
        if claim is not None:
            claim.also = (*claim.also, *asked.named(slot.behind))
            claim.moved = moved_at(slot)
        for change in slot.changes:
            if claim is not None:
                found.append(_spread(claim, change))
            elif change.fallback is not None:
                found.append(change.fallback)
    return found


def _spread(claim: Claim, change: SpanChange) -> Claim:
    """Return what a rule says of a place, said of one of its changes."""
    return msgspec.structs.replace(
        claim,
        before=change.before,
        after=change.after,
        field=change.field,
        char_offset=change.char_offset,
        from_text=change.quote.from_text,
        to_text=change.quote.to_text,
        lost=change.lost,
        said=said_at(claim.moved, change),
    )


def _is_behind(pair: Compared) -> bool:
    """Say whether the texts agree and yet, as far as is known, nothing was served."""
    if pair.verdict is Verdict.BREAKS or pair.served is Served.HIT:
        return False
    return pair.turn or pair.served is Served.MISS
