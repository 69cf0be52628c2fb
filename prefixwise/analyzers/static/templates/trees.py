"""What YAML and JSON files hold, with the place of every text."""

from __future__ import annotations

from typing import NamedTuple

from prefixwise.analyzers.static.templates.views import View


class Scalar(NamedTuple):
    """A text, number or constant."""

    view: View

    @property
    def text(self) -> str:
        """What it says."""
        return self.view.text


class Sequence(NamedTuple):
    """A list."""

    items: tuple[Tree, ...]


class Mapping(NamedTuple):
    """A mapping, in the order of the file; `places`: where each entry begins and ends, from key to end of value."""

    entries: tuple[tuple[str, Tree], ...]
    places: tuple[tuple[int, int], ...] = ()

    def get(self, *keys: str) -> Tree | None:
        """Return the value of the first of these keys that it has."""
        found = dict(self.entries)
        return next((found[key] for key in keys if key in found), None)

    def said(self, *keys: str) -> str:
        """Return the text of the first of these keys that it has, '' where none is a text."""
        found = self.get(*keys)
        return found.text.strip() if isinstance(found, Scalar) else ""


Tree = Scalar | Sequence | Mapping
NOTHING = Scalar(View(""))
