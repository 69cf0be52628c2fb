"""The one way to plug something in: a folder that is walked once, and an entry-point group."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from prefixwise.core.errors import UserError

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one kind, each defined in a file of its own.

    A file registers what it defines (`RULES.add("name", thing)`); the folder is imported on the first
    look-up, in sorted order, then every module that other distributions name under the entry-point group
    `prefixwise.<kind>`. No caller ever lists the files.

    Args:
        kind: What one entry is called in messages, for example "report format".
        package: Dotted name of the folder to walk.
        group: Last part of the entry-point group; empty for kinds that outsiders cannot extend.
    """

    def __init__(self, kind: str, package: str, group: str = "") -> None:
        self.kind = kind
        self._package = package
        self._group = group
        self._entries: dict[str, T] = {}
        self._aliases: dict[str, str] = {}
        self._walked = False

    def add(self, name: str, thing: T) -> T:
        """Register `thing` under `name` and return it. Raises ValueError on a second thing of that name."""
        if name in self._entries:
            raise ValueError(f"two {self.kind}s are called {name!r}")
        self._entries[name] = thing
        return thing

    def alias(self, other: str, name: str) -> None:
        """Let `get` find the entry called `name` under a second name, which no list shows."""
        self._aliases[other] = name

    def decorate(self, name: str) -> Callable[[T], T]:
        """Return a decorator that registers what it decorates under `name`."""
        return lambda thing: self.add(name, thing)

    def get(self, name: str) -> T:
        """Return the entry called `name`. Raises UserError with the nearest name otherwise."""
        self._walk()
        meant = self._aliases.get(name, name)
        if meant in self._entries:
            return self._entries[meant]
        near = difflib.get_close_matches(name, [*self._entries, *self._aliases], n=1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise UserError(
            f"there is no {self.kind} called {name[:100]!r}", help=f"{hint}known: {', '.join(sorted(self._entries))}"
        )

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        self._walk()
        return tuple(sorted(self._entries))

    def __iter__(self) -> Iterator[T]:
        self._walk()
        return iter([self._entries[name] for name in sorted(self._entries)])

    def _walk(self) -> None:
        if self._walked:
            return
        self._walked = True
        package = importlib.import_module(self._package)
        for module in sorted(info.name for info in pkgutil.iter_modules(package.__path__)):
            importlib.import_module(f"{self._package}.{module}")
        if self._group:
            from importlib.metadata import entry_points

            for point in sorted(entry_points(group=f"prefixwise.{self._group}"), key=lambda p: p.name):
                importlib.import_module(point.value)
