"""The comparison of two hit-rate results for people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prefixwise.analyzers.accounts.report import NAMES
from prefixwise.analyzers.hitrate_compare import (
    COMPARE_HITRATE,
    Change,
    GroupChange,
    HitRateComparison,
    figures,
)
from prefixwise.core.condition import Condition
from prefixwise.core.report import Block, Column, Report, Table, Text, Unit

_MOST_GROUPS = 20


def hit_rate_comparison_report(found: HitRateComparison, conditions: Sequence[Condition] = ()) -> Report:
    """Return the report of two results, and how conditions on the figures of a comparison came out."""
    values = figures(found)
    return Report(
        schema=COMPARE_HITRATE.schema,
        schema_version=COMPARE_HITRATE.version,
        command="compare",
        title=_title(found),
        blocks=tuple(_blocks(found)),
        values=found,
        notes=tuple(_notes(found)),
        requirements=tuple(condition.check(values) for condition in conditions),
    )


def _title(found: HitRateComparison) -> str:
    first = found.rate(found.rule)
    rate = first.hit_rate if first else Change(None, None, None)
    return f"Hit rate under {found.rule}: {_percent(rate.old)} then, {_percent(rate.new)} now, {_points(rate.change)}"


def _percent(value: float | None) -> str:
    return "unknown" if value is None else f"{100 * value:.1f} %"


def _points(change: float | None) -> str:
    """Return a difference of two rates in percentage points."""
    if change is None:
        return "–"
    points = round(100 * change, 1)
    return "no change" if change == 0 else f"{points:+.1f} points" if points else "less than 0.1 points"


def _usd(change: float | None) -> str | None:
    return None if change is None else f"{'-' if change < 0 else '+'}${abs(change):,.4f}"


def _blocks(found: HitRateComparison) -> Iterator[Block]:
    if lines := tuple(_verdict(found)):
        yield Text("verdict", lines)
    columns = (
        Column("rule", "rule"),
        Column("requests", "requests then", Unit.COUNT),
        Column("requests_now", "now", Unit.COUNT),
        Column("old", "hit rate then", Unit.RATE),
        Column("new", "now", Unit.RATE),
        Column("change", "change"),
        Column("cached_tokens_change", "cached tokens", Unit.TOKENS),
    )
    rows = tuple(
        (
            one.rule,
            _whole(one.requests.old),
            _whole(one.requests.new),
            one.hit_rate.old,
            one.hit_rate.new,
            _points(one.hit_rate.change),
            _whole(one.cached_tokens.change),
        )
        for one in found.rates
    )
    yield Table("rates", "Hit rate by rule", columns, rows)
    if found.accounts:
        yield _accounts(found)
    if found.cost:
        yield _cost(found)
    for field, groups in found.by.items():
        yield _groups(field, groups)


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _verdict(found: HitRateComparison) -> Iterator[str]:
    """Say what took or brought most, as far as accounts tell."""
    moved = [one for one in found.accounts if one.account != "cached" and one.share.change]
    first = found.rate(found.rule)
    change = first.hit_rate.change if first else None
    if not change or not moved:
        return
    most = max(moved, key=lambda one: (one.share.change or 0.0) * (-1 if change > 0 else 1))
    way = "less" if change > 0 else "more"
    shares = f"{_percent(most.share.old)} then, {_percent(most.share.new)} now"
    yield f"Most of it: {way} of the prompts is {NAMES[most.account]} ({shares})."


def _accounts(found: HitRateComparison) -> Table:
    columns = (
        Column("account", "account"),
        Column("old", "of all then", Unit.RATE),
        Column("new", "now", Unit.RATE),
        Column("change", "change"),
        Column("tokens_change", "tokens", Unit.TOKENS),
    )
    rows = tuple(
        (
            NAMES[one.account],
            one.share.old,
            one.share.new,
            _points(one.share.change),
            _whole(one.tokens.change),
        )
        for one in found.accounts
    )
    return Table("accounts", "Where the prompt tokens went", columns, rows)


def _cost(found: HitRateComparison) -> Table:
    columns = (
        Column("rule", "rule"),
        Column("old", "cost then", Unit.USD),
        Column("new", "now", Unit.USD),
        Column("change", "change"),
        Column("old_per_million", "of a million tokens then", Unit.USD),
        Column("new_per_million", "now", Unit.USD),
    )
    rows = tuple(
        (
            one.rule,
            one.usd.old,
            one.usd.new,
            _usd(one.usd.change),
            one.usd_per_million.old,
            one.usd_per_million.new,
        )
        for one in found.cost
    )
    note = "At list price; a million prompt tokens makes logs of different length comparable."
    return Table("cost", "What the prompts cost", columns, rows, note)


def _groups(field: str, groups: Sequence[GroupChange]) -> Table:
    columns = (
        Column(field, field),
        Column("share_old", "of all then", Unit.RATE),
        Column("share_new", "now", Unit.RATE),
        Column("old", "hit rate then", Unit.RATE),
        Column("new", "now", Unit.RATE),
        Column("contribution", "adds to the change"),
    )
    rows = tuple(
        (
            one.name,
            one.share.old,
            one.share.new,
            one.hit_rate.old,
            one.hit_rate.new,
            _points(one.contribution),
        )
        for one in groups[:_MOST_GROUPS]
    )
    left = len(groups) - _MOST_GROUPS
    note = "A group adds what became of its share and of its own rate; all of them add up to the change."
    if left > 0:
        note += f" {left} more, which add less, are in the JSON."
    return Table(f"by_{field}", f"By {field}", columns, rows, note)


def _notes(found: HitRateComparison) -> Iterator[str]:
    for name, rules in (("old", found.only_old), ("new", found.only_new)):
        if rules:
            yield f"only the {name} result has {', '.join(rules)}"
    first = found.rate(found.rule)
    if first is not None and first.prompt_tokens.old and first.prompt_tokens.new:
        ratio = first.prompt_tokens.new / first.prompt_tokens.old
        if not 0.5 <= ratio <= 2:
            yield (
                f"the new log has {ratio:.2g} times the prompt tokens of the old one: a longer log shares more, and "
                "sums of tokens and money do not compare"
            )
