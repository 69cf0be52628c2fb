"""Reads rule files: TOML tables in, typed facts out, and one clear line for what is wrong.

A file holds any of `[sources.ID]`, `[providers.ID]`, `[systems.ID]`, `[volatile.ID]` and `[[prices]]`; the packaged
files and a user's own have the same form. `docs/facts.md` describes it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from prefixwise.caches.facts import (
    Band,
    Invalidation,
    Lifetime,
    Multipliers,
    Override,
    Provider,
    Source,
    System,
    UsageFields,
    Volatile,
)
from prefixwise.caches.prices import Price
from prefixwise.core.errors import UserError

T = TypeVar("T")
Table = dict[str, Any]

_TABLES = ("sources", "providers", "systems", "volatile")
_AMOUNTS = ("input", "cached_read", "write", "write_1h", "write_12h", "output", "storage_hour")
_BANDS = ("min_tokens", "granularity_tokens", "ttl_s")
_BAND_KEYS = {"stated", "low", "high"}
_TABLE_KEYS = (
    "min_tokens_by_model", "interval_tokens_by_model", "family_by_model", "ttl_options", "multipliers_exceptions",
    "service_tiers", "invalidation",
)  # fmt: skip
_PLACE = re.compile(r" - at `\$\.?(.*)`$")
_FIELDS = frozenset(System.__struct_fields__) - {"id", "overrides", "more", "usage", "total_includes_cached"}
_USAGE = tuple(UsageFields.__struct_fields__[1:])


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
    return _convert({**table, "id": id}, Source, path, f"sources.{id}")


def provider_of(path: str, id: str, table: Table) -> Provider:
    """Return a provider. Raises UserError."""
    return _convert({**table, "id": id}, Provider, path, f"providers.{id}")


def volatile_of(path: str, id: str, table: Table, sources: Mapping[str, Source]) -> Volatile:
    """Return a cause of volatile prefixes. Raises UserError."""
    where = f"volatile.{id}"
    table = {**table, "id": id, "sources": _resolved(table, sources, path, where)}
    return _convert(table, Volatile, path, where)


def price_of(path: str, number: int, table: Table, sources: Mapping[str, Source]) -> Price:
    """Return the price in row `number`. Raises UserError."""
    where = f"prices[{number}] ({table.get('model', '?')})"
    table = dict(table)
    if "from" in table:
        table["start"] = table.pop("from")
    table["sources"] = _resolved(table, sources, path, where)
    for key in table:
        if key not in Price.__struct_fields__:
            raise UserError(f"{where}.{key} is no part of a price", path)
    price = _convert(table, Price, path, where)
    for prices in (price, *price.above):
        amounts = [getattr(prices, name, None) for name in _AMOUNTS]
        if any(amount is not None and not 0 <= amount < 1e9 for amount in amounts):
            raise UserError(f"{where}: a price is not a number from 0 on", path)
    return msgspec.structs.replace(price, above=tuple(sorted(price.above, key=lambda tier: tier.tokens)))


def system_of(
    path: str, id: str, table: Table, sources: Mapping[str, Source], overrides: tuple[Override, ...] = ()
) -> System:
    """Return a system.

    Args:
        path: File to name in errors.
        id: Its id.
        table: Its keys, the user's merged in.
        sources: All known sources by id.
        overrides: Which keys are the user's.

    Raises:
        UserError: A key has a wrong type, or a source is not defined.
    """
    where = f"systems.{id}"
    known = {key: value for key, value in table.items() if key in _FIELDS}
    more = {key: value for key, value in table.items() if key not in _FIELDS and key != "usage"}
    for key in _BANDS:
        if key in known:
            known[key] = _band(known[key], path, f"{where}.{key}")
    for key in _TABLE_KEYS:
        if not isinstance(known.get(key, {}), dict):
            raise UserError(f"{where}.{key} must be a table", path)
    for key in ("min_tokens_by_model", "interval_tokens_by_model"):
        by_model = known.get(key, {})
        known[key] = [(model, _band(value, path, f"{where}.{key}.{model}")) for model, value in by_model.items()]
    known["invalidation"] = [
        _convert({**_table(row, path, f"{where}.invalidation.{change}"), "change": change}, Invalidation, path, where)
        for change, row in known.get("invalidation", {}).items()
    ]
    for key in ("family_by_model", "service_tiers"):
        known[key] = list(known.get(key, {}).items())
    known["ttl_options"] = [
        _lifetime(name, value, path, f"{where}.ttl_options.{name}")
        for name, value in known.get("ttl_options", {}).items()
    ]
    known["multipliers"], notes = _multipliers(known.get("multipliers", {}), path, f"{where}.multipliers")
    known["multipliers_exceptions"] = [
        (model, _multipliers(value, path, f"{where}.multipliers_exceptions.{model}")[0])
        for model, value in known.get("multipliers_exceptions", {}).items()
    ]
    more |= notes
    known["usage"], known["total_includes_cached"], rest = _usage(table.get("usage", {}), path, where)
    more |= rest
    known["sources"] = _resolved(table, sources, path, where)
    return _convert({**known, "id": id, "overrides": overrides, "more": more}, System, path, where)


def _resolved(table: Table, sources: Mapping[str, Source], path: str, where: str) -> tuple[Source, ...]:
    """Return the sources that a table names."""
    names = table.get("sources", [])
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{where}.sources must be a list of source ids", path)
    for name in names:
        if name not in sources:
            raise UserError(f"{where}.sources names {name[:100]!r}, which is not defined", path, "add [sources.ID]")
    return tuple(sources[name] for name in names)


def _convert(table: Table, kind: type[T], path: str, where: str) -> T:
    """Return `table` as a struct. Raises UserError that names the key."""
    try:
        return msgspec.convert(table, kind)
    except msgspec.ValidationError as problem:
        text = str(problem)
        place = _PLACE.search(text)
        key = f"{where}.{place[1]}" if place and place[1] else where
        raise UserError(f"{key}: {_PLACE.sub('', text)[:1].lower()}{_PLACE.sub('', text)[1:]}", path) from None


def _band(value: Any, path: str, where: str) -> Band:
    """Return a number, a pair or a table of `stated`, `low` and `high` as a band."""
    if isinstance(value, list) and len(value) == 2:
        value = {"low": value[0], "high": value[1]}
    elif not isinstance(value, dict):
        value = {"stated": value, "low": value, "high": value}
    given = value.values()
    if not value or set(value) - _BAND_KEYS or not all(type(n) is int and 0 <= n < 2**53 for n in given):
        raise UserError(f"{where} must be a whole number, [low, high], or {{stated, low, high}}", path)
    band = Band(value.get("low"), value.get("high"), value.get("stated"))
    if band.low is not None and band.high is not None and band.low > band.high:
        raise UserError(f"{where}: low {band.low:,} is above high {band.high:,}", path)
    return band


def _lifetime(name: str, value: Any, path: str, where: str) -> Lifetime:
    if not isinstance(value, dict):
        return Lifetime(name, _band(value, path, where))
    idle = value.get("idle_s", value.get("typical_s", value.get("max_s")))
    return _convert(
        {"name": name, "idle_s": _band(idle, path, where), "max_s": value.get("max_s")}, Lifetime, path, where
    )


def _multipliers(table: Any, path: str, where: str) -> tuple[Multipliers, Table]:
    """Return relative prices, and the keys beside them under names of their own."""
    table = _table(table, path, where)
    writes = {key.removeprefix("write").lstrip("_"): value for key, value in table.items() if _is_write(key, value)}
    read = table.get("read")
    rest = {f"multipliers.{k}": v for k, v in table.items() if k != "read" and not _is_write(k, v)}
    return _convert({"read": read, "writes": list(writes.items())}, Multipliers, path, where), rest


def _table(value: Any, path: str, where: str) -> Table:
    if not isinstance(value, dict):
        raise UserError(f"{where} must be a table", path)
    return value


def _is_write(key: str, value: Any) -> bool:
    return key.startswith("write") and not isinstance(value, str)


def _usage(table: Any, path: str, where: str) -> tuple[list[UsageFields], bool | None, Table]:
    """Return the paths of each API, whether totals include cached tokens, and what else the table says."""
    table = _table(table, path, f"{where}.usage")
    fields: list[UsageFields] = []
    rest: Table = {}
    for api, value in table.items():
        if api == "total_includes_cached":
            continue
        if isinstance(value, dict) and api != "stream":
            own = {key: path_text for key, path_text in value.items() if key in _USAGE}
            fields.append(_convert({"api": api, **own}, UsageFields, path, f"{where}.usage.{api}"))
            rest |= {f"usage.{api}.{key}": other for key, other in value.items() if key not in _USAGE}
        else:
            rest[f"usage.{api}"] = value
    includes = table.get("total_includes_cached")
    if includes is not None and not isinstance(includes, bool):
        raise UserError(f"{where}.usage.total_includes_cached must be true or false", path)
    return fields, includes, rest


def merged(below: Table, above: Table, prefix: str = "") -> tuple[Table, tuple[str, ...]]:
    """Lay a user's keys over a table: tables are merged key by key, anything else is replaced.

    Returns:
        The result, and the dotted names of the keys that were given.
    """
    result = dict(below)
    given: list[str] = []
    for key, value in above.items():
        old = result.get(key)
        if isinstance(value, dict) and isinstance(old, dict) and not _BAND_KEYS & {*value, *old}:
            result[key], inner = merged(old, value, f"{prefix}{key}.")
            given.extend(inner)
        else:
            result[key] = value
            given.append(f"{prefix}{key}")
    return result, tuple(given)
