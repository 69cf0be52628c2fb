"""Finds prices: the packaged lists, one file a provider, and a user's rows.

A list is parsed row by row, as far as its rows name a model that is wanted: a log needs a few of more than a hundred.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

from prefixwise.caches.prices import Price, PriceList
from prefixwise.caches.rule_files import parse_file, price_of
from prefixwise.caches.sources import Confidence, Source
from prefixwise.core.errors import UserError

_ROW = "[[prices]]"
_FIGURES = ("input", "cached_read", "write", "write_1h", "write_12h", "output", "storage_hour", "above")

Row = tuple[str, int, dict[str, Any]]
"""File, number of the row in it, its keys."""


class PriceBook:
    """Prices by provider and model.

    Args:
        folder: Of the packaged lists.
        rows: (file, rows) of a user's own; a row with the provider, model and `from` of one before it replaces the
            keys that it gives, any other is added.
        sources: Gives the sources of some ids, by id.
    """

    def __init__(
        self,
        folder: Path,
        rows: Sequence[tuple[str, Any]],
        sources: Callable[[Sequence[str]], Mapping[str, Source]],
    ) -> None:
        self._texts = {path.name: path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.toml"))}
        self._read_models: set[str] = set()
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

    def may_list(self, models: Iterable[str]) -> bool:
        """Say whether one of these may have a price, without parsing anything."""
        own = {model for _, model in self._own}
        return any(m in own or any(f'"{m}"' in text for text in self._texts.values()) for m in models)

    def listing(self, model: str) -> list[PriceList]:
        """Return the prices of a model, called exactly so, at every provider."""
        self._read(model)
        keys = dict.fromkeys((*self._rows, *self._own))
        return [found for provider, listed in keys if listed == model and (found := self.get(provider, listed))]

    def all(self) -> list[PriceList]:
        """Return every list, by provider, in the order of its file."""
        self._rows.clear()
        for path, text in self._texts.items():
            self._add(path, parse_file(path, text)["prices"], self._rows)
        self._read_models.update(model for _, model in self._rows)
        keys = sorted(dict.fromkeys((*self._rows, *self._own)), key=lambda key: key[0])
        return [found for key in keys if (found := self.get(*key))]

    def _read(self, model: str) -> None:
        """Parse the rows that name a model."""
        if model in self._read_models:
            return
        self._read_models.add(model)
        for path, text in self._texts.items():
            if f'"{model}"' in text:
                rows = [_ROW + row for row in text.split(_ROW)[1:] if f'"{model}"' in row]
                tables = parse_file(path, "".join(rows))["prices"]
                self._add(path, [table for table in tables if table.get("model") == model], self._rows)

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
        prices = [
            price_of(path, number, table, self._sources(table.get("sources", [])))
            for path, number, table in by_start.values()
        ]
        return tuple(sorted(prices, key=lambda price: (price.start is not None, price.start)))
