"""Advice for people: where to put markers, what keeping alive brings, how long things live."""

from __future__ import annotations

from collections.abc import Iterator

from prefixwise.analyzers.advice.advise import MOST_GROUPS, Advice
from prefixwise.analyzers.advice.idle import IdleAdvice
from prefixwise.analyzers.advice.lifetimes import RECENT, Lifetimes
from prefixwise.analyzers.advice.markers import MarkerAdvice
from prefixwise.analyzers.advice.order import OrderAdvice
from prefixwise.core.report import Block, Cell, Column, Table, Text, Unit
from prefixwise.stats.survival import Survival

_MOST_STEPS = 12


def advice_blocks(advice: Advice) -> Iterator[Block]:
    """Yield the advice, what to change first in front."""
    if lines := tuple(_summary(advice)):
        yield Text("advice", lines, "Advice")
    if advice.markers:
        yield _markers(advice)
    for number, order in enumerate(advice.order, 1):
        yield _order(number, order, advice.rule)
    if any(one.gaps or one.bursts for one in advice.idle):
        yield _idle(advice)
    if advice.lifetimes is not None:
        yield _lifetimes(advice.lifetimes)
        if advice.lifetimes.spill:
            yield _spill(advice.lifetimes)
        if any(one.missed for one in advice.lifetimes.keys):
            yield _keys(advice.lifetimes)


def _summary(advice: Advice) -> Iterator[str]:
    together = advice.together
    if together is not None:
        saved = together.before_usd - together.after_usd
        share = saved / together.before_usd if together.before_usd else 0.0
        yield (
            f"Other cache markers save ${saved:,.4f} of ${together.before_usd:,.4f} ({100 * share:.1f} %) over the "
            "log, all of them replayed together."
        )
    elif advice.markers:
        yield "No other cache markers were found to be cheaper than those of the log."
    best = max(advice.order, key=lambda one: one.saved_tokens, default=None)
    if best is not None and best.saved_tokens > 0:
        yield f"What changes most in a head put last saves {best.saved_tokens:,} tokens in {best.requests:,} requests."
    for name, usd in (
        ("Renewing prefixes while nobody asks", sum(one.keep_usd for one in advice.idle)),
        ("A warm-up before bursts", sum(max(0.0, one.warm_usd or 0.0) for one in advice.idle)),
    ):
        if usd > 0:
            yield f"{name} saves ${usd:,.4f} over the log, the price of the requests for it paid."


def plan_text(one: MarkerAdvice) -> str:
    """Return a plan in words."""
    if not one.plan:
        return "none"
    return "; ".join(f"{span(marker.ttl)} behind {marker.place}" for marker in one.plan)


def span(seconds: float) -> str:
    """Return a time as people say it: `5 min`, `1 h`, `90 s`."""
    if seconds >= 3600 and not seconds % 3600:
        return f"{seconds / 3600:.0f} h"
    if seconds >= 60:
        minutes = seconds / 60
        return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"
    return f"{seconds:.0f} s"


def _family(family: int) -> str | None:
    return None if family < 0 else str(family)


def _markers(advice: Advice) -> Table:
    columns = (
        Column("model", "model"),
        Column("family", "family"),
        Column("requests", "requests", Unit.COUNT),
        Column("before_usd", "cost now", Unit.USD),
        Column("after_usd", "then", Unit.USD),
        Column("without_cache_usd", "no cache", Unit.USD),
        Column("reads", "reads a token written"),
        Column("needed", "pays from"),
        Column("plan", "cheapest markers"),
    )
    rows: list[tuple[Cell, ...]] = []
    for one in advice.markers:
        better = one.saved_usd > 0
        rows.append(
            (
                one.model or "(no model)",
                _family(one.family),
                one.requests,
                one.before.usd,
                one.after.usd if better else one.before.usd,
                one.before.without_cache_usd,
                None if one.reads is None else f"{one.reads:.2f}",
                None if one.needed is None else f"{one.needed:.2f}",
                plan_text(one) if better else "as they are",
            )
        )
    note = (
        f"Under {advice.rule}; each set of markers was replayed. Pays from: reads of a written token at which "
        "writing is paid for."
    )
    if not all(one.all_tried for one in advice.markers):
        note += " Of large applications not every set was tried: the best pair grew by one marker at a time."
    if advice.left_out:
        note += f" {advice.left_out} applications beyond the {MOST_GROUPS} largest were not searched."
    return Table("markers", "Where to put cache markers", columns, tuple(rows), note)


def _order(number: int, one: OrderAdvice, rule: str) -> Table:
    columns = (
        Column("position", "piece", Unit.COUNT),
        Column("change_rate", "changes", Unit.RATE),
        Column("distinct", "values", Unit.COUNT),
        Column("moves_to", "better place", Unit.COUNT),
        Column("excerpt", "begins"),
    )
    rows = tuple(
        (piece.position + 1, piece.change_rate, piece.distinct, piece.moves_to + 1, piece.excerpt)
        for piece in one.pieces
    )
    note = f"Of {one.requests:,} requests; changes: in which share of them the piece is not that of the request before."
    if one.before is None or one.after is None:
        note += " What changes most comes last already."
    elif one.saved_tokens <= 0:
        note += f" Counted under {rule}, the better places save nothing."
    else:
        money = ""
        if one.before.cost_usd is not None and one.after.cost_usd is not None:
            money = f" and ${one.before.cost_usd - one.after.cost_usd:,.4f}"
        note += f" Counted under {rule}, the better places save {one.saved_tokens:,} tokens{money}."
    whose = f"{one.model or '(no model)'}{'' if one.family < 0 else f', family {one.family}'}"
    return Table(f"order_{number}", f"Order of the head's pieces: {whose}", columns, rows, note)


def _idle(advice: Advice) -> Table:
    columns = (
        Column("model", "model"),
        Column("family", "family"),
        Column("prefix_tokens", "prefix", Unit.TOKENS),
        Column("gaps", "idle times beyond TTL", Unit.COUNT),
        Column("median_gap", "middle one"),
        Column("break_even", "renewing pays up to"),
        Column("renewals", "renew"),
        Column("keep_usd", "saves", Unit.USD),
        Column("bursts", "bursts", Unit.COUNT),
        Column("warm_usd", "warm-up saves", Unit.USD),
    )
    rows = tuple(_idle_row(one) for one in advice.idle if one.gaps or one.bursts)
    note = (
        "Renewals and warm-ups end with the prefix that most requests of the application share; they were replayed "
        "among the requests, and what they cost is taken off, but for the token or so that each answers with. A "
        "renewal is sent when nine tenths of the lifetime have passed, without knowing when the next request comes; a "
        "warm-up needs to know when a burst begins."
    )
    return Table("idle", "Keeping alive and warming up", columns, rows, note)


def _idle_row(one: IdleAdvice) -> tuple[Cell, ...]:
    return (
        one.model or "(no model)",
        _family(one.family),
        one.prefix_tokens,
        one.gaps,
        None if one.median_gap is None else span(one.median_gap),
        None if one.break_even is None else span(one.break_even),
        f"up to {one.renewals} times" if one.renewals else "never" if one.gaps else None,
        one.keep_usd if one.gaps else None,
        one.bursts,
        one.warm_usd,
    )


def _lifetimes(found: Lifetimes) -> Table:
    columns = (Column("idle", "idle for"), Column("read", "still read", Unit.RATE))
    rows = tuple((f"{span(low)} to {span(high)}", share) for low, high, share in steps(found.survival))
    curve = found.survival
    note = f"From the usage of {found.looks:,} requests whose prefix had been used before, held against {found.rule}."
    if curve.first_none is not None:
        note += f" From {span(curve.first_none)} on none was read."
    return Table("lifetimes", "How long prefixes lived", columns, rows, note)


def steps(curve: Survival) -> list[tuple[float, float, float]]:
    """Return (youngest age, oldest age, share alive) of each step of a falling curve, the first ones only."""
    found: list[tuple[float, float, float]] = []
    for age, share in zip(curve.ages, curve.shares, strict=True):
        if found and abs(found[-1][2] - share) < 1e-12:
            found[-1] = (found[-1][0], age, share)
        else:
            found.append((age, age, share))
    return found[:_MOST_STEPS]


def _spill(found: Lifetimes) -> Table:
    columns = (
        Column("rate", "requests a minute"),
        Column("requests", "requests", Unit.COUNT),
        Column("missed", "missed", Unit.RATE),
        Column("interval", "95 % interval"),
    )
    rows = tuple(
        (
            f"from {one.least}",
            one.requests,
            one.missed / one.requests,
            f"{100 * one.interval.low:.1f} to {100 * one.interval.high:.1f} %",
        )
        for one in found.spill
    )
    note = f"Prefixes that were used within {RECENT:.0f} s and not read: age does not explain it, another machine may."
    return Table("spill", "Misses that are no question of age", columns, rows, note)


def _keys(found: Lifetimes) -> Table:
    columns = (
        Column("model", "model"),
        Column("key", "cache key"),
        Column("requests", "requests", Unit.COUNT),
        Column("missed", "missed", Unit.RATE),
    )
    rows = tuple(
        (one.model or "(no model)", one.key or None, one.requests, one.missed / one.requests) for one in found.keys
    )
    return Table("spill_keys", "The same by cache key", columns, rows)
