"""Where facts and prices come from, and whose they are."""

from __future__ import annotations

from datetime import date
from enum import StrEnum

import msgspec


class Confidence(StrEnum):
    """What kind of source a fact rests on, best first."""

    OFFICIAL = "official"
    SOURCE_CODE = "source_code"
    SECONDARY = "secondary"
    MEASURED = "measured"
    UNVERIFIED = "unverified"
    USER = "user"
    """A file of the user's own."""


class Source(msgspec.Struct, frozen=True):
    """Where a fact was read.

    Attributes:
        id: What facts call it.
        where: Address, package or repository.
        date: Day of the source; None where it carries none, `approximate` where it was estimated.
        kind: `official`, `official_mirror`, `sdk`, `source_code`, `secondary`, `measured`, … (see `sources.toml`).
    """

    id: str
    title: str
    where: str = ""
    date: date | None = None
    approximate: bool = False
    kind: str = ""

    def __str__(self) -> str:
        day = f", {'about ' if self.approximate else ''}{self.date}" if self.date else ""
        return f"{self.title}{day}"


class Provider(msgspec.Struct, frozen=True):
    """Whose API a log talks to.

    Attributes:
        id: What facts and prices call it.
        aliases: Other names of it.
        model_names: Patterns of model names that only its API uses.
        resells: Whether it serves models that others made, so that a bare model name does not point to it.
    """

    id: str
    aliases: tuple[str, ...] = ()
    model_names: tuple[str, ...] = ()
    resells: bool = False
