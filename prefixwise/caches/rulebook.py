"""All facts: the packaged files, overlaid with a user's own; each file is read when something needs it."""

from __future__ import annotations

import difflib
import functools
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from prefixwise.caches.model_names import matches, names_of, specificity
from prefixwise.caches.price_book import PriceBook
from prefixwise.caches.prices import PriceList
from prefixwise.caches.rule_files import merged, parse_file, provider_of, source_of
from prefixwise.caches.sources import Provider, Source
from prefixwise.core.errors import UserError

if TYPE_CHECKING:
    from prefixwise.caches.facts import System, Volatile

RULES = Path(__file__).with_name("rules")
_SOURCE = "[sources."


class Found(msgspec.Struct, frozen=True):
    """What a name stands for.

    Attributes:
        model: The name, where it is a model's; empty where it is a system's or a provider's.
        systems: Their rules; of a model, the one that applies without being asked for first.
        prices: Prices of the model, or of every model of the provider or system.
    """

    model: str
    systems: tuple[System, ...]
    prices: tuple[PriceList, ...]


class Rulebook:
    """Facts by system, prices by model.

    Args:
        files: Files and folders of a user's own; later ones win.

    Raises:
        UserError: A file cannot be read, or something in it is wrong.
    """

    def __init__(self, files: Sequence[str] = ()) -> None:
        self._user = [(str(path), _tables(path)) for name in files for path in _toml_files(name)]
        self._some_sources: dict[str, Source] = {}
        if self._user:  # a mistake in a user's file shows whatever is looked up
            self._check()

    @functools.cached_property
    def sources(self) -> Mapping[str, Source]:
        """Every source by id; a user's file is one itself, under its path."""
        found = {key: source_of(path, key, table) for path, key, table in self._all("sources.toml", "sources")}
        return found | {path: Source(path, path, kind="user") for path, _ in self._user}

    @functools.cached_property
    def providers(self) -> Mapping[str, Provider]:
        """Every provider by id."""
        return {key: provider_of(path, key, table) for path, key, table in self._all("providers.toml", "providers")}

    def volatile(self) -> tuple[Volatile, ...]:
        """Return what templates and clients put into a prefix that changes by itself."""
        from prefixwise.caches.system_files import volatile_of

        tables = self._all("volatile.toml", "volatile")
        return tuple({key: volatile_of(path, key, table, self.sources) for path, key, table in tables}.values())

    @functools.cached_property
    def prices(self) -> PriceBook:
        """All prices, by provider and model."""
        rows = [(path, tables["prices"]) for path, tables in self._user if "prices" in tables]
        return PriceBook(RULES / "prices", rows, self._sources_of)

    def systems(self) -> tuple[System, ...]:
        """Return every system: providers, then engines, each sorted by id."""
        return tuple(self._systems.values())

    def system(self, id: str) -> System:
        """Return one system. Raises UserError with near names where there is none of that id."""
        if id not in self._systems:
            raise _unknown(id, "system", self._systems)
        return self._systems[id]

    def rules_for(self, model: str, provider: str = "") -> tuple[System, ...]:
        """Return the systems that apply to a model, the one that does without being asked for first.

        Args:
            model: As logged.
            provider: Whose API the log seems to talk to; the model's name counts for more.

        Returns:
            () where neither tells whose cache it is.
        """
        owner = self._named_provider(model)
        for candidates in (owner,) if owner else (provider, None):
            fitting = [
                (specificity(pattern), system)
                for system in self._systems.values()
                if self._may_be(system, candidates)
                for pattern in system.applies_to
                if matches(pattern, model) and (candidates is not None or pattern != "*")
            ]
            if fitting:
                fitting.sort(key=lambda pair: (pair[1].opt_in, not pair[0][0], -pair[0][1], pair[1].id))
                return tuple({system.id: system for _, system in fitting}.values())
        return ()

    def price_list(self, model: str, provider: str = "") -> PriceList | None:
        """Return the prices of a model, None where none is known for certain.

        The list of the provider that the name or the log tells counts; else, for a bare name, that of its maker.
        The arguments are those of `rules_for`.
        """
        names = names_of(model)
        if not self.prices.may_list(names):
            return None
        if "/" not in model and not self._user and (found := self.prices.get(provider, names[-1])):
            return found  # the usual case, without reading who else the name could belong to
        owner = self._named_provider(model)
        for name in names:
            if found := self.prices.get(owner or provider, name):
                return found
        told = self.provider(provider)
        if owner or (told is not None and told.resells):
            return None
        for name in names:
            lists = [found for found in self.prices.listing(name) if not self._resells(found.provider)]
            if lists:
                return lists[0] if len(lists) == 1 else None
        return None

    def provider(self, name: str) -> Provider | None:
        """Return the provider of that id or alias."""
        return next((p for p in self.providers.values() if name.lower() in (p.id, *p.aliases)), None)

    def find(self, name: str) -> Found:
        """Return what is known under the name of a system, a provider or a model.

        Raises:
            UserError: Nothing is; near names are listed.
        """
        low = name.lower()
        if (system := self._systems.get(low)) is not None:
            provider = system.provider if low == system.provider else None
            systems = [s for s in self._systems.values() if s.provider == provider] if provider else [system]
            prices = [p for p in self.prices.all() if p.provider == provider or p.prices[-1].rule == system.id]
            return Found("", tuple(systems), tuple(prices))
        if (told := self.provider(low)) is not None:
            systems = [system for system in self._systems.values() if system.provider == told.id]
            prices = [found for found in self.prices.all() if found.provider == told.id]
            if systems or prices:
                return Found("", tuple(systems), tuple(prices))
        listed = {(p.provider, p.model): p for n in names_of(name) for p in self.prices.listing(n)}
        rules = self.rules_for(name) or tuple(
            self._systems[p.prices[-1].rule] for p in listed.values() if p.prices[-1].rule in self._systems
        )
        if not rules and not listed:
            known = {*self._systems, *self.providers, *(p.model for p in self.prices.all())}
            raise _unknown(name, "system, provider or model", known)
        return Found(name, tuple({system.id: system for system in rules}.values()), tuple(listed.values()))

    def _check(self) -> None:
        """Read everything. Raises UserError for what is wrong."""
        self.systems()
        self.volatile()
        self.prices.all()
        self.provider("")

    @functools.cached_property
    def _systems(self) -> dict[str, System]:
        from prefixwise.caches.facts import Override
        from prefixwise.caches.system_files import system_of

        tables: dict[str, dict[str, Any]] = {}
        places: dict[str, str] = {}
        overrides: dict[str, dict[str, str]] = {}
        for path in sorted(RULES.glob("*.toml")):
            for key, table in _tables(path).get("systems", {}).items():
                tables[key], places[key] = table, path.name
        for place, user in self._user:
            for key, table in user.get("systems", {}).items():
                new = key not in tables
                tables[key], names = merged(tables.get(key, {}), table)
                places[key] = place
                if not new:
                    overrides.setdefault(key, {}).update(dict.fromkeys(names, place))
        systems = []
        for key, table in tables.items():
            given = tuple(Override(name, path) for name, path in overrides.get(key, {}).items())
            systems.append(system_of(places[key], key, table, self.sources, given))
        return {system.id: system for system in sorted(systems, key=lambda s: (s.kind.value != "hosted", s.id))}

    def _sources_of(self, names: Sequence[str]) -> Mapping[str, Source]:
        """Return at least the sources of these ids; of the packaged file, no more is parsed than they need."""
        if self._user or "sources" in self.__dict__:
            return self.sources
        missing = [name for name in names if name not in self._some_sources]
        if missing:
            tables = _text(RULES / "sources.toml").split(_SOURCE)[1:]
            wanted = "".join(_SOURCE + table for table in tables if any(name in table[:60] for name in missing))
            parsed = parse_file("sources.toml", wanted).get("sources", {})
            self._some_sources.update({key: source_of("sources.toml", key, table) for key, table in parsed.items()})
        return self._some_sources

    def _all(self, packaged: str, kind: str) -> Iterable[tuple[str, str, dict[str, Any]]]:
        """Yield (file, id, table) of one kind, a user's keys laid over those of the packaged file."""
        found = {key: (packaged, table) for key, table in _tables(RULES / packaged)[kind].items()}
        for path, tables in self._user:
            for key, table in tables.get(kind, {}).items():
                found[key] = (path, merged(found[key][1] if key in found else {}, table)[0])
        return [(path, key, table) for key, (path, table) in found.items()]

    def _named_provider(self, model: str) -> str:
        """Return the id of the provider that only can have a model of that name, "" where the name does not tell."""
        for provider in self.providers.values():
            if any(matches(pattern, model) for pattern in provider.model_names):
                return provider.id
        return ""

    def _may_be(self, system: System, provider: str | None) -> bool:
        """Say whether a system is a provider's; without one, whether it is that of a maker of models."""
        if provider is None:
            return bool(system.provider) and not self._resells(system.provider)
        return bool(provider) and system.provider == provider

    def _resells(self, provider: str) -> bool:
        return provider in self.providers and self.providers[provider].resells


def _unknown(name: str, what: str, known: Iterable[str]) -> UserError:
    by_low = {candidate.lower(): candidate for candidate in sorted(known)}
    near = difflib.get_close_matches(name.lower(), by_low, n=3, cutoff=0.5)
    hint = f"did you mean {', '.join(by_low[low] for low in near)}? " if near else ""
    return UserError(
        f"nothing is known of a {what} called {name[:100]!r}", help=f"{hint}`prefixwise providers` lists all"
    )


def _toml_files(name: str) -> list[Path]:
    """Return the rule files that a path stands for. Raises UserError where there are none."""
    path = Path(name)
    if not path.is_dir():
        return [path]
    found = sorted(path.glob("*.toml"))
    if not found:
        raise UserError("the folder holds no .toml file", name)
    return found


def _tables(path: Path) -> dict[str, Any]:
    return parse_file(str(path), _text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UserError("is not UTF-8 text", str(path)) from None
    except OSError as problem:
        raise UserError(f"cannot be read: {problem.strerror}", str(path)) from None
