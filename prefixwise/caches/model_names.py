"""How a logged model name meets the names and patterns of the facts."""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import TypeVar

T = TypeVar("T")

_WILD = "*?["
# A dated snapshot, an alias of the newest one, or Bedrock's version: not part of the name that has the price.
_SNAPSHOT = re.compile(r"(?:[-@]20\d{6}|-20\d\d-\d\d-\d\d|-latest)?(?:-v\d+:\d+)?$")
_DOTTED = re.compile(r"^claude-[a-z]+-\d+\.\d+")
_VENDOR = re.compile(r"^(?:(?:global|us|eu|apac|jp|au)\.)?anthropic\.")


def names_of(model: str) -> tuple[str, ...]:
    """Return the names under which `model` may stand, most specific first.

    They are the logged name, the name behind the path that a gateway puts before it (`azure/gpt-4.1`), and either
    without the date of a snapshot (`gpt-4.1-2025-04-14`).
    """
    bare = model.rsplit("/", 1)[-1]
    return tuple(dict.fromkeys((model, bare, _SNAPSHOT.sub("", model), _SNAPSHOT.sub("", bare))))


def matches(pattern: str, model: str) -> bool:
    """Return whether `model` falls under `pattern`: a name, or a glob (`claude-*`) where it has a wildcard."""
    names = names_of(model)
    names += tuple(_VENDOR.sub("", name) for name in names if _VENDOR.match(name))
    names += tuple(name.replace(".", "-") for name in names if _DOTTED.match(name))  # as routers write it
    if any(mark in pattern for mark in _WILD):
        return any(fnmatchcase(name, pattern) for name in names)
    return pattern in names


def specificity(pattern: str) -> tuple[bool, int]:
    """Return a key by which the pattern that says most about a name sorts last."""
    wild = any(mark in pattern for mark in _WILD)
    return (not wild, sum(character not in _WILD for character in pattern))


def best_match(pairs: Iterable[tuple[str, T]], model: str) -> T | None:
    """Return what stands beside the most specific pattern that `model` falls under, None where none fits."""
    fitting = [(specificity(pattern), value) for pattern, value in pairs if matches(pattern, model)]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None
