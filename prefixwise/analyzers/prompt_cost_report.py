"""How costs are shown: a table by rule, and the prices with their sources."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from prefixwise.analyzers.prompt_cost import ModelCost, PromptCost
from prefixwise.caches.prices import Price
from prefixwise.core.report import Cell, Column, Table, Unit

_MOST = 20
_COSTS = (
    Column("requests", "requests", Unit.COUNT),
    Column("without_cache_usd", "without a cache", Unit.USD),
    Column("cost_usd", "with it", Unit.USD),
    Column("saved_usd", "saved", Unit.USD),
)


def cost_table(cost: PromptCost, estimated: Collection[str]) -> Table:
    """Return the costs by rule; models whose token counts are estimates are in `estimated`."""
    rows: list[tuple[Cell, ...]] = [
        (c.rule, c.requests, *(round(usd, 9) for usd in (c.without_cache_usd, c.cost_usd, c.saved_usd)))
        for c in cost.totals
    ]
    note = (
        "List prices, prompts only. Writes are charged as reported, and under the rules of providers as those charge "
        "them, storage and service tiers too; the rules of engines count reads only, in the standard tier."
    )
    if any(model.model in estimated for model in cost.models):
        note += " Where token counts are estimates, so are the costs under the rules."
    return Table("cost", "Cost of the prompts by rule", (Column("rule", "rule"), *_COSTS), tuple(rows), note)


def price_table(models: tuple[ModelCost, ...]) -> Table:
    """Return the prices that were used, with where each comes from."""
    columns = [
        Column("model", "model"),
        Column("input_usd", "input", Unit.USD),
        Column("cached_read_usd", "read", Unit.USD),
        Column("write_usd", "write", Unit.USD),
        Column("source", "source"),
    ]
    rows: list[tuple[Cell, ...]] = []
    notes = ["USD per million tokens. Where no change of a price is known, it is taken to hold on other days too."]
    for model in models[:_MOST]:
        for price in model.prices:
            rows.append((_name(model.model, price), price.input, price.cached_read, price.write, source_line(price)))
            notes.extend(_remarks(price))
    if len(models) > _MOST:
        notes.append(f"{len(models) - _MOST} more models are in the JSON.")
    if all(row[3] is None for row in rows):
        del columns[3]
        rows = [(*row[:3], *row[4:]) for row in rows]
    return Table("prices", "Prices", tuple(columns), tuple(rows), " ".join(dict.fromkeys(notes)))


def _remarks(price: Price) -> Iterator[str]:
    """Yield what the columns do not show of a price."""
    for tier in price.above:
        yield f"{price.model}: ${tier.input:,.2f} for prompts above {tier.tokens:,} tokens."
    if price.note:
        yield f"{price.model}: {price.note}."


def _name(model: str, price: Price) -> str:
    """Return the logged name, with what the price list calls it and from when, where that says more."""
    listed = "" if model == price.model else f" as {price.model}"
    start = f" from {price.start}" if price.start else ""
    return f"{model}{listed}{start}"


def source_line(price: Price) -> str:
    """Say where a price comes from: title, day, and what kind of source that is."""
    title = price.sources[0].title if price.sources else "no source"
    day = f", {price.as_of}" if price.as_of else ""
    return f"{title}{day}, {price.confidence.value}"


def unpriced_note(cost: PromptCost) -> str:
    """Say for which models no price is known, "" where all have one."""
    if not cost.unpriced:
        return ""
    names = [model or "requests without a model" for model, _ in cost.unpriced]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"No price is known for {shown}; --rules FILE can give one."
