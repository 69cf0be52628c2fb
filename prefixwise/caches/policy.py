"""The rule of one cache: given the rows, how many tokens of each prompt it serves, and why not more."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Protocol

import msgspec

from prefixwise.core.errors import UserError
from prefixwise.core.registry import Registry
from prefixwise.corpus.rows import Rows


class Reason(IntEnum):
    """What accounts for most of the tokens that a request did not get from the cache."""

    FIRST_SEEN = 0
    """No earlier request of the model had them."""
    GRANULARITY = 1
    """An earlier one had them, below the rule's block, page or last-token limit."""
    ISOLATED = 2
    """An earlier one in another namespace had them."""
    EVICTED = 3
    """They had been pushed out."""
    EXPIRED = 4
    """They had outlived their time."""


class Replay(msgspec.Struct, frozen=True):
    """What a policy did: by row, cached prompt tokens and a `Reason`."""

    matched: array[int]
    reason: bytearray


class Policy(Protocol):
    """A cache rule with its parameters.

    Attributes:
        label: The rule in the form that `--under` takes, all parameters shown.
        unit: Tokens that are reused as a whole; None where reuse has no fixed unit.
    """

    label: str
    unit: int | None

    def check(self, rows: Rows) -> None:
        """Raise UserError where these rows cannot be counted under this rule."""
        ...

    def replay(self, rows: Rows) -> Replay:
        """Replay all rows in start order."""
        ...

    def without_outputs(self) -> Policy | None:
        """Return the same rule with a cache that answers do not enter, None where they do not enter it anyway."""
        ...


Factory = Callable[[Mapping[str, str]], Policy]
POLICIES: Registry[Factory] = Registry("cache rule", "prefixwise.caches.policies", "policies")


def parse_policy(text: str) -> Policy:
    """Return the policy for `NAME` or `NAME:key=value,…`.

    Raises:
        UserError: Unknown rule or parameter, or a value that does not fit.
    """
    where = f"--under {text[:100]}"
    name, colon, rest = text.partition(":")
    parameters: dict[str, str] = {}
    for item in rest.split(",") if colon else ():
        key, equals, value = (part.strip() for part in item.partition("="))
        if not equals:
            raise UserError(f"{item[:100]!r} is not key=value", where, "for example vllm:block=16")
        if key in parameters:
            raise UserError(f"{key[:100]!r} is given twice", where)
        parameters[key] = value
    try:
        if name.lower() not in POLICIES.names():
            _refuse_known_cache(name.lower())
        return POLICIES.get(name.lower())(parameters)
    except UserError as problem:
        raise UserError(problem.what, where, problem.help) from None


def _refuse_known_cache(name: str) -> None:
    """Raise UserError for a cache that is known and no rule by this name: what its rules are called, or where it is."""
    from prefixwise.caches.rulebook import Rulebook

    book = Rulebook()
    if book.provider(name) is None and all(system.id != name for system in book.systems()):
        return
    own = [rule for rule in POLICIES.names() if rule.startswith(f"{name}_")]
    if own:
        raise UserError(f"{name} has several caches", help=f"say which: {', '.join(own)}")
    what = f"requests cannot be counted under the cache of {name} yet"
    known = f"`prefixwise providers {name}` shows what is known of it"
    raise UserError(what, help=f"{known}; rules to count under: {', '.join(POLICIES.names())}")


def positive(parameters: Mapping[str, str], name: str, default: int) -> int:
    """Return a positive whole parameter. Raises UserError otherwise."""
    text = parameters.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdecimal() or len(text) > 10 or not 0 < int(text) < 2**31:
        raise UserError(f"{name}={text[:100]} is not a whole number from 1 to {2**31 - 1:,}")
    return int(text)


def yes_or_no(parameters: Mapping[str, str], name: str, default: bool) -> bool:
    """Return a yes-or-no parameter. Raises UserError otherwise."""
    text = parameters.get(name, "yes" if default else "no")
    if text not in ("yes", "no"):
        raise UserError(f"{name}={text} is neither yes nor no")
    return text == "yes"


def only(parameters: Mapping[str, str], *names: str) -> None:
    """Raise UserError for a parameter that the rule does not have."""
    for name in parameters:
        if name not in names:
            raise UserError(f"the rule has no parameter {name!r}", help=f"it has: {', '.join(names)}")
