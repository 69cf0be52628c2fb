"""Reads the tables of systems, and of what makes prefixes volatile, into typed facts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from prefixwise.caches.facts import (
    Band,
    Invalidation,
    Lifetime,
    Multipliers,
    Override,
    System,
    UsageFields,
    Volatile,
)
from prefixwise.caches.rule_files import BAND_KEYS, Table, convert, resolved
from prefixwise.caches.sources import Source
from prefixwise.core.errors import UserError

_BANDS = ("min_tokens", "granularity_tokens", "ttl_s", "interval_tokens", "build_delay_s")
_BANDS_BY_MODEL = ("min_tokens_by_model", "interval_tokens_by_model", "hidden_tokens_by_model")
_FIELDS = frozenset(System.__struct_fields__) - {"id", "overrides", "more", "usage", "total_includes_cached"}
_USAGE = tuple(UsageFields.__struct_fields__[1:])
_TABLE_KEYS = (
    *_BANDS_BY_MODEL, "family_by_model", "ttl_options", "multipliers_exceptions", "service_tiers", "invalidation",
)  # fmt: skip


def volatile_of(path: str, id: str, table: Table, sources: Mapping[str, Source]) -> Volatile:
    """Return a cause of volatile prefixes. Raises UserError."""
    where = f"volatile.{id}"
    table = {**table, "id": id, "sources": resolved(table, sources, path, where)}
    return convert(table, Volatile, path, where)


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
    for key in _BANDS_BY_MODEL:
        by_model = known.get(key, {})
        known[key] = [(model, _band(value, path, f"{where}.{key}.{model}")) for model, value in by_model.items()]
    known["invalidation"] = [
        convert({**_table(row, path, f"{where}.invalidation.{change}"), "change": change}, Invalidation, path, where)
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
    known["sources"] = resolved(table, sources, path, where)
    return convert({**known, "id": id, "overrides": overrides, "more": more}, System, path, where)


def _band(value: Any, path: str, where: str) -> Band:
    """Return a number, a pair or a table of `stated`, `low` and `high` as a band."""
    if isinstance(value, list) and len(value) == 2:
        value = {"low": value[0], "high": value[1]}
    elif not isinstance(value, dict):
        value = {"stated": value, "low": value, "high": value}
    given = value.values()
    if not value or set(value) - BAND_KEYS or not all(type(n) is int and 0 <= n < 2**53 for n in given):
        raise UserError(f"{where} must be a whole number, [low, high], or {{stated, low, high}}", path)
    band = Band(value.get("low"), value.get("high"), value.get("stated"))
    if band.low is not None and band.high is not None and band.low > band.high:
        raise UserError(f"{where}: low {band.low:,} is above high {band.high:,}", path)
    return band


def _lifetime(name: str, value: Any, path: str, where: str) -> Lifetime:
    if not isinstance(value, dict):
        return Lifetime(name, _band(value, path, where))
    idle = value.get("idle_s", value.get("typical_s", value.get("max_s")))
    return convert(
        {"name": name, "idle_s": _band(idle, path, where), "max_s": value.get("max_s")}, Lifetime, path, where
    )


def _multipliers(table: Any, path: str, where: str) -> tuple[Multipliers, Table]:
    """Return relative prices, and the keys beside them under names of their own."""
    table = _table(table, path, where)
    writes = {key.removeprefix("write").lstrip("_"): value for key, value in table.items() if _is_write(key, value)}
    read = table.get("read")
    rest = {f"multipliers.{k}": v for k, v in table.items() if k != "read" and not _is_write(k, v)}
    return convert({"read": read, "writes": list(writes.items())}, Multipliers, path, where), rest


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
            fields.append(convert({"api": api, **own}, UsageFields, path, f"{where}.usage.{api}"))
            rest |= {f"usage.{api}.{key}": other for key, other in value.items() if key not in _USAGE}
        else:
            rest[f"usage.{api}"] = value
    includes = table.get("total_includes_cached")
    if includes is not None and not isinstance(includes, bool):
        raise UserError(f"{where}.usage.total_includes_cached must be true or false", path)
    return fields, includes, rest
