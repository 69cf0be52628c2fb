"""Finds prices: the packaged lists, one file a provider, parsed when they may hold a name, and a user's rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from prefixwise.caches.fact_files import parse_file, price_of
from prefixwise.caches.facts import Confidence, Source
from prefixwise.caches.prices import Price, PriceList
from prefixwise.core.errors import UserError

_FIGURES = ("input", "cached_read", "write", "write_1h", "write_12h", "output", "storage_hour", "above")

Row = tuple[str, int, dict[str, Any]]
"""File, number of the row in it, its keys."""


class PriceBook:
    """Prices by provider and model.

    Args:
        folder: Of the packaged lists.
        rows: (file, rows) of a user's own; a row with the provider, model and `from` of one before it replaces the
            keys that it gives, any other is added.
        sources: Gives all sources by id, when the first price is wanted.
    """

    def __init__(
        self, folder: Path, rows: Sequence[tuple[str, Any]], sources: Callable[[], Mapping[str, Source]]
    ) -> None:
        self._unread = {path: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}
        self._sources = sources
        self._rows: dict[tuple[str, str], list[Row]] = {}
        self._own: dict[tuple[str, str], list[Row]] = {}
        self._lists: dict[tuple[str, str], PriceList] = {}
        for path, tables in rows:
            self._add(path, tables, self._own)

    def get(self, provider: str, model: str) -> PriceList | None:
        """Return the prices of a model, called exactly so, at a provider."""
        self._read(model)
        key = (provider, model)
        if key not in self._rows and key not in self._own:
            return None
        if key not in self._lists:
            self._lists[key] = PriceList(provider, model, self._prices(key))
        return self._lists[key]

    def listing(self, model: str) -> list[PriceList]:
        """Return the prices of a model, called exactly so, at every provider."""
        self._read(model)
        keys = dict.fromkeys((*self._rows, *self._own))
        return [found for provider, listed in keys if listed == model and (found := self.get(provider, listed))]

    def all(self) -> list[PriceList]:
        """Return every list, by provider."""
        self._read(None)
        keys = sorted(dict.fromkeys((*self._rows, *self._own)), key=lambda key: key[0])
        return [found for key in keys if (found := self.get(*key))]

    def _read(self, model: str | None) -> None:
        """Parse the lists that may hold a model, all of them for None."""
        for path, text in list(self._unread.items()):
            if model is None or f'"{model}"' in text:
                del self._unread[path]
                self._add(path.name, parse_file(path.name, text)["prices"], self._rows)

    def _add(self, path: str, tables: list[dict[str, Any]], rows: dict[tuple[str, str], list[Row]]) -> None:
        for number, table in enumerate(tables):
            key = (table.get("provider"), table.get("model"))
            if not all(isinstance(part, str) and part for part in key):
                raise UserError(f"prices[{number}] needs a provider and a model", path)
            if type(table.get("from", date.min)) is not date:
                raise UserError(f"prices[{number}] ({key[1]}).from is not a day such as 2026-12-01", path)
            rows.setdefault(key, []).append((path, number, table))  # type: ignore[arg-type] # checked above

    def _prices(self, key: tuple[str, str]) -> tuple[Price, ...]:
        """Return a model's prices, a user's rows laid over the packaged ones, by rising start."""
        by_start: dict[Any, Row] = {}
        for path, number, table in self._rows.get(key, ()):
            by_start[table.get("from")] = (path, number, table)
        for path, number, table in self._own.get(key, ()):
            start = table.get("from")
            _, _, old = by_start.get(start, (path, number, {}))
            mine: dict[str, Any] = {"confidence": Confidence.USER.value}
            if any(figure in table for figure in _FIGURES) and "sources" not in table:
                mine["sources"] = [path]
            if start is not None:
                mine["as_of"] = start
            by_start[start] = (path, number, {**old, **mine, **table})
        prices = [price_of(path, number, table, self._sources()) for path, number, table in by_start.values()]
        return tuple(sorted(prices, key=lambda price: (price.start is not None, price.start)))
