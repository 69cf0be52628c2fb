"""All advice for a log under one rule: what was searched for, application by application, and counted together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import msgspec

from prefixwise.analyzers.accounts.fixed import counting
from prefixwise.analyzers.advice.bill import Accountant
from prefixwise.analyzers.advice.idle import IdleAdvice, idle_advice
from prefixwise.analyzers.advice.lifetimes import Lifetimes, lifetimes
from prefixwise.analyzers.advice.markers import MARKED, MarkerAdvice, marker_advice, markers_of
from prefixwise.analyzers.advice.order import OrderAdvice, order_advice
from prefixwise.analyzers.advice.places import places_of
from prefixwise.analyzers.weights import factors, model_tokens
from prefixwise.caches.hosted import HostedPolicy
from prefixwise.caches.policy import Policy
from prefixwise.caches.rulebook import Rulebook
from prefixwise.core.excerpt import Excerpts
from prefixwise.corpus.again import Again
from prefixwise.corpus.corpus import Corpus
from prefixwise.corpus.rows import Rows

MOST_GROUPS = 8
"""Applications that are searched, those with most prompt tokens first."""
_FEWEST = 2


class Together(msgspec.Struct, frozen=True):
    """All markers that are advised, in one replay of all requests they are for: USD before and after."""

    requests: int
    before_usd: float
    after_usd: float


class Advice(msgspec.Struct, frozen=True):
    """What to do about the cache of a log.

    Attributes:
        rule: Under which it was counted.
        markers: By application, largest first; () where the rule knows no markers.
        together: All of that in one replay, None where no markers save anything.
        idle: By application, where something expires.
        order: By application whose head has pieces that change; () where the input holds no text.
        lifetimes: What usage says, None where too few requests report.
        left_out: Applications that were not searched.
        notes: What could not be told, and why.
    """

    rule: str
    markers: tuple[MarkerAdvice, ...]
    together: Together | None
    idle: tuple[IdleAdvice, ...]
    order: tuple[OrderAdvice, ...]
    lifetimes: Lifetimes | None
    left_out: int
    notes: tuple[str, ...]


class _Group(msgspec.Struct, frozen=True):
    """One application of one model: the numbers of its rows in the log, and the rows themselves."""

    family: int
    numbers: list[int]
    rows: Rows


def advise(
    corpus: Corpus,
    policy: Policy,
    book: Rulebook,
    again: Again | None = None,
    excerpts: Excerpts = Excerpts.MASKED,
) -> Advice:
    """Return the advice for a corpus under a rule.

    Args:
        corpus: What was read, with the layouts that the rule needs.
        policy: The rule.
        book: Where prices are.
        again: Reads the same input once more, where the order of pieces is to be looked at.
        excerpts: How much text the result may hold.
    """
    rows = corpus.rows
    told = lifetimes(rows, policy)
    weights = factors(rows, model_tokens(corpus))
    found = _about_caches(corpus, policy, weights, book)
    if again is None or corpus.index is None:
        return msgspec.structs.replace(found, lifetimes=told)
    keys = [key for key, _ in _several(rows)[:MOST_GROUPS]]
    count = counting(policy, weights, book)  # last: the tree grows by what is said in another order
    order = tuple(order_advice(corpus.index, again, rows, keys, count, excerpts))
    return msgspec.structs.replace(found, lifetimes=told, order=order)


def _about_caches(corpus: Corpus, policy: Policy, weights: Sequence[float], book: Rulebook) -> Advice:
    """Return the advice on markers, renewals and warm-ups."""
    rows = corpus.rows
    if not isinstance(policy, HostedPolicy):
        note = f"{policy.label} charges nothing and knows no markers: --under names a provider for advice on those."
        return Advice(policy.label, (), None, (), (), None, 0, (note,))
    accountant = Accountant(policy.as_marked(), weights, book)
    marked = _as_counted(rows, policy)
    groups, left_out = _groups(marked)
    found = [(group, marker_advice(group.rows, accountant, group.family)) for group in groups]
    chosen = [(group, advice) for group, advice in found if advice is not None]
    better = [(group, advice) for group, advice in chosen if advice.saved_usd > 0]
    idle = (idle_advice(group.rows, accountant, group.family) for group in groups)
    return Advice(
        policy.label,
        tuple(advice for _, advice in chosen),
        _together(marked, better, accountant) if better else None,
        tuple(advice for advice in idle if advice is not None),
        (),
        None,
        left_out,
        tuple(_notes(groups, accountant)),
    )


def _as_counted(rows: Rows, policy: HostedPolicy) -> Rows:
    """Return the rows with the markers that the rule counts: at the end of every prompt where it says so."""
    markers = dict(rows.markers)
    for number, model in enumerate(rows.models.names):
        if policy.is_auto(rows, model):
            usual = policy.settings_of(model).usual
            ends = ((row, rows.prompt_tokens[row]) for row in range(len(rows)) if rows.model[row] == number)
            markers.update((row, ((tokens, usual),)) for row, tokens in ends if tokens)
    return rows.marked(markers)


def _groups(rows: Rows) -> tuple[list[_Group], int]:
    """Return the largest applications, and how many others have several requests."""
    several = _several(rows)
    groups = [_Group(family, numbers, rows.only(numbers)) for (_, family), numbers in several[:MOST_GROUPS]]
    return groups, max(0, len(several) - MOST_GROUPS)


def _several(rows: Rows) -> list[tuple[tuple[int, int], list[int]]]:
    """Return (number of the model and family, rows) of each application with several requests, the largest first."""
    by_key: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(rows.model, rows.family, strict=True)):
        by_key.setdefault(key, []).append(row)
    several = [(key, numbers) for key, numbers in by_key.items() if len(numbers) >= _FEWEST]
    return sorted(several, key=lambda found: (-sum(rows.prompt_tokens[row] for row in found[1]), found[0]))


def _together(rows: Rows, better: Sequence[tuple[_Group, MarkerAdvice]], accountant: Accountant) -> Together:
    """Replay all requests that get other markers, each with its own, in one cache."""
    numbers: list[int] = []
    markers: dict[int, tuple[tuple[int, float], ...]] = {}
    for group, advice in better:
        places = places_of(group.rows)
        for at in range(len(group.rows)):
            if placed := markers_of(places, advice.plan, at):
                markers[len(numbers) + at] = placed
        numbers += group.numbers
    chosen = rows.only(numbers)
    return Together(len(numbers), accountant.usd(chosen), accountant.usd(chosen.marked(markers)))


def _notes(groups: Sequence[_Group], accountant: Accountant) -> Iterator[str]:
    policy = accountant.policy
    models = dict.fromkeys(group.rows.models[group.rows.model[0]] for group in groups)
    unmarked = [model for model in models if policy.family_of(model) not in MARKED]
    if unmarked:
        yield f"{policy.label} knows no markers for {', '.join(name or '(no model)' for name in unmarked)}."
    unpriced = dict.fromkeys(
        group.rows.models[group.rows.model[0]] for group in groups if not accountant.prices(group.rows)
    )
    if unpriced:
        names = ", ".join(name or "(no model)" for name in unpriced)
        yield f"No price is known for {names}: what is cheapest cannot be told."
    if any(any(math.isnan(start) for start in group.rows.start) for group in groups):
        yield "Some requests have no start time: nothing can be said of idle times."
