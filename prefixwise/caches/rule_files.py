"""Reads rule files: TOML tables in, one clear line for what is wrong; sources, providers and prices from them.

A file holds any of `[sources.ID]`, `[providers.ID]`, `[systems.ID]`, `[volatile.ID]` and `[[prices]]`; the packaged
files and a user's own have the same form. `docs/facts.md` describes it. Systems are read by `system_files`, which
counting a log does not need.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

import msgspec

from prefixwise.caches.prices import Price
from prefixwise.caches.sources import Provider, Source
from prefixwise.core.errors import UserError

T = TypeVar("T")
Table: TypeAlias = dict[str, Any]

_TABLES = ("sources", "providers", "systems", "volatile")
_AMOUNTS = ("input", "cached_read", "write", "write_1h", "write_12h", "output", "storage_hour")
BAND_KEYS = frozenset({"stated", "low", "high"})
"""Keys of a table that is a range; such a table is replaced whole."""
_PLACE = re.compile(r" - at `\$\.?(.*)`$")


def parse_file(path: str, text: str) -> dict[str, Any]:
    """Return the tables of one file.

    Raises:
        UserError: It is no TOML, or holds a table that no rule file has.
    """
    import tomllib

    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as problem:
        raise UserError(f"is not TOML: {problem}", path) from None
    for name, table in tables.items():
        if name not in (*_TABLES, "prices"):
            raise UserError(
                f"{name[:100]!r} is no part of a rule file", path, f"it holds: {', '.join(_TABLES)}, prices"
            )
        rows = table if name == "prices" else list(table.values()) if isinstance(table, dict) else None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            form = "[[prices]]" if name == "prices" else f"[{name}.ID]"
            raise UserError(f"{name} must be tables of the form {form}", path)
    return tables


def source_of(path: str, id: str, table: Table) -> Source:
    """Return a source. Raises UserError."""
    return convert({**table, "id": id}, Source, path, f"sources.{id}")


def provider_of(path: str, id: str, table: Table) -> Provider:
    """Return a provider. Raises UserError."""
    return convert({**table, "id": id}, Provider, path, f"providers.{id}")


def price_of(path: str, number: int, table: Table, sources: Mapping[str, Source]) -> Price:
    """Return the price in row `number`. Raises UserError."""
    where = f"prices[{number}] ({table.get('model', '?')})"
    table = dict(table)
    if "from" in table:
        table["start"] = table.pop("from")
    table["sources"] = resolved(table, sources, path, where)
    for key in table:
        if key not in Price.__struct_fields__:
            raise UserError(f"{where}.{key} is no part of a price", path)
    price = convert(table, Price, path, where)
    for prices in (price, *price.above):
        amounts = [getattr(prices, name, None) for name in _AMOUNTS]
        if any(amount is not None and not 0 <= amount < 1e9 for amount in amounts):
            raise UserError(f"{where}: a price is not a number from 0 on", path)
    return msgspec.structs.replace(price, above=tuple(sorted(price.above, key=lambda tier: tier.tokens)))


def resolved(table: Table, sources: Mapping[str, Source], path: str, where: str) -> tuple[Source, ...]:
    """Return the sources that a table names. Raises UserError for one that is not defined."""
    names = table.get("sources", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{where}.sources must be a list of source ids", path)
    for name in names:
        if name not in sources:
            raise UserError(f"{where}.sources names {name[:100]!r}, which is not defined", path, "add [sources.ID]")
    return tuple(sources[name] for name in names)


def convert(table: Table, kind: type[T], path: str, where: str) -> T:
    """Return `table` as a struct. Raises UserError that names the key."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as problem:
        text = str(problem)
        place = _PLACE.search(text)
        key = f"{where}.{place[1]}" if place and place[1] else where
        raise UserError(f"{key}: {_PLACE.sub('', text)[:1].lower()}{_PLACE.sub('', text)[1:]}", path) from None


def merged(below: Table, above: Table, prefix: str = "") -> tuple[Table, tuple[str, ...]]:
    """Lay a user's keys over a table: tables are merged key by key, anything else is replaced.

    Returns:
        The result, and the dotted names of the keys that were given.
    """
    result = dict(below)
    given: list[str] = []
    for key, value in above.items():
        old = result.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and not BAND_KEYS & {*value, *old}:
            result[key], inner = merged(old, value, f"{prefix}{key}.")
            given.extend(inner)
        else:
            result[key] = value
            given.append(f"{prefix}{key}")
    return result, tuple(given)
