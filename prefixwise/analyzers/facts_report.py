"""What is known about caches as a report: all systems in a table, or everything about one name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from prefixwise.analyzers.prompt_cost_report import source_line
from prefixwise.caches.facts import Band, Kind, Lifetime, Multipliers, System
from prefixwise.caches.prices import Price, PriceList
from prefixwise.caches.rulebook import Found, Rulebook
from prefixwise.core.envelope import DocumentKind
from prefixwise.core.report import Block, Cell, Column, Report, Table, Text, Unit

_SPANS = ((172800, "d"), (3600, "h"), (60, "min"), (1, "s"))


class Overview(msgspec.Struct, frozen=True):
    """One system in a line; see `caches.facts.System`."""

    id: str
    name: str
    kind: Kind
    family: str
    min_tokens: Band | None
    granularity_tokens: Band | None
    ttl_s: Band | None
    scope: str
    isolation_control: str
    as_of: str
    confidence: str


class FactsValues(msgspec.Struct, frozen=True):
    """`overview` has all systems where no name was given; else `systems` and `prices` have what the name stands for."""

    overview: tuple[Overview, ...] = ()
    model: str = ""
    systems: tuple[System, ...] = ()
    prices: tuple[PriceList, ...] = ()


PROVIDERS = DocumentKind("prefixwise/providers", 1, "cache rules and prices, with their sources", FactsValues)


def overview_report(book: Rulebook) -> Report:
    """Return the report of all systems."""
    systems = book.systems()
    what = (
        Column("system", "system"),
        Column("family", "matches by"),
        Column("min_tokens", "minimum"),
        Column("granularity_tokens", "unit"),
        Column("ttl_s", "lifetime"),
    )
    whose = (
        Column("system", "system"),
        Column("isolation", "shared by"),
        Column("as_of", "as of"),
        Column("confidence", "confidence"),
        Column("doubts", "doubts", Unit.COUNT),
    )
    rules = tuple((s.id, _family(s), _minimum(s), _tokens(s.granularity_tokens), _lifetime(s.ttl_s)) for s in systems)
    isolation = tuple(
        (s.id, _isolation(s), _as_of(s), s.confidence.value, len(s.conflicts) + len(s.unverified)) for s in systems
    )
    doubts = "Doubts: conflicts between sources and values that nobody verified. ~: an estimated date."
    note = (
        "Minimum and unit in tokens, lifetime of what is not used. A range: models differ, sources disagree, or nobody "
        "states one value; –: nobody states it. "
        "`prefixwise providers NAME` shows everything about a system, a provider or a model."
    )
    return Report(
        schema=PROVIDERS.schema,
        schema_version=PROVIDERS.version,
        command="providers",
        title=f"Prefix caches of {len(systems)} providers and engines",
        blocks=(
            Table("systems", "What is cached", what, rules, note),
            Table("isolation", "Who shares it, and how sure this is", whose, isolation, doubts),
        ),
        values=FactsValues(overview=tuple(map(_overview, systems))),
        notes=_own_files(systems),
    )


def found_report(name: str, found: Found) -> Report:
    """Return the report of everything known under a name."""
    blocks: list[Block] = []
    if found.model:
        blocks.append(Text("rule", tuple(_of_model(found))))
    if found.prices:
        blocks.append(_prices(found.prices))
    for system in found.systems:
        blocks.extend(_system_blocks(system))
    return Report(
        schema=PROVIDERS.schema,
        schema_version=PROVIDERS.version,
        command="providers",
        title=found.systems[0].name if len(found.systems) == 1 and not found.model else name,
        blocks=tuple(blocks),
        values=FactsValues(model=found.model, systems=found.systems, prices=found.prices),
        notes=_own_files(found.systems),
    )


def _own_files(systems: Iterable[System]) -> tuple[str, ...]:
    return tuple(
        f"{system.id}: {', '.join(o.key for o in system.overrides if o.path == path)} from {path}; "
        "the sources named do not vouch for it."
        for system in systems
        for path in dict.fromkeys(override.path for override in system.overrides)
    )


def _of_model(found: Found) -> Iterator[str]:
    """Say in sentences which rule applies to a model, and how it matches."""
    for number, system in enumerate(found.systems):
        how = f"{found.model} follows {system.id}" if number == 0 else f"On request also {system.id}"
        family = system.family_of(found.model)
        minimum, multipliers = system.minimum(found.model), system.multipliers_of(found.model)
        parts = [f"matches by {family.value.replace('-', ' ')}"] if family else []
        parts.append(f"minimum in tokens {_stated(minimum, _tokens) or 'not stated'}")
        if factors := _factors(multipliers):
            parts.append(f"prices relative to input: {factors}")
        yield f"{how}: {'; '.join(parts)}."
    if not found.prices:
        yield f"No price is known for {found.model}."


def _system_blocks(system: System) -> Iterator[Block]:
    columns = (Column("fact", "fact"), Column("value", "value"))
    rows = tuple((key, value) for key, value in _facts(system) if value not in (None, ""))
    yield Table(f"facts {system.id}", f"{system.name}: facts", columns, rows)
    if system.min_tokens_by_model:
        models = tuple((model, _stated(band, _tokens)) for model, band in system.min_tokens_by_model)
        columns = (Column("model", "model"), Column("min_tokens", "minimum"))
        yield Table(f"minimum {system.id}", "Minimum by model, in tokens", columns, models)
    if system.invalidation:
        levels = ("change", "tools", "system", "messages")
        yield Table(
            f"invalidation {system.id}",
            "What a change invalidates",
            tuple(Column(level, level) for level in levels),
            tuple((row.change.replace("_", " "), row.tools, row.system, row.messages) for row in system.invalidation),
        )
    if system.usage:
        names = ("api", "total_input", "cached", "written", "uncached")
        titles = ("api", "whole input", "cached", "written", "uncached")
        fields = tuple(tuple(getattr(usage, name) or None for name in names) for usage in system.usage)
        used = [n for n in range(len(names)) if any(row[n] is not None for row in fields)]
        yield Table(
            f"usage {system.id}",
            "Where usage is reported",
            tuple(Column(names[n], titles[n]) for n in used),
            tuple(tuple(row[n] for n in used) for row in fields),
        )
    caveats = [("conflict", text) for text in system.conflicts]
    caveats += [("UNVERIFIED", text) for text in system.unverified]
    caveats += [("gotcha", text) for text in system.gotchas]
    if caveats:
        columns = (Column("kind", "kind"), Column("text", "what"))
        yield Table(f"caveats {system.id}", "Conflicts, unverified values, gotchas", columns, tuple(caveats))
    if system.sources:
        places = (Column("source", "source"), Column("where", "where"), Column("date", "date"), Column("kind", "kind"))
        sources = tuple((s.title, s.where, _day(s.date, s.approximate), s.kind) for s in system.sources)
        yield Table(f"sources {system.id}", "Sources", places, sources)


def _facts(s: System) -> Iterator[tuple[str, str | None]]:
    """Yield what is stated of a system, the keys of its file in the same order."""
    own = {override.key.split(".")[0] for override in s.overrides}
    yield from ((key + (" (yours)" if key in own else ""), value) for key, value in _typed_facts(s))
    for key, value in s.more.items():
        for path, text in _flat(key, value):
            yield path + (" (yours)" if key.split(".")[0] in own else ""), text


def _typed_facts(s: System) -> Iterator[tuple[str, str | None]]:
    yield "id", s.id
    yield "kind", s.kind.value
    yield "provider", s.provider
    yield "version", s.version
    yield "family", _family(s)
    yield "family_by_model", ", ".join(f"{model}: {family.value}" for model, family in s.family_by_model)
    yield "applies_to", ", ".join(s.applies_to)
    yield "apis", ", ".join(s.apis)
    yield "activation", s.activation
    yield "opt_in", "yes" if s.opt_in else None
    yield "enabled_by_default", _yes_no(s.enabled_by_default)
    yield "min_tokens", _stated(s.min_tokens, _tokens)
    yield "granularity_tokens", _stated(s.granularity_tokens, _tokens)
    yield "ttl_s", _stated(s.ttl_s, _lifetime)
    yield "ttl_options", ", ".join(_option(option) for option in s.ttl_options)
    yield "ttl_refresh_on_hit", _yes_no(s.ttl_refresh_on_hit)
    yield "max_breakpoints", None if s.max_breakpoints is None else str(s.max_breakpoints)
    yield "lookback_positions", None if s.lookback_positions is None else str(s.lookback_positions)
    yield "lookback_joins", ", ".join(s.lookback_joins)
    if s.lookup is not None:
        explicit = f"explicit markers: first {s.lookup.explicit_first}, latest {s.lookup.explicit_latest}"
        yield "lookup", f"{explicit}; endings of messages: latest {s.lookup.implicit_latest}"
    yield "interval_tokens", _stated(s.interval_tokens, _tokens)
    yield "interval_tokens_by_model", _by_model(s.interval_tokens_by_model)
    yield "hidden_tokens_by_model", _by_model(s.hidden_tokens_by_model)
    yield "readable_after", s.readable_after.value if s.readable_after else None
    yield "build_delay_s", _stated(s.build_delay_s, _lifetime)
    yield "output_tokens_cached", _yes_no(s.output_tokens_cached)
    yield "render_order", ", ".join(s.render_order)
    yield "key_includes", ", ".join(s.key_includes)
    yield "key_excludes", ", ".join(s.key_excludes)
    yield "scope", s.scope
    yield "isolation_control", s.isolation_control
    yield "separates", ", ".join(s.separates)
    yield "may_separate", ", ".join(s.may_separate)
    yield "usage.total_includes_cached", _yes_no(s.total_includes_cached)
    yield "multipliers", _factors(s.multipliers)
    yield "multipliers_exceptions", "; ".join(f"{model}: {_factors(own)}" for model, own in s.multipliers_exceptions)
    yield "service_tiers", ", ".join(f"{tier} {factor:g}x" for tier, factor in s.service_tiers)
    yield "as_of", _as_of(s)
    yield "confidence", s.confidence.value


def _by_model(bands: Sequence[tuple[str, Band]]) -> str:
    return ", ".join(f"{model}: {_tokens(band)}" for model, band in bands)


def _prices(lists: Sequence[PriceList]) -> Table:
    prices = [price for found in lists for price in found.prices]
    several = len({price.provider for price in prices}) > 1
    columns: list[tuple[Column, list[Cell]]] = [
        (Column("provider", "provider"), [price.provider if several else None for price in prices]),
        (Column("model", "model"), [price.model for price in prices]),
        (Column("from", "from"), [str(price.start) if price.start else None for price in prices]),
        (Column("input_usd", "input", Unit.USD), [price.input for price in prices]),
        (Column("cached_read_usd", "read", Unit.USD), [price.cached_read for price in prices]),
        (Column("write_usd", "write", Unit.USD), [price.write for price in prices]),
        (Column("write_1h_usd", "write 1 h", Unit.USD), [price.write_1h for price in prices]),
        (Column("write_12h_usd", "write 12 h", Unit.USD), [price.write_12h for price in prices]),
        (Column("output_usd", "output", Unit.USD), [price.output for price in prices]),
        (Column("storage_hour_usd", "storage hour", Unit.USD), [price.storage_hour for price in prices]),
    ]
    kept = [(column, cells) for column, cells in columns if any(cell is not None for cell in cells)]
    rows = tuple(zip(*(cells for _, cells in kept), strict=True))
    return Table("prices", "Prices", tuple(column for column, _ in kept), rows, _price_notes(prices))


def _price_notes(prices: Sequence[Price]) -> str:
    notes = ["USD per million tokens, standard tier."]
    by_source: dict[str, list[str]] = {}
    for price in prices:
        by_source.setdefault(source_line(price), []).append(price.model)
        if price.above:
            tiers = "; ".join(f"${tier.input:,.2f} above {tier.tokens:,} tokens" for tier in price.above)
            notes.append(f"{price.model}: input {tiers}.")
        if price.note:
            notes.append(f"{price.model}: {price.note}.")
    most, *others = sorted(by_source, key=lambda line: -len(by_source[line]))
    notes.append(f"Source: {most}.")
    notes.extend(f"{', '.join(dict.fromkeys(by_source[line]))}: {line}." for line in others)
    return " ".join(dict.fromkeys(notes))


def _overview(s: System) -> Overview:
    return Overview(
        s.id,
        s.name,
        s.kind,
        s.family.value if s.family else "",
        _whole(s),
        s.granularity_tokens,
        s.ttl_s,
        s.scope,
        s.isolation_control,
        _as_of(s) or "",
        s.confidence.value,
    )


def _family(s: System) -> str | None:
    if s.family is None:
        return None
    return s.family.value.replace("-", " ") + (", by model" if s.family_by_model else "")


def _whole(s: System) -> Band | None:
    """Return the minimum over all models."""
    bands = [band for band in (s.min_tokens, *(band for _, band in s.min_tokens_by_model)) if band is not None]
    lows = [band.low for band in bands if band.low is not None]
    highs = [band.high for band in bands if band.high is not None]
    if not bands:
        return None
    return Band(min(lows, default=None), max(highs, default=None), bands[0].stated if len(bands) == 1 else None)


def _minimum(s: System) -> str | None:
    return _tokens(_whole(s))


def _isolation(s: System) -> str | None:
    control = f"; by {s.isolation_control}" if s.isolation_control else ""
    return (s.scope + control).removeprefix("; ") or None


def _tokens(band: Band | None) -> str | None:
    return _range(band, lambda value: f"{value:,}")


def _lifetime(band: Band | None) -> str | None:
    return _range(band, _span)


def _range(band: Band | None, show: Any) -> str | None:
    if band is None:
        return None
    if band.low is None or band.high is None:
        end = band.high if band.low is None else band.low
        return None if end is None else f"{'≤' if band.low is None else '≥'} {show(end)}"
    return show(band.low) if band.exact else f"{show(band.low)}–{show(band.high)}"


def _stated(band: Band | None, show: Any) -> str | None:
    """Show a band with the value to plan with."""
    shown: str | None = show(band)
    if band is None or band.stated is None or band.exact:
        return shown
    return f"{show(Band(band.stated, band.stated))} (may be {shown})"


def _span(seconds: int) -> str:
    size, unit = next((size, unit) for size, unit in _SPANS if seconds % size == 0 and seconds >= size)
    return f"{seconds // min(size, 86400)} {unit}"


def _option(option: Lifetime) -> str:
    idle = _lifetime(option.idle_s) or ""
    if option.max_s is None or (option.idle_s.exact and option.idle_s.low == option.max_s):
        says_it = option.name[:-1].isdecimal() and option.name[-1] in "mh"
        return option.name if says_it else f"{option.name} ({idle})"
    return f"{option.name} ({idle} unused, at most {_span(option.max_s)})"


def _factors(multipliers: Multipliers) -> str:
    parts = [] if multipliers.read is None else [f"read {multipliers.read:g}x"]
    parts += [f"write{f' {ttl}' if ttl else ''} {factor:g}x" for ttl, factor in multipliers.writes]
    return ", ".join(parts)


def _yes_no(value: bool | None) -> str | None:
    return None if value is None else "yes" if value else "no"


def _as_of(s: System) -> str | None:
    return _day(s.as_of, s.as_of_approximate)


def _day(day: Any, approximate: bool) -> str | None:
    return None if day is None else f"~{day}" if approximate else str(day)


def _flat(key: str, value: Any) -> Iterator[tuple[str, str]]:
    """Yield (dotted key, text) of a value as TOML gives it."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{key}.{name}", inner)
    elif isinstance(value, list):
        long = any(isinstance(item, str) and " " in item for item in value)
        yield key, ("; " if long else ", ").join(_plain(item) for item in value)
    else:
        yield key, _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_plain(inner)}" for name, inner in value.items())
    return f"{value:,}" if isinstance(value, int) and value >= 10_000 else str(value)
