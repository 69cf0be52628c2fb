"""Settings from several places laid over each other, each value with where it came from."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeAlias

import msgspec

from prefixwise.core.config.settings import DEFAULTS, Settings, attribute, keys


class OriginKind(StrEnum):
    """What may set a value, the weakest first."""

    DEFAULT = "default"
    FILE = "file"
    ENVIRONMENT = "environment"
    FLAG = "flag"


class Origin(msgspec.Struct, frozen=True):
    """Where a value came from: `name` is the file, variable or option, `key` the dotted key in a file."""

    kind: OriginKind
    name: str = ""
    key: str = ""

    @property
    def asked(self) -> bool:
        """Whether whoever started the command said so, by an option or a variable."""
        return self.kind in (OriginKind.FLAG, OriginKind.ENVIRONMENT)

    def __str__(self) -> str:
        if self.kind is OriginKind.FILE:
            return f"{self.name}: {self.key}"
        return self.name or self.kind.value


Origins: TypeAlias = tuple[Origin, ...]
DEFAULT: Origins = (Origin(OriginKind.DEFAULT),)

_ADDED = frozenset({"extend-select", "extend-ignore", "prompt"})
_REPLACED_WITH = {
    "select": ("extend-select", "per-file-select"),
    "ignore": ("extend-ignore",),
    "fail-on": ("exit-zero",),
}
"""What a key of a stronger layer puts out of force in weaker ones, beside itself."""


class Layer(msgspec.Struct, frozen=True):
    """What one place sets: values by key, and where each came from."""

    values: Mapping[str, Any] = {}
    origins: Mapping[str, Origins] = {}

    def over(self, below: Layer) -> Layer:
        """Return this layer laid over a weaker one.

        A key replaces that of the weaker layer; what extends, and the entries of prompts, are added to it.
        """
        gone = {other for key, others in _REPLACED_WITH.items() if key in self.values for other in others}
        values = {key: value for key, value in below.values.items() if key not in gone}
        origins = {key: origin for key, origin in below.origins.items() if key in values}
        for key, value in self.values.items():
            adds = key in _ADDED and key in values
            values[key] = (*values[key], *value) if adds else value
            origins[key] = (*origins[key], *self.origins[key]) if adds else self.origins[key]
        return Layer(values, origins)

    def settings(self) -> Settings:
        """Return the settings: what this layer says, and the defaults."""
        return msgspec.structs.replace(DEFAULTS, **{attribute(key): value for key, value in self.values.items()})

    def origins_of(self, key: str) -> Origins:
        """Return where the value of a key comes from."""
        return self.origins.get(key, DEFAULT)


def layer(values: Mapping[str, Any], origin: Mapping[str, Origin]) -> Layer:
    """Return a layer of values that come from one place each. Raises ValueError for a key that is none."""
    unknown = values.keys() - set(keys())
    if unknown:
        raise ValueError(f"no settings: {sorted(unknown)}")
    return Layer(dict(values), {key: (origin[key],) for key in values})
